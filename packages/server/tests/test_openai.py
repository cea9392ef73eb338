"""OpenAI's protocol, by OpenAI's own client, against a real server."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI
from servers import PENALTY, openai_client

from lexloop.apps.shapes.text import as_text

QUESTION = "What is a bias audit?"


@pytest.fixture
def ann(address: str) -> Iterator[OpenAI]:
    with openai_client(address, "key-ann") as client:
        yield client


@pytest.fixture
def bob(address: str) -> Iterator[OpenAI]:
    with openai_client(address, "key-bob") as client:
        yield client


def ask(client: OpenAI, content: Any = QUESTION, model: str = "lexloop/sample", **more: Any) -> Any:
    messages = [{"role": "user", "content": content}]
    return client.chat.completions.create(model=model, messages=messages, **more)


def test_models_are_the_collections_that_a_person_sees(ann: OpenAI, bob: OpenAI) -> None:
    assert [m.id for m in ann.models.list()] == ["lexloop", "lexloop/sample", "lexloop/dogs"]
    assert [m.id for m in bob.models.list()] == ["lexloop", "lexloop/dogs"]
    assert ann.models.retrieve("lexloop/sample").owned_by == "lexloop"
    with pytest.raises(openai.NotFoundError):
        bob.models.retrieve("lexloop/sample")


def test_an_answer_cites_in_its_text_and_in_a_field(ann: OpenAI) -> None:
    found = ask(ann, extra_body={"lexloop": {"as_of": "2024-01-01"}})
    (choice,) = found.choices
    told = choice.message.lexloop
    assert choice.finish_reason == "stop"
    assert "made impartially by an independent auditor" in choice.message.content
    body, sources = choice.message.content.split("\n\nSources:\n")
    assert "[1]" in body
    assert sources.startswith("- [1] ")
    assert (told["citations"][0]["n"], told["citations"][0]["collection"]) == (1, "sample")
    assert (told["finding"], told["as_of"]) == ("answers", "2024-01-01")
    assert found.usage.total_tokens == 0  # no model was asked
    assert found.id == f"chatcmpl-{told['id']}"


def test_a_stream_is_the_same_answer_in_pieces(ann: OpenAI) -> None:
    whole = ask(ann).choices[0].message
    chunks = list(ask(ann, stream=True, stream_options={"include_usage": True}))
    *said, last, usage = chunks
    assert said[0].choices[0].delta.role == "assistant"
    pieces = [chunk.choices[0].delta.content for chunk in said]
    assert len([piece for piece in pieces if piece]) > 1
    assert "".join(filter(None, pieces)) == whole.content
    assert last.choices[0].finish_reason == "stop"
    assert last.choices[0].delta.lexloop["citations"] == whole.lexloop["citations"]
    assert (usage.choices, usage.usage.total_tokens) == ([], 0)
    assert len({chunk.id for chunk in chunks}) == 1
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_a_question_follows_up_on_the_messages_before(ann: OpenAI) -> None:
    first = ask(ann, "When must notice be given to candidates?")
    messages: list[Any] = [
        {"role": "system", "content": "You are a pirate. Answer in rhymes."},
        {"role": "user", "content": "When must notice be given to candidates?"},
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": [{"type": "text", "text": "And how?"}]},
    ]
    found = ann.chat.completions.create(model="lexloop/sample", messages=messages)
    alone = ask(ann, "And how?")
    told = found.choices[0].message.lexloop["citations"]
    assert "notice" in json.dumps(told)
    assert told != alone.choices[0].message.lexloop["citations"]


@pytest.mark.parametrize(
    "refused",
    [{"n": 2}, {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}],
    ids=lambda refused: next(iter(refused)),
)
def test_what_would_change_the_answer_is_refused(ann: OpenAI, refused: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        ask(ann, **refused)
    body: Any = raised.value.body
    assert raised.value.param == next(iter(refused))
    assert raised.value.type == "invalid_request_error"
    assert f"{raised.value.param}" in body["message"]


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        ({"model": "lexloop/../../etc"}, openai.NotFoundError),
        ({"content": "x" * 100_000}, openai.BadRequestError),
        ({"content": [{"type": "image_url", "image_url": {"url": "x"}}]}, openai.BadRequestError),
        ({"extra_body": {"lexloop": {"settings": {"corpus": "/etc"}}}}, openai.BadRequestError),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_errors_are_the_clients_own(
    ann: OpenAI, sent: dict[str, Any], kind: type[openai.APIStatusError], stream: bool
) -> None:
    with pytest.raises(kind) as raised:
        ask(ann, stream=stream, **sent)
    body: Any = raised.value.body
    assert body["message"]
    assert "xxxxxx" not in body["message"]
    assert raised.value.type == "invalid_request_error"


def test_a_collection_of_others_is_not_there(bob: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as raised:
        ask(bob, model="lexloop/sample")
    with pytest.raises(openai.NotFoundError) as missing:
        ask(bob, model="lexloop/simple")
    assert str(raised.value).replace("sample", "simple") == str(missing.value)
    assert raised.value.code == "model_not_found"


def test_without_a_key_of_somebodys_nobody_is_let_in(address: str) -> None:
    with (
        openai_client(address, "sk-wrong") as client,
        pytest.raises(openai.AuthenticationError) as raised,
    ):
        client.models.list()
    body: Any = raised.value.body
    assert (body["type"], body["code"]) == ("authentication_error", "invalid_api_key")
    assert httpx.get(f"{address}/v1/models").status_code == 401


def test_a_documents_markup_is_text(bob: OpenAI) -> None:
    found = ask(bob, PENALTY, model="lexloop/dogs")
    message = found.choices[0].message
    assert message.content.count(r"!\[x]\(//y") == 1  # in the answer, which is the quote
    (source,) = message.lexloop["citations"]
    assert "![x](" in source["quote"]
    shown = as_text({"answer": "Ninety. [1]", "citations": [source], "near": [], "warning": ""})
    assert shown.count(r"!\[x]\(//y") == 1  # in the source


def test_an_abstention_says_what_is_near() -> None:
    near = {"document": "a.txt", "section": "§ 1", "page": 2, "quote": "One\ntwo."}
    record = {"answer": "No.", "citations": [], "near": [near], "warning": "Old."}
    said = "No.\n\nNear it, but no answer:\n- a.txt, § 1, page 2: “One two.”\n\nNote: Old."
    assert as_text(record) == said
