"""Asks questions whose answers ``judged.jsonl`` has, under a model that calls each of them good.

A server of the tests plays the model over real HTTP: it writes the answer and gives 0.95 to
everything. An answer of the file names what it cites by some words of it, as ``[[words]]``.
"""

import re
from collections.abc import Iterator
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


def judged() -> Iterator[tuple[Row, State]]:
    """Yield every answer of the file with its question, and what became of it."""
    asked: Row = {}
    with FakeOpenAI() as server:
        all_good = {name: {"reasoning": "Good.", "score": _ALL_GOOD} for name in _TRIAD}
        server.play("evaluate", reply(**all_good))
        server.play("rewrite", lambda _: _searched(asked))
        server.play("generate", lambda request: Reply(_cited(asked["answer"], request)))
        graphs = {
            name: build_graph(Resources(server.connection, _settings(corpus)))
            for name, corpus in _DOCUMENTS.items()
        }
        for row in read_rows(_ANSWERS):
            asked.update(row)
            yield row, graphs[row["documents"]].invoke({"question": row["question"]})


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
