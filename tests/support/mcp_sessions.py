"""Sessions of people with a server's tools."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from servers import as_


@asynccontextmanager
async def opened(address: str, name: str) -> AsyncIterator[ClientSession]:
    """A session of a person's."""
    async with (
        httpx.AsyncClient(headers=as_(name), timeout=60) as client,
        streamable_http_client(f"{address}/mcp", http_client=client) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


async def typed(session: ClientSession, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool gives, typed."""
    found = await session.call_tool(tool, given)
    assert not found.isError
    assert found.structuredContent is not None
    return found.structuredContent


def text_of(found: CallToolResult) -> str:
    (said,) = [part.text for part in found.content if isinstance(part, TextContent)]
    return said
