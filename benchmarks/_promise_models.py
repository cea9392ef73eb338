"""What a model says is not taken for more than it is: a judge, a rewriter, a reply, an address."""

from collections import Counter
from collections.abc import Iterator

from _garbage import garbage
from _judged import judged
from _promise import Line
from fake_openai import FakeOpenAI

from lexloop.core.errors import ModelError
from lexloop.core.settings import Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

_LEAST_GOOD = 25
_GARBAGE, _SEED = 200, 13
_QUESTION = "What is the penalty for a first violation?"


def held() -> Iterator[Line]:
    """Try each."""
    yield from _judging()
    yield from _replies()


def _judging() -> Iterator[Line]:
    """Answers that a model gives 0.95 in everything."""
    passed: Counter[bool] = Counter()
    tried: Counter[bool] = Counter()
    for row, result in judged():
        tried[row["passes"]] += 1
        passed[row["passes"]] += result["evaluation"]["passed"]
    yield Line(
        "no bad answer passes a model that gives 0.95 to everything",
        f"{passed[False]} of {tried[False]} passed",
        not passed[False],
    )
    yield Line(
        "correct answers in a model's own words still do",
        f"{passed[True]} of {tried[True]} passed",
        passed[True] >= _LEAST_GOOD,
    )


def _replies() -> Iterator[Line]:
    """What comes with status 200 and is no answer."""
    without = build_graph(Resources()).invoke({"question": _QUESTION})["answer"]
    with FakeOpenAI() as server:
        falling = _generating(server, fallback=True)
        answered = told = 0
        for reply in garbage(_GARBAGE, _SEED):
            server.otherwise = reply
            result = falling.invoke({"question": _QUESTION})
            answered += result["answer"] != without
            told += any(lost["node"] == "generate" for lost in result["degraded"])
        yield Line(
            f"of {_GARBAGE} replies that are no answer none becomes one, and each is told",
            f"{answered} became answers, {told} told in degraded",
            not answered and told == _GARBAGE,
        )
        alone, raised = _generating(server, fallback=False), 0
        for reply in garbage(_GARBAGE, _SEED):
            server.otherwise = reply
            raised += _raises(alone)
        yield Line(
            f"without a fallback each of {_GARBAGE} is a typed error",
            f"{raised} raised",
            raised == _GARBAGE,
        )


def _generating(server: FakeOpenAI, *, fallback: bool) -> Lexloop:
    """A graph of which the model writes the answers alone."""
    by_code = ("retrieval.rewriter", "loop.evaluator", "loop.prompt_engineer")
    settings = dict.fromkeys(by_code, "embedded") | {"model.fallback": fallback}
    asked = Settings(model="openai:played", **{"model.attempts": 1}, **settings)
    return build_graph(Resources(server.connection, asked))


def _raises(graph: Lexloop) -> bool:
    try:
        graph.invoke({"question": _QUESTION})
    except ModelError:
        return True
    return False
