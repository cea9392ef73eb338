"""What a model is asked with, and what becomes of a parameter that its host refuses."""

import json
from collections.abc import Callable

import pytest
from asked import PLAIN, STREAMED, Ask, Connect
from fake_hosts import FakeHost, Told
from fake_openai import FakeOpenAI, Reply, Request, refusal, unsupported
from pydantic import BaseModel
from running import complete

from lexloop.core.errors import ModelError, SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import connect
from lexloop.models.request import ChatRequest

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
