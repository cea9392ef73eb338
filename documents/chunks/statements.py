"""Statements: the smallest spans that can be quoted, each with the words that lead into it."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate, pairwise, zip_longest
from operator import attrgetter

from lexloop.core.folding import narrowed
from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.documents.structure.lines import cells
from lexloop.documents.structure.markers import list_markers
from lexloop.documents.structure.parse import parse
from lexloop.documents.structure.tree import ITEMS, Kind, Tree
from lexloop.documents.text.abbreviations import Abbreviations, abbreviations_of
from lexloop.documents.text.tokens import STOP_WORDS, sentence_spans

Span = tuple[int, int]
"""Start and end in code points of the document's text, half-open."""

_SILENT: frozenset[Kind] = frozenset(("part", "annex", "contents", "columns", "table"))
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|must|may|shall|should|can|could|will|would|cannot|has|have|had"
    r"|do|does|did|means?|include[sd]?|requires?|applies|apply|covers?|takes?|begins?|ends|gives?"
    r"|counts?|refers?|provides?|(?-i:end))\b",
    re.IGNORECASE,
)
_ASKING = ("What ", "Who ", "When ", "Where ", "Why ", "How ", "Which ", "Whether ")
_DETERMINERS = frozenset("the a an its their his her every each all any it them once twice".split())
_LINKS = STOP_WORDS | frozenset("within without upon per regarding concerning".split())
_LABEL_WORDS, _SENTENCE_WORDS = 8, 5
_SMALL_WORD = 4
"""The most letters of a word that a title may have in small letters."""
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, a list item, a table row, or a whole list.

    Args:
        start: Start of its text, including its number, in code points of the document.
        leads: Spans of the lead-ins that it completes, outermost first; for a row, of the column
            names.
        label: Its name in a citation.
        lead: The lead-ins as one line, without numbers; "" if there are none.
        own: Its text as one line, without its number. For a row, the cells with the names of their
            columns; for a list, its heading and lead-in.
        points: Number of a list's points; 0 if it is not a list.
        notes: Spans of its footnotes, which may contain exceptions.
    """

    start: int
    end: int
    leads: tuple[Span, ...]
    label: str
    lead: str
    own: str
    points: int = 0
    notes: tuple[Span, ...] = ()

    @property
    def text(self) -> str:
        """The statement as a text that can be read alone."""
        return f"{self.lead} {self.own}" if self.lead else self.own


_values = attrgetter(*(field.name for field in fields(Statement)))
"""The fields of a statement, in order. ``astuple`` copies deeply, which takes far longer."""


def statements(tree: Tree, text: str) -> Iterator[Statement]:
    """Yield the statements of a document in order, in time linear in its length.

    Headings and labels are left out. A whole list, shown by its lead-in, comes before its points.
    """
    for statement in _statements(tree, text):
        notes = tree.notes_of(statement.start, statement.end) if tree.notes else ()
        yield replace(statement, notes=notes) if notes else statement


def _statements(tree: Tree, text: str) -> Iterator[Statement]:
    text = narrowed(text)
    leads: list[tuple[Span, ...]] = []
    items: dict[int, set[int]] = {}
    columns: dict[int, list[str]] = {}
    named: dict[int, Span] = {}
    abbreviations = abbreviations_of(text)
    for place, unit in enumerate(tree.units):
        above = leads[unit.parent] if unit.parent >= 0 else ()
        if unit.kind == "columns":
            columns[unit.parent] = cells(text[unit.start : unit.end])
            named[unit.parent] = unit.start, unit.end
        sentences = [] if unit.kind in _SILENT else _own_sentences(tree, place, text, abbreviations)
        within = above if unit.kind in ITEMS and place in items.get(unit.parent, ()) else ()
        if sentences and tree.leads(place, text):
            lead = sentences.pop()
            leads.append((*within[-_DEEPEST:], lead) if not sentences else (lead,))
            items[place] = set(tree.items(place))
        else:
            lead = None
            leads.append(())
        # no question asks for all the definitions of a list at once
        if lead is not None and any(tree.units[p].kind != "definition" for p in items[place]):
            spans = leads[-1][:-1]
            lead_words = " ".join(unnumbered(text[slice(*span)]) for span in spans)
            points = len(items[place])
            words = unnumbered(text[unit.body : lead[1]])
            heading = "" if spans else _heading(tree, place)
            own = f"{heading} {words}" if heading else words
            yield Statement(unit.body, unit.end, spans, unit.label, lead_words, own, points)
        alone = len(sentences) == 1 and not tree.children(place)
        written = [text[slice(*sentence)] for sentence in sentences]
        labelled = bool(written) and _is_label(written[0], unit.kind, alone)
        labelled = labelled and not (len(written) > 1 and all(map(_is_verbless, written[:2])))
        for number, (start, end) in enumerate(sentences):
            if not number and labelled:
                continue
            spans = within if not number else ()
            if unit.kind == "row" and unit.parent in named:
                spans = (named[unit.parent],)
            lead_words = " ".join(unnumbered(text[slice(*span)]) for span in within if not number)
            own = (
                row_text(text[start:end], columns.get(unit.parent, []))
                if unit.kind == "row"
                else unnumbered(text[start:end])
            )
            yield Statement(start, end, spans, unit.label, lead_words, own)


def _heading(tree: Tree, place: int) -> str:
    """Return the nearest heading of a unit or above it, with a stop or colon; "" if none."""
    headings = (tree.units[p].heading for p in (place, *tree.above(place)))
    nearest = next(filter(None, headings), "")
    return f"{nearest}:" if nearest and not nearest.endswith((".", ":", "?")) else nearest


def row_text(row: str, names: Sequence[str]) -> str:
    """Return the cells of a row, each with the name of its column if it has one."""
    named = zip_longest(cells(row), names, fillvalue="")
    return "; ".join(f"{name}: {cell}" if name else cell for cell, name in named if cell)


def statements_in_text(text: str) -> list[Statement]:
    """Return the statements of a short text, such as an answer; none for a blank text.

    A text that is only a heading is one statement.
    """
    parsed = list(statements(parse(text), text))
    if not parsed and (words := unnumbered(text)):
        start = len(text) - len(text.lstrip())
        parsed = [Statement(start, len(text.rstrip()), (), "", "", words)]
    return parsed


def sentence_before(tree: Tree, text: str, place: int) -> Statement | None:
    """Return the last sentence before a unit within its parent, or None."""
    parent = tree.units[place].parent
    siblings = tree.children(parent)
    at = siblings.index(place)
    before = siblings[at - 1] if at else parent
    if before < 0 or tree.units[before].kind in _SILENT:
        return None
    sentences = _own_sentences(tree, before, text, abbreviations_of(text))
    if not sentences:
        return None
    start, end = sentences[-1]
    if len(sentences) == 1 and _is_label(text[start:end], tree.units[before].kind, alone=False):
        return None
    return Statement(start, end, (), tree.units[before].label, "", unnumbered(text[start:end]))


def sentence_at(tree: Tree, text: str, place: int, offset: int) -> Statement | None:
    """Return the sentence of a unit's own text at an offset, or None."""
    if tree.units[place].kind in _SILENT:
        return None
    spans = _own_sentences(tree, place, text, abbreviations_of(text))
    span = next(((a, b) for a, b in spans if a <= offset < b), None)
    if span is None:
        return None
    return Statement(*span, (), tree.units[place].label, "", unnumbered(text[slice(*span)]))


def unnumbered(text: str) -> str:
    """Return a text with narrow characters, on one line, without its leading number."""
    flat = " ".join(narrowed(text).split())
    at = 0
    for _ in range(_DEEPEST):
        markers = list_markers(flat, at)
        if not markers or not flat[markers[0].end :].strip():
            break
        at = markers[0].end
    return flat[at:].lstrip()


def _own_sentences(tree: Tree, place: int, text: str, abbreviations: Abbreviations) -> list[Span]:
    """Return the sentences of a unit's own text; a row is one sentence."""
    unit, end = tree.units[place], tree.own_end(place)
    words = text[unit.body : end]
    if not words.strip():
        return []
    if unit.kind == "row":
        begin = unit.body + len(words) - len(words.lstrip())
        return [(begin, unit.body + len(words.rstrip()))]
    # line ends within a unit only wrap its text
    spans = sentence_spans(words.replace("\n", " "), abbreviations)
    open_ended = bool(tree.children(place))
    return [(unit.body + a, unit.body + b) for a, b in _with_topics(words, spans, open_ended)]


def _with_topics(words: str, spans: Sequence[Span], goes_on: bool) -> Iterator[Span]:
    """Yield sentences, with run-in headings joined to the sentence they head.

    If a text has lost its line ends, "5.9 Governing Law." is found among sentences. A heading at
    the end heads the units below, if the text ``goes_on`` there.
    """
    begin = -1
    for number, (start, end) in enumerate(spans):
        if number and (number + 1 < len(spans) or goes_on) and _is_topic(words[start:end]):
            begin = start if begin < 0 else begin
            continue
        yield (start if begin < 0 else begin), end
        begin = -1


def _is_topic(words: str) -> bool:
    """Return whether words are a run-in heading: a few capitalised words, "Governing Law."."""
    return words.rstrip().endswith(".") and _is_titled(unnumbered(words))


def _is_titled(phrase: str) -> bool:
    """Return whether a few words are in title case and have no verb."""
    words = re.findall(r"[^\W\d_]+", phrase)
    if not 0 < len(words) <= _LABEL_WORDS:
        return False
    headed = all(word[0].isupper() for word in words if len(word) > _SMALL_WORD)
    ends = words[0][0].isupper() and words[-1][0].isupper()
    return headed and ends and not _VERB.search(phrase)


def _is_label(words: str, kind: Kind, alone: bool) -> bool:
    """Return whether words name a topic and state nothing: "(a) General requirements.".

    The words are a sentence of a unit; ``alone`` is true if the unit has no other text.
    """
    if kind == "row" or (alone and (kind in ITEMS or kind == "provision")):
        return False
    phrase = unnumbered(words)
    count = len(re.findall(r"[^\W\d_]+", phrase))
    if phrase.endswith("?"):
        return False  # the following sentence answers it
    if _asks(phrase) and count <= _LABEL_WORDS:
        return True
    complete = alone and phrase.endswith(".") and phrase.count(" ") > 1
    if complete or (kind in ITEMS and phrase[:1].islower()):
        return False  # it completes its lead-in
    if count < 2 or count > _LABEL_WORDS or re.search(r"\d", phrase):
        return count < 2
    states = _VERB.search(phrase) or _has_object(phrase) or _has_subject(phrase)
    return _is_titled(phrase) or not states


def _asks(phrase: str) -> bool:
    """Return whether a heading is a question without a question mark: "What is not a boat."."""
    return phrase.startswith(_ASKING) and not any(sign in phrase for sign in ",;:?")


def _is_verbless(words: str) -> bool:
    """Return whether words state something without a verb and are not a title: "No dogs."."""
    phrase = unnumbered(words)
    titled = _is_titled(phrase) or _asks(phrase)
    return (
        " " in phrase
        and phrase.endswith(".")
        and not titled
        and _is_label(words, "text", alone=False)
    )


def _has_subject(phrase: str) -> bool:
    """Return whether words begin as a sentence: "The Board pays for"; not "The duties of"."""
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", phrase)]
    return len(words) >= _SENTENCE_WORDS and words[0] in _DETERMINERS and words[2] not in _LINKS


def _has_object(phrase: str) -> bool:
    """Return whether a verb is followed by its object: "keeps the minutes", but not "of the".

    A preposition or another small word before the article does not count.
    """
    words = re.findall(r"[^\W\d_]+", phrase) if not phrase.endswith(":") else []
    return any(b in _DETERMINERS and a.lower() not in _LINKS for a, b in pairwise(words))


def statements_of_chunks(document: Document, chunks: Sequence[Chunk]) -> list[list[Statement]]:
    """Return the statements of each chunk, in order, cut to the chunk.

    A list belongs to the chunk in which it begins. The chunks are in ascending order of their
    starts and of their ends.
    """
    ordered = list(statements(document.tree, document.text))
    reach = list(accumulate((statement.end for statement in ordered), max))
    by_chunk: list[list[Statement]] = []
    for chunk in chunks:
        inside: list[Statement] = []
        for place in range(bisect_left(reach, chunk["start"] + 1), len(ordered)):
            if ordered[place].start >= chunk["end"]:
                break
            begun = ordered[place].start >= chunk["start"]
            if ordered[place].end > chunk["start"] and (begun or not ordered[place].points):
                inside.append(_cut(ordered[place], chunk))
        by_chunk.append(inside)
    return by_chunk


def _cut(statement: Statement, chunk: Chunk) -> Statement:
    """Return a statement cut to a chunk."""
    start, end = max(statement.start, chunk["start"]), min(statement.end, chunk["end"])
    if statement.points or (start, end) == (statement.start, statement.end):
        return statement
    text = chunk["text"][start - chunk["start"] : end - chunk["start"]]
    start += len(text) - len(text.lstrip())
    return replace(statement, start=start, end=start + len(text.strip()), own=unnumbered(text))


def statements_text(ordered: Sequence[Statement]) -> str:
    """Return statements as JSON."""
    return json.dumps([*map(_values, ordered)], ensure_ascii=False, separators=(",", ":"))


def statements_in(text: str) -> list[Statement]:
    """Return the statements that ``statements_text`` wrote."""
    return [
        Statement(start, end, _spans(leads), label, lead, own, points, _spans(notes))
        for start, end, leads, label, lead, own, points, notes in json.loads(text)
    ]


def _spans(rows: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple((start, end) for start, end in rows)
