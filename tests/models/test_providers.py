"""Providers other than OpenAI, through their own LangChain integrations over real HTTP."""

import pytest
from asked import PLAIN, STREAMED, Connect
from fake_hosts import FakeHost, Told
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from running import complete

from lexloop.core.errors import ModelReplyError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import ChatModel, Token, connect
from lexloop.models.provider import Client
from lexloop.models.request import ChatRequest

ANTHROPIC, OLLAMA, RESPONSES = "anthropic:claude-test", "ollama:test", "openai:gpt-5-pro"
ALL = pytest.mark.parametrize("name", [ANTHROPIC, OLLAMA, RESPONSES])


@pytest.fixture
def model(host: FakeHost) -> Connect:
    def connected(name: str, **settings: object) -> ChatModel:
        openai = name.startswith("openai:")
        connection = Connection(base_url=f"{host.url}/v1") if openai else Connection()
        return connect(Settings(model=name, **settings), connection)

    return connected


@pytest.mark.parametrize(
    ("name", "request_"), [(OLLAMA, PLAIN), (ANTHROPIC, STREAMED), (RESPONSES, STREAMED)]
)
def test_a_whole_reply(
    *, host: FakeHost, model: Connect, meter: Usage, soon: float, name: str, request_: ChatRequest
) -> None:
    host.script(Told("The employer must publish."))
    shown: list[Token] = []
    reply = complete(model(name), request_, deadline=soon, meter=meter, on_token=shown.append)
    assert reply.text == "The employer must publish."
    assert len(shown) == (2 if request_.stream else 0)
    assert meter == {"model_calls": 1, "tokens_in": 11, "tokens_out": 7, "seconds": 0.0}


@ALL
def test_a_stream_that_is_cut_off_starts_over_and_says_so(
    host: FakeHost, model: Connect, meter: Usage, soon: float, name: str
) -> None:
    host.script(Told("The emplo", cut=True), Told("The employer."))
    shown: list[Token] = []
    reply = complete(model(name), STREAMED, deadline=soon, meter=meter, on_token=shown.append)
    assert reply.text == "The employer."
    assert [token.restart for token in shown] == [False, False, True, False]
    assert meter["model_calls"] == 2


@pytest.mark.parametrize(
    ("name", "reason"), [(ANTHROPIC, "max_tokens"), (RESPONSES, "max_output_tokens")]
)
def test_a_reply_at_its_limit_of_tokens(
    *, host: FakeHost, model: Connect, meter: Usage, soon: float, name: str, reason: str
) -> None:
    host.script(Told("The emplo", reason=reason))
    with pytest.raises(ModelReplyError, match=r"limit of reply tokens.*Raise max_tokens"):
        complete(model(name), STREAMED, deadline=soon, meter=meter)


def test_a_provider_without_a_known_end_mark_replies_in_one_piece(
    meter: Usage, soon: float
) -> None:
    streaming = GenericFakeChatModel(messages=iter([AIMessage("The employer must publish.")]))
    client = Client(streaming, "other", "other:model", "the other service", ())
    shown: list[Token] = []
    reply = complete(
        ChatModel(client, Settings()), STREAMED, deadline=soon, meter=meter, on_token=shown.append
    )
    assert [token.text for token in shown] == [reply.text] == ["The employer must publish."]
