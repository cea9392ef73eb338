"""Model strings, keys and addresses, before anything is sent."""

import pytest

from lexloop.core.errors import ModelAuthError, SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.models.chat import connect

KEY = "sk-test-c0ffee00"


HERE = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("model", "connection", "says"),
    [
        (None, {}, r"names no chat model.*`openai:gpt-4o-mini`"),
        ("openai:", {}, r"names no chat model.*`openai:gpt-4o-mini`"),
        ("nonesuch:gpt-4o-mini", {}, r"'nonesuch' is unknown.*Known: .*openai"),
        ("openai:gpt-4o-mini", {}, "LEXLOOP_API_KEY and OPENAI_API_KEY are unset"),
        # the host that was chosen is not bypassed by another provider
        ("azure_openai:some-model", {"base_url": HERE, "api_key": KEY}, "LEXLOOP_BASE_URL"),
    ],
)
def test_what_cannot_be_connected_to_is_said_before_any_call(
    model: str | None, connection: dict[str, str], says: str
) -> None:
    with pytest.raises((ModelAuthError, SettingsError), match=says):
        connect(Settings(model=model), Connection(**connection))


def test_host_is_the_one_that_text_goes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/openai")
    model = connect(Settings(model="openai:gpt-4o-mini"), Connection(api_key=KEY))
    assert model.host == "gateway.example"


def test_a_client_has_its_own_hosts_key_alone_and_neither_retries_nor_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    connection = Connection(base_url="http://me:hush@127.0.0.1:9/v1")
    model = connect(Settings(model="openai:local", deadline_s=7.5), connection)
    client = model._client.model.root_async_client
    assert client.api_key == "none"
    assert model.host == "127.0.0.1:9"
    assert (client.max_retries, client.timeout) == (0, 7.5)
