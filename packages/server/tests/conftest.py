"""A server for all that ask and change nothing for others, and its people over HTTP."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from mcp import ClientSession
from mcp_sessions import opened
from servers import animals, client_of


@pytest.fixture(autouse=True)
def _alone(own_data_folder: None, reading_here: None) -> None: ...


@pytest.fixture
def anyio_backend() -> str:
    """What tests that are coroutines run on."""
    return "asyncio"


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the server."""
    return tmp_path_factory.mktemp("served") / "data"


@pytest.fixture(scope="session")
def address(data: Path) -> Iterator[str]:
    with animals(data) as found:
        yield found


@pytest.fixture
def ann(address: str) -> Iterator[httpx.Client]:
    with client_of(address, "ann") as found:
        yield found


@pytest.fixture
def bob(address: str) -> Iterator[httpx.Client]:
    with client_of(address, "bob") as found:
        yield found


@pytest.fixture
async def eve(address: str) -> AsyncIterator[ClientSession]:
    async with opened(address, "eve") as session:
        yield session


@pytest.fixture
async def bobs(address: str) -> AsyncIterator[ClientSession]:
    async with opened(address, "bob") as session:
        yield session
