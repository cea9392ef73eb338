"""What the tests of models share."""

from collections.abc import Callable, Iterator

import pytest
from asked import Ask
from fake_hosts import FakeHost
from running import complete

from lexloop.core.types import Usage
from lexloop.models.chat import ChatModel, Token
from lexloop.models.request import ChatReply, ChatRequest


@pytest.fixture
def ask(chat_model: Callable[..., ChatModel], meter: Usage, soon: float) -> Ask:
    """``ask(PLAIN, **{"model.attempts": 2})``: one call, counted and in time."""

    def asked(
        request: ChatRequest, on_token: Callable[[Token], None] | None = None, **settings: object
    ) -> ChatReply:
        details = {"deadline": soon, "meter": meter, "on_token": on_token}
        return complete(chat_model(**settings), request, **details)

    return asked


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHost]:
    """A host of Anthropic's and Ollama's protocols, which their clients are led to."""
    import langchain_anthropic  # takes seconds, which are not a call's
    import langchain_ollama

    assert langchain_anthropic.ChatAnthropic
    assert langchain_ollama.ChatOllama
    with FakeHost() as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-0000")
        for variable in ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
            monkeypatch.setenv(variable, running.url)
        yield running
