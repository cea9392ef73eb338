"""What an amount or a deadline is about."""

import re
from collections.abc import Sequence

from lexloop.corpus.triplets.clauses import Clause, plain_noun
from lexloop.corpus.triplets.measures import Measure
from lexloop.corpus.triplets.phrases import noun_phrase, readable

_STOPS = frozenset(
    """a about after also an and any are as at be been before being between but by can do
    does each equal every exceed exceeding exceeds for from had has have if in into is it
    its least less may more must no not nor on or other our over shall such than that the
    their them these they this those to under unless until upon was we were when where
    which who will with within you your""".split()
)
_BEFORE_VERB = frozenset({"may", "must", "shall", "to", "will"})
_ARTICLES = frozenset({"a", "an", "the"})
_MONEY_NOUN = re.compile(
    r"\b(?:[\w’'-]{1,30}\s+){0,3}(?i:penalt(?:y|ies)|fines?|fees?|charges?|levy|compensation|capital"
    r"|deposits?|resources|requirement|salary|price|threshold|turnover|revenue|coverage|sum)\b"
)
_LINK = re.compile(
    r"(?:\s(?:is|are|be|of|at|to|equals?|comprises?|represents?|exceeds?|than|least|most|totall?ing)"
    r"){1,3}\s*$"
)
_MEASURED = re.compile(r"(?:not\s+)?(?:be|exceed|equal|amount|represent|comprise|total)\b")
_PARTICIPLE = re.compile(
    r"(?<![\w'’-])(?P<noun>(?:[\w'’-]+\s+){1,5}?)(?P<passive>(?:(?:shall|must|will|may|not|has|have|had|be|been"
    r"|is|are|was|were|also)\s+){0,5}(?:\w{2,20}ed|made|given|held|paid|done|taken|sent)\s*)$"
)
_OPENING = re.compile(r"^(?P<noun>[^,;:]{2,120}?)\s+(?:is|are|was|were|has|have|had|took|takes?)\s")
_WINDOW = 120


def noun_before(text: str) -> str:
    """The noun phrase at the end of ``text``: back to a determiner, preposition, verb or stop."""
    words: list[str] = []
    found = text[-_WINDOW:].split()
    while found and len(words) < 7:
        word = found.pop()
        of_the = word.lower() in _ARTICLES and found and found[-1].lower() == "of"
        if not of_the and (word.lower() in _STOPS or word[-1] in ",;:.)"):
            if word.lower() in _BEFORE_VERB and len(words) > 1:
                words.pop(0)
            break
        words.insert(0, word)
    while words and words[0].lower() == "of":
        words.pop(0)
    while words and words[-1].lower() == "of":
        words.pop()
    return noun_phrase(" ".join(words)) if words else ""


def amount_subject(body: str, measure: Measure, found: Sequence[Clause]) -> str:
    """What costs, measures or is limited to an amount; "" where the sentence does not say."""
    if not re.search(r"%|per\s?cent", measure.text):
        named = list(_MONEY_NOUN.finditer(body, 0, measure.start))
        if named:
            return noun_before(named[-1].group())
    before = body[max(0, measure.start - _WINDOW) : measure.start]
    link = _LINK.search(before)
    if link and (noun := noun_before(before[: link.start()])):
        return noun
    clause = _governing(found, measure)
    if clause and _MEASURED.match(clause.action):
        return noun_phrase(clause.subject)
    return ""


def deadline_subject(
    body: str, measure: Measure, found: Sequence[Clause], is_item: bool, section: str
) -> str:
    """What must happen, or holds, by a date or for a time; "" where the sentence does not say."""
    before = body[: measure.start].rstrip(" ,(")
    clause = _governing(found, measure)
    participle = _PARTICIPLE.search(before[-_WINDOW:])
    if participle and not (clause and clause.start >= len(before) - len(participle["passive"])):
        if noun := noun_before(participle["noun"].rstrip()):
            return noun
    elif participle and clause:
        return noun_phrase(clause.subject)
    if clause:
        done = readable(body[clause.action_start : measure.start], 80) or readable(
            clause.action, 80
        )
        passive = clause.action.startswith("be ") or len(done.split()) < 2
        return noun_phrase(clause.subject) if passive else done
    if is_item and 2 <= len(before.split()) <= 14:
        return noun_phrase(before)
    opening = _OPENING.match(body[: measure.end]) if "eff" in measure.text else None
    if opening:
        return noun_phrase(plain_noun(opening["noun"]))
    return section if "eff" in measure.text else ""


def _governing(found: Sequence[Clause], measure: Measure) -> Clause | None:
    """The last modal clause that opens before the measure."""
    return next((clause for clause in reversed(found) if clause.start < measure.start), None)
