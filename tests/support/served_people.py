"""Fixtures of people who ask a server over HTTP and MCP; a conftest imports them."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from mcp import Client
from mcp_sessions import opened
from servers import client_of


@pytest.fixture
def anyio_backend() -> str:
    """What tests that are coroutines run on."""
    return "asyncio"


@pytest.fixture
def ann(address: str) -> Iterator[httpx.Client]:
    with client_of(address, "ann") as client:
        yield client


@pytest.fixture
def bob(address: str) -> Iterator[httpx.Client]:
    with client_of(address, "bob") as client:
        yield client


@pytest.fixture
async def eve(address: str) -> AsyncIterator[Client]:
    async with opened(address, "eve") as client:
        yield client


@pytest.fixture
async def bobs(address: str) -> AsyncIterator[Client]:
    async with opened(address, "bob") as client:
        yield client
