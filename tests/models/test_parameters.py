"""What a model is asked with, and what becomes of a parameter that its host refuses."""

import json
from collections.abc import Callable

import pytest
from asked import PLAIN, STREAMED, Ask, Connect
from fake_hosts import FakeHost, Told
from fake_openai import FakeOpenAI, Reply, Request, refusal, unsupported
from running import complete

from lexloop.core.errors import ModelError, SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import connect

# What a host refuses is remembered by model, so that each test has a model of its own.
UNSUPPORTED = "Unsupported value: 'temperature' does not support 0.0 with this model."
OPENAI_REFUSALS = {
    "value": ("temperature", unsupported(UNSUPPORTED, "temperature", "unsupported_value")),
    "effort": (
        "reasoning_effort",
        unsupported("Unrecognized request argument supplied: reasoning_effort"),
    ),
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


def test_a_refusal_is_remembered_for_its_model_alone(server: FakeOpenAI, ask: Ask) -> None:
    server.script(OPENAI_REFUSALS["value"][1])
    ask(PLAIN, model="openai:choosy")
    ask(PLAIN, model="openai:easy")
    assert ["temperature" in request.body for request in server.requests] == [True, False, True]


@pytest.mark.parametrize("name", ["o3-mini", "gpt-5.2", "openai/o3"])
def test_known_reasoning_models_are_sent_no_temperature(
    server: FakeOpenAI, ask: Ask, name: str
) -> None:
    ask(PLAIN, model=f"openai:{name}")
    assert "temperature" not in server.requests[0].body


@pytest.mark.parametrize("name", ["gpt-4o-mini", "gpt-oss-20b"])
def test_others_are_asked_at_temperature_0(server: FakeOpenAI, ask: Ask, name: str) -> None:
    ask(PLAIN, model=f"openai:{name}")
    assert server.requests[0].body["temperature"] == 0.0


def test_a_temperature_of_the_users_is_tried_even_where_it_is_known_to_fail(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = refusing(*OPENAI_REFUSALS["value"])
    model = chat_model(model="openai:gpt-5", **{"model.temperature": 0.0})
    complete(model, PLAIN, deadline=soon, meter=meter)
    assert [name for name, _ in model.left_out] == ["temperature=0.0"]


def test_every_parameter_is_sent(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    model = chat_model(
        **{
            "model.top_p": 0.9,
            "model.seed": 3,
            "model.max_tokens": 200,
            "model.reasoning_effort": "low",
        }
    )
    complete(model, PLAIN, deadline=soon, meter=meter)
    body = server.requests[0].body
    sent = {name: body.get(name) for name in ("top_p", "seed", "reasoning_effort")}
    assert sent == {"top_p": 0.9, "seed": 3, "reasoning_effort": "low"}
    assert body["max_completion_tokens"] == 200
    assert "temperature" not in body  # at 0 top_p would choose from one token


def test_several_refused_parameters_go_one_by_one(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    def answer(request: Request) -> Reply:
        refused = [kind for kind in ("seed", "top_p") if kind in request.body]
        return OPENAI_REFUSALS[refused[0]][1] if refused else Reply("Yes.")

    server.otherwise = answer
    model = chat_model(
        model="openai:spartan", **{"model.seed": 3, "model.top_p": 0.5, "model.attempts": 1}
    )
    assert complete(model, PLAIN, deadline=soon, meter=meter).text == "Yes."
    assert len(server.requests) == meter["model_calls"] == 3
    assert sorted(name for name, _ in model.left_out) == ["seed=3", "top_p=0.5"]


MISTRAL = [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]


@pytest.mark.parametrize(
    "refused",
    [
        unsupported("Unrecognized request argument supplied: stream_options"),
        Reply(status=422, body=json.dumps({"message": {"detail": MISTRAL}}).encode()),
    ],
    ids=["azure", "mistral"],
)
def test_a_host_that_refuses_to_report_usage_is_asked_without(
    *,
    server: FakeOpenAI,
    chat_model: Connect,
    meter: Usage,
    soon: float,
    refused: Reply,
    request: pytest.FixtureRequest,
) -> None:
    server.script(refused)
    model = chat_model(model=f"openai:mute-{request.node.callspec.id}", **{"model.attempts": 1})
    for _ in range(2):
        assert complete(model, STREAMED, deadline=soon, meter=meter).text == "ok"
    asked = ["stream_options" in request.body for request in server.requests]
    assert asked == [True, False, False]


@pytest.mark.parametrize(
    "refused",
    [
        unsupported("Invalid 'messages[1].content': string too long.", "messages[1].content"),
        refusal(400, f"{'x' * 600} temperature"),  # an echo of the request is no reason
    ],
)
def test_other_refusals_are_none_of_a_parameter(
    server: FakeOpenAI, ask: Ask, refused: Reply
) -> None:
    server.script(refused)
    with pytest.raises(ModelError, match="refused the request"):
        ask(PLAIN)
    assert len(server.requests) == 1


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


@pytest.mark.parametrize(
    ("model", "setting"),
    [
        ("openai:scripted", {"num_ctx": 8192}),
        ("anthropic:claude-test", {"seed": 3}),
    ],
)
def test_a_setting_that_the_provider_has_no_place_for(
    monkeypatch: pytest.MonkeyPatch, model: str, setting: dict[str, int]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-0000")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000")
    [(name, value)] = setting.items()
    with pytest.raises(SettingsError, match=f"{name} is {value}, but models of .* no such"):
        connect(Settings(model={"name": model, **setting}), Connection())


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
