"""What an engine does wrong is told in words, in time and without a secret."""

import logging
import socket
import time
import traceback

import pytest
from scripted_engine import Said, ScriptedEngine, found, refusal

from lexloop.core.errors import (
    DeadlineExceeded,
    EngineAuthError,
    EngineError,
    EngineUnavailable,
    LexloopError,
    hearing,
)
from lexloop.core.running import Deadline, within
from lexloop.store.address import Address
from lexloop_engines.engine.client import Engine, engine_at

BUSY = refusal(429, "es_rejected_execution_exception", "rejected execution")
GONE = refusal(503, "no_shard_available_action_exception", "No shard available")
CUT_OFF = Said(500, {"status": 500, "error": {
    "type": "search_phase_execution_exception", "reason": "all shards failed",
    "caused_by": {"type": "node_disconnected_exception",
                  "reason": "[n2][127.0.0.1:9502][indices:data/read/search] disconnected"},
}})  # fmt: skip
FLOOD = refusal(
    429,
    "cluster_block_exception",
    "index [laws] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark];",
)
CLOSED = refusal(
    403, "cluster_block_exception", "index [laws] blocked by: [FORBIDDEN/5/read-only];"
)
SECRETS = {"LEXLOOP_ENGINE_PASSWORD": "hunter2hunter2", "LEXLOOP_ENGINE_API_KEY": "a2V5OnNlY3JldA"}
SOON_S, LATE_S = 0.4, 1.0
"""A question's deadline, and by how much a busy machine may miss it."""


@pytest.fixture
def engine(server: ScriptedEngine) -> Engine:
    return engine_at(server.address)


def soon(seconds: float = SOON_S) -> Deadline:
    return Deadline(time.monotonic() + seconds, seconds, grace_s=60.0)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_a_node_that_is_down_is_left_for_the_next(server: ScriptedEngine) -> None:
    engine = engine_at(f"opensearch://127.0.0.1:{free_port()},{server.host}/laws")
    for _ in range(8):
        assert engine.ask("GET", "/") == {}
    assert len(server.asked) == 8


@pytest.mark.parametrize(
    ("said", "error", "why"),
    [
        (refusal(401, "security_exception", "unknown"), EngineAuthError, "401.*unknown"),
        (FLOOD, EngineError, r"is read-only.*blocked by.*disk space"),
    ],
)
def test_what_cannot_help_is_not_asked_again(
    server: ScriptedEngine, engine: Engine, said: Said, error: type[EngineError], why: str
) -> None:
    server.script(said)
    with pytest.raises(error, match=why) as told:
        engine.ask("POST", "/_bulk", "")
    assert type(told.value) is error
    assert len(server.asked) == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("passing", [BUSY, CUT_OFF, Said(502, b"<h1>Bad Gateway</h1>")])
def test_a_busy_engine_is_asked_again(
    server: ScriptedEngine, engine: Engine, passing: Said
) -> None:
    server.script(passing, passing, Said(200, {"count": 1}))
    assert engine.ask("GET", "/") == {"count": 1}
    assert len(server.asked) == 3


def test_an_engine_that_stays_busy_is_left_alone(server: ScriptedEngine, engine: Engine) -> None:
    server.script(BUSY)
    with pytest.raises(EngineUnavailable, match=r"cannot answer \(429\): .*rejected execution"):
        engine.ask("GET", "/")
    assert len(server.asked) == 5
    server.asked.clear()
    # whichever of the two comes first on this machine
    with within(soon(0.1)), pytest.raises((EngineUnavailable, DeadlineExceeded)):
        engine.ask("GET", "/", patient=True)
    assert len(server.asked) < 9


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("said", "status"), [(BUSY, "429"), (CUT_OFF, "500.*disconnected")])
def test_searches_of_which_one_met_a_busy_node_or_lost_one_are_sent_again(
    server: ScriptedEngine, engine: Engine, said: Said, status: str
) -> None:
    server.script(Said(200, {"responses": [said.body]}), found())
    assert engine.search("laws", {}) == []
    server.script(Said(200, {"responses": [said.body]}))
    with pytest.raises(EngineUnavailable, match=status):
        engine.search("laws", {})


@pytest.mark.parametrize(
    "slow", [Said(slowly_s=60.0), Said(body=[0] * 600, slowly_s=0.05)], ids=["never", "trickling"]
)
def test_a_slow_answer_is_waited_for_until_the_deadline(
    server: ScriptedEngine, engine: Engine, slow: Said
) -> None:
    server.script(slow)
    began = time.monotonic()
    with within(soon()), pytest.raises(DeadlineExceeded, match=r"of 0.4 s .*//127\.0\.0\.1"):
        engine.ask("GET", "/")
    assert SOON_S * 0.9 < time.monotonic() - began < SOON_S + LATE_S
    with pytest.raises(EngineUnavailable, match="did not answer within 0 s"):
        engine.ask("GET", "/", seconds=0.2)


@pytest.mark.parametrize("said", [Said(200, b"<h1>It works!</h1>"), Said(404, b"<h1>")])
def test_what_is_no_engine(server: ScriptedEngine, engine: Engine, said: Said) -> None:
    server.script(said)
    with pytest.raises(EngineError, match=r"as no opensearch does.*the host and the port"):
        engine.check()
    if said.status == 200:
        with pytest.raises(EngineError, match="as no opensearch does"):
            engine.search("laws", {})


@pytest.mark.parametrize(
    ("part", "used", "reason"),
    [
        (found(failed=1), "1 of them", "did not answer"),
        (found(timed_out=True), "what they found in time", "too long"),
    ],
)
def test_a_part_of_what_there_is_is_told(
    server: ScriptedEngine, engine: Engine, part: Said, used: str, reason: str
) -> None:
    server.script(part)
    with hearing() as told:
        engine.searches("laws", [{}])
    (loss,) = told
    assert loss.wanted == f"all 2 shards of {server.address}"
    assert (loss.used, reason in loss.reason) == (used, True)
    with hearing() as told, pytest.raises(EngineUnavailable, match="of 2 shards"):
        engine.search("laws", {})
    assert not told


@pytest.mark.usefixtures("impatient")
def test_a_record_of_a_shard_that_is_gone_is_not_taken_for_missing(
    server: ScriptedEngine, engine: Engine
) -> None:
    there = {"_id": "a", "found": True, "_source": {"record": {"text": "x"}}}
    server.script(Said(200, {"docs": [there, {"_id": "b", "found": False}]}))
    assert engine.records("laws", ["a", "b"]) == [{"text": "x"}, None]
    server.script(Said(200, {"docs": [there, {"_id": "b", **GONE.body}]}))
    with pytest.raises(EngineUnavailable, match="No shard available"):
        engine.records("laws", ["a", "b"])


@pytest.mark.usefixtures("impatient")
def test_no_secret_is_told(server: ScriptedEngine, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    down = Address.parse(f"opensearch://127.0.0.1:{free_port()}/laws")
    for given in ({"LEXLOOP_ENGINE_USER": "ann", **SECRETS}, SECRETS):
        texts = []
        for said in (refusal(401, "security_exception", "no"), CLOSED, Said(200, b"<p>"), Said(0)):
            server.script(said)
            texts.append(_error(Engine(Address.parse(server.address), given)))
        texts.append(_error(Engine(down, given)))
        shown = "\n".join(texts) + caplog.text
        for name, secret in SECRETS.items():
            assert secret not in shown, name


def _error(engine: Engine) -> str:
    with pytest.raises(LexloopError) as told:
        engine.check()
    return f"{''.join(traceback.format_exception(told.value))}{told.value!r}{engine!r}"
