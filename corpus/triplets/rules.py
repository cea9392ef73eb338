"""Chunk -> triplets, by rules over its sentences and list items that know no particular law."""

import re
from collections.abc import Iterator, Mapping, Sequence

from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.triplets.aliases import find_aliases
from lexloop.corpus.triplets.clauses import Clause, clauses
from lexloop.corpus.triplets.definitions import Definition, find_definition
from lexloop.corpus.triplets.exceptions import (
    find_exemption,
    find_unlawful,
    override_statements,
    penalty_statements,
    scope_statements,
)
from lexloop.corpus.triplets.frames import frame_of
from lexloop.corpus.triplets.measures import find_amounts, find_deadlines
from lexloop.corpus.triplets.phrases import noun_phrase, readable, written_out
from lexloop.corpus.triplets.predicates import Statement
from lexloop.corpus.triplets.references import find_references, section_key
from lexloop.corpus.triplets.subjects import amount_subject, deadline_subject
from lexloop.corpus.triplets.units import Unit, units

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
_CLAUSE_START = re.compile(r"(?:at|if|it|no|not|that|they|when|where|within)\b", re.IGNORECASE)
_LEAD_IN = re.compile(
    r",?(?<!\s)\s+(?:if|where|when|that|which|who|to\s+enable|in\s+order|for|at\s+least|of\s+the\s+following)\b"
    r"[^,.;]{0,60}$"
)
_LEAD_IN_CHARS = 3000
_LEAD_IN_TIMES = 20
"""How much of the section before a chunk is read for it: so much, and so many times the chunk."""
_OWN_NAMES = ("section", "article", "rule", "regulation", "subchapter", "chapter", "part", "policy")


def extract_document(chunks: Sequence[Chunk]) -> list[Triplet]:
    """The triplets of one document, given all its chunks in order and without gaps.

    Unlike chunk by chunk, acronyms introduced anywhere serve everywhere, and a list that runs on
    from one chunk into the next keeps its lead-in.
    """
    text = "".join(chunk["text"] for chunk in chunks)
    aliases = find_aliases(text)
    triplets: list[Triplet] = []
    section_start = 0
    for previous, chunk in zip([None, *chunks], chunks, strict=False):
        if previous is None or previous["section"] != chunk["section"]:
            section_start = chunk["start"]
        offset = chunk["start"] - chunks[0]["start"]
        reach = min(_LEAD_IN_CHARS, _LEAD_IN_TIMES * len(chunk["text"]))
        begin = max(section_start - chunks[0]["start"], offset - reach)
        triplets += extract_triplets(chunk, aliases, text[begin:offset])
    return triplets


def extract_triplets(
    chunk: Chunk, aliases: Mapping[str, str] | None = None, before: str = ""
) -> list[Triplet]:
    """The relations that the sentences and list items of a chunk state.

    Args:
        chunk: The passage to read.
        aliases: Acronyms of the whole document (``find_aliases``); those that the chunk itself
            introduces are added.
        before: The text of the section before the chunk, for lists that began there.

    Returns:
        Triplets in reading order, without repetitions. ``start`` and ``end`` are offsets into the
        document, and ``quote`` is exactly what lies between them.
    """
    text = chunk["text"]
    introduced = find_aliases(text)
    known = {**introduced, **(aliases or {})}
    triplets: list[Triplet] = []
    seen: set[Statement] = set()
    for unit in units(before + text):
        start, end = unit.start - len(before), unit.end - len(before)
        if start < 0:
            continue
        for raw in _statements(unit, chunk["section"], introduced):
            statement = raw if raw.predicate == "alias_of" else _unified(raw, known)
            if statement in seen or not _stands_alone(statement):
                continue
            seen.add(statement)
            triplets.append(located(statement, chunk, start, end))
    return triplets


def located(statement: Statement, chunk: Chunk, start: int, end: int) -> Triplet:
    """A statement with its source: ``chunk["text"][start:end]``."""
    return {
        "subject": statement.subject,
        "predicate": statement.predicate,
        "object": statement.object,
        "chunk_id": chunk["id"],
        "document": chunk["document"],
        "section": chunk["section"],
        "page": chunk["page"],
        "start": chunk["start"] + start,
        "end": chunk["start"] + end,
        "quote": chunk["text"][start:end],
    }


def _stands_alone(statement: Statement) -> bool:
    """Whether both sides say something without the sentence around them."""
    if not statement.subject or not statement.object:
        return False
    if statement.predicate == "exception_to":
        return len(statement.subject) > len("that")
    return not _CLAUSE_START.match(statement.subject)


def _unified(statement: Statement, aliases: Mapping[str, str]) -> Statement:
    subject, predicate, target = statement
    if predicate == "refers_to":
        label = section_key(subject)
        return Statement(subject if label else noun_phrase(subject, aliases), predicate, target)
    if predicate == "exception_to":
        subject = readable(written_out(subject, aliases))
    else:
        subject = noun_phrase(subject, aliases)
    return Statement(subject, predicate, readable(written_out(target, aliases)))


def _statements(unit: Unit, section: str, introduced: Mapping[str, str]) -> Iterator[Statement]:
    body = unit.body
    if len(body) < 8:
        return
    for acronym, long_form in introduced.items():
        if acronym in body and long_form.lower() in body.lower():
            yield Statement(acronym, "alias_of", long_form)
    frame = frame_of(unit.lead) if unit.lead else None
    if frame:
        yield frame.statement(body)
    definition = find_definition(body)
    found = [] if definition else list(clauses(body))
    if definition:
        yield from _definition(definition, body)
    own = {f"this {name}": section or f"this {name}" for name in _OWN_NAMES}
    yield from _rules(unit, found)
    yield from scope_statements(body, own)
    yield from override_statements(body)
    yield from penalty_statements(body)
    if not _MEASURED.search(body):
        return
    for amount in find_amounts(body):
        yield Statement(amount_subject(body, amount, found), "amount", amount.text)
    for deadline in find_deadlines(body):
        subject = deadline_subject(body, deadline, found, unit.lead is not None, section)
        yield Statement(subject, "deadline", deadline.text)
    about = section if section_key(section) or not found else found[0].subject
    subject = definition.term if definition else about
    yield from _references(body, subject, section)


def _definition(definition: Definition, body: str) -> Iterator[Statement]:
    meaning = readable(body[definition.start :])
    if definition.other:
        yield Statement(definition.other, "alias_of", definition.term)
    if len(meaning) > 2:
        yield Statement(definition.term, definition.predicate, meaning)


def _rules(unit: Unit, found: Sequence[Clause]) -> Iterator[Statement]:
    """Duties, prohibitions and permissions, and what is excepted from them."""
    body = unit.body
    exemption = find_exemption(body)
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
        yield Statement(noun_phrase(clause.subject), clause.predicate, action)
        if exemption and clause.start < exemption.start:
            excepted = action
    if unlawful := find_unlawful(body):
        actor, action, _ = unlawful
        excepted = readable(action)
        yield Statement(noun_phrase(actor), "prohibits", excepted)
    if exemption and excepted:
        yield Statement(exemption.condition, "exception_to", excepted)


def _references(body: str, subject: str, section: str) -> Iterator[Statement]:
    """Cross-references to other provisions; a heading's own number and self-references are none."""
    own = section_key(section)
    for start, reference in find_references(body):
        target = section_key(reference)
        compound = " of " in reference or target
        if start > 0 and compound and not (target and target == own):
            yield Statement(noun_phrase(subject), "refers_to", reference)
