"""The real development server, and the examples as modules."""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from fake_openai import KEY, FakeOpenAI
from langgraph_server import Served, langgraph_dev

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[Served]:
    """One server for all; at its end it must neither have blocked nor left the machine."""
    with FakeOpenAI() as model:
        with langgraph_dev(tmp_path_factory.mktemp("served"), model) as running:
            yield running
        assert "locking call" not in running.log, running.log
        assert not running.attempts


@pytest.fixture(params=["shared_messages", "inside_a_node"])
def embedded_example(request: pytest.FixtureRequest) -> Path:
    """The examples that need no model."""
    return EXAMPLES / f"{request.param}.py"


@pytest.fixture
def example() -> Callable[[str], ModuleType]:
    """``example("agent_tool")`` -> the example as a module."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def agents_model(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    return server
