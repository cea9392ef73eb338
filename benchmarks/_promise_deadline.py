"""One deadline a question, bounded replies, and an embedder that fails: each tried in a process.

A loopback server of the tests plays the host: replies of 5 MB, hosts that drip a byte at a time for
as long as they are read, a machine whose clock is set by a day while it waits, and an embedder that
answers no more once the documents are indexed.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(_ROOT / "tests" / "support"))

from _promise import Line  # noqa: E402 - both are found through the folders above
from fake_openai import FakeOpenAI, Reply, Request, refusal  # noqa: E402

from lexloop.core.errors import LexloopError  # noqa: E402
from lexloop.core.settings import Settings  # noqa: E402
from lexloop.graph.build import Lexloop, build_graph  # noqa: E402
from lexloop.graph.resources import Resources  # noqa: E402

_QUESTION = "When must an employer have its tool audited?"
_REPLY_CHARS = 5_000_000
_DEADLINE_S, _LATE_S, _DAY_S = 5.0, 1.0, 86_400
_MOST_MB, _MOST_S = 100, 15.0
"""What a reply of 5 MB may cost; read to its end it cost 1 GB and 15 to 60 s."""
_PATIENCE_S = 150
_MODEL = {"model": "openai:played", "model.attempts": 3}
_REMOTE = {"index.embedder": "openai:letters"}
_REWRITING = {"standalone": _QUESTION, "queries": [], "keywords": []}

Seen = dict[str, Any]


def held() -> Iterator[Line]:
    """Try each in a process of its own: memory is the process's, and so is the clock."""
    for name, (promise, _, judge) in _TRIED.items():
        seen = _in_a_process(name)
        yield Line(promise, json.dumps(seen), "hung" not in seen and judge(seen))


def _in_a_process(name: str) -> Seen:
    with tempfile.TemporaryDirectory() as cache:
        environ = {**os.environ, "LEXLOOP_CACHE": cache}
        command = [sys.executable, __file__, name]
        try:
            done = subprocess.run(
                command, env=environ, timeout=_PATIENCE_S, check=True, stdout=subprocess.PIPE
            )
        except subprocess.TimeoutExpired:
            return {"hung": f"over {_PATIENCE_S} s"}
    seen: Seen = json.loads(done.stdout)
    return seen


def _asked(graph: Lexloop) -> Seen:
    """What became of a question, the seconds it took, and the memory it took beyond the rest."""
    before, began = _peak_mb(), time.monotonic()
    seen: Seen = {}
    try:
        result = graph.invoke({"question": _QUESTION})
    except (LexloopError, RecursionError) as error:
        seen["ended"] = type(error).__name__
    else:
        seen["ended"] = "answer"
        seen["degraded"] = [lost["wanted"] for lost in result["degraded"]]
        seen["usage_s"] = round(result["usage"]["seconds"], 2)
    seen["seconds"] = round(time.monotonic() - began, 2)
    seen["mb"] = _peak_mb() - before
    return seen


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _graph(server: FakeOpenAI, **settings: Any) -> Lexloop:
    """A graph with its documents open."""
    chosen = Settings(**{"deadline_s": _DEADLINE_S, **settings})
    resources = Resources(server.connection, chosen)
    resources(None)
    return build_graph(resources)


def _long_reply(pieces: int, node: str) -> Callable[[FakeOpenAI], Seen]:
    def run(server: FakeOpenAI) -> Seen:
        server.play("rewrite", Reply(json.dumps(_REWRITING)))
        server.play(node, Reply("word " * (_REPLY_CHARS // 5), pieces=pieces))
        seen = _asked(_graph(server, **_MODEL, deadline_s=120))
        return {**seen, "requests": len(server.requests)}

    return run


def _dripping_chat(node: str) -> Callable[[FakeOpenAI], Seen]:
    def run(server: FakeOpenAI) -> Seen:
        server.play("rewrite", Reply(json.dumps(_REWRITING)))
        server.play(node, Reply(drip=True))
        return _asked(_graph(server, **_MODEL))

    return run


def _dripping_embedder(server: FakeOpenAI) -> Seen:
    graph = _graph(server, **_REMOTE)
    server.embedding_otherwise = Reply(drip=True)
    return _asked(graph)


def _embedder_dripping_from_the_start(server: FakeOpenAI) -> Seen:
    server.embedding_otherwise = Reply(drip=True)
    settings = Settings(deadline_s=_DEADLINE_S, **_REMOTE)
    return _asked(build_graph(Resources(server.connection, settings)))


def _clock_set(days: int) -> Callable[[FakeOpenAI], Seen]:
    real = time.time

    def run(server: FakeOpenAI) -> Seen:
        def set_the_clock(_: Request) -> Reply:
            time.time = lambda: real() + days * _DAY_S
            return Reply(json.dumps(_REWRITING))

        server.script(set_the_clock, Reply("An employer must have it audited [1]."))
        server.otherwise = Reply("no verdict")
        answered = _asked(_graph(server, **{"loop.max_retries": 0}, **_MODEL))
        time.time = real
        server.script(set_the_clock, Reply(hang=True))
        return {"answered": answered, "silent": _asked(_graph(server, **_MODEL))}

    return run


def _failing_embedder(**settings: Any) -> Callable[[FakeOpenAI], Seen]:
    def run(server: FakeOpenAI) -> Seen:
        server.otherwise = refusal(401)
        graph = _graph(server, deadline_s=60, **{"model.fallback": True}, **_REMOTE, **settings)
        before = len(server.asked_to_embed)
        server.embedding_otherwise = refusal(500)
        return {**_asked(graph), "requests": len(server.asked_to_embed) - before}

    return run


def _short(seen: Seen) -> bool:
    small = seen["seconds"] <= _MOST_S and seen["mb"] <= _MOST_MB
    return seen["ended"] == "ModelReplyError" and small and seen["requests"] <= 2


def _in_time(seen: Seen) -> bool:
    return seen["ended"] == "DeadlineExceeded" and seen["seconds"] <= _DEADLINE_S + _LATE_S


def _unmoved(seen: Seen) -> bool:
    answered = seen["answered"]
    sane = 0 < answered.get("usage_s", -1) <= answered["seconds"]
    return answered["ended"] == "answer" and sane and _in_time(seen["silent"])


def _told(seen: Seen) -> bool:
    listed = "embedder=openai:letters" in seen.get("degraded", ())
    return seen["ended"] == "answer" and listed and seen["requests"] == 1


_TRIED: dict[str, tuple[str, Callable[[FakeOpenAI], Seen], Callable[[Seen], bool]]] = {
    "whole": ("a whole reply of 5 MB is refused", _long_reply(1, "rewrite"), _short),
    "streamed": ("5 MB streamed in 50 pieces", _long_reply(50, "generate"), _short),
    "piecemeal": ("5 MB streamed word by word", _long_reply(1_000_000, "generate"), _short),
    "drip": ("a reply that drips at deadline_s=5", _dripping_chat("rewrite"), _in_time),
    "stream": ("a stream that drips at deadline_s=5", _dripping_chat("generate"), _in_time),
    "embedder": ("an embedder that drips at deadline_s=5", _dripping_embedder, _in_time),
    "opening": ("one that drips at once", _embedder_dripping_from_the_start, _in_time),
    "back": ("the clock set back by a day at deadline_s=5", _clock_set(-1), _unmoved),
    "forward": ("the clock set forward by a day", _clock_set(1), _unmoved),
    "fails": ("a failing embedder with fallback is asked once", _failing_embedder(), _told),
    "both": ("the same with a failing model", _failing_embedder(**_MODEL), _told),
}


if __name__ == "__main__":
    with FakeOpenAI() as played:
        found = _TRIED[sys.argv[1]][1](played)
    print(json.dumps(found))
