"""What can be asked of a sentence that says what something is, was, is called or costs."""

import re
from collections.abc import Iterator

from lexloop.corpus.triplets.definitions import find_definition
from lexloop.corpus.triplets.measures import find_amounts
from lexloop.evaluation.testset.ask import Ask
from lexloop.evaluation.testset.of_deeds import Asked
from lexloop.evaluation.testset.wording import from_reader, is_clear, settled, subject_of

_ELSEWHERE = re.compile(
    r"(?:has|have)\s+the\s+(?:same\s+)?meanings?|as\s+defined\s+(?:by|in)|(?:meaning|definition)\s+(?:given|set)"
    r"|\bdefined\s+(?:in|by)\s",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"^(?P<noun>[Tt]he\s++[^,.;:]{3,70}?)(?<!\s)\s+(?P<verb>is|are)\s+(?!(?:also|only|\w+ed)\b)"
    r"(?!the\s+(?:most|highest|lowest|only|first|last|same)\b)(?=(?:the|an?|any|to|at|not\s+(?:more|less)|up\s+to|[$€£\dA-Z])\b|[$€£])"
)
_BARE = re.compile(
    r"^(?P<noun>[A-Z][\w\-]*(?:\s+[a-z][\w\-]*){0,4})\s+(?P<verb>is)\s+(?!the\s+(?:most|highest|lowest|only|first|last|same)\b)(?=(?:the|an?|any|data|to)\b)"
)
_PENALTY = re.compile(
    r"^(?P<who>[^;:]{6,160}?)(?<!\s)\s+(?:is|are|shall\s+be|will\s+be)\s+(?P<how>liable\s+(?:for|to)|guilty\s+of"
    r"|punishable\s+by)\s"
)
_PAST = re.compile(
    r"^(?P<noun>[^,;:]{3,110}?)\s+(?:(?P<aux>was|were|is)\s+(?P<part>\w+(?:ed|en|t|de|ld))"
    r"|took\s+(?P<took>place|effect)|takes\s+(?P<takes>effect))(?P<more>\s.*)?$"
)
_BY = re.compile(r"\s+by\s+(?=[A-Za-z])")
_VERBAL = re.compile(
    r"\b(?:is|are|was|were|must|may|shall|will|can|has|have|that|which|who|if|when)\b"
)
_DATE = re.compile(
    r"(?<!\s)\s+(?:on|in|since|from)\s+(?:[A-Z][a-z]+\s\d{1,2},\s\d{4}|\d{1,2}\s[A-Z][a-z]+\s\d{4}"
    r"|(?:[A-Z][a-z]+\s)?\d{4}\b)"
)
_DID = re.compile(
    r"^(?P<noun>(?:[A-Z][\w.&\-]*(?:\s[A-Z][\w.&\-]*){0,4}|(?:The|An?)\s[\w\-]++(?:\s[\w\-]++){0,3}?))\s+(?P<stem>propos|adopt|enact|publish|issu|sign|approv|launch|amend|repeal"
    r"|submitt|acquir|open|clos|introduc|establish|creat)ed\s+(?!and\b)(?P<more>.*)$"
)
_MUTE_E = frozenset("propos issu approv acquir clos introduc creat".split())
_HAS = re.compile(
    r"^(?P<noun>[Tt]he\s[^,.;:]{2,60}?)\s+(?:has|have)\s+(?P<what>(?:two|three|four|five|six|seven|eight)"
    r"\s[a-z]+s):\s"
)
_MONEY = re.compile(r"[$€£]|\b(?:USD|EUR|GBP|AED|CHF|dollars|euros|pounds|dirhams)\b")
_COSTS = re.compile(
    r"(?P<noun>\b(?:the|an?|your|our)\s++(?:(?!\b(?:the|an?|your)\b)[^,.;:]){3,60}?)(?<!\s)\s+(?:is|are|costs?|amounts?\s+to|shall\s+be|will\s+be)\s"
    r"(?:[\w\s]{0,30}?)$",
    re.IGNORECASE,
)


def asked_of_statement(body: str) -> Iterator[Asked]:
    """The questions that a sentence about what something is answers."""
    for kind, ask in (
        *_defined(body),
        *_amounts(body),
        *_penalties(body),
        *_dates(body),
        *_held(body),
    ):
        rest = "" if kind == "penalty" else ask.rest
        if is_clear(ask.subject) and is_clear(rest) and is_clear(ask.front):
            yield Asked(kind, ask)


def _defined(body: str) -> Iterator[tuple[str, Ask]]:
    definition = find_definition(body)
    meaning = body[definition.start :] if definition else ""
    elsewhere = _ELSEWHERE.search(body[:200]) or meaning.startswith("of ")
    if definition and not elsewhere and len(meaning.split()) > 2:
        term, verb = settled(definition.term), "does"
        opened = re.match(r"(?P<article>An?|The)\s", body)
        quoted = re.search(r"[\"“]" + re.escape(term), body, re.IGNORECASE)
        if definition.predicate == "defines" and opened and not quoted:
            named = f"{opened['article'].lower()} {term}"
            yield "definition", Ask("What", "is", named)
        elif definition.predicate == "defines" and not body.startswith("To "):
            yield "definition", Ask("What", verb, f"the term '{term}'", "mean")
        elif definition.predicate == "defines":
            named = body.partition(" means")[0].lower()
            yield "definition", Ask("What", verb, f"'{named}'", "mean")
        elif opened:
            act = "include" if definition.predicate == "includes" else "exclude"
            yield "content", Ask("What", verb, f"{opened['article'].lower()} {term}", act)
        return
    found = _COPULA.match(body) or _BARE.match(body)
    if found and not _VERBAL.search(found["noun"]) and not _ELSEWHERE.search(body[:200]):
        noun = subject_of(found["noun"])
        purpose = " purpose of " in found["noun"]
        money = _MONEY.search(body[found.end() : found.end() + 40])
        if noun and not money:
            yield ("purpose" if purpose else "definition"), Ask("What", found["verb"], noun)


def _amounts(body: str) -> Iterator[tuple[str, Ask]]:
    for amount in find_amounts(body):
        if not _MONEY.search(amount.text):
            continue
        found = _COSTS.search(body[: amount.start] if amount.start else "")
        if found and (noun := subject_of(found["noun"])):
            yield "amount", Ask("How much", "is", noun)
            return


def _penalties(body: str) -> Iterator[tuple[str, Ask]]:
    found = _PENALTY.match(body)
    if found and re.match(r"(?:an?|any|the|every|each|who|all)\b", found["who"], re.IGNORECASE):
        yield "penalty", Ask("What", "is", subject_of(found["who"]), " ".join(found["how"].split()))


def _dates(body: str) -> Iterator[tuple[str, Ask]]:
    found = _PAST.match(body.rstrip("."))
    if not found or _VERBAL.search(found["noun"]):
        return
    noun, more = subject_of(found["noun"]), found["more"] or ""
    if not noun:
        return
    if found["took"] or found["takes"]:
        if _DATE.search(more):
            aux = "did" if found["took"] else "does"
            yield "time", Ask("When", aux, noun, f"take {found['took'] or found['takes']}")
        return
    date = _DATE.search(more)
    if date:
        before = from_reader(settled(more[: date.start()]))
        yield "time", Ask("When", found["aux"], noun, f"{found['part']} {before}".strip())
    elif (by := _BY.match(more)) and len(more[by.end() :].split()) > 1 and found["aux"] != "is":
        yield "agent", Ask("By whom", found["aux"], noun, found["part"])


def _held(body: str) -> Iterator[tuple[str, Ask]]:
    """What is asked of "The rule has five aims:" and "The department proposed it on 1 May 2022"."""
    if found := _HAS.match(body):
        yield "list", Ask(f"What {found['what']}", "does", subject_of(found["noun"]), "have")
    found = _DID.match(body.rstrip("."))
    date = _DATE.search(" " + found["more"]) if found else None
    if found and date and not _VERBAL.search(found["noun"]):
        verb = found["stem"].replace("tt", "t") + ("e" if found["stem"] in _MUTE_E else "")
        what = from_reader(settled(found["more"][: max(date.start() - 1, 0)]))
        if what and (noun := subject_of(found["noun"])):
            yield "time", Ask("When", "did", noun, f"{verb} {what}")
