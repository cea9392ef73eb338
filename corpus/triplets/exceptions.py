"""Unlawful conduct, exceptions, scope and penalties: clauses with wordings of their own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lexloop.corpus.triplets.clauses import plain_noun
from lexloop.corpus.triplets.phrases import noun_phrase, readable
from lexloop.corpus.triplets.predicates import Statement

_UNLAWFUL = re.compile(
    r"\b(?:it\s+(?:is|shall\s+be)\s+)?(?:an\s+offen[cs]e|unlawful|prohibited|illegal)\s+for\s++"
    r"(?P<actor>[^,;:]{2,120}?)(?<!\s)\s+to\s+(?P<action>[^;:]{3,300})",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r",?(?<!\s)\s+(?:(?P<unless>unless)|(?P<except>except)(?:\s+(?:that|where|when|if|for|as|in|to))?"
    r"|provided,?\s+(?:however,?\s+)?that)\s+(?P<condition>[^;]{3,300})"
)
_NOTWITHSTANDING = re.compile(
    r"(?:^|,\s)(?:notwithstanding|despite)\s+(?P<rule>[^,;]{3,160}),\s*(?P<main>[^;]{3,300})",
    re.IGNORECASE,
)
_NOT_APPLY = re.compile(
    r"\b(?P<not>(?:(?:do|does|shall|will)\s+not\s+)apply|(?:is|are)\s+not\s+applicable)\s+"
    r"(?:to|in\s+respect\s+of|in\s+relation\s+to)\s+(?P<what>[^;:]{2,300})"
)
_APPLY = re.compile(
    r"\b(?<!not\s)(?:appl(?:y|ies)|shall\s+apply)\s+(?:only\s+)?to\s+(?P<what>[^;:]{2,300})"
)
_LIABLE = re.compile(
    r"\s(?:(?:is|are|shall\s+be|will\s+be|may\s+be)\s+(?:(?:also|each)\s+)?(?:liable\s+(?:for|to)"
    r"|punishable\s+by|guilty\s+of|subject\s+to(?=[^,;.]{0,60}(?:penalt|fine|imprison|sanction|forfeit))"
    r")|commits|constitutes?(?=\s+(?:an?\s+)?(?:\w+\s+)?(?:offen[cs]e|violation|breach|contravention))"
    r"|shall\s+constitute(?=\s+(?:an?\s+)?(?:\w+\s+)?(?:offen[cs]e|violation|breach|contravention))"
    r"|(?:shall\s+)?gives?\s+rise\s+to(?=\s+an?\s+(?:\w+\s+)?(?:offen[cs]e|violation|breach)))\s+"
    r"(?P<penalty>[^,;:]{3,200})"
)
_PENALTY_END = re.compile(
    r"(?<!\s)\s+(?:if|where|when|unless|who|and\s+on|for\s+(?:each|every|a\s+first))\b"
)
_PENALTY = re.compile(
    r"penalt|fine|imprison|sanction|offen[cs]e|violation|breach|contraven|damages"
)
_PRONOUN = re.compile(r"(?:it|he|she|they|this|that|these|who|which|there|each)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Exemption:
    """What takes something out of a rule; the rule is the text before ``start``."""

    condition: str
    start: int


def find_unlawful(body: str) -> tuple[str, str, int] | None:
    """Actor, action and the action's end of "it is unlawful for X to do Y"."""
    match = _UNLAWFUL.search(body)
    if not match or not plain_noun(match["actor"]):
        return None
    condition = _CONDITION.search(match["action"] + " ")
    action = match["action"][: condition.start()] if condition else match["action"]
    action = re.sub(r",?(?<!\s)\s+unless$", "", action.rstrip())
    return plain_noun(match["actor"]), action, match.start("action") + len(action)


def find_exemption(body: str) -> Exemption | None:
    """The condition after "unless", "except" or "provided that"."""
    match = _CONDITION.search(body)
    if not match or match["condition"].rstrip().endswith(":"):
        return None
    return Exemption(readable(match["condition"]), match.start())


def scope_statements(body: str, subject_of: dict[str, str]) -> Iterator[Statement]:
    """Who or what a rule applies to, and who it does not apply to.

    Args:
        body: One sentence or list item.
        subject_of: What "this section" and the like stand for, by lower-case phrase.
    """
    for pattern, predicate in ((_NOT_APPLY, "exception_to"), (_APPLY, "applies_to")):
        match = pattern.search(body)
        if not match:
            continue
        subject = _rule_named(body[: match.start()], subject_of)
        what = noun_phrase(
            re.split(r",?(?<!\s)\s+(?:unless|if|where|except)\b|,\s", match["what"])[0]
        )
        if not subject or not what or _PRONOUN.match(what):
            continue
        if predicate == "exception_to":
            yield Statement(what, "exception_to", subject)
        else:
            yield Statement(subject, "applies_to", what)


def _rule_named(before: str, subject_of: dict[str, str]) -> str:
    segment = re.split(r"[,;:]\s+", before)[-1].strip()
    segment = re.sub(r"(?<!\s)\s+(?:shall|will|also|only|does|do)$", "", segment)
    named = subject_of.get(segment.lower())
    return named or noun_phrase(plain_noun(segment))


def override_statements(body: str) -> Iterator[Statement]:
    """X as an exception to R, for "Notwithstanding R, X"."""
    match = _NOTWITHSTANDING.search(body)
    if match:
        yield Statement(readable(match["main"]), "exception_to", noun_phrase(match["rule"]))


def penalty_statements(body: str) -> Iterator[Statement]:
    """What a person or conduct is liable for, guilty of or punished with."""
    match = _LIABLE.search(body)
    if not match:
        return
    penalty = match["penalty"]
    end = _PENALTY_END.search(penalty)
    penalty = noun_phrase(penalty[: end.start()] if end else penalty)
    conduct = noun_phrase(
        re.sub(r"^.*?[;:]\s+|^(?:In|Under|For)\s[^,]*,\s+", "", body[: match.start()])
    )
    if conduct and _PENALTY.search(penalty) and not _PRONOUN.match(conduct):
        yield Statement(penalty, "penalises", conduct)
