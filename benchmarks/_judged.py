"""Asks questions whose answers ``judged.jsonl`` has, under a model that calls each of them good.

A server of the tests plays the model over real HTTP: it writes the answer and gives 0.95 to
everything. An answer of the file names what it cites by some words of it, as ``[[words]]``.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from _shared import ROOT, Row, read_rows
from fake_openai import FakeOpenAI, Reply, Request, reply

from lexloop.core.settings import Settings
from lexloop.core.state import State
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

_ANSWERS = Path(__file__).with_name("judged.jsonl")
_DOCUMENTS = {
    "ll144": "sample",
    "asked_laws": str(ROOT / "tests" / "data" / "asked_laws"),
    "example_laws": str(ROOT / "data" / "example" / "laws"),
    "example_contracts": str(ROOT / "data" / "example" / "contracts"),
}
_ALL_GOOD = 0.95
_CITED = re.compile(r"\[\[(.+?)\]\]")
_PASSAGE = re.compile(r'<data-\w+ kind="passage" n="(\d+)">(.*?)</data-', re.DOTALL)
_TRIAD = ("context_relevance", "groundedness", "answer_relevance")


def answers() -> list[Row]:
    """Return every answer of the file: its question, its kind and whether it is to pass."""
    return read_rows(_ANSWERS)


class AllGood:
    """The state machine with a model that writes a given answer and calls it good."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        self._stack = ExitStack()
        server = self._stack.enter_context(FakeOpenAI())
        all_good = {name: {"reasoning": "Good.", "score": _ALL_GOOD} for name in _TRIAD}
        server.play("evaluate", reply(**all_good))
        server.play("rewrite", lambda _: _searched(self._asked))
        server.play("generate", lambda request: Reply(_cited(self._asked["answer"], request)))
        self._graphs = {
            name: build_graph(Resources(server.connection, _settings(corpus)))
            for name, corpus in _DOCUMENTS.items()
        }

    def __call__(self, row: Row) -> State:
        """Return what becomes of an answer of the file."""
        self._asked.update(row)
        return self._graphs[row["documents"]].invoke({"question": row["question"]})

    def close(self) -> None:
        """End the server that plays the model."""
        self._stack.close()


def judged() -> Iterator[tuple[Row, State]]:
    """Yield every answer of the file, and what became of it."""
    with closing(AllGood()) as ask:
        for row in answers():
            yield row, ask(row)


def _settings(corpus: str) -> Settings:
    asked = {"model": "openai:played", "plan.k": 15, "plan.Q": 4, "loop.max_retries": 0}
    return Settings(corpus=corpus, **asked)


def _searched(row: Row) -> Reply:
    """The question as asked, searched for by what its answer cites."""
    return reply(standalone=row["question"], queries=_CITED.findall(row["answer"]))


def _cited(answer: str, request: Request) -> str:
    """The answer with the numbers of the passages that hold the words it names."""
    passages = {n: " ".join(said.split()) for n, said in _PASSAGE.findall(request.user)}

    def marker(named: re.Match[str]) -> str:
        return f"[{next(n for n, said in passages.items() if named[1] in said)}]"

    return _CITED.sub(marker, answer)
