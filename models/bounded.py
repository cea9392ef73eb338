"""The HTTP client through which OpenAI-compatible hosts are asked: no reply is read beyond a bound.

What a client library makes of a reply takes a hundred times the reply's room and a second for
every few thousand pieces, so the bytes are counted before it sees them.
"""

from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

MOST_CHARS = 1_000_000
"""Of the text of a chat model's reply, whichever provider sends it."""

_WHOLE_BYTES = 1_000_000
_STREAM_BYTES = 2_000_000
"""A stream wraps every word into an envelope of some 200 bytes."""

most_bytes: ContextVar[int | None] = ContextVar("most_bytes", default=None)
"""The bound of the replies that this task asks for; None for that of a chat model's."""


class Oversized(Exception):
    """A reply went on beyond its bound."""

    def __init__(self, most: int, unit: str = "bytes") -> None:
        super().__init__(f"it is longer than {most:,} {unit}")


def bounded_client() -> Any:
    """A client for the background loop.

    It follows no redirect: that must not carry text to a host that nobody configured.
    """
    import openai

    return openai.DefaultAsyncHttpxClient(
        follow_redirects=False, event_hooks={"response": [_bound]}
    )


def oversized(error: BaseException) -> Oversized | None:
    """The reason of a client's exception, where it is that a reply was too long."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, Oversized):
        found = found.__cause__ or found.__context__
    return found


async def _bound(response: Any) -> None:
    """Count what is read of a response, decompressed, and stop where it is too much."""
    streamed = "text/event-stream" in response.headers.get("content-type", "")
    most = most_bytes.get() or (_STREAM_BYTES if streamed else _WHOLE_BYTES)
    parts = response.aiter_bytes

    async def counted(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        read = 0
        async for part in parts(chunk_size):
            read += len(part)
            if read > most:
                raise Oversized(most)
            yield part

    # every way to read a response goes through this method; a transport of our own in its place
    # would switch the environment's proxies off
    response.aiter_bytes = counted
