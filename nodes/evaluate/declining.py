"""Whether a text declines to answer, in whatever words a system puts it."""

import re

_NOT = r"(?:\bnot\b|n['’]t\b)"
_ADVERB = r"(?:\w+ly )?"
_SOURCE = (
    r"(?:context|text|documents?|passages?|information|excerpts?|materials?|sources?|laws?|code"
    r"|regulations?|rules?|(?:sub)?chapters?|sections?)"
)
_SAY = (
    r"(?:mention|specify|provide|contain|include|say|state|cover|address|answer|discuss|give"
    r"|list|define|detail|indicate)"
)
_SAID = (
    r"(?:mentioned|specified|provided|stated|addressed|given|available|listed|found"
    r"|known|answered)"
)
_TOLD = r"(?:information|mention|details?|indication|explanation|reference to)"
_DECLINING = re.compile(
    "|".join(
        (
            rf"\b{_SOURCE}\b.{{0,60}}?\b(?:does|do|did)\s?{_NOT} {_ADVERB}{_SAY}\b",
            rf"\b{_SOURCE}\b.{{0,60}}?\b{_SAY}s? nothing\b",
            rf"\b{_SOURCE}\b.{{0,60}}?\b(?:is|are) silent\b",
            rf"\b(?:is|are|was|were)\s?{_NOT} {_ADVERB}{_SAID}\b",
            rf"\b(?:no|insufficient|not enough|lacks?) (?:\w+ )?{_TOLD}\b",
            r"\b(?:cannot|can not|can['’]t|unable to|(?:not able|not possible) to)"
            rf" (?:be )?{_ADVERB}(?:answer|find|provide|determine|locate|tell)",
            rf"\bI (?:do|did|could)\s?{_NOT} (?:know|find|have (?:\w+ )?(?:access|information"
            r"|context|the context))\b",
            r"\b(?:I|please|you) (?:\w+ )?(?:provide|need) (?:me with )?"
            r"(?:more|additional|further) (?:\w+ )?(?:context|information|details)\b",
        )
    ),
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|unless|when|where|whether)\b", re.IGNORECASE)
_LONGEST = 2000  # keeps the cost linear in hostile text


def declines(sentence: str) -> bool:
    """Whether a sentence says that something is not known, not given or cannot be answered.

    What comes after "if" or "unless" is a condition of the law and not the writer's own excuse.
    """
    head = sentence[:_LONGEST]
    found = _DECLINING.search(head)
    return found is not None and not _CONDITION.search(head[: found.start()])


def share_declining(sentences: list[str]) -> float:
    """The share of the sentences that decline: 1 for a refusal, 0 for an answer."""
    if not sentences:
        return 0.0
    return sum(map(declines, sentences)) / len(sentences)
