"""A text written elsewhere beside the documents: its quotes, the provisions it names, its facts.

Only what code can know is told as wrong: a quote that stands nowhere, a provision that there is
not, a figure or a day that the nearest statement does not have, a word exchanged in a copy of it.
Whether other words mean the same is left to a reader.
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
from lexloop.documents.text.tokens import sentence_spans, tokenize
from lexloop.nodes.alignment import contradictions, restriction_left_out
from lexloop.nodes.markers import without_markers
from lexloop.nodes.question.pointing import read_pointing
from lexloop.nodes.question.provisions import point
from lexloop.store.view import View

_QUOTE = re.compile(r"“([^“”]+)”|\"([^\"]+)\"|«([^«»]+)»|„([^„“”]+)[“”]")
_WORD = re.compile(r"\S+")
_LEAST_QUOTED = 4
"""Words of a quote; fewer are a term or a title."""
_CHUNKS = 6
"""Chunks whose statements a sentence is laid beside."""
_ABOUT = 0.6
"""The share of a sentence's terms, or of a quote's words, that a statement about the same has."""
_MOST_TOLD = 3

Kind = Literal["quote", "provision", "statement"]
Status = Literal["found", "altered", "differs", "missing", "unknown"]
"""``altered`` is of quotes; ``differs`` says that the nearest statement says otherwise; ``unknown``
that nothing near was found."""
WRONG: frozenset[Status] = frozenset({"altered", "differs", "missing"})


class Point(TypedDict):
    """What a sentence quotes, names or states, beside the documents."""

    kind: Kind
    said: str
    status: Status
    why: str  # what differs; "" if nothing does
    source: Citation | None


class CheckedSentence(TypedDict):
    """A sentence of the text, its offsets in code points, and what of it could be checked."""

    text: str
    start: int
    end: int
    points: list[Point]


class Checked(TypedDict):
    """A text beside the documents; ``wrong`` counts the points that do not hold."""

    sentences: list[CheckedSentence]
    wrong: int


class _Stated(NamedTuple):
    text: str
    terms: frozenset[str]
    source: Citation


def check_text(text: str, view: View) -> Checked:
    """Lay every sentence of a text beside the documents.

    Args:
        text: Written elsewhere, by a person or a model.
        view: The documents that the asker may see.

    Raises:
        InputError: It is not a text.
        DeadlineExceeded: The current deadline has passed.
    """
    if not isinstance(text, str):
        raise InputError(f"What is to be checked is a {type(text).__name__}.", "Give a text.")
    sentences: list[CheckedSentence] = []
    for start, end in sentence_spans(text):
        heed_deadline("while a text was checked")
        said = text[start:end]
        points = [*_points(said, view)]
        sentences.append({"text": said, "start": start, "end": end, "points": points})
    wrong = sum(p["status"] in WRONG for sentence in sentences for p in sentence["points"])
    return {"sentences": sentences, "wrong": wrong}


def _point(
    kind: Kind, said: str, status: Status, why: str = "", source: Citation | None = None
) -> Point:
    return {"kind": kind, "said": said, "status": status, "why": why, "source": source}


def _points(said: str, view: View) -> Iterator[Point]:
    quotes = [next(filter(None, match.groups())) for match in _QUOTE.finditer(said)]
    quotes = [quote for quote in quotes if len(quote.split()) >= _LEAST_QUOTED]
    yield from (_of_quote(quote, view) for quote in quotes)
    own = _QUOTE.sub(" ", said) if quotes else said
    claim = without_markers(own)
    named, about = _named(claim, view)
    yield from named
    if not any(point["status"] == "missing" for point in named) and (
        stated := _of_statement(claim, about or _near(claim, view), bool(about))
    ):
        yield stated


def _of_quote(quote: str, view: View) -> Point:
    """Return where a quote stands, word for word or altered."""
    near = _near(quote, view)
    for document in dict.fromkeys(stated.source["document"] for stated in near):
        if found := _span_of(quote, view.text_of(document) or ""):
            source = next(s.source for s in near if s.source["document"] == document)
            start, end = found
            held = [s for s in near if s.source["document"] == document]
            inside = (s.source for s in held if s.source["start"] <= start < s.source["end"])
            section = next(inside, source)["section"]
            return _point("quote", quote, "found", "", view.cited(document, start, end, section))
    ours = _words(quote)
    parts = [(*_nearest_part(_words(stated.text), ours), stated.source) for stated in near]
    if near and (best := max(parts, key=itemgetter(0)))[0] >= _ABOUT:
        return _point("quote", quote, "altered", _changed(best[1], ours), best[2])
    return _point("quote", quote, "missing", "It stands in none of the documents.")


def _span_of(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, however both are broken into lines."""
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
    """Return the words of a statement that a quote is nearest to, and how alike they are."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    small = [[word.lower() for word in words] for words in (ours, theirs)]
    found = partial_ratio_alignment(*small)
    if found is None:
        return 0.0, []
    return found.score / 100, theirs[found.dest_start : found.dest_end]


_TYPED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "\u00a0": " "})


def _plain(text: str) -> str:
    """Return a text with typed signs in place of printed ones, each at its offset."""
    return text.translate(_TYPED)


def _changed(theirs: list[str], ours: list[str]) -> str:
    """Return what a quote changes, as a person would mark it."""
    told = []
    for kind, first, end, start, stop in SequenceMatcher(None, theirs, ours, False).get_opcodes():
        before, after = " ".join(theirs[first:end]), " ".join(ours[start:stop])
        at_edge = not after and (first == 0 or end == len(theirs))  # a quote may be of a part
        if kind != "equal" and not at_edge:
            told.append(f"“{after}” in place of “{before}”" if before else f"“{after}” is added")
            if not after:
                told[-1] = f"“{before}” is left out"
    return f"It is altered: {', '.join(told[:_MOST_TOLD])}."


def _named(claim: str, view: View) -> tuple[list[Point], list[_Stated]]:
    """Return the provisions that a sentence names, and what they state."""
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
        told = " ".join(without_markers(line["line"]) for line in pointed["told"])
        said = claim[references[0].start : references[0].end]
        why = told or "None of the documents has it."
        points.append(_point("provision", said, "missing", why))
    return points, about


def _near(text: str, view: View) -> list[_Stated]:
    """Return the statements of the chunks nearest to a text."""
    by_words, by_vectors = view.search([folded(text)], _CHUNKS)
    found = (hit.chunk_id for hits in (*by_words, *by_vectors) for hit in hits)
    return _stated(view, list(islice(dict.fromkeys(found), 2 * _CHUNKS)))


def _stated(view: View, chunk_ids: Sequence[str], start: int = 0, end: int = 0) -> list[_Stated]:
    """Return the statements of chunks, or those of them in a span of their document."""
    stated: list[_Stated] = []
    for chunk in view.chunks(chunk_ids):
        for one in view.statements(chunk["id"])[0]:
            if end and not start <= one.start < end:
                continue
            source = view.cited(chunk["document"], one.start, one.end, one.label)
            stated.append(_Stated(one.text, frozenset(tokenize(one.text)), source))
    return stated


def _of_statement(claim: str, near: Sequence[_Stated], named: bool) -> Point | None:
    """Return what the nearest statement makes of a sentence; None if the sentence says nothing."""
    wanted = frozenset(term for term in tokenize(claim) if not term[0].isdigit())
    stated = sorted(facts(_without_references(claim)))
    # a short sentence says something if it has a figure
    if len(wanted) < (1 if stated else _LEAST_QUOTED) or claim.rstrip().endswith("?"):
        return None
    shares = [len(wanted & stated.terms) / len(wanted) for stated in near]
    best = max(range(len(near)), key=shares.__getitem__, default=None)
    if best is None or shares[best] < (_ABOUT / 2 if named else _ABOUT):
        return _point("statement", claim, "unknown", "Nothing near it was found.")
    about = [s for s, share in zip(near, shares, strict=True) if share >= _ABOUT * shares[best]]
    held = " ".join(stated.text for stated in about)
    why = [f"{fact} is not there" for fact in stated if not states(held, fact)]
    why += [f"{day} is not there" for day in sorted(dates(claim) - dates(held))]
    why += contradictions(claim, near[best].text)
    if (lost := restriction_left_out(claim, near[best].text)) and len(why) == 1:
        # an exception that is left out makes no sentence wrong, and its reader has to know
        return _point("statement", claim, "found", f"It leaves out “{lost}”.", near[best].source)
    told = "; ".join(dict.fromkeys(why[:_MOST_TOLD]))
    return _point("statement", claim, "differs" if told else "found", told, near[best].source)


def _without_references(claim: str) -> str:
    for reference in reversed(find_references(claim)):
        claim = f"{claim[: reference.start]} {claim[reference.end :]}"
    return claim
