"""Model strings, keys and addresses, before anything is sent."""

import subprocess
import sys

import pytest

from lexloop.core.errors import ModelAuthError, SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.models.chat import connect

KEY = "sk-test-c0ffee00"


@pytest.mark.parametrize("model", [None, "gpt-4o-mini", "openai:"])
def test_malformed_model_string_names_the_form(model: str | None) -> None:
    with pytest.raises(SettingsError, match=r"names no chat model.*`openai:gpt-4o-mini`"):
        connect(Settings(model=model), Connection())


def test_unknown_provider_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"'nonesuch' is unknown.*Known: .*openai"):
        connect(Settings(model="nonesuch:gpt-4o-mini"), Connection())


def test_no_key_is_reported_before_any_call() -> None:
    with pytest.raises(ModelAuthError, match="LEXLOOP_API_KEY and OPENAI_API_KEY are unset"):
        connect(Settings(model="openai:gpt-4o-mini"), Connection())


def test_host_is_the_one_that_text_goes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/openai")
    model = connect(Settings(model="openai:gpt-4o-mini"), Connection(api_key=KEY))
    assert model.host == "gateway.example"


def test_openai_key_of_the_environment_stays_off_other_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    connection = Connection(base_url="http://127.0.0.1:9/v1")
    model = connect(Settings(model="openai:local"), connection)
    client = model._client.model.root_async_client
    assert client.api_key == "none"
    assert model.host == "127.0.0.1:9"


def test_configured_endpoint_is_not_bypassed_by_another_provider() -> None:
    connection = Connection(base_url="http://127.0.0.1:9/v1", api_key=KEY)
    with pytest.raises(SettingsError, match="LEXLOOP_BASE_URL"):
        connect(Settings(model="azure_openai:some-model"), connection)


def test_client_neither_retries_nor_waits_on_its_own() -> None:
    connection = Connection(base_url="http://127.0.0.1:9/v1", api_key=KEY)
    model = connect(Settings(model="openai:local", deadline_s=7.5), connection)
    client = model._client.model.root_async_client
    assert client.max_retries == 0
    assert client.timeout == 7.5


def test_host_is_shown_without_credentials() -> None:
    connection = Connection(base_url="http://me:hush@127.0.0.1:9/v1", api_key=KEY)
    model = connect(Settings(model="openai:local"), connection)
    assert model.host == "127.0.0.1:9"


def test_importing_the_chat_model_loads_no_client_library() -> None:
    code = (
        "import sys, lexloop.models.chat, lexloop.prompts;"
        "sys.exit(any(m in sys.modules for m in ('langchain', 'langchain_core', 'openai')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
