"""Sentences with their lead-ins: "An issuer must:" makes each item a duty of the issuer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lexloop.documents.chunks.statements import Span, statements, unnumbered
from lexloop.documents.structure.tree import Tree
from lexloop.knowledge.clauses import clauses
from lexloop.knowledge.definitions import find_definition
from lexloop.knowledge.exceptions import find_unlawful
from lexloop.knowledge.phrases import PHRASE_CHARS, noun_phrase, readable
from lexloop.knowledge.predicates import BareTriplet, Predicate

_UNLESS = re.compile(r"\b(?:unless|except\s+(?:where|when|if|that|for|in))\b[^.;]{0,60}$")
_CONDITIONAL = re.compile(
    r"\b(?:if|where|when|provided,?\s+that|to\s+the\s+extent|only\s+after|until|which|who|as\s+if"
    r"|whether|because|such\s+as|in\s+case)\b[^.;]{0,80}$"
)
_APPLIES = re.compile(
    r"^(?P<rule>[^,;]{3,80}?)\s+(?:shall\s+)?appl(?:y|ies)\s+(?:only\s+)?to"
    r"(?:\s+(?:each|all|any)\s+of)?(?:\s+the\s+following(?:\s+\w+){0,2})?$"
)
_FILLER = re.compile(
    r",?\s{0,9}(?:\b(?:of\s++|with\s++|in\s++)?(?:each|all|any|both|one\s+or\s+more|at\s+least)?"
    r"(?:\s+of)?\s*the\s+following(?:\s+\w+){0,2}|\bthat|\bincluding|\bas\s+follows)?\s{0,9}[:—–-]{0,9}\s{0,9}$"
)
_WHO = re.compile(r"(?<!\s)\s+(?:who|that|which)\s")
_SMALL_WORD = re.compile(r"^(?:A|An|Any|Each|That|The|Whether|Such)\b")
_HEAD_CHARS = 60
_LONGEST = 4000
"""Characters of one unit that are read; a longer "sentence" is a table or no prose at all."""


@dataclass(frozen=True)
class Sentence:
    """One statement, or a lead-in: ``text[start:end]``, ``body`` on one line without its number.

    Args:
        start: Where it begins, its number included.
        lead: The unit whose clause this item continues: "An issuer must:" for "(a) keep ...".
        leads: Whether list items follow.
        place: Of the deepest unit of the tree that holds its first character; -1 where none does.
    """

    start: int
    end: int
    body: str
    lead: "Sentence | None" = None
    leads: bool = False
    label: str = ""
    place: int = -1


def sentences(tree: Tree, text: str) -> Iterator[Sentence]:
    """Yield the sentences of a document in order, each lead-in once before its first item."""
    opened: dict[Span, Sentence] = {}
    for statement in statements(tree, text):
        if statement.points:
            continue  # a list says what its points say
        lead: Sentence | None = None
        for span in statement.leads:
            if span not in opened:
                opened[span] = _unit(tree, text, span, lead, leads=True)
                yield opened[span]
            lead = opened[span]
        yield _unit(tree, text, (statement.start, statement.end), lead, leads=False)


def _unit(tree: Tree, text: str, span: Span, lead: Sentence | None, *, leads: bool) -> Sentence:
    start, end = span[0], min(span[1], span[0] + _LONGEST)
    place = tree.at(start)
    label = tree.units[place].label if place >= 0 else ""
    return Sentence(start, end, unnumbered(text[start:end]), lead, leads, label, place)


@dataclass(frozen=True)
class Frame:
    """The relation an item stands in; ``head``, where there is one, opens the item's action."""

    subject: str
    predicate: Predicate
    head: str

    def statement(self, item: str) -> BareTriplet:
        """Return the relation of one list item."""
        item = re.sub(r"[;,.]?\s(?:and|or|and/or)$", "", readable(item, 4 * PHRASE_CHARS))
        if self.predicate == "exception_to":
            return BareTriplet(readable(item), "exception_to", self.head)
        small = _SMALL_WORD.sub(lambda word: word.group().lower(), item)
        text = f"{self.head}: {small}" if self.head else item
        return BareTriplet(self.subject, self.predicate, readable(text))


def frame_of(lead: Sentence) -> Frame | None:
    """Return what ``lead`` says of the items below it; None where it is a mere condition."""
    body = lead.body.rstrip()
    if definition := find_definition(body):
        conditional = _CONDITIONAL.search(body[definition.start :])
        return None if conditional else Frame(definition.term, definition.predicate, "")
    if unlawful := find_unlawful(body):
        return _limited(body, unlawful[1]) or Frame(unlawful[0], "prohibits", _head(unlawful[1]))
    found = list(clauses(body))
    if not found:
        return _without_clause(lead, body)
    clause, tail = found[-1], body[found[-1].action_start :]
    limited = _limited(tail, clause.action)
    if limited or _CONDITIONAL.search(_WHO.sub(" ", tail)):
        return limited
    return Frame(noun_phrase(clause.subject), clause.predicate, _head(clause.action))


def _without_clause(lead: Sentence, body: str) -> Frame | None:
    """Return a scope, or the frame of an item that leads into items of its own."""
    if applies := _APPLIES.match(body.rstrip(": ")):
        return Frame(noun_phrase(applies["rule"]), "applies_to", "")
    outer = frame_of(lead.lead) if lead.lead else None
    if not outer or outer.predicate == "exception_to" or _CONDITIONAL.search(body):
        return None
    own = _head(body)
    head = f"{outer.head} {own}".strip()
    return Frame(outer.subject, outer.predicate, head if len(head) <= _HEAD_CHARS else own)


def _limited(tail: str, action: str) -> Frame | None:
    """Return items after "unless" as exceptions to the action; None where there is none."""
    return Frame("", "exception_to", readable(action)) if _UNLESS.search(tail) else None


def _head(action: str) -> str:
    """Return the lead-in's own words, short enough to stand before an item."""
    action = _FILLER.sub("", readable(action, 4 * PHRASE_CHARS))
    who = _WHO.search(action)
    return readable(action[: who.start()] if who else action, _HEAD_CHARS)
