"""A server with the workbench, and its people over HTTP."""

from collections.abc import Iterator

import pytest
from served_people import ann, anyio_backend, bob, bobs, eve
from servers import animals

__all__ = ["ann", "anyio_backend", "bob", "bobs", "eve"]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with animals(tmp_path_factory.mktemp("served") / "data") as found:
        yield found
