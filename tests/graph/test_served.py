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


def test_the_servers_key_goes_to_no_engine_of_a_callers(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_ENGINE_API_KEY", "a2V5")
    with pytest.raises(SettingsError, match=r"/laws, which is not this server's engine.*Leave"):
        ask(f"{engine.base}/laws")
    assert not engine.requests


def test_another_index_in_the_servers_engine_may_be_asked(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_ENGINE_API_KEY", "a2V5")
    monkeypatch.setattr(served.resources, "defaults", Settings(corpus=f"{engine.base}/laws"))
    with pytest.raises(CorpusError, match=r"There is no index at .*/rules"):
        ask(f"{engine.base}/rules")
    for other in (
        engine.base.replace("127.0.0.1", "localhost"),
        engine.base.replace(":", "+tls:", 1),
    ):
        with pytest.raises(SettingsError, match="not this server's engine"):
            ask(f"{other}/laws")
