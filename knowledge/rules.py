"""Triplets extracted by rules over statements that know no particular law."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.documents.structure.references import cited, steps_of
from lexloop.knowledge import exceptions, measures
from lexloop.knowledge.clauses import Clause, clauses
from lexloop.knowledge.definitions import Definition, find_aliases, find_definition, named_so
from lexloop.knowledge.frames import Frame, Sentence, frame_of, sentences
from lexloop.knowledge.phrases import noun_phrase, readable
from lexloop.knowledge.predicates import BareTriplet
from lexloop.knowledge.references import References, Target

_NO_DUTY = re.compile(
    r"(?:apply|mean|constitute|be\s+(?:deemed|construed|treated|regarded|considered|read|liable"
    r"|guilty|punish\w+|subject\s+to)|give\s+rise|take\s+effect|come\s+into|have\s+the\s+meaning"
    r"|have\s+effect|prevail|govern)\b"
)
_NO_PERMISSION = re.compile(
    r"(?:be\s+(?!\w+ed\b|made|given|held|paid|sold|taken)\w+|be\s+(?:required|needed|affected|caused"
    r"|based|located|exposed|concerned)\b|include|vary|result|arise|affect|depend|contain|have|exist"
    r"|occur|cause|constitute|lead|differ|change|need|wish|choose|want|seem|appear|become|fall|not"
    r"|apply|well|reasonably|trigger|indicate|suggest|involve|give\s+rise|find|help|mean|relate|take\s+the\s+form)\b"
)
_OPEN_LIST = re.compile(r"(?<!\s)\s*\bbut\s+not\s+(?:be\s+)?limited\s+to")
_MEASURED = re.compile(
    r"\d|§|[IVX]|day|week|month|quarter|year|annual|subdivision|paragraph|Part|Annex"
)
_HEADED = frozenset(("part", "annex", "provision"))
_SHORTEST = 8
_ASIDE = re.compile(r"\s*\([“\"‘']?([^()]{3,80}?)[”\"’']?\)")
_CLAUSE_START = re.compile(r"(?:at|if|it|no|not|that|they|when|where|within)\b", re.IGNORECASE)
_LEAD_IN = re.compile(
    r",?(?<!\s)\s+(?:if|where|when|that|which|who|to\s+enable|in\s+order|for|at\s+least|of\s+the\s+following)\b"
    r"[^,.;]{0,60}$"
)


def extract_document(document: Document, chunks: Sequence[Chunk]) -> list[Triplet]:
    """Return the relations that a document's statements state, and its provisions' topics.

    The chunks are those of the document, in the order of their starts.

    Returns:
        Triplets in reading order, none twice in one chunk and provision. ``start`` and ``end`` are
        offsets into the document, ``quote`` is exactly what lies between them, and ``section`` is
        the label of the statement.
    """
    starts = [chunk["start"] for chunk in chunks]
    triplets: list[Triplet] = []
    seen: set[tuple[int, str, BareTriplet]] = set()
    for start, stop, label, statement in _Reader(document).read():
        place = bisect_right(starts, start) - 1
        if place < 0 or (place, label, statement) in seen:
            continue
        seen.add((place, label, statement))
        quote = document.text[start : min(stop, chunks[place]["end"])].rstrip()
        if quote:
            triplets.append(
                {
                    "subject": statement.subject,
                    "predicate": statement.predicate,
                    "object": statement.object,
                    "chunk_id": chunks[place]["id"],
                    "document": document.name,
                    "section": label,
                    "page": document.page_at(start),
                    "start": start,
                    "end": start + len(quote),
                    "quote": quote,
                }
            )
    return triplets


_Located = tuple[int, int, str, BareTriplet]
"""A statement with where it begins and ends, and the label of that place."""


class _Reader:
    """A reader of one document, which reads a lead-in once for all its items."""

    def __init__(self, document: Document) -> None:
        self._tree, self._text = document.tree, document.text
        self._references = References(self._tree, self._text, document.title)
        self._frames: dict[int, Frame | None] = {}
        self._excepted: dict[int, Sequence[str]] = {}
        self._sanctions: dict[int, str] = {}

    def read(self) -> list[_Located]:
        """Return everything the document states, in its order."""
        found = [*self._headings()]
        for unit in sentences(self._tree, self._text):
            for statement in self._statements(unit):
                if _stands_alone(statement):
                    found.append((unit.start, unit.end, unit.label, statement))
        return sorted(found, key=lambda item: item[0])

    def _headings(self) -> Iterator[_Located]:
        """Yield the topics of parts and provisions, from their headings."""
        for place, unit in enumerate(self._tree.units):
            heading = readable(unit.heading)
            if heading and heading != unit.label and self._tree.operative(place):
                found = [BareTriplet(a, "alias_of", b) for a, b in find_aliases(heading).items()]
                if unit.kind in _HEADED and cited(unit.label):
                    names = [_ASIDE.sub("", heading), *_ASIDE.findall(heading)]
                    said = filter(None, map(noun_phrase, names))
                    found += [BareTriplet(unit.label, "concerns", name) for name in said]
                for statement in found:
                    yield unit.start, max(unit.body, unit.start), unit.label, statement

    def _statements(self, unit: Sentence) -> Iterator[BareTriplet]:
        body, label = unit.body, unit.label
        if len(body) < _SHORTEST:
            return
        targets = self._references.of(body, unit.place)
        inoperative = unit.place >= 0 and not self._tree.operative(unit.place)
        definition = None if inoperative else find_definition(body)
        said: list[BareTriplet] = []
        if not inoperative:
            said = [*self._stated(unit, definition, targets)]
            kind = self._tree.units[unit.place].kind if unit.place >= 0 else "text"
            if not (said or unit.leads or kind == "row") and steps_of(label):
                said.append(BareTriplet(label, "states", readable(body)))
            yield from said
        subject = definition.term if definition else label
        if said and not (definition or cited(label)):
            subject = said[0].subject
        for target in targets:
            around = target.own and f"{label}(".startswith((f"{target.name}(", f"{target.name},"))
            if not around:
                yield BareTriplet(subject, "refers_to", target.name)

    def _stated(
        self, unit: Sentence, definition: Definition | None, targets: Sequence[Target]
    ) -> Iterator[BareTriplet]:
        """Yield the relations of an operative statement, its references left out."""
        body = unit.body
        for acronym, long_form in find_aliases(body).items():
            yield BareTriplet(acronym, "alias_of", long_form)
        for term, meaning in named_so(body):
            yield BareTriplet(term, "defines", meaning)
        if frame := self._frame(unit.lead):
            yield frame.statement(body)
        found = [] if definition else list(clauses(body))
        if definition:
            meaning = readable(body[definition.start :])
            if definition.other:
                yield BareTriplet(definition.other, "alias_of", definition.term)
            if len(meaning) > len("is"):
                yield BareTriplet(definition.term, definition.predicate, meaning)
        yield from _rules(unit, found)
        yield from self._limits(unit, targets)
        if not _MEASURED.search(body):
            return
        for amount in measures.find_amounts(body):
            yield BareTriplet(measures.amount_subject(body, amount, found), "amount", amount.text)
        for deadline in measures.find_deadlines(body):
            subject = measures.deadline_subject(
                body, deadline, found, unit.lead is not None, unit.label
            )
            yield BareTriplet(subject, "deadline", deadline.text)

    def _frame(self, lead: Sentence | None) -> Frame | None:
        if lead is None:
            return None
        if lead.start not in self._frames:
            self._frames[lead.start] = frame_of(lead)
        return self._frames[lead.start]

    def _limits(self, unit: Sentence, targets: Sequence[Target]) -> Iterator[BareTriplet]:
        """Yield scope, exceptions and sanctions of the provisions that the statement names."""
        body, lead = unit.body, unit.lead.start if unit.lead else -1
        own = [target for target in targets if target.own]
        this = self._references.this(unit.place)
        for label in self._excepted.get(lead, ()):
            yield BareTriplet(readable(body), "exception_to", label)
        if penalty := self._sanctions.get(lead):
            for target in own:
                yield BareTriplet(penalty, "penalises", target.name)

        def named(end: int) -> list[str]:
            return exceptions.rules_before(body, end, own, this)

        if unit.leads and (disapplied := exceptions.DISAPPLIED.search(body)):
            self._excepted[unit.start] = named(disapplied.start())
        yield from exceptions.scope_statements(body, named)
        yield from exceptions.override_statements(body, own)
        if punished := exceptions.find_penalty(body):
            penalty, conduct, end = punished
            self._sanctions[unit.start] = penalty
            here = [label for words, label in this.items() if words in body[:end].lower()]
            provisions = [target.name for target in own if target.end <= end]
            said = [conduct] if conduct else []
            for what in (*said, *dict.fromkeys((*provisions, *here))):
                yield BareTriplet(penalty, "penalises", what)


def _stands_alone(statement: BareTriplet) -> bool:
    """Return whether both sides say something without the sentence around them."""
    if not statement.subject or not statement.object:
        return False
    if statement.predicate == "exception_to":
        return len(statement.subject) > len("that")
    return not _CLAUSE_START.match(statement.subject)


def _rules(unit: Sentence, found: Sequence[Clause]) -> Iterator[BareTriplet]:
    """Yield duties, prohibitions and permissions, and what is excepted from them."""
    body = unit.body
    exemption = exceptions.find_exemption(body)
    excepted = ""
    for clause in found:
        action = _OPEN_LIST.sub("", clause.action)
        if unit.leads:
            action, conditional = _LEAD_IN.subn("", action)
            if not conditional and len(action.split()) < 4:
                continue  # "must notify:" says nothing without its items
        action = readable(action)
        skipped = _NO_PERMISSION if clause.predicate == "permits" else _NO_DUTY
        if len(action) < 3 or (skipped.match(action) and clause.predicate != "prohibits"):
            continue
        if clause.predicate == "prohibits" and re.match(r"apply\b", action):
            continue
        yield BareTriplet(noun_phrase(clause.subject), clause.predicate, action)
        if exemption and clause.start < exemption[1]:
            excepted = action
    if unlawful := exceptions.find_unlawful(body):
        actor, action, _ = unlawful
        excepted = readable(action)
        yield BareTriplet(noun_phrase(actor), "prohibits", excepted)
    if exemption and excepted:
        yield BareTriplet(exemption[0], "exception_to", excepted)
