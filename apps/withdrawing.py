"""What is withdrawn of kept answers and opinions when a document is forgotten."""

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
"""What an answer comes to that was withdrawn."""


@dataclass
class Traces:
    """Tells what is of a document: by its name, and by words in a row that it has, too.

    Args:
        reads: Of a collection or corpus, whether the document may be among its own.
        is_of: Of such and a document's name there, whether it is that document.
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
        """Return whether a text is one of the document's, or has words in a row of it."""
        return text in self._said or not self._runs.isdisjoint(_runs(text))

    def note(self, answer: Mapping[str, Any]) -> None:
        """Learn what is of the document in a kept answer, and whether that quotes it."""
        for item in _mappings(answer):
            if self._names(item, _usual(answer)):
                for name in ("text", "quote"):
                    if said := item.get(name):
                        self.learn(said)
        if withdrawn(answer, self)["answer"] != answer["answer"]:
            self._said.add(answer["answer"])  # it may quote others, too
            self.answers.add(answer["id"])

    def pruned(self, value: Any, usual: str) -> Any:
        """Return JSON without what its lists have of the document: sources, and tries citing it."""
        if isinstance(value, Mapping):
            return {name: self.pruned(one, usual) for name, one in value.items()}
        if not isinstance(value, list):
            return value
        return [self.pruned(one, usual) for one in value if not self._is_source(one, usual)]

    def _is_source(self, one: Any, usual: str) -> bool:
        if not isinstance(one, Mapping):
            return False
        cited = [*(one.get("citations") or ()), *(one.get("near") or ())]
        return any(self._names(item, usual) for item in (one, *cited))

    def _names(self, item: Mapping[str, Any], usual: str) -> bool:
        document = item.get("document")
        return isinstance(document, str) and self.is_of(item.get("collection") or usual, document)


def withdrawn(answer: Mapping[str, Any], traces: Traces) -> Mapping[str, Any]:
    """Return the part of an answer that may be kept.

    An answer that cites or quotes the document is replaced by a sentence that says so. From any
    other, the passages and relations of the document are removed.
    """
    usual = _usual(answer)
    if not any(map(traces.reads, {usual, *answer["collections"]})):
        return answer
    left: dict[str, Any] = traces.pruned(answer, usual)
    if "inside" in left:
        left["inside"] = [name for name in left["inside"] if not traces.is_of(usual, name)]
    comment = left.get("feedback", {}).get("comment", "")
    asked = answer["question"]
    cites = any(left[name] != answer[name] for name in ("citations", "near"))
    said = {name: value for name, value in left.items() if name not in ("feedback", "id")}
    if cites or any(map(traces.quotes, _texts(said))):
        asked = REMOVED if traces.quotes(asked) else asked
        left = {name: _EMPTY.get(name, value) for name, value in left.items()}
        left |= {"question": asked, "standalone": asked, "scores": dict.fromkeys(answer["scores"])}
    if traces.quotes(comment):
        left["feedback"] = {**left["feedback"], "comment": REMOVED}
    return left


def without(opinion: dict[str, Any], traces: Traces) -> dict[str, Any] | None:
    """Return the part of an opinion that may be kept, or None if its answer quotes the document."""
    usual = opinion["corpus"]
    if opinion["answer_id"] in traces.answers:
        return None
    if not any(map(traces.reads, usual.split(", "))):
        return opinion
    cited = traces.pruned(opinion["citations"], usual) != opinion["citations"]
    said = (opinion[name] for name in ("answer", "question", "standalone", "comment"))
    if cited or any(map(traces.quotes, said)):
        return None
    history = [turn for turn in opinion["history"] if not traces.quotes(turn["content"])]
    contexts = [text for text in opinion["contexts"] if not traces.quotes(text)]
    return {**opinion, "history": history, "contexts": contexts}


def _usual(answer: Mapping[str, Any]) -> str:
    """Return the collection of the sources that name none."""
    asked = answer["collections"]
    return str(asked[0] if len(asked) == 1 else answer["corpus"])


def _runs(text: str) -> Iterator[int]:
    words = _WORD.findall(text.casefold())
    return (hash(tuple(words[n : n + _RUN])) for n in range(len(words) - _RUN + 1))


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
    for one in _inside(value):
        yield from _mappings(one)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in _inside(value):
        yield from _texts(one)


def _inside(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.values()]
    return value if isinstance(value, list) else []
