"""Cases: what somebody does or wants to do, and what a rule makes of it."""

import re
from collections.abc import Iterator
from dataclasses import replace

from lexloop.evaluation.case import Span
from lexloop.evaluation.testset.ask import is_many, with_article
from lexloop.evaluation.testset.deeds import Deed, deeds
from lexloop.evaluation.testset.draft import Draft
from lexloop.evaluation.testset.material import Line, Material
from lexloop.evaluation.testset.wording import as_statement, is_actor, is_clear

_FRONT_WORD = re.compile(r"^(?:if|where|when|once)\s+", re.IGNORECASE)
_NO_CASE = re.compile(
    r"be\s(?:neither|deemed|construed|read|considered|treated|subject|liable|in\b|at\b|responsible|\w+ing\b)"
    r"|do\b|apply|mean|constitute|include|have\s\w+(?:ed|en|ne|de)\b|make sure"
    r"|need|wish|want|differ|choose|further|neither|not\s"
)
_LINKED = ("if", "when", "where", "only if", "only when", "only where")
_FEWEST_WORDS = 4


def rule_conclusions(material: Material) -> Iterator[Draft]:
    """A case for each duty, permission and prohibition that one sentence states in full."""
    for line in material.lines:
        if line.unit.leads or not line.body[:1].isupper():
            continue
        for whole in deeds(line.body):
            deed = replace(whole, act=whole.act.split(", and ", maxsplit=1)[0])
            if _is_case(deed) and (case := _case(deed, line, material.text_of(line.document))):
                question, verdict = case
                span = Span(document=line.document, start=line.unit.start, end=line.unit.end,
                            section=line.section)  # fmt: skip
                answer = f"{verdict} {as_statement(line.body)}"
                yield Draft(question, "rule_conclusion", answer, (span,))


def _is_case(deed: Deed) -> bool:
    """Whether the sentence says enough of who does what for a case to be made of it."""
    said = not deed.partial and len(deed.act.split()) >= _FEWEST_WORDS
    return said and not _NO_CASE.match(deed.act) and is_clear(deed.act) and is_clear(deed.subject)


def _case(deed: Deed, line: Line, text: str) -> tuple[str, str] | None:
    """The case and "Yes." or "No."; None where the condition leaves it open."""
    who, given = _somebody(deed.subject, text), _given(deed)
    if given is None:
        return None
    if deed.relation == "requires" and not deed.condition:
        return _breach(deed, who, given, line.place)
    if deed.relation not in ("permits", "prohibits") or not is_actor(deed.subject):
        return None
    if deed.subject == "you":
        return None if deed.link else (f"Are you allowed to {deed.act}?", _verdict(deed))
    verb = "want" if is_many(who) or who == "I" else "wants"
    question = f"{given}{who[0].upper()}{who[1:]} {verb} to {deed.act}"
    if deed.link:
        condition = re.sub(r"\b(?:it|they|its)\b", "", deed.condition)
        if deed.link not in _LINKED or not is_clear(condition):
            return None
        question += f", and {deed.condition}"
    return f"{question}. Is that allowed?", _verdict(deed)


def _verdict(deed: Deed) -> str:
    return "Yes." if deed.relation == "permits" else "No."


def _breach(deed: Deed, who: str, given: str, place: str) -> tuple[str, str]:
    many = is_many(who) or who in ("I", "you")
    fails = "do not" if many else "does not"
    act = re.sub(r"^(?:also|at all times|always)\s", "", deed.act)
    if act.startswith("be "):
        fails, act = (
            "am not" if who == "I" else "are not" if many else "is not",
            act.removeprefix("be "),
        )
    question = f"{given}{who[0].upper()}{who[1:]} {fails} {act}."
    if who == "you":
        question = f"{given}Suppose that you {fails} {act}."
    return f"{question} Does that comply with {place or 'the rules'}?", "No."


def _given(deed: Deed) -> str | None:
    """The condition before the subject as a sentence of its own; None where it cannot be one."""
    if not deed.front:
        return ""
    if not _FRONT_WORD.match(deed.front):
        return None
    told = _FRONT_WORD.sub("", deed.front)
    return f"{told[0].upper()}{told[1:]}. " if len(told.split()) > 2 else None


def _somebody(subject: str, text: str) -> str:
    """The one of the case: "an employer" for "the employer", where the text speaks of any."""
    noun = subject.removeprefix("the ")
    if noun == subject or is_many(subject) or not is_actor(subject) or noun[0].isupper():
        return subject
    any_one = with_article(noun)
    return any_one if re.search(rf"\b{re.escape(any_one)}\b", text, re.IGNORECASE) else subject
