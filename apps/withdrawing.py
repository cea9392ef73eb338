"""Withdrawal of stored answers and opinions when a document is forgotten."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

NOTE = "This answer was removed: it quoted a document that has been forgotten."
"""Stands in the place of an answer that was withdrawn."""
REMOVED = "[removed: it quoted a document that has been forgotten]"
_RUN = 8
"""A text that shares this many words in a row with a document quotes it."""
_WORD = re.compile(r"\w+")
_EMPTY: dict[str, Any] = {
    **{"answer": NOTE, "abstained": True, "finding": "absent", "near": [], "answers": None},
    **{"passed": False, "warning": "", "read_as": [], "citations": [], "inside": []},
    **{"citations_verified": False, "reasons": [], "probabilities": None, "queries": []},
    **{"keywords": [], "passages": [], "triplets": [], "attempts": [], "degraded": []},
    **{"candidates": [], "graph_candidates": [], "reasoning": [], "steps": []},
    "verdict": {"head": "Removed", "words": [NOTE], "probability": None, "checked": []},
}
"""The fields of a withdrawn answer."""


@dataclass
class Traces:
    """Recognises what belongs to a document: by its name, and by sequences of its words.

    Args:
        reads: Returns whether a collection or corpus may include the document.
        is_of: Takes a collection or corpus and the name of a document in it. Returns whether it is
            the document.
    """

    reads: Callable[[str], bool]
    is_of: Callable[[str, str], bool]
    answers: set[str] = field(default_factory=set)
    """The ids of answers that quote it."""
    _runs: set[int] = field(default_factory=set)
    _said: set[str] = field(default_factory=set)

    def learn(self, text: str) -> None:
        """Take a text for one of the document's."""
        self._said.add(text)
        self._runs.update(_runs(text))

    def quotes(self, text: str) -> bool:
        """Return whether a text is one of the document's, or has a sequence of its words."""
        return text in self._said or not self._runs.isdisjoint(_runs(text))

    def note(self, answer: Mapping[str, Any]) -> None:
        """Learn the document's texts in a stored answer, and whether it quotes them."""
        for item in _all(answer):
            if isinstance(item, Mapping) and self._names(item, _usual(answer)):
                for name in ("text", "quote"):
                    if text := item.get(name):
                        self.learn(text)
        if withdrawn(answer, self)["answer"] != answer["answer"]:
            self._said.add(answer["answer"])  # it may quote other documents as well
            self.answers.add(answer["id"])

    def pruned(self, value: Any, usual: str) -> Any:
        """Return JSON without what its lists have of the document: sources, and tries citing it."""
        if isinstance(value, Mapping):
            return {name: self.pruned(item, usual) for name, item in value.items()}
        if not isinstance(value, list):
            return value
        return [self.pruned(item, usual) for item in value if not self._is_source(item, usual)]

    def _is_source(self, item: Any, usual: str) -> bool:
        if not isinstance(item, Mapping):
            return False
        cited = [*(item.get("citations") or ()), *(item.get("near") or ())]
        return any(self._names(cited_item, usual) for cited_item in (item, *cited))

    def _names(self, item: Mapping[str, Any], usual: str) -> bool:
        # what an attempt was written from is named by the ids of its passages
        document = item.get("document") or str(item.get("id")).rpartition("#")[0]
        return bool(document) and self.is_of(item.get("collection") or usual, document)


def withdrawn(answer: Mapping[str, Any], traces: Traces) -> Mapping[str, Any]:
    """Return the part of an answer that may be kept.

    An answer that cites or quotes the document is replaced by a sentence that says so. From any
    other, the passages and relations of the document are removed.
    """
    usual = _usual(answer)
    if not any(map(traces.reads, {usual, *answer["collections"]})):
        return answer
    rest: dict[str, Any] = traces.pruned(answer, usual)
    if "inside" in rest:
        rest["inside"] = [name for name in rest["inside"] if not traces.is_of(usual, name)]
    comment = rest.get("feedback", {}).get("comment", "")
    question = answer["question"]
    cites = any(rest[name] != answer[name] for name in ("citations", "near"))
    texts = {name: value for name, value in rest.items() if name not in ("feedback", "id")}
    if cites or any(isinstance(text, str) and traces.quotes(text) for text in _all(texts)):
        question = REMOVED if traces.quotes(question) else question
        rest = {name: _EMPTY.get(name, value) for name, value in rest.items()}
        rest |= {
            "question": question,
            "standalone": question,
            "scores": dict.fromkeys(answer["scores"]),
        }
    if traces.quotes(comment):
        rest["feedback"] = {**rest["feedback"], "comment": REMOVED}
    return rest


def without(opinion: dict[str, Any], traces: Traces) -> dict[str, Any] | None:
    """Return the part of an opinion that may be kept, or None if its answer quotes the document."""
    usual = opinion["corpus"]
    if opinion["answer_id"] in traces.answers:
        return None
    if not any(map(traces.reads, usual.split(", "))):
        return opinion
    cited = traces.pruned(opinion["citations"], usual) != opinion["citations"]
    texts = (opinion[name] for name in ("answer", "question", "standalone", "comment"))
    if cited or any(map(traces.quotes, texts)):
        return None
    history = [turn for turn in opinion["history"] if not traces.quotes(turn["content"])]
    contexts = [text for text in opinion["contexts"] if not traces.quotes(text)]
    return {**opinion, "history": history, "contexts": contexts}


def _usual(answer: Mapping[str, Any]) -> str:
    """Return the collection of the sources that name none."""
    collections = answer["collections"]
    return str(collections[0] if len(collections) == 1 else answer["corpus"])


def _runs(text: str) -> Iterator[int]:
    words = _WORD.findall(text.casefold())
    return (hash(tuple(words[n : n + _RUN])) for n in range(len(words) - _RUN + 1))


def _all(value: Any) -> Iterator[Any]:
    """Yield a value of JSON, and every value inside it."""
    yield value
    inside = [*value.values()] if isinstance(value, Mapping) else value
    for item in inside if isinstance(inside, list) else ():
        yield from _all(item)
