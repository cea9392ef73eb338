"""Questions to a server: as JSON and as events, in conversations, with a model and without."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fake_openai import ANSWER, FakeOpenAI, Reply, refusal
from pydantic import TypeAdapter
from servers import QUESTION, asked, client_of, events, model_settings, person, served, served_from
from sets import rows

from lexloop.apps.offered import EMBEDDED_ALONE
from lexloop.apps.shapes.record import Answer
from lexloop.apps.threads import ThreadStore

STEPS = ("classify", "rewrite", "hybrid_retrieve", "kg_retrieve", "rerank", "generate", "evaluate")


@pytest.mark.parametrize("collections", [["sample"], ["sample", "dogs"]])
def test_an_answer_is_as_its_schema_has_it(ann: httpx.Client, collections: list[str]) -> None:
    schema = TypeAdapter(Answer).json_schema()
    chosen = {"settings": {"plan.k": 1}, "as_of": "1999-12-31"}  # what a caller may set
    answer = asked(ann, collections=collections, **chosen)
    Answer.model_validate(answer)
    assert schema["properties"].keys() - {"feedback"} == answer.keys()
    relation = schema["$defs"]["Relation"]["properties"]
    assert all(one.keys() <= relation.keys() for one in answer["triplets"])
    assert (answer["plan"]["k"], answer["as_of"]) == (1, "1999-12-31")


@pytest.mark.parametrize(("body", "status", "kind", "said"), rows("refused_questions"))
def test_what_cannot_be_asked_is_refused_by_name(
    ann: httpx.Client, body: Any, status: int, kind: str, said: str
) -> None:
    content = body if isinstance(body, str) else json.dumps({**QUESTION, **body})
    for accept in ("application/json", "text/event-stream"):
        headers = {"Content-Type": "application/json", "Accept": accept}
        found = ann.post("/ask", content=content, headers=headers)
        assert (found.status_code, found.json()["error"]["kind"]) == (status, kind), found.text
        assert said in found.text
        assert "cats.txt;" not in found.text
        assert len(found.content) < (2000 if kind == "MalformedRequest" else 1000)


def test_no_body_of_any_depth_or_number_is_a_question(ann: httpx.Client) -> None:
    named = json.dumps({**QUESTION, "settings": {"x" * 5000: 1}})
    for body in ("[" * 9000, '{"question": "a", "n": ' + "9" * 5000 + "}", named):
        found = ann.post("/ask", content=body, headers={"Content-Type": "application/json"})
        assert found.status_code in (400, 422)
        assert found.json()["error"]["kind"] in ("MalformedRequest", "BadRequest", "SettingsError")
        assert len(found.content) < 2000


def test_events_come_in_order_and_end_with_the_answer(ann: httpx.Client) -> None:
    told = events(ann)
    names = [name for name, _ in told]
    assert names == ["begin", *["step"] * len(STEPS), "answer"]
    begin, answer = told[0][1], told[-1][1]
    assert begin == {"id": answer["id"], "thread": answer["thread"], "collections": ["sample"]}
    steps = [data for name, data in told if name == "step"]
    assert tuple(step["node"] for step in steps) == STEPS
    assert {(step["collection"], step["attempt"]) for step in steps} == {("sample", 1)}
    assert (steps[0]["class"], steps[0]["plan"]) == (answer["complexity"], answer["plan"])
    assert steps[4]["passages"] == len(answer["passages"])
    assert (steps[6]["score"], steps[6]["passed"]) == (answer["answers"], True)
    seconds = [step["seconds"] for step in steps]
    assert seconds == sorted(seconds)


def test_several_collections_are_asked_and_answer_as_one(ann: httpx.Client) -> None:
    told = events(ann, question="What does a dog licence cost?", collections=None)
    assert told[0][1]["collections"] == ["sample", "dogs"]
    route = told[1][1]
    assert (route["node"], route["collections"]) == ("route", ["dogs"])
    answer = told[-1][1]
    assert answer["collections"] == ["dogs"]
    assert {citation["collection"] for citation in answer["citations"]} == {"dogs"}
    assert "30 dollars" in answer["answer"]
    assert asked(ann, question="Hello!", collections=None)["collections"] == []


def test_a_conversation_goes_on_is_exported_renamed_and_deleted(ann: httpx.Client) -> None:
    first = asked(ann)
    second = asked(ann, question="And who conducts it?", thread=first["thread"])
    assert second["thread"] == first["thread"]
    assert second["standalone"] == "And who conducts a bias audit?"
    thread = f"/threads/{first['thread']}"
    found = ann.get(thread).json()
    assert (found["title"], found["turns"]) == ("What is a bias audit?", [first, second])
    assert ann.get(thread, params={"limit": 1}).json()["turns"] == [second]
    params = {"limit": 1, "before": second["id"]}
    assert ann.get(thread, params=params).json()["turns"] == [first]
    for path in (f"/answers/{first['id']}", thread):
        said = ann.get(f"{path}/export", params={"format": "md"})
        assert said.headers["content-type"] == "text/markdown; charset=utf-8"
        assert 'filename="What is a bias audit.md"' in said.headers["content-disposition"]
        assert "[^1]" in said.text
        assert ann.get(f"{path}/export", params={"format": "docx"}).content[:2] == b"PK"
        assert ann.get(f"{path}/export", params={"format": "exe"}).status_code == 422
        memo = {"format": "md", "memo": "true", "from": "A. Clerk", "style": "oscola", "re": "Dogs"}
        said = ann.get(f"{path}/export", params=memo)
        assert "- **From:** A. Clerk\n" in said.text
        assert 'filename="Dogs.md"' in said.headers["content-disposition"]
        mail = ann.get(f"{path}/export", params={**memo, "format": "eml"})
        assert mail.headers["content-type"] == "message/rfc822"
        assert b"Subject: Dogs\r\n" in mail.content
        for wrong in ({"style": "mla"}, {"to": "x" * 301}, {"cc": "x"}):
            assert ann.get(f"{path}/export", params={**memo, **wrong}).status_code == 422
    named = ann.patch(thread, json={"title": "  Audits\n of bias <b>"}).json()
    assert named["title"] == "Audits of bias <b>"
    assert ann.get("/threads").json()["threads"][0]["title"] == "Audits of bias <b>"
    for title in (" \n", "x" * 1001, None):
        assert ann.patch(thread, json={"title": title}).status_code == 422
    assert ann.delete(thread).status_code == 204
    assert ann.get(thread).status_code == ann.delete(thread).status_code == 404


def test_turns_of_one_conversation_are_taken_one_after_the_other(ann: httpx.Client) -> None:
    thread = asked(ann)["thread"]
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda _: asked(ann, thread=thread), range(4))]
    kept = ann.get(f"/threads/{thread}").json()["turns"]
    assert len({turn["id"] for turn in kept}) == 5
    assert {turn["id"] for turn in found} < {turn["id"] for turn in kept}


def test_a_conversation_of_somebody_else_is_not_there(ann: httpx.Client, bob: httpx.Client) -> None:
    answer = asked(ann)
    thread, missing = answer["thread"], "0" * len(answer["thread"])
    assert thread not in bob.get("/threads").text
    for method, path in (
        ("GET", "/threads/{}"),
        ("PATCH", "/threads/{}"),
        ("DELETE", "/threads/{}"),
        ("GET", "/threads/{}/export?format=md"),
        ("GET", "/threads?before={}"),
        ("POST", "/ask"),
    ):
        told = []
        for id in (thread, missing):
            body = {"title": "Mine"} if method == "PATCH" else {**QUESTION, "thread": id}
            sent = None if method in ("GET", "DELETE") else body
            told.append(bob.request(method, path.format(id), json=sent))
        assert [one.status_code for one in told] == [404, 404]
        assert told[0].text.replace(thread, missing) == told[1].text
    his = f"/answers/{answer['id']}"
    assert bob.post(f"{his}/feedback", json={"vote": "up"}).status_code == 404
    assert bob.get(f"{his}/export?format=md").status_code == 404
    assert ann.get(f"/threads/{thread}").status_code == 200


def test_opinions_are_those_that_the_command_shows(ann: httpx.Client, data: Path) -> None:
    from lexloop.apps.feedback import FeedbackStore

    first = asked(ann)
    answer = asked(ann, question="And who conducts it?", thread=first["thread"])
    for vote, comment in (("down", "Too long"), ("up", " It was right. ")):
        given = {"vote": vote, "comment": comment}
        assert ann.post(f"/answers/{answer['id']}/feedback", json=given).status_code == 204
    kept = {one.answer_id: one for one in FeedbackStore(data / "feedback.sqlite").all()}
    opinion = kept[answer["id"]]
    assert (opinion.vote, opinion.comment) == ("up", "It was right.")
    assert [turn["content"] for turn in opinion.history] == [first["question"], first["answer"]]
    assert (opinion.corpus, opinion.scores) == ("sample", answer["scores"])
    turns = ann.get(f"/threads/{first['thread']}").json()["turns"]
    assert [turn.get("feedback") for turn in turns] == [
        None,
        {"vote": "up", "comment": "It was right."},
    ]
    found = ann.post(f"/answers/{answer['id']}/feedback", json={"vote": "maybe"})
    assert found.status_code == 422
    assert (data / "server.sqlite").stat().st_mode & 0o777 == 0o600
    assert data.stat().st_mode & 0o777 == 0o700


def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "server.sqlite").write_text("this is no database, but some text of somebody's")
    with served_from(tmp_path) as address, client_of(address) as client:
        (lost,) = asked(client)["degraded"]
        assert lost["wanted"] == "the answer kept"
        assert client.get("/threads").json()["error"]["kind"] == "DataError"
        assert asked(client)["degraded"] == [lost]
    assert caplog.text.count("not kept") == 1
    assert (tmp_path / "server.sqlite").read_text().startswith("this is no database")


def test_an_answer_of_a_conversation_that_was_deleted_meanwhile_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = ThreadStore.keep

    def deleted_first(store: ThreadStore, person: str, answer: Any, *given: Any) -> bool:
        if not given[1]:
            store.delete(person, answer["thread"])
        return keep(store, person, answer, *given)

    monkeypatch.setattr(ThreadStore, "keep", deleted_first)
    with served_from(tmp_path) as address, client_of(address) as client:
        first = asked(client)
        (lost,) = asked(client, thread=first["thread"])["degraded"]
        assert (lost["wanted"], lost["used"]) == ("the answer kept", "nothing")
        assert lost["reason"] == "The conversation was deleted meanwhile."
        assert client.get("/threads").json() == {"threads": []}


def test_what_an_operator_revokes_closes_old_conversations(tmp_path: Path) -> None:
    def settings(**details: Any) -> dict[str, Any]:
        two = {"sample": "sample", "again": "sample"}
        return {"collections": two, "people": [person("ann", **details)]}

    with (
        served_from(tmp_path, **settings(tags=["staff"])) as address,
        client_of(address, "ann") as client,
    ):
        thread = asked(client)["thread"]
    for details, status in (({}, 400), ({"tags": ["staff"], "collections": ["again"]}, 403)):
        with (
            served_from(tmp_path, **settings(**details)) as address,
            client_of(address, "ann") as client,
        ):
            assert client.get(f"/threads/{thread}").status_code == status
            assert client.get(f"/threads/{thread}/export?format=md").status_code == status
            body = {**QUESTION, "collections": ["again"], "thread": thread}
            assert client.post("/ask", json=body).status_code == status
    with sqlite3.connect(tmp_path / "server.sqlite") as database:
        assert database.execute("SELECT count(*) FROM turns").fetchone() == (1,)


def test_text_of_a_model_streams_and_the_attempts_of_the_loop_are_told(server: FakeOpenAI) -> None:
    server.play("generate", Reply("The moon is made of green cheese. [1]"), Reply(ANSWER))
    alone = model_settings().changed(**{"answer.generator": "model"})
    with served(None, alone, server.connection) as address, client_of(address) as client:
        told = events(client)
        me = client.get("/me").json()
    steps = [data for name, data in told if name == "step"]
    assert [step["attempt"] for step in steps if step["node"] == "evaluate"] == [1, 2]
    (advised,) = (step for step in steps if step["node"] == "engineer_prompt")
    assert (advised["attempt"], advised["strategy"]) == (1, "whole")
    assert "".join(data["text"] for name, data in told if name == "token").endswith(ANSWER)
    answer = told[-1][1]
    assert (answer["answer"], answer["retries"]) == (ANSWER, 1)
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert (me["model"], me["hosts"], answer["hosts"]) == ("openai:scripted", [host], [host])


def test_a_model_that_is_down_is_said_and_the_embedded_mode_offered(server: FakeOpenAI) -> None:
    server.play("generate", Reply(ANSWER), refusal(503), refusal(503), Reply(hang=True))
    settings = model_settings(deadline_s=5)
    with served(None, settings, server.connection) as address, client_of(address) as client:
        thread = asked(client)["thread"]
        name, data = events(client, thread=thread)[-1]
        error = data["error"]
        assert (name, error["kind"]) == ("error", "ModelUnavailable")
        assert (error["embedded_possible"], error["settings"]) == (True, EMBEDDED_ALONE)
        found = client.post("/ask", json={**QUESTION, "thread": thread})
        assert found.status_code == 503
        late = client.post("/ask", json={**QUESTION, "settings": {"deadline_s": 0.5}})
        assert (late.status_code, late.json()["error"]["kind"]) == (504, "DeadlineExceeded")
        assert len(client.get(f"/threads/{thread}").json()["turns"]) == 1
        answer = asked(client, thread=thread, settings=error["settings"])
        assert answer["usage"]["model_calls"] == 0
        assert len(client.get(f"/threads/{thread}").json()["turns"]) == 2
