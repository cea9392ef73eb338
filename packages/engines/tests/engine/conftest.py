"""Where an index is kept: in its folder on this machine, or in an engine."""

from collections.abc import Iterator

import pytest
from engines import ON_ENGINES, Clusters
from scripted_engine import Said, ScriptedEngine
from tenacity import wait_none

from lexloop_engines.engine import client, writing


@pytest.fixture(scope="module", params=["embedded", *ON_ENGINES])
def place(request: pytest.FixtureRequest, clusters: Clusters) -> Iterator[str]:
    """An address in an engine, or "" for this machine; what is kept there goes with the module."""
    if request.param == "embedded":
        yield ""
        return
    with clusters.fresh(request.param) as address:
        yield address


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between attempts."""
    for room in (client, writing):
        monkeypatch.setattr(room, "_WAIT", wait_none())


@pytest.fixture
def server() -> Iterator[ScriptedEngine]:
    """What answers in an engine's place, at first with nothing."""
    with ScriptedEngine() as running:
        running.script(Said())
        yield running
