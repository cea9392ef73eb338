"""Other providers stream, end and fail alike; what hosts take of parameters and tell of windows."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from asked import PLAIN, STREAMED, Ask, Connect
from fake_hosts import FakeHost, Told
from fake_openai import FakeOpenAI, Reply, Request, refusal, unsupported
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from pydantic import BaseModel
from running import complete

from lexloop.core.errors import ModelError, ModelReplyError, SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import ChatModel, Token, connect
from lexloop.models.provider import Client
from lexloop.models.request import ChatRequest
from lexloop.models.window import told_window

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


# What a host refuses is remembered by model, so that each test has a model of its own.
UNSUPPORTED = "Unsupported value: 'temperature' does not support 0.0 with this model."
OPENAI_REFUSALS = {
    "value": ("temperature", unsupported(UNSUPPORTED, "temperature", "unsupported_value")),
    "seed": ("seed", unsupported("Unknown parameter: 'seed'.", "seed", "unknown_parameter")),
    "top_p": (
        "top_p",
        unsupported("Unsupported parameter: 'top_p'.", "top_p", "unsupported_parameter"),
    ),
}
VALUES = {"temperature": 0.0, "reasoning_effort": "minimal", "top_p": 0.5, "seed": 7}


def refusing(parameter: str, refused: Reply) -> Callable[[Request], Reply]:
    """A host that refuses the parameter and answers without it."""
    return lambda request: refused if parameter in request.body else Reply("The employer.")


@pytest.mark.parametrize("kind", OPENAI_REFUSALS)
def test_a_refused_parameter_is_left_out_once_and_for_all(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, kind: str
) -> None:
    parameter, refused = OPENAI_REFUSALS[kind]
    server.otherwise = refusing(parameter, refused)
    wanted = {
        "model": f"openai:choosy-{kind}",
        f"model.{parameter}": VALUES[parameter],
        "model.attempts": 1,
    }
    for _ in range(2):  # also where the model is connected to anew
        model = chat_model(**wanted)
        assert complete(model, PLAIN, deadline=soon, meter=meter).text == "The employer."
    assert [parameter in request.body for request in server.requests] == [True, False, False]
    [(left_out, said)] = model.left_out
    assert left_out == f"{parameter}={VALUES[parameter]}"
    assert parameter in said


@pytest.mark.parametrize(
    ("name", "sent"), [("gpt-4o-mini", 0.0), ("gpt-oss-20b", 0.0), ("o3", None)]
)
def test_reasoning_models_get_no_temperature(
    server: FakeOpenAI, ask: Ask, name: str, sent: float | None
) -> None:
    ask(PLAIN, model=f"openai:{name}")
    assert server.requests[0].body.get("temperature") == sent


def test_a_temperature_of_the_users_is_tried_even_where_it_is_known_to_fail(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = refusing(*OPENAI_REFUSALS["value"])
    model = chat_model(model="openai:gpt-5", **{"model.temperature": 0.0})
    complete(model, PLAIN, deadline=soon, meter=meter)
    assert [name for name, _ in model.left_out] == ["temperature=0.0"]


def test_every_parameter_is_sent(server: FakeOpenAI, ask: Ask) -> None:
    wanted = {"top_p": 0.9, "seed": 3, "max_tokens": 200, "reasoning_effort": "low"}
    ask(PLAIN, **{f"model.{name}": value for name, value in wanted.items()})
    body = server.requests[0].body
    wanted["max_completion_tokens"] = wanted.pop("max_tokens")
    assert {name: body.get(name) for name in wanted} == wanted
    assert "temperature" not in body  # at 0 top_p would choose from one token
    with pytest.raises(SettingsError, match=r"num_ctx is 8192, but models of .* no such"):
        ask(PLAIN, **{"model.num_ctx": 8192})


MISTRAL = [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("azure", unsupported("Unrecognized request argument supplied: stream_options")),
        ("mistral", Reply(status=422, body=json.dumps({"message": {"detail": MISTRAL}}).encode())),
    ],
)
def test_a_host_may_report_no_usage(
    server: FakeOpenAI, ask: Ask, name: str, refused: Reply
) -> None:
    server.script(refused)
    for _ in range(2):
        assert ask(STREAMED, model=f"openai:{name}", **{"model.attempts": 1}).text == "ok"
    asked = ["stream_options" in request.body for request in server.requests]
    assert asked == [True, False, False]


class Colour(BaseModel):
    name: str


FORMED = ChatRequest("test", "system", "Name one.", Colour)


def test_a_reply_of_a_form_is_asked_for_by_its_schema(server: FakeOpenAI, ask: Ask) -> None:
    server.otherwise = Reply('{"name": "green"}')
    for request in (FORMED, PLAIN):
        ask(request, **{"model.max_tokens": 9})
    first, second = (request.body for request in server.requests)
    assert first["response_format"]["json_schema"] == {
        "name": "Colour",
        "schema": Colour.model_json_schema(),
    }
    assert "response_format" not in second
    assert first["max_completion_tokens"] == second["max_completion_tokens"] == 9


def test_a_host_without_schemas_is_asked_without(server: FakeOpenAI, ask: Ask) -> None:
    server.script(refusal(400, "json_schema is not supported by this server"))
    server.otherwise = Reply('It is {"name": "green"}.')
    for _ in range(2):
        reply = ask(FORMED, model="openai:plain", **{"model.attempts": 1})
        assert reply.parsed == Colour(name="green")
    asked = ["response_format" in request.body for request in server.requests]
    assert asked == [True, False, False]


def test_a_host_of_older_names_still_gets_the_schema(server: FakeOpenAI, ask: Ask) -> None:
    server.script(refusal(400, "max_completion_tokens is unknown"))
    server.otherwise = Reply('{"name": "green"}')
    ask(FORMED, model="openai:older", **{"model.attempts": 1, "model.max_tokens": 9})
    body = server.requests[-1].body
    assert (body["max_tokens"], body["response_format"]["type"]) == (9, "json_schema")


def test_what_did_not_help_is_not_remembered(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = refusal(400, "The passage on seed and temperature is not allowed here.")
    model = chat_model(model="openai:prudish", **{"model.seed": 3})
    with pytest.raises(ModelError, match="seed and temperature"):
        complete(model, PLAIN, deadline=soon, meter=meter)
    assert len(server.requests) == 3
    server.otherwise = Reply("Yes.")
    complete(model, PLAIN, deadline=soon, meter=meter)
    assert server.requests[3].body["seed"] == 3
    assert model.left_out == []


def test_ollama_is_sent_its_options(host: FakeHost, meter: Usage, soon: float) -> None:
    host.script(Told("Yes."))
    settings = Settings(
        model="ollama:local",
        **{
            "model.num_ctx": 8192,
            "model.max_tokens": 200,
            "model.seed": 3,
            "model.reasoning_effort": "low",
        },
    )
    complete(connect(settings, Connection()), PLAIN, deadline=soon, meter=meter)
    [body] = host.requests
    assert body["options"] == {"num_ctx": 8192, "num_predict": 200, "seed": 3, "temperature": 0.0}
    assert body["think"] == "low"


def listed(*models: tuple[str, dict[str, Any] | None]) -> Any:
    return SimpleNamespace(data=[SimpleNamespace(id=n, model_extra=extra) for n, extra in models])


@pytest.mark.parametrize(
    ("found", "window"),
    [
        (listed(("m", {"max_model_len": 8192})), 8192),
        (listed(("other", {"n_ctx": 1}), ("m", {"context_length": 32768})), 32768),
        (listed(("m", {"meta": {"n_ctx": 4096}})), 4096),
        (listed(("m", {"max_model_len": "8192"})), None),
        (listed(("m", {"max_model_len": -1, "n_ctx": 0})), None),
        (listed(("m", {"meta": [4096]})), None),
        (listed(("m", None)), None),
        (listed(("other", {"n_ctx": 4096})), None),
        (SimpleNamespace(data="<html>"), None),
        ("<html>", None),
        (None, None),
    ],
)
def test_what_is_told_of_it(found: Any, window: int | None) -> None:
    assert told_window(found, "m") == window
