"""A server for all that ask and change nothing for others, and its people over HTTP."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from servers import CATS, DOGS, client_of, person, served

from lexloop_server.settings import ServerSettings


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
    """Where ann sees the sample and the dogs, bob the dogs, and eve all that there is and was."""
    for name, text in (("dogs/acts/dogs.txt", DOGS), ("cats/cats.txt", CATS)):
        (data.parent / name).parent.mkdir(parents=True)
        (data.parent / name).write_text(text, "utf-8")
    folders = {"dogs": "dogs", "my cats": "cats", "gone": "gone"}
    laws = {name: str(data.parent / folder) for name, folder in folders.items()}
    people = [
        person("ann", collections=["sample", "dogs"]),
        person("bob", collections=["dogs"]),
        person("eve"),
    ]
    settings = ServerSettings.of({"collections": {"sample": "sample", **laws}, "people": people})
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LEXLOOP_DATA_DIR", str(data))
            found = stack.enter_context(served(settings))
        yield found


@pytest.fixture
def ann(address: str) -> Iterator[httpx.Client]:
    with client_of(address, "ann") as found:
        yield found


@pytest.fixture
def bob(address: str) -> Iterator[httpx.Client]:
    with client_of(address, "bob") as found:
        yield found
