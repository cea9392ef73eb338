"""What can be asked of a deed: its conditions, its time, its purpose, its content."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lexloop.corpus.triplets.measures import find_deadlines
from lexloop.evaluation.testset.ask import Ask
from lexloop.evaluation.testset.deeds import Deed
from lexloop.evaluation.testset.wording import is_clear

_CONTENT = re.compile(
    r"(?P<verb>include|contain|calculate|publish|state|explain|describe|disclose|pay|report|submit"
    r"|show|specify|identify|record|cover|keep|collect|indicate|test|return|deliver|retain|compare"
    r"|consider|sell|own|supply|set\s+out|give(?!\s+(?:rise|effect|way|me|(?:the|an?|each)\s+[A-Z])))(?P<rest>\s+(?:(?:all|any|each|both|at\s+least)\s+)?"
    r"(?:of\s+)?(?:the\s+following|these)\b(?:\s+(?:information|items|things|details|particulars))?)?"
    r"(?=\s|$)"
)
_OF_COMPANIES = frozenset({"collect", "sell", "include", "report", "disclose"})
_TELLS = re.compile(
    r"(?:notify|inform|tell|advise)\s+(?P<whom>[\w\-]++(?:\s[\w\-]++){0,7}?)\s+"
    r"(?:that|of|about|how|which|why|whether|when|where)\s"
)
_PURPOSE = re.compile(
    r",?(?<!\s)\s+(?:in\s+order\s+to|so\s+as\s+to|so\s+that|to\s+(?=enable|ensure|provide|"
    r"improve|assess|prevent|protect|process|comply|show|verify))\s*"
)
_USED_FOR = re.compile(r",?(?<!\s)\s+(?:in\s+order\s+to|so\s+that|to|for)\s+(?!(?:the|an?|my)\s)")
_THE_LIST = re.compile(
    r"(?<!\s)\s*\b(?:(?:all|any|each|both|either|one|one or more|at least one|at least)\s+"
    r"(?:of\s+)?)?"
    r"(?:the\s+following(?:\s+(?:\w+\s)?NOUNS)?|(?:these|this|two|three|four|five|six|seven)\s+NOUNS|this$)"
    r"(?:\s+only)?(?=\s|,|$)".replace(
        "NOUNS",
        "(?:information|items|things|ways|details|conditions|notices|circumstances|particulars"
        "|purposes|cases|steps|measures|matters|records|documents)",
    ),
    re.IGNORECASE,
)
_AFTER_LIST = re.compile(r"$|,|\s(?:\w+ly|in|on|at|to|from|before|after|with|when|within|by|for)\b")
_OBJECT_VERB = (
    r"(?:include|contain|cover|state|specify|set\s+out|identify|obtain|verify|document|consider|assess"
    r"|record|provide|keep|publish|disclose|show|describe|report|submit|review|comprise|address|do"
    r"|take\s+into\s+account|maintain|indicate|give|explain|notify|evaluate|determine)"
)
_WANTS_OBJECT = re.compile(
    rf"{_OBJECT_VERB}(?:(?:\s*,\s*|\s+(?:and|or)\s+){_OBJECT_VERB})*(?:\s+at\s+least)?"
)
_EVENT = re.compile(
    r"(?:days?|weeks?|months?|years?|hours?)\s+(?P<way>before|prior\s+to|after|following|from|of)\s+(?P<event>.+)"
)
_LONG = re.compile(r"(?:for|a\s+(?:minimum|maximum|period)|during)\b", re.IGNORECASE)
_SOON = re.compile(
    r"(?:within|in|no\s+later|not\s+later|by|before|on\s+or\s+before)\b", re.IGNORECASE
)
_OFTEN = re.compile(r"\b(?:once|annually|quarterly|every|each)\b")
_LIMITED = frozenset((
    "if", "when", "where", "only if", "only when", "only where", "provided that", "as long as",
    "so long as", "to the extent that", "provided however that",
))  # fmt: skip
_LEAST_ACT = 2


class Asked(NamedTuple):
    """A question and what kind of fact it asks for."""

    kind: str
    ask: Ask


def asked_of(deed: Deed) -> Iterator[Asked]:
    """The questions that the sentence of a deed answers, none of them vague about what is meant."""
    for kind, ask in _candidates(deed):
        clear = is_clear(ask.subject) and is_clear(ask.rest) and is_clear(ask.front, ask.opening)
        if clear and len(ask.direct().split()) >= _LEAST_ACT + 2:
            yield Asked(kind, ask)


def _candidates(deed: Deed) -> Iterator[tuple[str, Ask]]:
    if deed.leads:
        yield from _of_list(deed)
        return
    yield from _conditional(deed)
    if deed.relation == "prohibits":
        return
    timed = False
    for opening, act in _times(deed.act):
        timed = True
        yield "time", Ask(opening, deed.aux, deed.subject, act, deed.front)
    purpose = _USED_FOR if deed.act.startswith("use ") else _PURPOSE
    if (found := purpose.search(deed.act)) and not timed:
        act = deed.act[: found.start()]
        if len(act.split()) >= _LEAST_ACT and not re.search(r"\b(?:that|which|who|how)\b", act):
            yield "purpose", Ask("For what purpose", deed.aux, deed.subject, act, deed.front)
    yield from _contents(deed)


def _conditional(deed: Deed) -> Iterator[tuple[str, Ask]]:
    if not deed.condition or len(deed.act.split()) < _LEAST_ACT:
        return
    if deed.relation == "prohibits":
        if deed.link.startswith(("unless", "except")):
            yield "condition", _whether(deed, "Under what conditions")
        elif deed.aux == "may":
            ask = Ask("When", "may", deed.subject, f"not {deed.act}", deed.front)
            yield "condition", ask
    elif deed.link in _LIMITED:
        yield "condition", _whether(deed, "Under what conditions" if deed.aux == "may" else "When")
    elif deed.relation == "requires" and deed.aux == "must":
        verb = "am" if deed.subject == "I" else "are" if _plural(deed) else "is"
        ask = Ask("When", verb, deed.subject, f"not required to {deed.act}", deed.front)
        yield "condition", ask


def _whether(deed: Deed, opening: str) -> Ask:
    return Ask(opening, deed.aux, deed.subject, deed.act, deed.front)


def _plural(deed: Deed) -> bool:
    return Ask("", "", deed.subject).is_plural


def _times(act: str) -> Iterator[tuple[str, str]]:
    measure = next(iter(find_deadlines(act)), None)
    if measure is None:
        return
    before = act[: measure.start].rstrip(" ,")
    if len(before.split()) < _LEAST_ACT or re.search(
        r"\b(?:sure that|which|who|and|how)\b", before
    ):
        return
    event = _EVENT.search(measure.text)
    if event and event["way"] in ("before", "prior to"):
        yield f"How long before {event['event']}", before
    elif _OFTEN.search(measure.text):
        yield "How often", before
    elif _LONG.match(measure.text):
        yield "For how long", before
    elif _SOON.match(measure.text):
        after = f"after {event['event']} " if event else ""
        yield (
            (f"How soon {after}".strip() if event or "ithin" in measure.text else "By when"),
            before,
        )
    elif event and event["way"] in ("after", "following"):
        yield f"How long after {event['event']}", before


def _contents(deed: Deed) -> Iterator[tuple[str, Ask]]:
    if found := None if deed.condition and deed.aux == "may" else _CONTENT.match(deed.act):
        says_enough = deed.subject != "you" or found["verb"] in _OF_COMPANIES
        if says_enough and len(deed.act[found.end() :].split()) >= _LEAST_ACT:
            yield "content", Ask("What", deed.aux, deed.subject, found["verb"], deed.front)
    elif (told := _TELLS.match(deed.act)) and deed.subject != "you":
        yield "content", Ask("What", deed.aux, deed.subject, f"tell {told['whom']}", deed.front)
    elif deed.aux == "must" and not deed.condition and not deed.act.startswith("be "):
        yield "duty", Ask("What", deed.aux, deed.subject, "do", deed.front)


def _of_list(deed: Deed) -> Iterator[tuple[str, Ask]]:
    if deed.link or re.search(r"\b(?:unless|if|where|when)$", deed.act):
        act = re.sub(r",?(?<!\s)\s*\b(?:unless|if|where|when)$", "", deed.act)
        negative = deed.link == "unless" or deed.act.endswith("unless")
        if deed.relation != "prohibits" or negative:
            yield "condition", Ask("Under what conditions", deed.aux, deed.subject, act, deed.front)
        return
    if deed.relation == "prohibits":
        return
    manner = re.search(r"\s(?:by|in)(?=\s+(?:any|one|either)\b)|\sby$", deed.act)
    if manner:
        act = deed.act[: manner.start()]
        yield "list", Ask("In what ways", deed.aux, deed.subject, act, deed.front)
        return
    act = re.sub(r"^do\s+at\s+least\s+this$", "do", deed.act)
    named = _THE_LIST.search(act)
    if named and _AFTER_LIST.match(act, named.end()):
        act = (act[: named.start()] + act[named.end() :]).rstrip(" ,").split(",")[0]
    elif not _WANTS_OBJECT.fullmatch(act):
        return
    yield "list", Ask("What", deed.aux, deed.subject, act, deed.front)
