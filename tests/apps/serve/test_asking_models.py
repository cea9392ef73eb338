"""Questions to a server whose operator has set a model."""

from fake_openai import FakeOpenAI, Reply, refusal
from http_questions import ANSWER, QUESTION, asked, client_of, events, model_settings
from loopback_server import served

from lexloop.apps.serve.choices import EMBEDDED_ALONE


def test_text_of_a_model_streams(server: FakeOpenAI) -> None:
    server.play("generate", Reply(ANSWER))
    with served(None, model_settings(), server.connection) as address, client_of(address) as client:
        told = events(client)
        me = client.get("/me").json()
    assert "".join(data["text"] for name, data in told if name == "token") == ANSWER
    assert told[-1][1]["answer"] == ANSWER
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert (me["model"], me["hosts"]) == ("openai:scripted", [host])
    assert told[-1][1]["hosts"] == [host]


def test_attempts_of_the_loop_are_counted(server: FakeOpenAI) -> None:
    server.play("generate", Reply("The moon is made of green cheese. [1]"), Reply(ANSWER))
    settings = model_settings()
    with served(None, settings, server.connection) as address, client_of(address) as client:
        told = events(client)
    steps = [data for name, data in told if name == "step"]
    assert [step["attempt"] for step in steps if step["node"] == "evaluate"] == [1, 2]
    (advised,) = (step for step in steps if step["node"] == "engineer_prompt")
    assert (advised["attempt"], advised["strategy"]) == (1, "whole")
    assert told[-1][1]["retries"] == 1
    assert "It was tried 1 more time." in told[-1][1]["verdict"]["checked"]


def test_a_model_that_is_down_is_said_and_the_embedded_mode_offered(server: FakeOpenAI) -> None:
    server.play("generate", Reply(ANSWER), refusal(503), refusal(503), Reply(ANSWER))
    with served(None, model_settings(), server.connection) as address, client_of(address) as client:
        thread = asked(client)["thread"]
        name, data = events(client, thread=thread)[-1]
        error = data["error"]
        assert (name, error["kind"]) == ("error", "ModelUnavailable")
        assert error["embedded_possible"] is True
        assert error["settings"] == EMBEDDED_ALONE
        found = client.post("/ask", json={**QUESTION, "thread": thread})
        assert found.status_code == 503
        assert found.json()["error"]["embedded_possible"] is True
        assert len(client.get(f"/threads/{thread}").json()["turns"]) == 1
        answer = asked(client, thread=thread, settings=error["settings"])
        assert answer["usage"]["model_calls"] == 0
        assert len(client.get(f"/threads/{thread}").json()["turns"]) == 2


def test_a_deadline_is_the_servers(server: FakeOpenAI) -> None:
    server.otherwise = Reply(hang=True)
    with (
        served(None, model_settings(deadline_s=0.5), server.connection) as address,
        client_of(address) as client,
    ):
        found = client.post("/ask", json=QUESTION)
    assert (found.status_code, found.json()["error"]["kind"]) == (504, "DeadlineExceeded")
