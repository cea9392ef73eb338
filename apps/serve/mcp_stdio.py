"""The Model Context Protocol over standard input and output."""

import asyncio
import io
import logging
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, BinaryIO

import anyio
from mcp.server.stdio import stdio_server

from lexloop.apps.serve.mcp import mcp_server
from lexloop.apps.serve.people import Person
from lexloop.apps.serve.tools import Tools

_log = logging.getLogger("lexloop.serve")
_MOST_BYTES = 32 * 1024 * 1024
_INPUT, _OUTPUT, _ERRORS = 0, 1, 2


def serve_stdio(tools: Tools, person: Person) -> None:
    """Speak the protocol until standard input closes, or nobody reads any more.

    Args:
        tools: What is offered.
        person: Who asks.
    """
    with _own_streams() as (given, told):
        try:
            asyncio.run(_serve(tools, person, given, told))
        except* BrokenPipeError:
            _log.info("Nobody reads any more.")


async def _serve(tools: Tools, person: Person, given: BinaryIO, told: BinaryIO) -> None:
    server = mcp_server(tools, lambda _: person, served_to_others=False)
    lines: Any = _lines(given)
    written = anyio.wrap_file(io.TextIOWrapper(told, encoding="utf-8", write_through=True))
    async with stdio_server(lines, written) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@contextmanager
def _own_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Give the standard streams to the protocol alone: what else is printed goes to the errors."""
    sys.stdout.flush()
    given = os.fdopen(os.dup(_INPUT), "rb")
    told = os.fdopen(os.dup(_OUTPUT), "wb", buffering=0)
    before = os.dup(_OUTPUT)
    os.dup2(_ERRORS, _OUTPUT)
    try:
        yield given, told
    finally:
        os.dup2(before, _OUTPUT)
        os.close(before)


async def _lines(file: BinaryIO) -> AsyncIterator[str]:
    """Yield lines as they come.

    They are read by a thread that nobody waits for: a read of standard input cannot be cancelled,
    and Ctrl-C must end the process at once. Of a line that is too long nothing is kept but its
    beginning, which is no message.
    """
    loop = asyncio.get_running_loop()
    read: asyncio.Queue[str | None] = asyncio.Queue(1)

    def tell(line: str | None) -> None:
        asyncio.run_coroutine_threadsafe(read.put(line), loop).result()

    def follow() -> None:
        with suppress(RuntimeError, OSError, ValueError):  # the loop or the file is closed
            while line := file.readline(_MOST_BYTES):
                whole = line.endswith(b"\n") or len(line) < _MOST_BYTES
                while not whole:
                    rest = file.readline(_MOST_BYTES)
                    whole = rest.endswith(b"\n") or not rest
                    line = line[:1]
                tell(line.decode("utf-8", "replace"))
            tell(None)

    Thread(target=follow, name="lexloop-stdin", daemon=True).start()
    while (line := await read.get()) is not None:
        yield line
