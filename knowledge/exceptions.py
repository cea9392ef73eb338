"""Unlawful conduct, exceptions, scope and penalties: clauses with wordings of their own."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from lexloop.documents.structure.tree import LEADS
from lexloop.knowledge.clauses import plain_noun
from lexloop.knowledge.phrases import noun_phrase, readable
from lexloop.knowledge.predicates import BareTriplet
from lexloop.knowledge.references import Target

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
    r"(?:^|,\s)(?:notwithstanding|despite|(?:by\s+way\s+of|in)\s+derogation\s+from"
    r"|(?:by\s+way\s+of|as\s+an)\s+exception\s+(?:to|from))\s+(?P<rule>[^,;]{3,160}),\s*(?P<main>[^;]{3,300})",
    re.IGNORECASE,
)
_NOT_APPLY = re.compile(
    r"\b(?P<not>(?:(?:do|does|shall|will)\s+not\s+)apply|(?:is|are)\s+not\s+applicable)\s+"
    r"(?:to|in\s+respect\s+of|in\s+relation\s+to)\s+(?P<what>[^;:]{2,300})"
)
DISAPPLIED = re.compile(
    r"\b(?:(?:do|does|shall|will)\s+not\s+apply|(?:is|are)\s+not\s+applicable)\b(?!\s+unless)"
)
_CIRCUMSTANCE = re.compile(r",?\s+(?=(?:if|where|when|in|insofar|during|as\s+long)\b)")
_APPLY = re.compile(
    r"\b(?<!not\s)(?:appl(?:y|ies)|shall\s+apply)\s+(?:only\s+)?to\s+(?P<what>[^;:]{2,300})"
)
_LIABLE = re.compile(
    r"\s(?:(?:is|are|(?:shall|will|may)(?:,[^,;:]{1,80},)?\s+be)\s+(?:(?:also|each)\s+)?(?:liable\s+(?:for|to)"
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
_VERB_BETWEEN = re.compile(r"\b(?:is|are|was|were|has|have|shall|must|may|which|who|that)\b")
_PRONOUN = re.compile(r"(?:it|he|she|they|this|that|these|who|which|there|each)\b", re.IGNORECASE)


def find_unlawful(body: str) -> tuple[str, str, int] | None:
    """Return actor, action and the action's end of "it is unlawful for X to do Y"."""
    match = _UNLAWFUL.search(body)
    if not match or not plain_noun(match["actor"]):
        return None
    condition = _CONDITION.search(match["action"] + " ")
    action = match["action"][: condition.start()] if condition else match["action"]
    action = re.sub(r",?(?<!\s)\s+unless$", "", action.rstrip())
    return plain_noun(match["actor"]), action, match.start("action") + len(action)


def find_exemption(body: str) -> tuple[str, int] | None:
    """Return the condition after "unless" or "except", and where the rule ends."""
    match = _CONDITION.search(body)
    if not match or match["condition"].rstrip().endswith(":"):
        return None
    return readable(match["condition"]), match.start()


def rules_before(
    body: str, end: int, targets: Sequence[Target], this: Mapping[str, str]
) -> list[str]:
    """Return the rules that a predicate such as "shall not apply" is said of.

    It begins at ``end``. Provisions are named by their labels; ``this`` has what "this section" and
    the like stand for.
    """
    begin = max(body.rfind(mark, 0, end) for mark in (";", ":", ". ")) + 1
    clause = body[begin:end].lower()
    own = [label for words, label in this.items() if clause.rstrip().endswith(words)]
    if own:
        return own
    last = max((target.end for target in targets if target.end <= end), default=-1)
    if last < begin or _VERB_BETWEEN.search(body, last, end):
        segment = re.split(r"[,;:]\s+", body[:end])[-1].strip()
        segment = re.sub(r"(?<!\s)\s+(?:shall|will|also|only|does|do)$", "", segment)
        return list(filter(None, [noun_phrase(plain_noun(segment))]))
    named = [t for t in targets if begin <= t.start and t.end <= end]
    return list(dict.fromkeys(target.name for target in named))


def scope_statements(body: str, named: Callable[[int], Sequence[str]]) -> Iterator[BareTriplet]:
    """Yield who or what a rule applies to, and who or when it does not apply to.

    ``named`` leads from an offset to the rules that what begins there is said of.
    """
    for pattern, predicate in ((_NOT_APPLY, "exception_to"), (_APPLY, "applies_to")):
        match = pattern.search(body)
        if not match or body.endswith(LEADS):
            continue
        what = noun_phrase(
            re.split(r",?(?<!\s)\s+(?:unless|if|where|except)\b|,\s", match["what"])[0]
        )
        if not what or _PRONOUN.match(what):
            continue
        for subject in named(match.start()):
            if subject and predicate == "exception_to":
                yield BareTriplet(what, "exception_to", subject)
            elif subject:
                yield BareTriplet(subject, "applies_to", what)
    disapplied = DISAPPLIED.search(body)
    when = _CIRCUMSTANCE.match(body, disapplied.end()) if disapplied else None
    if disapplied and when and not body.endswith(LEADS):
        for label in named(disapplied.start()):
            yield BareTriplet(readable(body[when.end() :]), "exception_to", label)


def override_statements(body: str, targets: Sequence[Target]) -> Iterator[BareTriplet]:
    """Yield X as an exception to R, for "Notwithstanding R, X"."""
    match = _NOTWITHSTANDING.search(body)
    if not match:
        return
    start, end = match.span("rule")
    named = [target for target in targets if start <= target.start < end]
    main = match["main"]
    if named and (last := max(target.end for target in named)) > end:  # "Articles 63, 64 and 65,"
        main = body[last:].partition(",")[2]
    for rule in dict.fromkeys(target.name for target in named) or [noun_phrase(match["rule"])]:
        yield BareTriplet(readable(main), "exception_to", rule)


def find_penalty(body: str) -> tuple[str, str, int] | None:
    """Return the penalty, the conduct that it is for, and the conduct's end.

    The conduct is empty where it is a mere pronoun.
    """
    match = _LIABLE.search(body)
    if not match:
        return None
    penalty = match["penalty"]
    end = _PENALTY_END.search(penalty)
    penalty = noun_phrase(penalty[: end.start()] if end else penalty)
    conduct = noun_phrase(
        re.sub(r"^.*?[;:]\s+|^(?:In|Under|For)\s[^,]*,\s+", "", body[: match.start()])
    )
    if not (conduct and _PENALTY.search(penalty)):
        return None
    return penalty, "" if _PRONOUN.match(conduct) else conduct, match.start()
