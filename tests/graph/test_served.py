"""What callers of a served graph may name: no engine that the server's credentials are not for."""

from collections.abc import Iterator

import pytest
from fake_engine import FakeEngine

from lexloop.core.errors import CorpusError, SettingsError
from lexloop.core.settings import Settings
from lexloop.graph import served

QUESTION = {"question": "How much does a dog licence cost?"}


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    with FakeEngine() as running:
        yield running


def ask(corpus: str) -> None:
    served.graph.invoke(QUESTION, context={"corpus": corpus})


def test_the_servers_key_goes_to_no_engine_but_its_own(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_ENGINE_API_KEY", "a2V5")
    with pytest.raises(SettingsError, match=r"/laws, which is not this server's engine.*Leave"):
        ask(f"{engine.base}/laws")
    assert not engine.requests
    monkeypatch.setattr(served.resources, "defaults", Settings(corpus=f"{engine.base}/laws"))
    with pytest.raises(CorpusError, match=r"There is no index at .*/rules"):
        ask(f"{engine.base}/rules")
    for other in (("127.0.0.1", "localhost"), (":", "+tls:")):
        with pytest.raises(SettingsError, match="not this server's engine"):
            ask(f"{engine.base.replace(*other, 1)}/laws")
