"""A graph ready to be asked, and one question put to it."""

import atexit
import gc
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lexloop.apps.cli.progress import Progress
from lexloop.apps.cli.terminal import plain, progress_console

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from lexloop.core.settings import Connection, Settings
    from lexloop.graph.build import Lexloop

_TRACING = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING_V2",
    "LANGCHAIN_TRACING",
)
_OPENAI = "https://api.openai.com"


@dataclass(frozen=True)
class Session:
    """A graph with its settings.

    ``hosts`` are those to which text goes; none where everything stays on this machine.
    """

    graph: "Lexloop"
    settings: "Settings"
    hosts: list[str]

    async def ask(
        self, question: str, progress: Progress, thread: str | None = None
    ) -> dict[str, Any]:
        """The working state after ``question``, its messages left out.

        Args:
            question: What is asked.
            progress: Is told how far the run is.
            thread: Whose conversation it continues, where the graph has a checkpointer.

        Raises:
            LexloopError: The question cannot be answered.
        """
        options: dict[str, Any] = {}
        if thread is not None:
            # one checkpoint a turn: those between the nodes would hold the same passages again
            options = {"config": {"configurable": {"thread_id": thread}}, "durability": "exit"}
        state: dict[str, Any] = {}
        progress.begin()
        events: AsyncIterator[Any] = self.graph.astream(
            {"question": question},
            context=self.settings,
            stream_mode=["updates", "custom"],
            **options,
        )
        async for mode, event in events:
            if mode == "custom":
                progress.token(event)
                continue
            for node, update in event.items():
                state.update(update or {})
                progress.node(node, update or {})
        state.pop("messages", None)
        return state


def open_session(
    settings: "Settings",
    connection: "Connection",
    progress: Progress,
    checkpointer: "BaseCheckpointSaver[str] | None" = None,
) -> Session:
    """Load what the settings need, and say first where text will go.

    Raises:
        LexloopError: Settings, corpus, data or model cannot be used.
    """
    progress.say("Loading")
    with _uncollected():
        hosts = text_hosts(settings, connection)
        say_where_text_goes(hosts)
        from lexloop.graph.build import build_graph
        from lexloop.graph.resources import Resources

        resources = Resources(connection, progress=progress.corpus)
        resources(settings)
        return Session(build_graph(resources, checkpointer), settings, hosts)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Load without garbage collections, which take an eighth of the time and find nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@atexit.register
def _collected() -> None:
    """Let torch go before the interpreter does: its compiler lists at the end what is left of it.

    Without torch nothing complains, and the time is saved.
    """
    if "torch" in sys.modules:
        gc.unfreeze()


def text_hosts(settings: "Settings", connection: "Connection") -> list[str]:
    """The hosts to which the configured models send text; empty when all stays on this machine.

    Raises:
        LexloopError: The model cannot be used, and no fallback is allowed.
    """
    hosts: list[str] = []
    if settings.model.name is not None:
        from lexloop.core.errors import ModelError
        from lexloop.models.chat import connect
        from lexloop.models.provider import HERE

        try:
            host = connect(settings, connection).host
            hosts += [host] if host != HERE else []
        except ModelError:
            if not settings.model.fallback:
                raise
    if settings.index.embedder.startswith("openai:"):
        named = os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL")
        address = connection.base_url or named or _OPENAI
        hosts.append(urlsplit(address).netloc.rpartition("@")[2])
    return list(dict.fromkeys(hosts))


def tracing() -> bool:
    """Whether the environment asks for traces, which LangSmith gets."""
    return any(os.environ.get(name, "").lower() in ("true", "1") for name in _TRACING)


def say_where_text_goes(hosts: list[str]) -> None:
    """Name, on standard error, every host that gets text of the question or the documents."""
    console = progress_console()
    if hosts:
        said = f"Questions and passages go to {' and '.join(hosts)}, nowhere else."
        console.print(plain(said, "dim"))
    if tracing():
        said = "LangSmith tracing is on: questions and passages go there too."
        console.print(plain(said, "yellow"))
