"""LangChain's objects in place of names: chat models of all or single steps, embeddings."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.sqlite import SqliteSaver

import lexloop
from lexloop.core.errors import DataError, ModelError, SettingsError
from lexloop.models.object_embedder import ObjectEmbedder
from lexloop.models.objects import Objects

QUESTION = "Who must pay the mooring fee?"
LAW = "§ 1 Fees.\nThe owner of a boat must pay a mooring fee of $50.\n\n§ 2 Light.\nIt is white.\n"
ANSWER = "The owner of a boat must pay it. [1]"
VECTORS = DeterministicFakeEmbedding(size=16)
SECRET = "sk-secret-of-the-object"


class Secretive(FakeListChatModel):
    """A model that holds a key."""

    key: str = SECRET


def reply(score: float) -> str:
    """What a judge says."""
    scored = {"reason": "So.", "score": score}
    return json.dumps(
        {"context_relevance": scored, "groundedness": scored, "answer_relevance": scored}
    )


@pytest.fixture
def law(tmp_path: Path) -> str:
    (tmp_path / "boats.txt").write_text(LAW, "utf-8")
    return str(tmp_path)


def writer(*replies: str) -> FakeListChatModel:
    return Secretive(responses=[*replies])


QUICK = {"retrieval.rewriter": "embedded", "loop.evaluator": "embedded"}


def test_a_chat_model_writes_the_answer(law: str) -> None:
    found = lexloop.ask(QUESTION, law, model=writer(ANSWER), **QUICK)
    assert (found["answer"], found["usage"]["model_calls"]) == (ANSWER, 1)
    assert found["citations"][0]["section"] == "§ 1"
    again = asyncio.run(lexloop.aask(QUESTION, law, model=writer(ANSWER), **QUICK))
    assert again["answer"] == ANSWER


def test_a_step_has_a_model_of_its_own(law: str) -> None:
    judge = writer(reply(0.9))
    settings = {**QUICK, "loop.evaluator": "auto"}
    found = lexloop.ask(QUESTION, law, model=writer(ANSWER), models={"judge": judge}, **settings)
    assert found["evaluation"]["groundedness"] == 0.9
    alone = lexloop.ask(QUESTION, law, models={"judge": judge})
    assert "must pay a mooring fee" in alone["answer"]
    assert alone["usage"]["model_calls"] == 1


def test_a_graph_keeps_the_object_out_of_checkpoints(law: str, tmp_path: Path) -> None:
    file = tmp_path / "threads.sqlite"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        settings = {"corpus": law, **QUICK}
        graph = lexloop.build_graph(
            checkpointer=saver, model=writer(ANSWER), embeddings=VECTORS, settings=settings
        )
        graph.invoke({"question": QUESTION}, {"configurable": {"thread_id": "1"}})
    kept = file.read_bytes()
    assert ANSWER.encode() in kept
    assert SECRET.encode() not in kept


def test_an_index_by_embeddings_is_asked_with_the_same(law: str, tmp_path: Path) -> None:
    index = lexloop.Index.build(law, tmp_path / "index", embeddings=VECTORS)
    assert index.search(QUESTION)[0]["section"] == "§ 1"
    assert index.verify()["documents"] == 1
    opened = lexloop.Index(tmp_path / "index", embeddings=VECTORS)
    assert "$50" in opened.ask(QUESTION)["answer"]
    with pytest.raises(DataError, match="object:DeterministicFakeEmbedding"):
        lexloop.Index(tmp_path / "index").ask(QUESTION)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"model": VECTORS}, "DeterministicFakeEmbedding is not a chat model"),
        ({"embeddings": writer("x")}, "Secretive is not embeddings"),
        ({"models": {"rerank": writer("x")}}, "No step 'rerank' asks a model"),
    ],
)
def test_what_is_no_such_object_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        lexloop.ask(QUESTION, **given)
    with pytest.raises(SettingsError, match=says):
        lexloop.build_graph(**given)


def test_objects_have_names_that_tell_them_apart() -> None:
    one, other = writer("a"), writer("b")
    objects = Objects.of(one, {"rewrite": other, "generate": one, "judge": "openai:gpt-4o"})
    assert objects.settings == {
        "model.name": "object:Secretive",
        "model.rewrite": "object:Secretive#2",
        "model.generate": "object:Secretive",
        "model.evaluate": "openai:gpt-4o",
    }
    assert objects.client("openai:gpt-4o") is None


class Broken(Embeddings):
    """Gives what the test says, or raises it."""

    def __init__(self, give: Callable[[int], Any]) -> None:
        self._give = give

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._give(len(text)) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._give(len(text))
        return vector


def _raise(_: int) -> Any:
    raise ConnectionError(f"no route with {SECRET}")


@pytest.mark.parametrize(
    ("give", "says"),
    [
        (lambda _: [], "did not give 1 vectors"),
        (lambda _: [float("nan")] * 3, "did not give"),
        (lambda _: ["a"], "did not give"),
        (_raise, r"failed: ConnectionError: no route with \[key\]"),
    ],
)
def test_embeddings_that_give_no_vectors_are_an_error(
    give: Callable[[int], Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    with pytest.raises(ModelError, match=says) as raised:
        ObjectEmbedder("object:Broken", Broken(give))
    assert raised.value.embedder == "object:Broken"


def test_vectors_are_unit_vectors_of_each_text() -> None:
    embedder = ObjectEmbedder("object:Broken", Broken(lambda length: [length, 0.0]))
    assert embedder.embed([]).shape == (0, 2)
    assert np.allclose(embedder.embed(["a", "bcd"]), [[1, 0], [1, 0]])
    done: list[tuple[int, int]] = []
    made = embedder.encode(["ab"] * 300, lambda *at: done.append(at))
    assert made.shape == (300, 2)
    assert done == [(256, 300), (300, 300)]
