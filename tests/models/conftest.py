"""What the tests of models share."""

from collections.abc import Iterator

import pytest
from fake_hosts import FakeHost


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
