"""The compiled graph: LangGraph's own, whose runs of one thread take turns."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, nullcontext
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateUpdate

from lexloop.core.settings import Settings
from lexloop.core.state import InputState, OutputState, State
from lexloop.graph.node import Resolve
from lexloop.graph.turns import Turn

_TASK = "__pregel_task_id"  # LangGraph's mark of a run that is a task of a parent's run


class Lexloop(CompiledStateGraph[State, Settings, InputState, OutputState]):
    """A compiled graph that several may ask on one thread at once, and nothing of it is lost.

    All ways to run it go through ``stream`` and ``astream``. Each run waits for those before it
    on its thread, at most as long as one question may take (``deadline_s``). Across processes that
    holds for threads in a SQLite file; other shared stores need a server that orders the runs.

    Args:
        contexts: Tell a run's settings; named like the attribute, for ``copy`` passes that on.
        attributes: Those of ``CompiledStateGraph``.
    """

    def __init__(self, *, contexts: Resolve, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.contexts = contexts

    @classmethod
    def of(
        cls,
        compiled: CompiledStateGraph[State, Settings, InputState, OutputState],
        contexts: Resolve,
    ) -> Self:
        """The same graph, taking turns."""
        kept = {name: value for name, value in vars(compiled).items() if name != "__orig_class__"}
        return cls(contexts=contexts, **kept)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        """As LangGraph's.

        Raises:
            ThreadBusy: Other runs held the thread for too long.
            DataError: The thread cannot be read or saved.
        """
        with self._turn(config, options.get("context")):
            yield from super().stream(input, config, **options)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> AsyncIterator[Any]:
        """As LangGraph's; raises what ``stream`` does."""
        async with self._turn(config, options.get("context")):
            parts = cast("AsyncGenerator[Any]", super().astream(input, config, **options))
            # a caller who stops reading must not leave LangGraph's generator to the collector
            async with aclosing(parts):
                async for part in parts:
                    yield part

    def bulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """As LangGraph's, between two runs; ``update_state`` goes through it."""
        with self._turn(config, Settings()):
            return super().bulk_update_state(config, supersteps)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """As LangGraph's, between two runs; ``aupdate_state`` goes through it."""
        async with self._turn(config, Settings()):
            return await super().abulk_update_state(config, supersteps)

    async def aforget(self, thread: str, settings: Settings) -> None:
        """Delete a thread, between two runs; raises what ``stream`` does."""
        async with self._turn({"configurable": {"thread_id": thread}}, settings):
            if isinstance(self.checkpointer, BaseCheckpointSaver):
                await self.checkpointer.adelete_thread(thread)

    def _turn(self, config: RunnableConfig | None, context: Any) -> "Turn | nullcontext[None]":
        """A turn on a thread; nothing where none is kept, or where a parent's run keeps it."""
        given: dict[str, Any] = {}
        for one in (self.config, config):
            given.update((one or {}).get("configurable") or {})
        thread = given.get("thread_id")
        if not isinstance(self.checkpointer, BaseCheckpointSaver) or not thread or _TASK in given:
            return nullcontext()
        return Turn(self.checkpointer, str(thread), lambda: self._deadline_s(context))

    def _deadline_s(self, context: Any) -> float:
        """What a run's settings allow one question; a mapping is read as LangGraph reads it."""
        if isinstance(context, Mapping):
            context = Settings(**context)
        if isinstance(context, Settings):
            return context.deadline_s
        return self.contexts(context, None).settings.deadline_s
