"""For every test: no network, no keys of the machine's owner, and a model server on loopback."""

import gc
import os
import random
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

_SUPPORT = str(Path(__file__).parent / "tests" / "support")
sys.path.insert(0, _SUPPORT)

import engines  # noqa: E402 - found through the line above
import network_guard  # noqa: E402

_FORGOTTEN_PREFIXES = ("LEXLOOP_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")
_KEPT = {"LEXLOOP_DATA", *engines.VARIABLES}  # where data and engines are, for tests that use them
_FORGOTTEN_SUFFIXES = ("_API_KEY", "_PROXY", "_proxy")
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
}


def _prepare_environment() -> None:
    """Before any library reads it, and for the processes that tests start too."""
    for name in list(os.environ):
        forgotten = name.startswith(_FORGOTTEN_PREFIXES) or name.endswith(_FORGOTTEN_SUFFIXES)
        if forgotten and name not in _KEPT:
            del os.environ[name]
    os.environ.update(_OFFLINE)
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # workers share the processors between them
    paths = [_SUPPORT, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))


_prepare_environment()
network_guard.install()

import hypothesis  # noqa: E402
import pytest  # noqa: E402
from fake_openai import FakeOpenAI  # noqa: E402

from lexloop.core.running import waited  # noqa: E402
from lexloop.core.settings import Settings  # noqa: E402
from lexloop.core.types import Usage  # noqa: E402
from lexloop.models.chat import ChatModel, asking, connect  # noqa: E402
from lexloop.models.request import ChatReply, ChatRequest  # noqa: E402

if TYPE_CHECKING:
    from lexloop_eval.asking import Asker

pytest_plugins = ["command_line", "in_browser", "reading_files"]

# a busy machine is no defect: laws are tested without a limit on the time of one example
for _name, _profile in {
    "usual": {},
    "ci": {"derandomize": True},
    "long": {"max_examples": 2000},
}.items():
    hypothesis.settings.register_profile(_name, deadline=None, print_blob=True, **_profile)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "usual")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of random laws here, so that it can be told and given again."""
    told = getattr(config, "workerinput", {}).get("hypothesis_seed")
    if told is not None:
        config.option.hypothesis_seed = told
    elif config.getoption("hypothesis_seed", None) is None and not os.environ.get("CI"):
        config.option.hypothesis_seed = str(random.randrange(2**32))  # noqa: S311 - no secret


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist the seed that was chosen for all."""
    node.workerinput["hypothesis_seed"] = node.config.getoption("hypothesis_seed", None)


def pytest_collection_finish() -> None:
    """Set what the libraries made apart, so that what tests leave open is collected early."""
    gc.collect()
    gc.freeze()
    gc.collect()  # how much is new is measured against what this one leaves


def pytest_report_header(config: pytest.Config) -> str:
    """Say how laws are tried and how to try them so again."""
    seed = config.getoption("hypothesis_seed", None)
    return f"laws: {f'--hypothesis-seed={seed}' if seed else 'always the same examples'}"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Repeat the seed where something failed, also under -q."""
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(pytest_report_header(config))


T = TypeVar("T")


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache of indexes for the session, and none of the machine's owner's."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["LEXLOOP_CACHE"] = str(folder)
    yield folder
    del os.environ["LEXLOOP_CACHE"]


@pytest.fixture(autouse=True)
def network_attempts() -> Iterator[list[str]]:
    """Fail a test that reached for the network, even where the error was swallowed."""
    network_guard.attempts.clear()
    yield network_guard.attempts
    assert not network_guard.attempts, f"reached for the network: {network_guard.attempts}"


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A scripted model server on loopback."""
    with FakeOpenAI() as running:
        yield running


@pytest.fixture
def meter() -> Usage:
    """A fresh count of what a question costs."""
    return {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}


@pytest.fixture
def soon() -> float:
    """A deadline far enough for everything that should end."""
    return time.monotonic() + 60.0


@pytest.fixture
def chat_model(server: FakeOpenAI) -> Callable[..., ChatModel]:
    """Connect to the scripted server: ``chat_model(model_attempts=1)``."""

    def connected(**settings: object) -> ChatModel:
        wanted = {"model": "openai:scripted", **settings}
        return connect(Settings(**wanted), server.connection)

    return connected


@pytest.fixture
def asker(server: FakeOpenAI, tmp_path: Path) -> Iterator["Asker"]:
    """What judges by the scripted server, tried once a call."""
    from lexloop_eval.asking import Asker

    settings = Settings(model="openai:scripted", deadline_s=5, **{"model.attempts": 1})
    with Asker(settings, server.connection, tmp_path / "replies.sqlite") as made:
        yield made


@pytest.fixture
def converse(chat_model: Callable[..., ChatModel], meter: Usage, soon: float) -> Callable[..., Any]:
    """Run what asks a model, given it first, to its end; the scripted server answers."""

    async def ask(chat: ChatModel, request: ChatRequest) -> ChatReply:
        return await chat.acomplete(request, deadline=soon, meter=meter)

    def converse(asks: Callable[..., Coroutine[Any, Any, T]], *given: Any) -> T:
        with asking(ask):
            return waited(asks(chat_model(**{"model.attempts": 1}), *given))

    return converse


@pytest.fixture(scope="session")
def clusters() -> Iterator[engines.Clusters]:
    """The engines of this session."""
    with engines.Clusters() as running:
        yield running


@pytest.fixture(params=engines.ON_ENGINES)
def engine_address(request: pytest.FixtureRequest, clusters: engines.Clusters) -> Iterator[str]:
    """An address in each engine under which nothing is stored, and where nothing stays."""
    with clusters.fresh(request.param) as address:
        yield address
