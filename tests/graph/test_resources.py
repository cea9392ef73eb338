"""From a run's context to its components, and what callers of a served graph may name."""

import threading
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_engine import FakeEngine
from fake_openai import FakeOpenAI, Reply
from sets import write_texts
from statute import LAW, QUESTION

from lexloop.core.errors import CorpusError, SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.graph import resources as workshops
from lexloop.graph import served
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources, settings_of
from lexloop.models.minilm import load_shipped
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.writer import write_index

DEFAULTS = Settings(**{"plan.k": 4})


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (Settings(**{"plan.k": 2}), Settings(**{"plan.k": 2})),
        ({"lexloop": {"variant": "pa"}}, Settings(variant="pa", **{"plan.k": 4})),
        ({"model": "openai:of-the-parent"}, DEFAULTS),
        (SimpleNamespace(lexloop={"plan.k": 9}), Settings(**{"plan.k": 9})),
    ],
)
def test_settings_of_a_context(context: Any, expected: Settings) -> None:
    assert settings_of(context, DEFAULTS) == expected


class Calendar(date):
    """A calendar whose today is chosen."""

    now = date(2024, 1, 1)

    @classmethod
    def today(cls) -> date:
        return cls.now


def test_a_resumed_question_keeps_its_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old.txt").write_text(f"---\nin_force_to: 2024-01-01\n---\n{LAW}", "utf-8")
    (tmp_path / "new.txt").write_text(f"---\nin_force_from: 2024-01-02\n---\n{LAW}", "utf-8")
    # midnight falls between the reading of the day and everything after it
    monkeypatch.setattr(workshops, "date", Calendar)
    begun = Resources(Connection(), Settings(corpus=str(tmp_path)))(None)
    assert begun.settings.access.as_of == "2024-01-01"
    assert begun.view is not None
    assert begun.view.text_of("old.txt") is not None
    monkeypatch.setattr(Calendar, "now", date(2024, 1, 2))
    resumed = Resources(Connection(), Settings(corpus=str(tmp_path)))(None, begun.corpus.snapshot)
    assert resumed.corpus.snapshot == begun.corpus.snapshot
    assert resumed.view is not None
    assert resumed.view.text_of("old.txt") is not None
    assert resumed.view.text_of("new.txt") is None


def test_one_long_indexing_holds_up_nobody_else(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "slow.txt").write_text(LAW, encoding="utf-8")
    reached, go_on = threading.Event(), threading.Event()

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "indexing" and not reached.is_set():
            reached.set()
            assert go_on.wait(60)

    resources = Resources(Connection(), Settings(corpus=str(corpus)), progress)
    slow = threading.Thread(target=resources, args=(Settings(corpus=str(tmp_path)),))
    same = threading.Thread(
        target=resources, args=(Settings(corpus=str(tmp_path), **{"plan.k": 2}),)
    )
    slow.start()
    assert reached.wait(60)
    same.start()
    assert resources(None).view is not None  # another corpus is not held up
    assert same.is_alive()
    go_on.set()
    for thread in (slow, same):
        thread.join(60)
    made = [resources(Settings(corpus=str(tmp_path), **{"plan.k": k})) for k in ("class", 2)]
    assert made[0].view is made[1].view


@pytest.mark.parametrize(("after", "kind"), [("rewrite", "folder"), ("rerank", "index")])
def test_a_question_keeps_the_corpus_it_began_with(tmp_path: Path, after: str, kind: str) -> None:
    source = write_texts(tmp_path / "source", {"law.txt": LAW})
    place, sources = tmp_path / "index", [IndexSource(str(source))]
    tools = tools_for(Settings(), load_shipped())

    def update(text: str) -> None:
        (source / "law.txt").write_text(text, encoding="utf-8")
        if kind == "index":
            write_index(place, sources, tools)

    update(LAW)
    resources = Resources(Connection(), Settings(corpus=str(source if kind == "folder" else place)))
    graph = build_graph(resources)
    update(LAW)  # a generation that nobody has seen
    final: dict[str, Any] = {}
    for step in graph.stream({"question": QUESTION}, stream_mode="updates"):
        for name, written in step.items():
            final |= written
            if name == after:
                # every offset moves and every figure changes
                update("Preface.\n\n" + LAW.replace("within 10 business", "within 90 business"))
                resources(None)  # another question sees the new documents
    assert "10 business days" in final["answer"]
    assert "90 business days" not in final["answer"]
    assert final["evaluation"]["citations_verified"]
    result = graph.invoke({"question": QUESTION})
    assert "90 business days" in result["answer"]
    assert result["evaluation"]["citations_verified"]


def test_steps_can_be_left_out(graph: Lexloop, corpus: Path) -> None:
    def run(**settings: object) -> dict[str, Any]:
        context = {"corpus": str(corpus), **settings}
        return graph.invoke({"question": QUESTION}, context=context)

    assert run(**{"retrieval.rewriter": "none"})["attempts"][0]["queries"] == []
    assert run(**{"retrieval.knowledge_graph": "none"})["triplets"] == []
    plain = run(**{"retrieval.reranker": "none"})["passages"]
    assert all("rerank" not in passage["signals"] for passage in plain)
    assert run(**{"loop.evaluator": "none"})["warning"] == "This answer was not evaluated."


def test_a_model_alone_answers_without_citations(
    server: FakeOpenAI, scripted: FakeOpenAI, modelled: Callable[..., Lexloop]
) -> None:
    server.play("answer_alone", Reply("It is due at once."))
    result = modelled(variant="llm_only").invoke({"question": QUESTION})
    assert result["answer"] == "It is due at once."
    assert (result["citations"], result["passages"], result["triplets"]) == ([], [], [])
    assert len(result["attempts"]) == 1
    assert not result["evaluation"]["passed"]
    assert "no document backs it" in result["warning"]
    assert scripted.roles_asked() == ["answer_alone", "evaluate"]


LICENCE = {"question": "How much does a dog licence cost?"}


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    with FakeEngine() as running:
        yield running


def ask_served(corpus: str) -> None:
    build_graph(served.ForCallers(None)).invoke(LICENCE, context={"corpus": corpus})


def test_the_key_goes_to_no_other_engine(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_ENGINE_API_KEY", "a2V5")
    with pytest.raises(SettingsError, match=r"/laws, which is not this server's engine.*Leave"):
        ask_served(f"{engine.base}/laws")
    assert not engine.requests
    monkeypatch.setattr(served, "_default", f"{engine.base}/laws")
    with pytest.raises(CorpusError, match=r"There is no index at .*/rules"):
        ask_served(f"{engine.base}/rules")
    for other in (("127.0.0.1", "localhost"), (":", "+tls:")):
        with pytest.raises(SettingsError, match="not this server's engine"):
            ask_served(f"{engine.base.replace(*other, 1)}/laws")
