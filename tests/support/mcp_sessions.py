"""Clients of people to a server's tools."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from servers import as_


@asynccontextmanager
async def opened(address: str, name: str) -> AsyncIterator[Client]:
    """A client of a person's, which speaks the newest protocol that the server does."""
    async with httpx2.AsyncClient(headers=as_(name), timeout=60) as http:
        transport = streamable_http_client(f"{address}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


async def typed(client: Client, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool gives, typed."""
    found = await client.call_tool(tool, given)
    assert not found.is_error
    assert found.structured_content is not None
    return dict(found.structured_content)


def text_of(found: CallToolResult) -> str:
    (said,) = [part.text for part in found.content if isinstance(part, TextContent)]
    return said
