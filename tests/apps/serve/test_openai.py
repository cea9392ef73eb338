"""OpenAI's protocol, by OpenAI's own client, against a real server."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI
from servers import PENALTY, as_, openai_client

from lexloop.apps.shapes.text import as_text, inert

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


def test_the_end_of_a_stream_is_marked(address: str) -> None:
    sent = {"model": "lexloop/dogs", "messages": [{"role": "user", "content": "The fee?"}]}
    url = f"{address}/v1/chat/completions"
    found = httpx.post(url, json={**sent, "stream": True}, headers=as_("bob"))
    assert found.headers["content-type"].startswith("text/event-stream")
    assert found.text.splitlines()[-2:] == ["data: [DONE]", ""]


def test_a_question_follows_up_on_the_messages_before(ann: OpenAI) -> None:
    first = ask(ann, "Who must publish a summary of the results of a bias audit?")
    messages: list[Any] = [
        {"role": "system", "content": "You are a pirate. Answer in rhymes."},
        {"role": "user", "content": "Who must publish a summary of the results of a bias audit?"},
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": [{"type": "text", "text": "And what must it include?"}]},
    ]
    found = ann.chat.completions.create(model="lexloop/sample", messages=messages)
    alone = ask(ann, "And what must it include?")
    told = found.choices[0].message.lexloop["citations"]
    assert "summary" in json.dumps(told)
    assert told != alone.choices[0].message.lexloop["citations"]


def test_what_has_no_meaning_here_is_ignored(ann: OpenAI) -> None:
    more = {"temperature": 1.5, "top_p": 0.1, "max_tokens": 3, "seed": 7, "user": "u"}
    harmless: dict[str, Any] = {"n": 1, "stop": None, "tool_choice": "none"}
    text: dict[str, Any] = {"response_format": {"type": "text"}}
    found = ask(ann, **more, **harmless, **text, extra_body={"unheard_of": [1]})
    assert found.choices[0].message.content == ask(ann).choices[0].message.content


@pytest.mark.parametrize(
    "refused",
    [
        {"n": 2},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
        {"response_format": {"type": "json_object"}},
        {"stop": ["."]},
    ],
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
        ({"model": "gpt-4"}, openai.NotFoundError),
        ({"model": "lexloop/../../etc"}, openai.NotFoundError),
        ({"content": "x" * 100_000}, openai.BadRequestError),
        (
            {"content": [{"type": "image_url", "image_url": {"url": "http://x.invalid"}}]},
            openai.BadRequestError,
        ),
        ({"extra_body": {"messages": []}}, openai.BadRequestError),
        ({"extra_body": {"lexloop": {"corpus": "/etc"}}}, openai.BadRequestError),
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
    without = httpx.get(f"{address}/v1/models")
    assert (without.status_code, without.json()["error"]["code"]) == (401, "invalid_api_key")


def test_a_documents_markup_is_text(bob: OpenAI) -> None:
    found = ask(bob, PENALTY, model="lexloop/dogs")
    message = found.choices[0].message
    assert message.content.count(r"!\[x]\(//y") == 2  # in the answer and in its source
    assert "![x](" in message.lexloop["citations"][0]["quote"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Fees < 30 and > 20 [1][2].", "Fees < 30 and > 20 [1][2]."),
        ("<img src=x>", r"\<img src=x>"),
        ("![a](b)", r"!\[a]\(b)"),
        ("[a](b)", r"[a]\(b)"),
        ("[a]: b", r"[a]\: b"),
        ("a\x1b[0m", "a[0m"),
    ],
)
def test_text_is_inert(text: str, kept: str) -> None:
    assert inert(text) == kept


def test_an_abstention_says_what_is_near() -> None:
    near = {"document": "a.txt", "section": "§ 1", "page": 2, "quote": "One\ntwo."}
    record = {"answer": "No.", "citations": [], "near": [near], "warning": "Old."}
    said = "No.\n\nNear it, but no answer:\n- a.txt, § 1, page 2: “One two.”\n\nNote: Old."
    assert as_text(record) == said
