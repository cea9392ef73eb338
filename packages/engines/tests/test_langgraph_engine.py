"""The graphs behind ``langgraph dev`` where their documents lie in an engine."""

from pathlib import Path

import pytest
from fake_openai import FakeOpenAI
from indexes import sources
from langgraph_server import langgraph_dev

from lexloop.core.settings import Settings
from lexloop.models.minilm import load_shipped
from lexloop.store.opening import tools_for
from lexloop.store.writer import write_index
from lexloop_engines.engine.moving import push_index


@pytest.fixture
def dogs(engine_address: str, tmp_path: Path) -> str:
    """A rule on dogs in an engine."""
    (tmp_path / "rules").mkdir()
    text = (
        "§ 1 Licence. A dog licence costs 40 euros.\n\n§ 2 Leash. Dogs are on a leash in parks.\n"
    )
    (tmp_path / "rules" / "dogs.txt").write_text(text, "utf-8")
    tools = tools_for(Settings(), load_shipped())
    write_index(tmp_path / "index", sources(tmp_path / "rules"), tools)
    push_index(tmp_path / "index", engine_address, tools.embedder)
    return engine_address


def test_they_answer_from_the_engine_that_the_environment_names(dogs: str, tmp_path: Path) -> None:
    asked = {"question": "How much does a dog licence cost?"}
    named = {"LEXLOOP_CORPUS": dogs, "LEXLOOP_COLLECTIONS": f"dogs={dogs}"}
    with FakeOpenAI() as model, langgraph_dev(tmp_path, model, **named) as served:
        thread = served.client.threads.create()["thread_id"]
        for context in ({}, {"plan": {"k": 5}}):
            said = served.stream(asked, "values", thread=thread, context=context)
            assert "40 euros" in said[-1][1]["answer"]
        (event, last) = served.stream(asked, "values", graph="agent")[-1]
        assert (event, last["collections"]) == ("values", ["dogs"])
        assert "40 euros" in last["answer"]
    assert "locking call" not in served.log, served.log
