"""One cluster for all tests of the room, gone after them, and a folder of laws to index over it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from indexes import letter_tools
from on_workers import LetterTools
from ray_cluster import running

pytest.importorskip("ray", reason="the extra ray is not installed")

from lexloop_engines.cluster.ingesting import ClusterPreparer
from lexloop_engines.cluster.staging import Staging
from lexloop_engines.cluster.tasks import Orders, joined


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    with running() as made:
        yield made


@pytest.fixture(scope="package")
def driver(cluster: Any) -> Iterator[Any]:
    """This process is the cluster's driver."""
    with joined(cluster.address):
        yield cluster


Prepare = Callable[..., ClusterPreparer]


@pytest.fixture
def preparer(driver: Any, tmp_path: Path) -> Prepare:
    """``preparer(LetterTools(...))``: what prepares over the cluster by these tools."""

    def made(make: LetterTools | None = None, **options: Any) -> ClusterPreparer:
        recipe = letter_tools(**options).recipe
        orders = Orders(make or LetterTools(), recipe)
        return ClusterPreparer(orders, Staging(tmp_path / "staging", recipe))

    return made


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """Where workers note what they relate."""
    folder = tmp_path / "diary"
    folder.mkdir()
    return folder


@pytest.fixture
def laws(tmp_path: Path) -> Path:
    """A dozen short laws in two folders, with a sidecar, a file of several documents, a bad one."""
    folder = tmp_path / "laws"
    (folder / "town").mkdir(parents=True)
    for number in range(12):
        place = folder / "town" if number % 3 == 0 else folder
        (place / f"act-{number:02}.txt").write_text(law(number), encoding="utf-8")
    rows = (
        '{"id": "n1", "text": "Notices must be posted."}\n{"id": "n2", "text": "A fee is due."}\n'
    )
    (folder / "notices.jsonl").write_text(rows, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF")
    said = "file,title,tags\ntown,,council\nact-01.txt,The Second Act,\n"
    (folder / "metadata.csv").write_text(said, encoding="utf-8")
    return folder


def law(number: int) -> str:
    """Sections that state relations; no two have the same letters, or their vectors were equal."""
    return "\n\n".join(
        f"§ {number + 1}-{part} Berths. The owner of berth {number} must pay fee {part} in time. "
        f"A boat of class {part} may not moor at quay {_word(8 * number + part)} at night."
        for part in range(1, 6)
    )


def _word(number: int) -> str:
    """A word in which each binary digit of a number is a letter some times over."""
    return "".join(letter * 3 for place, letter in enumerate("bdfgjkqvxz") if number >> place & 1)
