"""Amounts, durations and dates with their bounds, and what they are about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lexloop.knowledge.clauses import Clause, plain_noun
from lexloop.knowledge.phrases import noun_phrase, readable

_BOUND = (
    r"(?:(?:not|no)\s+(?:more|less|fewer|greater|lower|later|earlier)\s+than|at\s+least|at\s+most"
    r"|up\s+to|more\s+than|less\s+than|exceed(?:s|ing)?|a\s+(?:minimum|maximum)\s+of)"
)
_DIGITS = r"(?:\d{1,3}(?:\s\d{3}){1,4}(?!\d)|\d[\d,]{0,15}(?:\.\d{1,6})?)"
_VALUE = (
    rf"(?:(?:[A-Z]{{1,2}})?[$€£]\s?{_DIGITS}(?:\s?(?:million|billion|thousand)\b)?"
    rf"|\b(?:USD|EUR|GBP|AED|CHF|JPY|CAD|AUD|SGD|HKD|INR)\s?{_DIGITS}(?:\s?(?:million|billion)\b)?"
    rf"|\b{_DIGITS}\s?(?:dollars|euros|pounds|dirhams|US dollars|EUR|USD|GBP)\b"
    rf"|\b{_DIGITS}\s?(?:%|per\s?cent\b))"
)
_AMOUNT = re.compile(
    rf"(?:\b{_BOUND}\s+)?{_VALUE}(?:\s+(?:and|nor|or|to)\s+(?:{_BOUND}\s+)?{_VALUE})?"
)
_COUNT = (
    r"(?:\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen"
    r"|eighteen|twenty|twenty-one|twenty-eight|thirty|forty-five|sixty|ninety)(?:\s+\(\d{1,4}\))?"
)
_UNIT = (
    r"(?:[\s-]+(?:business|calendar|working|consecutive|banking|full|clear))?[\s-]+"
    r"(?:hour|day|week|month|quarter|year)s?\b(?![\s-]+(?:old|of\s+age))"
)
_DURATION = re.compile(
    r"\b(?:(?:for\s+)?(?:a|the)\s+(?:minimum\s+|maximum\s+)?period\s+of\s+(?:at\s+least\s+)?|within"
    rf"\s+(?:a\s+period\s+of\s+)?|for\s+(?:at\s+least\s+)?|in\s+|after\s+|every\s+|{_BOUND}\s+"
    r"|(?:takes?|took)\s+effect\s+)"
    rf"(?:{_COUNT}|(?<=within\s)an?|(?<=least\s)an?){_UNIT}",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = re.compile(
    r"(?:\b(?:on\s+or\s+(?:before|after)|(?:not|no)\s+later\s+than|by|before|after|until|since"
    r"|as\s+of|effective(?:\s+(?:on|from|as\s+of))?|(?:takes?|took|taking)\s+effect(?:\s+(?:on|from))?"
    r"|(?:comes?|came)\s+into\s+(?:force|effect|operation)(?:\s+on)?)\s+|\beff\.\s+)"
    rf"(?:{_MONTH}\s+\d{{1,2}}(?:,\s+\d{{4}})?|\d{{1,2}}\s+{_MONTH}(?:\s+\d{{4}})?"
    rf"|{_MONTH}\s+\d{{4}}|\d{{1,2}}/\d{{1,2}}/\d{{4}}|\d{{4}}-\d{{2}}-\d{{2}})"
)
_RECURRENCE = re.compile(
    r"\b(?:at\s+least\s+)?(?:once\s+(?:a|an|every|each|per)\s+(?:calendar\s+)?(?:day|week|month"
    r"|quarter|year)|annually|quarterly|(?:every|each)\s+(?:calendar\s+)?(?:month|quarter|year))\b"
)
_AFTER_DURATION = re.compile(
    r"['’]?(?<!\s)\s+(?:before|after|prior\s+to|of|from|following|preceding|in\s+advance\s+of|beginning"
    r"|(?:ha(?:s|ve)\s+(?:passed|elapsed)\s+)?since)\b"
)
_AFTER_AMOUNT = re.compile(r"(?<!\s)\s+(?:for|of|per|a|each)\b")
_BARE_SHARE = re.compile(rf"{_DIGITS}\s?(?:%|per\s?cent)")
_TAIL_END = re.compile(
    r"[,;:()]|\.(?:\s|$)|\s(?:and|or|nor|but|unless|if|where|when|which|that|who|shall|must|may"
    r"|as|on|in|with|by|being|conducted|occurring)\b"
)
_TAIL_CHARS = 90
_MOST = 12
"""Measures read per statement; a line with more of them is a table."""
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
_IS_MEASURED = re.compile(r"(?:not\s+)?(?:be|exceed|equal|amount|represent|comprise|total)\b")
_PARTICIPLE = re.compile(
    r"(?<![\w'’-])(?P<noun>(?:[\w'’-]+\s+){1,5}?)(?P<passive>(?:(?:shall|must|will|may|not|has|have|had|be|been"
    r"|is|are|was|were|also)\s+){0,5}(?:\w{2,20}ed|made|given|held|paid|done|taken|sent)\s*)$"
)
_OPENING = re.compile(r"^(?P<noun>[^,;:]{2,120}?)\s+(?:is|are|was|were|has|have|had|took|takes?)\s")
_WINDOW = 120


@dataclass(frozen=True)
class Measure:
    """A measure as it reads, and its span in the sentence."""

    text: str
    start: int
    end: int


def find_amounts(body: str) -> Iterator[Measure]:
    """Yield sums of money and percentages, each with its bound and what it is for."""
    for amount in _measures(_AMOUNT, _AFTER_AMOUNT, body):
        if not _BARE_SHARE.fullmatch(amount.text):  # a share of nothing named is a table's cell
            yield amount


def find_deadlines(body: str) -> Iterator[Measure]:
    """Yield durations, dates and recurrences, each with the event it counts from."""
    yield from _measures(_DURATION, _AFTER_DURATION, body)
    yield from _measures(_DATE, None, body)
    yield from _measures(_RECURRENCE, None, body)


def _measures(
    pattern: re.Pattern[str], opens: re.Pattern[str] | None, body: str
) -> Iterator[Measure]:
    for match in islice(pattern.finditer(body), _MOST):
        end = match.end()
        tail = opens.match(body, end) if opens else None
        if tail:
            stop = _TAIL_END.search(body, tail.end(), tail.end() + _TAIL_CHARS)
            cut = stop.start() if stop else min(len(body), tail.end() + _TAIL_CHARS)
            event = readable(body[end:cut])
            end = cut if len(event.split()) > 1 else end
        yield Measure(readable(body[match.start() : end]), match.start(), end)


def _noun_before(text: str) -> str:
    """Return the noun phrase at the end of ``text``, back to a preposition, verb or stop."""
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
    """Return what costs or is limited to an amount; "" where the sentence does not say."""
    if not re.search(r"%|per\s?cent", measure.text):
        named = list(_MONEY_NOUN.finditer(body, 0, measure.start))
        if named:
            return _noun_before(named[-1].group())
    before = body[max(0, measure.start - _WINDOW) : measure.start]
    link = _LINK.search(before)
    if link and (noun := _noun_before(before[: link.start()])):
        return noun
    clause = _governing(found, measure)
    if clause and _IS_MEASURED.match(clause.action):
        return noun_phrase(clause.subject)
    return ""


def deadline_subject(
    body: str, measure: Measure, found: Sequence[Clause], is_item: bool, section: str
) -> str:
    """Return what happens or holds by a date or for a time; "" if the text does not say."""
    before = body[: measure.start].rstrip(" ,(")
    clause = _governing(found, measure)
    participle = _PARTICIPLE.search(before[-_WINDOW:])
    if participle and not (clause and clause.start >= len(before) - len(participle["passive"])):
        if noun := _noun_before(participle["noun"].rstrip()):
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
    """Return the last modal clause that opens before the measure."""
    return next((clause for clause in reversed(found) if clause.start < measure.start), None)
