"""A server for all that ask and change nothing for others, and its people over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_people import ann, anyio_backend, bob, bobs, eve
from servers import animals

__all__ = ["ann", "anyio_backend", "bob", "bobs", "eve"]


@pytest.fixture(autouse=True)
def _alone(own_data_folder: None, reading_here: None) -> None: ...


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the server."""
    return tmp_path_factory.mktemp("served") / "data"


@pytest.fixture(scope="session")
def address(data: Path) -> Iterator[str]:
    with animals(data) as found:
        yield found
