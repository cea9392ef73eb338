"""Whether one document speaks of both things that a question joins: the penalty and the smoking.

"What is the fine for a dog?" supposes that there is one. Where another document has fines and the
one that is quoted has dogs alone, neither answers.
"""

import re
from collections.abc import Iterator

from lexloop.core.types import Draft, ParsedQuestion
from lexloop.documents.text.tokens import STOP_WORDS, tokenize
from lexloop.nodes.question.parts import kind_words
from lexloop.store.view import View

_SUPPOSED = re.compile(
    r"\b(?:is|was)\s+(?:the|an?)\s+(?:[\w-]+\s+)?(?P<what>[^\W\d_]{3,})\s+(?:for|on|in|during|at)\s+"
    r"(?:(?:an?|the|my|your|our|each|every)\s+)?(?P<thing>[^\W\d_]{3,}(?:\s+[^\W\d_]{3,})?)",
    re.IGNORECASE,
)
"""A thing that is supposed to be, and the next one or two words that it is for."""


def unmet(question: ParsedQuestion, draft: Draft, view: View) -> list[str]:
    """Return in sentences what a question joins, and no document that is quoted does.

    Both words stand in the documents: one that no document has is told otherwise.
    """
    cited = {citation["document"] for citation in draft["citations"]}
    if draft["abstained"] or len(view.titles) < 2 or not cited:
        return []
    return [
        f"No document that is quoted speaks of both “{what}” and “{thing}”."
        for what, thing in dict.fromkeys(_supposed(question["text"]))
        if (one := _holding(what, view)) and (other := _holding(thing, view))
        if not one & other & cited
    ]


def _supposed(text: str) -> Iterator[tuple[str, str]]:
    asking = kind_words(text) | STOP_WORDS
    for found in _SUPPOSED.finditer(text):
        for thing in found["thing"].split():
            pair = found["what"].lower(), thing.lower()
            if all(word not in asking and tokenize(word) for word in pair):
                yield pair


def _holding(word: str, view: View) -> frozenset[str]:
    """Return the documents that have a word, in their text or their title."""
    terms = {*tokenize(word)}
    titled = (name for name, title in view.titles.items() if terms & {*tokenize(title)})
    return frozenset([*view.having([word]), *titled])
