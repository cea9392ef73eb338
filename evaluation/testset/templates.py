"""Questions that a rule, a list or a sentence with a sum or a date answers, and their replies."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from lexloop.evaluation.case import Span
from lexloop.evaluation.testset.phrases import (
    Rule,
    is_active,
    is_actor,
    is_clear,
    lowered,
    noun_phrase,
    read_rule,
    settled,
    speaks_of_it,
    who_acts,
)
from lexloop.knowledge.relations import readable

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


@dataclass(frozen=True)
class Measure:
    """A measure as it reads, and its span in the sentence."""

    text: str
    start: int
    end: int


def _find_amounts(body: str) -> Iterator[Measure]:
    """Yield sums of money and percentages, each with its bound and what it is for."""
    for amount in _measures(_AMOUNT, _AFTER_AMOUNT, body):
        if not _BARE_SHARE.fullmatch(amount.text):  # a share of nothing named is a table's cell
            yield amount


def _find_deadlines(body: str) -> Iterator[Measure]:
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


_SET_AMOUNT = re.compile(
    r"(?P<noun>(?:The|An?)\s[^,:;]+?)\s(?:is|(?:shall|must|will)\sbe)\s(?P<amount>.+)"
)
_MONEY = re.compile(r"[$€£]|\b(?:USD|EUR|GBP|AED|CHF|dollars|euros?|pounds|dirhams)\b")
_FORCE = re.compile(
    r"(?P<noun>The\s[\w\s\-]{2,60}?)\s(?P<verb>takes|took|enters|entered|comes|came)\s"
    r"(?P<what>effect|into\s(?:force|effect|operation))\s(?:on|from)\s.*\d.*"
)
_DONE = re.compile(
    r"(?P<noun>The\s[\w\s\-]{2,60}?)\s(?P<verb>was|were)\s(?P<what>[a-z]+ed|made|held|given)"
    r"(?:\sby\s[^,]+)?\son\s(?:\d{1,2}\s[A-Z][a-z]+|[A-Z][a-z]+\s\d{1,2},?)\s\d{4}\."
)
_PAST = {"took": "take", "entered": "enter", "came": "come"}
_TIMES = (
    (re.compile(r".* (?:before|prior to) (?P<event>\D.+)"), "How long before"),
    (re.compile(r"(?:not|no) later than .* (?:after|following) (?P<event>.+)"), "How soon after"),
    (re.compile(r"within (?P<event>).*"), "Within what time"),
    (re.compile(r"for (?P<event>).*"), "For how long"),
    (re.compile(r".*\b(?:once|annually|quarterly|every|each)\b(?P<event>).*"), "How often"),
    (re.compile(r"(?:(?:not|no) later than|by|on or before) (?P<event>).*\d{4}"), "By what date"),
)
_ELSEWHERE = re.compile(
    r"\b(?:otherwise|as\s\w+ed\b)|\b(?:(?:sub)?(?:paragraph|section)|article|clause|rule|part)s?\b|§",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:not|no|nor|always|never|may)\b")
_SAYS = re.compile(
    r"(?:include|contain|state|specify|describe|identify|show|indicate|set out|explain|calculate"
    r"|list)\b(?!\s(?:in|on|to|for|with|by|at|from|whether|as|of|and|or|within|under)\b)"
)
_TAKES_LIST = re.compile(
    r"(?:include|contain|state|specify|set out|describe|provide|submit|disclose|identify|show|give"
    r"|indicate|address|cover|record|keep|maintain|consider|document|report|publish|notify|obtain"
    r"|comprise|consist of|take into account)"
)
_THE_LIST = re.compile(
    r"\s?\b(?:(?:all|any|each|both|at least|one or more|at least one)(?:\sof)?\s)?the\sfollowing"
    r"(?:\s(?:information|items|details|particulars|documents|matters|elements|things|records))?$"
)
_NO_LIST = re.compile(
    r"\b(?:do|that|by|in|on|of|under|if|to|for)$|\b(?:which|who|that|whose|where)\b|^(?:\S+\s){9}"
)
_READING, _WHAT_OF_IT = "I am reading {}.", "What would you like to know about it?"
_FEWEST_WORDS, _TELLING = 4, 5
"""Words of an act that a case and a question for who acts need."""


@dataclass(frozen=True)
class Fact:
    """A question with its answer.

    Args:
        kind: ``definition``, ``amount``, ``date``, ``who``, ``heading``, ``duty``, ``exception``,
            ``condition``, ``time``, ``list``, ``provision`` or ``case``.
        question: As it stands alone.
        clause: The question within another sentence, "who must pay the fee"; empty where it cannot
            stand in one.
        answer: The provision's own words, a case's behind "Yes." or "No.".
        spans: Where they stand.
        turns: What a user says first, the reply, and a question that needs both; or nothing.
        about: The term, or the one who acts; or nothing.
    """

    kind: str
    question: str
    clause: str = ""
    answer: str = ""
    spans: tuple[Span, ...] = ()
    turns: tuple[str, ...] = ()
    about: str = ""

    @property
    def pieces(self) -> int:
        """The count of the separate pieces of evidence that hold the answer."""
        return len(self.spans)


@dataclass(frozen=True)
class Stated:
    """A statement and what stands around it.

    Args:
        words: It, or of a list the words that lead into its items, without numbers.
        label: Of its provision.
        text: The document's.
        alone: The modals that its provision has nowhere else.
        whole: Whether the provision has no other words.
        opens: Whether it is the first of them, so that nothing before explains it.
        hangs: Whether it is an item of a list.
    """

    words: str
    label: str
    text: str
    alone: Collection[str]
    whole: bool
    opens: bool
    hangs: bool


def of_sentence(one: Stated, actors: Collection[str]) -> Iterator[Fact]:
    """Yield what a sentence answers.

    Args:
        one: The sentence.
        actors: Terms that the document defines as a person or the like.
    """
    if one.opens and not one.hangs:
        yield from _of_sum(one)
        yield from _of_date(one)
        rule = read_rule(one.words, one.text)
        if rule and not rule.leads and not rule.stative:
            yield from _of_rule(rule, one.label, actors)
    yield from _of_provision(one, actors)


def of_list(one: Stated, actors: Collection[str]) -> Iterator[Fact]:
    """Yield what a list answers, by the words that lead into it.

    Args:
        one: The list.
        actors: Terms that the document defines as a person or the like.
    """
    rule = None if one.hangs else read_rule(one.words, one.text)
    act, named = _THE_LIST.subn("", rule.act) if rule and rule.leads else ("", 0)
    act = act.removesuffix(" at least")
    fits = act and not _NO_LIST.search(act) and (named or _TAKES_LIST.fullmatch(act))
    if not rule or not fits or rule.modal == "must not" or not one.label:
        yield from () if one.hangs else _of_provision(one, actors)
        return
    actor = is_actor(rule.subject, actors)
    given = f" {rule.link} {rule.condition}" if rule.link else ""
    enough = given or (actor and len(act.split()) >= _FEWEST_WORDS)
    asked = f"{act}{given}" if enough else f"{act} under {one.label}"
    fact = _inverted("list", "What", rule.modal, rule.subject, asked)
    opened = f"Is there anything that {rule.subject} {rule.modal} {asked}?"
    turns = (opened, "Yes, there is.", "What exactly?")
    yield replace(fact, turns=turns, about=rule.subject if actor else "")


def _inverted(kind: str, opening: str, aux: str, subject: str, rest: str = "") -> Fact:
    """A question whose verb changes places with its subject within another sentence."""
    question = " ".join(f"{opening} {aux} {subject} {rest}".split())
    clause = " ".join(f"{lowered(opening)} {subject} {aux} {rest}".split())
    return Fact(kind, f"{question}?", clause)


def _of_provision(one: Stated, actors: Collection[str]) -> Iterator[Fact]:
    """Ask what a provision has somebody do, where this statement alone says so in it."""
    subject, modal, act, given = who_acts(one.words, one.text)
    if not subject or not one.label or modal.removesuffix(" not") not in one.alone:
        return
    reading = _READING.format(one.label)
    aux, done = modal.partition(" ")[0], "not do" if modal == "must not" else "do"
    if is_active(act) and is_actor(subject, actors):
        where = given or f"under {one.label}"
        fact = _inverted("duty" if given else "provision", "What", aux, subject, f"{done} {where}")
        turns = reading, _WHAT_OF_IT, f"What {aux} {subject} {done} under it?"
        yield replace(fact, turns=turns, about=subject)
    elif (verb := _SAYS.match(act)) and modal == "must":
        fact = _inverted("list", "What", modal, subject, f"{verb.group()} under {one.label}")
        opened = f"Does {one.label} say what {subject} must {verb.group()}?"
        yield replace(fact, turns=(opened, "Yes, it does.", "And what is that?"))
    elif act.startswith("be ") and subject.startswith("the ") and one.whole:
        about = f"say about {subject}?"
        clause = f"what {one.label} says about {subject}"
        turns = reading, _WHAT_OF_IT, f"What does it {about}"
        yield Fact("provision", f"What does {one.label} {about}", clause, turns=turns)


def _of_sum(one: Stated) -> Iterator[Fact]:
    """Ask how much something costs, where a sum follows at once."""
    found = _SET_AMOUNT.fullmatch(settled(one.words))
    noun = noun_phrase(found["noun"], one.text) if found else ""
    first = next(_find_amounts(found["amount"]), None) if found and noun else None
    if first and first.start == 0 and _MONEY.search(first.text):
        yield _inverted("amount", "How much", "is", noun)


def _of_date(one: Stated) -> Iterator[Fact]:
    """Ask when something takes effect or was done."""
    words = settled(one.words)
    found = _FORCE.match(words) or _DONE.fullmatch(words)
    if not found or not (noun := noun_phrase(found["noun"], one.text)):
        return
    verb, what = found["verb"], found["what"]
    if verb in ("was", "were"):
        yield _inverted("date", "When", verb, noun, what)
    else:
        aux, bare = ("did", _PAST[verb]) if verb in _PAST else ("does", verb.removesuffix("s"))
        yield Fact("date", f"When {aux} {noun} {bare} {what}?", f"when {noun} {verb} {what}")


def _of_rule(rule: Rule, label: str, actors: Collection[str]) -> Iterator[Fact]:
    """Ask what a clear sentence on an act answers; "the notice" alone is named by its provision."""
    actor, passive = is_actor(rule.subject, actors), not is_active(rule.act)
    if not actor and (not passive or not label):
        return
    under = "" if actor or len(rule.subject.split()) > 2 else f" under {label}"
    found = [*_limited(rule, under), *_timed(rule, under)]
    if actor and not passive:
        found += [*_who(rule), *_case(rule)]
    for fact in found:
        yield replace(fact, about=rule.subject if actor else "")


def _limited(rule: Rule, under: str) -> Iterator[Fact]:
    """The exception to a rule, its condition, or what holds on a condition."""
    act = f"{rule.act}{under}"
    may = f"May {rule.subject} {act}?"
    if rule.link.startswith(("unless", "except")):
        if not _ELSEWHERE.search(rule.condition):
            rest = f"to the rule that {rule.subject} {rule.modal} {act}"
            opened = may if rule.modal != "must" else f"Must {rule.subject} {act}?"
            reply = "As a rule, no." if rule.modal == "must not" else "As a rule, yes."
            fact = _inverted("exception", "What exception", "is", "there", rest)
            yield replace(fact, turns=(opened, reply, "Is there an exception?"))
    elif rule.modal == "may" and (rule.link.startswith("only") or rule.link == "provided that"):
        fact = _inverted("condition", "On what condition", "may", rule.subject, act)
        yield replace(fact, turns=(may, "Only on a certain condition.", "On what condition?"))
    elif rule.link and rule.modal != "must not" and is_active(rule.act):
        given = f"do {rule.link} {rule.condition}"
        yield _inverted("duty", "What", rule.modal, rule.subject, given)


def _timed(rule: Rule, under: str) -> Iterator[Fact]:
    """By when, for how long or how often something must be done, said last."""
    time = next(_find_deadlines(rule.act), None)
    if rule.modal != "must" or rule.link or not time or time.end < len(rule.act):
        return
    act = rule.act[: time.start].rstrip(" ,")
    for pattern, opening in _TIMES:
        if found := pattern.fullmatch(time.text):
            event = found["event"]
            if is_clear(act) and " " in act and (not event or is_clear(event)):
                asked = " ".join(f"{opening} {event}".split())
                fact = _inverted("time", asked, "must", rule.subject, f"{act}{under}")
                opened = f"Must {rule.subject} {act}{under}?"
                yield replace(fact, turns=(opened, "Yes.", f"{asked}?"))
            return


def _who(rule: Rule) -> Iterator[Fact]:
    """Ask who must or may do something that says enough by itself."""
    says = len(rule.act.split()) >= _TELLING and not speaks_of_it(rule.act)
    if says and not rule.link and rule.modal != "must not":
        yield Fact("who", f"Who {rule.modal} {rule.act}?", f"who {rule.modal} {rule.act}")


def _case(rule: Rule) -> Iterator[Fact]:
    """Somebody does or wants to do what is ruled on: whether that is allowed."""
    unfit = len(rule.act.split()) < _FEWEST_WORDS or _HEDGED.search(rule.act)
    if unfit or rule.link not in ("", "if", "where", "when"):
        return
    wish = "decided not to" if rule.modal == "must" else "would like to"
    told = f"{rule.subject} {wish} {rule.act}"
    said = f"{told[0].upper()}{told[1:]}."
    if rule.link:
        said = f"Suppose that {rule.condition}, and that {told}."
    answer = "Yes." if rule.modal == "may" else "No."
    yield Fact("case", f"{said} Is that allowed?", answer=answer)
