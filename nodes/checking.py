"""Checking a text against the documents: its quotes, the provisions it names, its statements.

Only what code can prove is reported as wrong: a quote that is in no document, a provision that does
not exist, a number or day that the nearest statement lacks, or an exchanged word in a copy of it.
The reader decides whether other words mean the same.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from operator import itemgetter
from typing import Literal, NamedTuple, TypedDict

from lexloop.core.errors import InputError
from lexloop.core.folding import folded
from lexloop.core.running import heed_deadline
from lexloop.core.types import Citation
from lexloop.documents.structure.references import find_references
from lexloop.documents.text.quantities import dates, facts, states
from lexloop.documents.text.tokens import sentence_spans, term_set, tokenize
from lexloop.nodes.alignment import contradictions, restriction_left_out
from lexloop.nodes.markers import without_markers
from lexloop.nodes.question.pointing import read_pointing
from lexloop.nodes.question.provisions import point
from lexloop.store.view import View

_QUOTE = re.compile(r"“([^“”]+)”|\"([^\"]+)\"|«([^«»]+)»|„([^„“”]+)[“”]")
_WORD = re.compile(r"\S+")
_LEAST_QUOTED = 4
"""The fewest words of a quote; fewer are a term or a title."""
_CHUNKS = 6
"""The number of chunks whose statements are compared with a sentence."""
_ABOUT = 0.6
"""The least share of a sentence's terms, or of a quote's words, in a statement about the same."""
_MOST_TOLD = 3

Kind = Literal["quote", "provision", "statement"]
Status = Literal["found", "altered", "differs", "missing", "unknown"]
"""``altered`` is only of quotes; ``differs`` means that the nearest statement says something else,
``unknown`` that there is no statement near."""
WRONG: frozenset[Status] = frozenset({"altered", "differs", "missing"})


class Point(TypedDict):
    """A quote, a provision or a statement of a sentence, compared with the documents."""

    kind: Kind
    said: str
    status: Status
    why: str  # the difference, or ""
    source: Citation | None


class CheckedSentence(TypedDict):
    """A sentence of the text, its offsets in code points, and its points."""

    text: str
    start: int
    end: int
    points: list[Point]


class Checked(TypedDict):
    """A text compared with the documents; ``wrong`` is the number of points that do not hold."""

    sentences: list[CheckedSentence]
    wrong: int


class _Stated(NamedTuple):
    text: str
    terms: frozenset[str]
    source: Citation


def check_text(text: str, view: View) -> Checked:
    """Compare every sentence of a text with the documents.

    Args:
        text: A text by a person or a model.
        view: The documents that the user may see.

    Raises:
        InputError: The text is not a string.
        DeadlineExceeded: The current deadline has passed.
    """
    if not isinstance(text, str):
        raise InputError(f"What is to be checked is a {type(text).__name__}.", "Give a text.")
    sentences: list[CheckedSentence] = []
    for start, end in sentence_spans(text):
        heed_deadline("while a text was checked")
        points = [*_points(text[start:end], view)]
        sentences.append({"text": text[start:end], "start": start, "end": end, "points": points})
    wrong = sum(p["status"] in WRONG for sentence in sentences for p in sentence["points"])
    return {"sentences": sentences, "wrong": wrong}


def _point(
    kind: Kind, said: str, status: Status, why: str = "", source: Citation | None = None
) -> Point:
    return {"kind": kind, "said": said, "status": status, "why": why, "source": source}


def _points(sentence: str, view: View) -> Iterator[Point]:
    quotes = [next(filter(None, match.groups())) for match in _QUOTE.finditer(sentence)]
    quotes = [quote for quote in quotes if len(quote.split()) >= _LEAST_QUOTED]
    yield from (_of_quote(quote, view) for quote in quotes)
    claim = without_markers(_QUOTE.sub(" ", sentence) if quotes else sentence)
    named, about = _named(claim, view)
    yield from named
    if not any(point["status"] == "missing" for point in named) and (
        stated := _of_statement(claim, about or _near(claim, view), bool(about))
    ):
        yield stated


def _of_quote(quote: str, view: View) -> Point:
    """Return the source of a quote, word for word or altered."""
    near = _near(quote, view)
    for document in dict.fromkeys(stated.source["document"] for stated in near):
        if span := _span_of(quote, view.text_of(document) or ""):
            sources = [s.source for s in near if s.source["document"] == document]
            inside = (s for s in sources if s["start"] <= span[0] < s["end"])
            section = next(inside, sources[0])["section"]
            return _point("quote", quote, "found", "", view.cited(document, *span, section))
    ours = _words(quote)
    parts = [(*_nearest_part(_words(stated.text), ours), stated.source) for stated in near]
    if near and (best := max(parts, key=itemgetter(0)))[0] >= _ABOUT:
        return _point("quote", quote, "altered", _changed(best[1], ours), best[2])
    return _point("quote", quote, "missing", "It stands in none of the documents.")


def _span_of(quote: str, text: str) -> tuple[int, int] | None:
    """Return the span of a quote in a text; line breaks need not match."""
    words = [(match.start(), match.group()) for match in _WORD.finditer(_plain(text).lower())]
    flat = " ".join(word for _, word in words)
    wanted = " ".join(_plain(quote).lower().split()).strip(" .,;:")
    at = flat.find(wanted)
    if at < 0:
        return None

    def offset(place: int) -> int:
        start, _ = words[flat.count(" ", 0, place)]
        return start + place - (flat.rfind(" ", 0, place) + 1)

    return offset(at), offset(at + len(wanted) - 1) + 1


def _words(text: str) -> list[str]:
    return [word.strip(".,;:") for word in _plain(text).split()]


def _nearest_part(theirs: list[str], ours: list[str]) -> tuple[float, list[str]]:
    """Return the likeness of a quote to the nearest part of a statement, and the part's words."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    lowered = [[word.lower() for word in words] for words in (ours, theirs)]
    aligned = partial_ratio_alignment(*lowered)
    if aligned is None:
        return 0.0, []
    return aligned.score / 100, theirs[aligned.dest_start : aligned.dest_end]


_TYPED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "\u00a0": " "})


def _plain(text: str) -> str:
    """Return a text with typewriter characters for printed ones, each at its offset."""
    return text.translate(_TYPED)


def _changed(theirs: list[str], ours: list[str]) -> str:
    """Return the changes of a quote in words."""
    changes = []
    for kind, first, end, start, stop in SequenceMatcher(None, theirs, ours, False).get_opcodes():
        before, after = " ".join(theirs[first:end]), " ".join(ours[start:stop])
        at_edge = not after and (first == 0 or end == len(theirs))  # only a part may be quoted
        if kind == "equal" or at_edge:
            continue
        if not after:
            changes.append(f"“{before}” is left out")
        else:
            changes.append(f"“{after}” in place of “{before}”" if before else f"“{after}” is added")
    return f"It is altered: {', '.join(changes[:_MOST_TOLD])}."


def _named(claim: str, view: View) -> tuple[list[Point], list[_Stated]]:
    """Return the provisions that a sentence names, and their statements."""
    references = find_references(claim)
    pointing = read_pointing(claim, view.titles) if references else None
    if pointing is None or pointing["foreign"]:  # of an act that is not among the documents
        return [], []
    pointed = point(pointing, view)
    points: list[Point] = []
    about: list[_Stated] = []
    for unit in pointed["units"]:
        source = view.cited(unit["document"], unit["start"], unit["end"], unit["label"])
        points.append(_point("provision", unit["label"], "found", source=source))
        about += _stated(view, list(view.chunks_over(unit)), unit["start"], unit["end"])
    if not points:
        lines = " ".join(without_markers(line["line"]) for line in pointed["told"])
        name = claim[references[0].start : references[0].end]
        why = lines or "None of the documents has it."
        points.append(_point("provision", name, "missing", why))
    return points, about


def _near(text: str, view: View) -> list[_Stated]:
    """Return the statements of the chunks nearest to a text."""
    by_words, by_vectors = view.search([folded(text)], _CHUNKS)
    chunk_ids = (hit.chunk_id for hits in (*by_words, *by_vectors) for hit in hits)
    return _stated(view, list(islice(dict.fromkeys(chunk_ids), 2 * _CHUNKS)))


def _stated(view: View, chunk_ids: Sequence[str], start: int = 0, end: int = 0) -> list[_Stated]:
    """Return the statements of chunks, within a span of their document if one is given."""
    return [
        _Stated(
            each.text,
            term_set(each.text),
            view.cited(chunk["document"], each.start, each.end, each.label),
        )
        for chunk in view.chunks(chunk_ids)
        for each in view.statements(chunk["id"])[0]
        if not end or start <= each.start < end
    ]


def _of_statement(claim: str, near: Sequence[_Stated], named: bool) -> Point | None:
    """Return a sentence compared with the nearest statement; None if the sentence says nothing."""
    wanted = frozenset(term for term in tokenize(claim) if not term[0].isdigit())
    claimed = sorted(facts(_without_references(claim)))
    # a short sentence says something if it has a figure
    if len(wanted) < (1 if claimed else _LEAST_QUOTED) or claim.rstrip().endswith("?"):
        return None
    shares = [len(wanted & stated.terms) / len(wanted) for stated in near]
    best = max(range(len(near)), key=shares.__getitem__, default=None)
    if best is None or shares[best] < (_ABOUT / 2 if named else _ABOUT):
        return _point("statement", claim, "unknown", "Nothing near it was found.")
    nearest = near[best]
    about = [s for s, share in zip(near, shares, strict=True) if share >= _ABOUT * shares[best]]
    text = " ".join(stated.text for stated in about)
    why = [
        *(f"{fact} is not there" for fact in claimed if not states(text, fact)),
        *(f"{day} is not there" for day in sorted(dates(claim) - dates(text))),
        *contradictions(claim, nearest.text),
    ]
    if (lost := restriction_left_out(claim, nearest.text)) and len(why) == 1:
        # leaving out an exception does not make a sentence wrong, but the reader must know
        return _point("statement", claim, "found", f"It leaves out “{lost}”.", nearest.source)
    reason = "; ".join(dict.fromkeys(why[:_MOST_TOLD]))
    return _point("statement", claim, "differs" if reason else "found", reason, nearest.source)


def _without_references(claim: str) -> str:
    for reference in reversed(find_references(claim)):
        claim = f"{claim[: reference.start]} {claim[reference.end :]}"
    return claim
