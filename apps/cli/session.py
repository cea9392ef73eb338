"""Sessions, documents and models, opened for the commands."""

import atexit
import gc
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from lexloop.apps.cli.terminal import Progress, note
from lexloop.apps.shapes.record import text_hosts, tracing

if TYPE_CHECKING:
    from lexloop.core.settings import Connection, Settings
    from lexloop.core.types import Turn
    from lexloop.graph.build import Lexloop
    from lexloop.graph.resources import Resources


ASKED_BACK = "__interrupt__"
"""Where LangGraph has what a paused run asks."""
_THREAD = "chat"


@dataclass(frozen=True)
class Session:
    """A graph with its settings.

    ``hosts`` are those that receive text, empty if everything stays on this machine. An agent has
    separate settings for each collection in ``collections``; ``settings`` are those of the first.
    """

    graph: "Lexloop"
    settings: "Settings"
    hosts: list[str]
    resources: "Resources"
    collections: "Mapping[str, Settings]" = field(default_factory=dict)

    async def ask(
        self, question: str, progress: Progress, history: "Sequence[Turn]" = ()
    ) -> dict[str, Any]:
        """Return the working state after ``question``, without its messages.

        If something is asked back, that is under ``ASKED_BACK``; ``reply`` goes on from there.

        Raises:
            LexloopError: The question cannot be answered.
        """
        from langgraph.checkpoint.base import BaseCheckpointSaver

        from lexloop.core.conversation import messages_of

        if isinstance(self.graph.checkpointer, BaseCheckpointSaver):
            self.graph.checkpointer.delete_thread(_THREAD)
        asked = {"question": question, "messages": messages_of(history)}
        return await self._run(asked, progress)

    async def reply(self, said: str, progress: Progress) -> dict[str, Any]:
        """Return what changes in the state by the reply to what was asked back."""
        from langgraph.types import Command

        return await self._run(Command(resume=said), progress)

    async def _run(self, given: Any, progress: Progress) -> dict[str, Any]:
        state: dict[str, Any] = {}
        progress.begin()
        events: AsyncIterator[Any] = self.graph.astream(
            given,
            {"configurable": {"thread_id": _THREAD}},
            context=None if self.collections else self.settings,
            stream_mode=["updates", "custom"],
        )
        async for mode, event in events:
            if mode == "custom":
                progress.token(event)
                continue
            for node, update in event.items():
                if node == ASKED_BACK:
                    return {**state, ASKED_BACK: update[0].value}
                state.update(update or {})
                progress.node(node, update or {})
        state.pop("messages", None)
        return state


def open_session(
    settings: "Settings",
    connection: "Connection",
    progress: Progress,
    collections: "Mapping[str, Settings] | None" = None,
    asking_back: bool = False,
) -> Session:
    """Print where text will go, and load what the settings need.

    Args:
        settings: The settings of the corpus, or those that several collections share.
        connection: The address and key of models.
        progress: Called with the progress.
        collections: The settings of each collection by its name, for an agent over several.
        asking_back: Whether there is somebody to ask back.

    Raises:
        LexloopError: Settings, a corpus, data or a model cannot be used.
    """
    all_settings = [*collections.values()] if collections else [settings]
    with _uncollected():
        corpora = [own.corpus for own in all_settings]
        resources, hosts = open_resources(all_settings[0], connection, progress, corpora)
        if all_settings[0].access.only:
            from lexloop.graph.selecting import selected

            by_name = collections or {"": settings}
            all_settings = [*(chosen := selected(by_name, resources)).values()]
            collections, settings = chosen if collections else None, all_settings[0]
        for own in all_settings:
            resources(own)
        if collections:
            from lexloop.graph.agent import build_agent_graph

            graph = build_agent_graph(collections, resources)
            return Session(graph, all_settings[0], hosts, resources, collections)
        from langgraph.checkpoint.memory import InMemorySaver

        from lexloop.graph.build import build_graph

        saver = InMemorySaver() if asking_back and settings.answer.ask_back else None
        return Session(build_graph(resources, saver), settings, hosts, resources)


_LOOK_S, _SOON_S = 0.05, 1.0
"""Seconds between two looks, and those that indexing may take before anybody is told of it."""


class _Indexing(Progress):
    """A progress that knows whether documents are being indexed."""

    begun = False

    def corpus(self, stage: str, done: int, total: int) -> None:
        """Show how far the indexing is."""
        self.begun = True
        super().corpus(stage, done, total)


class Opening:
    """A session that opens in the background, since its documents may have to be indexed first.

    Args:
        settings: See ``open_session``.
        connection: See ``open_session``.
    """

    def __init__(self, settings: "Settings", connection: "Connection") -> None:
        self._progress, self._done = _Indexing(), Event()
        self._session: Session | None = None
        self._error: BaseException | None = None
        # whoever leaves meanwhile does not wait for it; an index that is cut off is made again
        Thread(target=self._open, args=(settings, connection), daemon=True).start()

    def _open(self, settings: "Settings", connection: "Connection") -> None:
        try:
            self._session = open_session(settings, connection, self._progress, asking_back=True)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._error = error
        self._done.set()

    def opens_soon(self) -> bool:
        """Wait, and return whether the session is open; False once its documents are indexed."""
        with self._progress:
            while not self._done.wait(_LOOK_S):
                if self._progress.begun:
                    return self._done.wait(_SOON_S)
        return True

    def session(self) -> Session:
        """Return the session once it is open.

        Raises:
            LexloopError: See ``open_session``.
        """
        with self._progress:
            self._done.wait()
        if self._session is None:
            raise self._error or RuntimeError("The session did not open.")
        return self._session


def open_resources(
    settings: "Settings",
    connection: "Connection",
    progress: Progress,
    corpora: Sequence[str] = (),
) -> tuple["Resources", list[str]]:
    """Return what opens documents and models, and the hosts that get text, once those are named.

    Raises:
        LexloopError: The model cannot be used.
    """
    progress.say("Loading")
    hosts = text_hosts(settings, connection, *corpora)
    say_where_text_goes(hosts)
    from lexloop.graph.resources import Resources

    return Resources(connection, progress=progress.corpus), hosts


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
    """Free torch before the interpreter ends, or its compiler lists the remaining objects.

    Without torch, this is skipped to save the time.
    """
    if "torch" in sys.modules:
        gc.unfreeze()


def say_where_text_goes(hosts: list[str]) -> None:
    """Name, on standard error, every host that gets text of the question or the documents."""
    if hosts:
        note(f"Questions and passages go to {' and '.join(hosts)}, nowhere else.")
    if tracing():
        note("LangSmith tracing is on: questions and passages go there too.", style="yellow")
