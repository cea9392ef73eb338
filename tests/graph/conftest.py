"""The graph over a small corpus, embedded or with the scripted model."""

from collections.abc import Callable
from pathlib import Path

import pytest
from asked import Scores
from fake_openai import FakeOpenAI, Reply, reply
from statute import LAW, RULE

from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small statute as a folder."""
    folder = tmp_path_factory.mktemp("harbour")
    (folder / "law.txt").write_text(LAW, encoding="utf-8")
    (folder / "rule.txt").write_text(RULE, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def embedded(corpus: Path) -> Resources:
    """Context that need no model."""
    return Resources(Connection(), Settings(corpus=str(corpus)))


@pytest.fixture(scope="session")
def graph(embedded: Resources) -> Lexloop:
    """The graph without a model."""
    return build_graph(embedded)


@pytest.fixture
def modelled(server: FakeOpenAI, corpus: Path) -> Callable[..., Lexloop]:
    """``modelled(fallback=True)``: the graph with the scripted server as its model."""

    def build(**settings: object) -> Lexloop:
        wanted = {"corpus": str(corpus), "model": "openai:scripted", "model.attempts": 1}
        return build_graph(Resources(server.connection, Settings(**{**wanted, **settings})))

    return build


@pytest.fixture
def scores() -> Scores:
    """``scores(0.9, 0.2, 0.9)``: the judge's reply, answer relevance first."""

    def scripted(answer: float, context: float, grounded: float) -> Reply:
        return reply(
            answer_relevance={"reasoning": "a", "score": answer},
            context_relevance={"reasoning": "c", "score": context},
            groundedness={"reasoning": "g", "score": grounded},
        )

    return scripted


@pytest.fixture
def scripted(server: FakeOpenAI, scores: Scores) -> FakeOpenAI:
    """A model that answers well at once."""
    server.play(
        "rewrite",
        reply(
            standalone="When must the owner pay the mooring fee?",
            queries=["mooring fee due"],
            keywords=["mooring fee"],
        ),
    )
    server.play(
        "generate", Reply("It is due within 10 business days [1]. The boat owner must pay it [1].")
    )
    server.play("evaluate", scores(0.9, 0.9, 0.9))
    server.play(
        "engineer_prompt",
        reply(
            question="When is the mooring fee due?",
            queries=["due date of the fee"],
            guidance="Give the period.",
            strategy="reread",
        ),
    )
    return server
