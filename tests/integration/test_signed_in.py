"""``examples/auth.py`` on the development server: what people sign in for is all that they get."""

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fake_openai import FakeOpenAI
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import AuthenticationError, NotFoundError, PermissionDeniedError
from langgraph_server import Served, langgraph_dev

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXTS = {
    "handbook/leave.txt": "§ 1 Leave. Every employee has 31 days of leave in a year.\n",
    "handbook/keys.txt": "---\ntags: [staff]\n---\n§ 2 Keys. A lost key costs 47 euros.\n",
    "handbook/pay.txt": "---\ntags: [board]\n---\n§ 3 Pay. A director receives 83 euros a day.\n",
    "minutes/may.txt": "§ 4 Sale. The board decided to sell the mill for 900 euros.\n",
}
PAY, MILL = "How much does a director receive?", "For how much is the mill sold?"
HANDBOOK = {"corpus": "handbook"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[Served]:
    """A server with sign-in and without a corpus of its own."""
    folder = tmp_path_factory.mktemp("signed_in")
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for name in ("auth.py", "langgraph.json"):  # the server looks for both where it is started
        shutil.copy(EXAMPLES / name, folder)
    own = {"LEXLOOP_CORPUS": "", "LEXLOOP_COLLECTIONS": "handbook,minutes"}
    # its own tags are for nobody who signs in
    own["LEXLOOP_ACCESS__TAGS"] = '["board"]'
    config = folder / "langgraph.json"
    with FakeOpenAI() as model, langgraph_dev(folder, model, config, **own) as running:
        yield running
    assert "locking call" not in running.log, running.log
    assert not running.attempts


@pytest.fixture
def ann(server: Served) -> Iterator[Served]:
    """The server as somebody of the staff meets it."""
    yield from _as(server, "ann")


@pytest.fixture
def ben(server: Served) -> Iterator[Served]:
    """The server as somebody of the staff and the board meets it."""
    yield from _as(server, "ben")


def _as(server: Served, person: str) -> Iterator[Served]:
    headers = {"Authorization": f"Bearer token-of-{person}"}
    with get_sync_client(url=_url(server), api_key=None, headers=headers) as client:
        yield Served(client, server.model, server.folder)


def _url(server: Served) -> str:
    return str(server.client.http.client.base_url)


def said(by: Served, question: str, context: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The end of a run, or its error."""
    given: Any = None if options.pop("resume", False) else {"question": question}
    end = by.stream(given, "values", context=context, **options)[-1][1]
    assert isinstance(end, dict)
    return end


def test_tags_are_those_of_the_person_and_not_of_the_run(ann: Served, ben: Served) -> None:
    assert "47 euros" in said(ann, "What does a lost key cost?", HANDBOOK)["answer"]
    assert "83 euros" in said(ben, PAY, HANDBOOK)["answer"]
    assert "83 euros" not in str(said(ann, PAY, HANDBOOK))
    widened = said(ann, PAY, {**HANDBOOK, "access": {"tags": ["staff", "board"]}})
    assert (widened["error"], widened["message"]) == (
        "AccessError",
        "You do not have the access tag 'board'. Leave access.tags out: your sign-in says which "
        "you have.",
    )
    assert "83 euros" not in str(said(ben, PAY, {**HANDBOOK, "access": {"tags": ["staff"]}}))


def test_corpora_are_those_of_the_person(ann: Served, ben: Served) -> None:
    assert "900 euros" in said(ben, MILL, {"corpus": "minutes"})["answer"]
    for corpus in ("minutes", "sample", "./handbook", "handbook/pay.txt"):
        refused = said(ann, MILL, {"corpus": corpus})
        assert refused["error"] == "AccessError"
        assert "Name one of these as corpus: handbook." in refused["message"]


def test_without_a_named_corpus_nothing_answers(ann: Served) -> None:
    for context in ({}, {"plan": {"k": 3}}):
        refused = said(ann, PAY, context)
        assert refused["error"] == "SettingsError"
        assert "The run names no corpus" in refused["message"]


def test_the_agent_asks_only_collections_of_the_person(ann: Served, ben: Served) -> None:
    shown = {
        by: {node["id"] for node in by.client.assistants.get_graph(agent(by))["nodes"]}
        for by in (ann, ben)
    }
    assert shown[ben] - shown[ann] == {"ask minutes"}
    assert said(ben, MILL, {}, graph="agent")["collections"] == ["minutes"]
    assert "900 euros" not in str(said(ann, MILL, {}, graph="agent"))
    assert "83 euros" not in str(said(ann, PAY, {}, graph="agent"))
    widened = said(ann, PAY, {"access": {"tags": ["board"]}}, graph="agent")
    assert widened["error"] == "AccessError"


def agent(by: Served) -> str:
    (found,) = by.client.assistants.search(graph_id="agent")
    return found["assistant_id"]


def test_nobody_can_say_who_they_are_in_another_way(server: Served, ann: Served) -> None:
    ben = {"identity": "ben", "corpora": ["handbook"], "tags": ["board"]}
    forged = {"configurable": {"langgraph_auth_user": ben, **HANDBOOK}}
    url, run = _url(server), {"assistant_id": "lexloop", "input": {"question": PAY}}
    for headers in ({}, {"x-auth-scheme": "langsmith"}, {"Authorization": "Bearer of-nobody"}):
        assert httpx.post(f"{url}/runs/wait", json=run, headers=headers).status_code == 401
    signed = {"Authorization": "Bearer token-of-ann"}
    told = httpx.post(f"{url}/runs/wait", json={**run, "config": forged}, headers=signed)
    assert told.json()["finding"] == "absent"
    assert "83 euros" not in told.text
    with pytest.raises(PermissionDeniedError):
        ann.client.assistants.create("lexloop", context=HANDBOOK)
    with pytest.raises(PermissionDeniedError):
        ann.client.store.put_item(["ben"], "key", {})


def test_other_protocols_know_the_person_too(server: Served, ann: Served) -> None:
    message = {"messageId": "1", "role": "user", "parts": [{"kind": "text", "text": PAY}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    url = f"{_url(server)}/a2a/{agent(ann)}"
    told = [
        httpx.post(url, json=call, headers={"Authorization": f"Bearer token-of-{person}"}).text
        for person in ("ann", "ben")
    ]
    assert ["83 euros" in text for text in told] == [False, True]
    assert "do not answer this question" in told[0]


def test_an_edited_thread_shows_nothing_that_the_person_may_not_see(ann: Served) -> None:
    thread = ann.client.threads.create()["thread_id"]
    said(ann, PAY, HANDBOOK, thread=thread, interrupt_before=["rerank"])
    values: Any = ann.client.threads.get_state(thread)["values"]
    edited = (
        str(values["candidates"]).replace("leave.txt", "pay.txt").replace("keys.txt", "pay.txt")
    )
    candidates = ast.literal_eval(edited)
    assert {candidate["id"] for candidate in candidates} == {"pay.txt#0"}
    ann.client.threads.update_state(thread, {"candidates": candidates}, as_node="hybrid_retrieve")
    said(ann, "", HANDBOOK, thread=thread, resume=True)
    assert "83 euros" not in str(ann.client.threads.get_state(thread))


def test_a_thread_is_its_owners(server: Served, ann: Served, ben: Served) -> None:
    thread = ben.client.threads.create()["thread_id"]
    said(ben, PAY, HANDBOOK, thread=thread)
    assert "83 euros" in str(ben.client.threads.get_state(thread))
    with pytest.raises(NotFoundError):
        ann.client.threads.get_state(thread)
    with pytest.raises(NotFoundError):
        ann.client.threads.update_state(thread, {"question": PAY})
    with pytest.raises(NotFoundError):
        said(ann, "And for what?", HANDBOOK, thread=thread)
    assert not ann.client.threads.search(ids=[thread])
    with pytest.raises(AuthenticationError):
        server.client.threads.get_state(thread)
