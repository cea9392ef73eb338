"""What a model's rewriting of a question must keep: numbers, names, negations, parties, meaning."""

import re
from collections.abc import Iterator, Sequence

from lexloop.core.types import Turn
from lexloop.documents.text.quantities import facts
from lexloop.documents.text.tokens import term_set, words
from lexloop.models.embedding import Embed
from lexloop.nodes.alignment import AGENT, NEGATORS, negated_terms

_LEAST_LIKE = 0.5
"""The least cosine plus share of known words (``python benchmarks/rewrites.py``)."""
_OTHER = re.compile(r"(?:an)?others?|either|neither|whether")
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]+")


def changed(written: str, question: str, history: Sequence[Turn], embed: Embed) -> str:
    """Return what a rewriting changed that it must keep, or "" if it asks the same question.

    Other words may change: a rewriting exists to find those of the documents.

    Args:
        written: The rewriting.
        question: The question as asked.
        history: The conversation before it, whose facts and parties may come in.
        embed: Gives unit vectors of texts.
    """
    return next(_changes(written, question, history, embed), "")


def _changes(written: str, question: str, history: Sequence[Turn], embed: Embed) -> Iterator[str]:
    conversation = " ".join([*(turn["content"] for turn in history), question])
    asked, new, known = {*words(question)}, {*words(written)}, {*words(conversation)}
    if moved := (facts(written) - facts(conversation)) | (facts(question) - facts(written)):
        yield f"{', '.join(sorted(moved))} came or went"
    if _denies(asked) and not _denies(new):
        yield "a negation went"
    if denied := (negated_terms(written) & term_set(question)) - negated_terms(question):
        yield f"a negation came before “{min(denied)}”"
    if (came := _names(written) - known) and (went := _names(question) - new):
        yield f"“{min(went)}” became “{min(came)}”"
    came, went = _agents(written) - known, _agents(question) - new
    others = term_set(question) - term_set(" ".join(went))
    if came and went and len(others & term_set(written)) >= len(others) / 2:
        yield f"“{min(went)}” became “{min(came)}”"
    if (like := _likeness(written, question, history, embed)) < _LEAST_LIKE:
        yield f"it is {like:.2f} like it, and {_LEAST_LIKE} is needed"


def _denies(said: set[str]) -> bool:
    return any(word in NEGATORS or re.search(r"n['’]t$", word) for word in said)


def _names(text: str) -> set[str]:
    return {name.lower() for name in _NAME.findall(text)}


def _agents(text: str) -> set[str]:
    """Return the nouns that name who acts."""
    return {word for word in words(text) if AGENT.search(word) and not _OTHER.fullmatch(word)}


def _likeness(written: str, question: str, history: Sequence[Turn], embed: Embed) -> float:
    """Return the cosine with the question, alone or behind the one before, plus the known share.

    That is the share of the rewriting's terms that the conversation has.
    """
    before = [turn["content"] for turn in history if turn["role"] == "user"]
    vector, *others = embed([written, question, " ".join([*before[-1:], question])])
    terms = term_set(written)
    known = term_set(" ".join([*(turn["content"] for turn in history), question]))
    share = len(terms & known) / max(1, len(terms))
    return max(float(vector @ other) for other in others) + share
