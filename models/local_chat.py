"""``local:FOLDER``: a chat model in this process, through transformers.

LangChain's own ChatHuggingFace counts no tokens, cannot be stopped at a deadline and brings two
more packages; this is what the graph asks of a chat model and no more.
"""

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from lexloop.core.errors import DataError
from lexloop.models.local_model import LocalModel, Turn, load_local

_MOST_TOKENS = 1024
_STAMP_LENGTH = 12
_ROLES = {"human": "user", "ai": "assistant", "system": "system"}


class DoesNotFit(Exception):
    """A prompt that leaves no room for a reply, with the status of hosts that refuse one."""

    status_code = 400


class LocalChat(BaseChatModel):
    """A model of this machine behind LangChain's interface.

    ``stamp`` tells its weights from others in the same folder; replies are cached by it.

    Several calls are answered one after the other; one that is cancelled stops at its next token.
    """

    local: Any = Field(repr=False, exclude=True)
    stamp: str = ""
    lock: Any = Field(default_factory=threading.Lock, repr=False, exclude=True)
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None

    @property
    def _llm_type(self) -> str:
        return "lexloop-local"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        return self._result(messages, threading.Event())

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        stopped = threading.Event()
        try:
            return await asyncio.to_thread(self._result, messages, stopped)
        finally:
            stopped.set()

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        stopped = threading.Event()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(piece: str) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        writing = asyncio.create_task(asyncio.to_thread(self._result, messages, stopped, tell))
        writing.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
            whole: Any = (await writing).generations[0].message
        finally:
            stopped.set()
        end = AIMessageChunk(
            content="",
            usage_metadata=whole.usage_metadata,
            response_metadata=whole.response_metadata,
        )
        yield ChatGenerationChunk(message=end)

    def _result(
        self,
        messages: Sequence[BaseMessage],
        stopped: threading.Event,
        show: Callable[[str], None] | None = None,
    ) -> ChatResult:
        import torch

        local: LocalModel = self.local
        prompt = local.prompt([_turn(message) for message in messages])
        room = min(self.max_tokens or _MOST_TOKENS, local.window - len(prompt))
        if room < 1:
            raise DoesNotFit(f"its window has {local.window} tokens, and {len(prompt)} were sent")
        with self.lock:
            if self.seed is not None:
                torch.manual_seed(self.seed)
            (ids,) = local.write([prompt], room, self._sampling(), stopped.is_set, show)
        ended = bool(ids) and ids[-1] in local.ends
        message = AIMessage(
            local.text(ids),
            usage_metadata={
                "input_tokens": len(prompt),
                "output_tokens": len(ids),
                "total_tokens": len(prompt) + len(ids),
            },
            response_metadata={"finish_reason": "stop" if ended else "length"},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _sampling(self) -> dict[str, Any]:
        """Return the sampling parameters; empty for the likeliest token."""
        if not self.temperature and self.top_p is None:
            return {}
        return {"temperature": self.temperature or 1.0, "top_p": self.top_p}


def local_chat(folder: str) -> LocalChat:
    """Return the chat model of a folder; the last one is cached while its weights are the same.

    Raises:
        DataError: There is no such folder, or see ``load_local``.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise DataError(
            f"The model's folder {folder!r} is not there.",
            "Name one as `local:FOLDER`, as `lexloop finetune generator` makes them.",
        )
    told = [(file.name, file.stat()) for file in sorted(path.glob("*.safetensors"))]
    stamp = "".join(f"{name} {stat.st_size} {stat.st_mtime_ns}\n" for name, stat in told)
    return _loaded(str(path), hashlib.sha256(stamp.encode()).hexdigest()[:_STAMP_LENGTH])


@lru_cache(maxsize=1)
def _loaded(folder: str, stamp: str) -> LocalChat:
    return LocalChat(local=load_local(folder), stamp=stamp)


def _turn(message: BaseMessage) -> Turn:
    return {"role": _ROLES[message.type], "content": message.text}
