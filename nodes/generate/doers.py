"""Whether a statement says who does what a question asks about, or only leans on it."""

from typing import Literal

from lexloop.documents.text.tokens import tokenize, words
from lexloop.nodes.question.parts import AUXILIARY

_RELATIVE = frozenset(("that", "which", "who", "whoever", "whom", "to"))
_ARTICLES = frozenset(("a", "an", "the"))
_BEING = frozenset(("am", "are", "be", "been", "being", "is", "was", "were"))
_BACK = 5
"""Words looked back from a verb: "who must have been kept"."""
_AUXILIARIES = frozenset(AUXILIARY.split("|")) | _BEING


def asks_who(asked: str) -> bool:
    """Return whether a question is who does something."""
    return bool(_done(words(asked)))


def says_who(asked: str, text: str) -> Literal["said", "lacking", "passing"]:
    """Return whether a text says who does what is asked, if the question is who does it.

    "The clerk who keeps the register is paid by the day" says in passing who keeps it: it is about
    something else, and leans on what the reader knows. "The register was kept" lacks it.
    """
    done = _done(words(asked))
    if not done:
        return "said"
    said = words(text)
    verbs = {word for word in {*said} if done & {*tokenize(word)}}
    ways = {_way(said, place) for place, word in enumerate(said) if word in verbs} - {"noun"}
    if ways == {"relative"}:
        return "passing"
    return "said" if "active" in ways or "by" in said else "lacking"


def _done(asked: list[str]) -> set[str]:
    """Return the terms of what somebody does, if the question is who does it."""
    by = next((at for at in range(len(asked) - 1) if asked[at : at + 2] == ["by", "whom"]), -1)
    if by >= 0:
        return {*tokenize(" ".join([*asked[:by], *asked[by + 2 :]][-1:]))}
    if "who" not in asked[:2]:
        return set()
    after = asked[asked.index("who") + 1 :]
    return next(({*tokenize(word)} for word in after if word not in _AUXILIARIES), set())


def _way(said: list[str], place: int) -> Literal["noun", "active", "passive", "relative"]:
    """Return how a verb is used, by the words before its place."""
    before = said[max(0, place - _BACK) : place]
    if before and before[-1] in _ARTICLES:
        return "noun"
    passive = False
    while before and before[-1] in _AUXILIARIES:
        passive |= before.pop() in _BEING
    if before and before[-1] in _RELATIVE:
        return "relative"
    return "passive" if passive else "active"
