"""What a lead-in says of its list items: "An issuer must:" makes each item a duty of the issuer."""

import re
from dataclasses import dataclass

from lexloop.corpus.triplets.clauses import Clause, clauses
from lexloop.corpus.triplets.definitions import find_definition
from lexloop.corpus.triplets.exceptions import find_unlawful
from lexloop.corpus.triplets.phrases import PHRASE_CHARS, noun_phrase, readable
from lexloop.corpus.triplets.predicates import Predicate, Statement
from lexloop.corpus.triplets.units import Unit

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


@dataclass(frozen=True)
class Frame:
    """The relation an item stands in; ``head``, where there is one, opens the item's action."""

    subject: str
    predicate: Predicate
    head: str

    def statement(self, item: str) -> Statement:
        """The relation of one list item."""
        item = re.sub(r"[;,.]?\s(?:and|or|and/or)$", "", readable(item, 4 * PHRASE_CHARS))
        if self.predicate == "exception_to":
            return Statement(readable(item), "exception_to", self.head)
        text = f"{self.head}: {_SMALL_WORD.sub(_lower, item)}" if self.head else item
        return Statement(self.subject, self.predicate, readable(text))


def _lower(match: re.Match[str]) -> str:
    return match.group().lower()


def frame_of(lead: Unit) -> Frame | None:
    """What ``lead`` says of the items it leads into; None where it states a mere condition."""
    body = lead.body.rstrip()
    if definition := find_definition(body):
        conditional = _CONDITIONAL.search(body[definition.start :])
        return None if conditional else Frame(definition.term, definition.predicate, "")
    if unlawful := find_unlawful(body):
        return _limited(body, unlawful[1]) or Frame(unlawful[0], "prohibits", _head(unlawful[1]))
    found = list(clauses(body))
    return _of_clause(body, found[-1]) if found else _without_clause(lead, body)


def _of_clause(body: str, clause: Clause) -> Frame | None:
    tail = body[clause.action_start :]
    limited = _limited(tail, clause.action)
    if limited or _CONDITIONAL.search(_WHO.sub(" ", tail)):
        return limited
    return Frame(noun_phrase(clause.subject), clause.predicate, _head(clause.action))


def _without_clause(lead: Unit, body: str) -> Frame | None:
    """A scope, or an item that leads into items of its own."""
    if applies := _APPLIES.match(body.rstrip(": ")):
        return Frame(noun_phrase(applies["rule"]), "applies_to", "")
    outer = frame_of(lead.lead) if lead.lead else None
    if not outer or outer.predicate == "exception_to" or _CONDITIONAL.search(body):
        return None
    own = _head(body)
    head = f"{outer.head} {own}".strip()
    return Frame(outer.subject, outer.predicate, head if len(head) <= _HEAD_CHARS else own)


def _limited(tail: str, action: str) -> Frame | None:
    """Items after "unless" are exceptions to the action."""
    return Frame("", "exception_to", readable(action)) if _UNLESS.search(tail) else None


def _head(action: str) -> str:
    """The lead-in's own words, short enough to stand before an item."""
    action = _FILLER.sub("", readable(action, 4 * PHRASE_CHARS))
    who = _WHO.search(action)
    return readable(action[: who.start()] if who else action, _HEAD_CHARS)
