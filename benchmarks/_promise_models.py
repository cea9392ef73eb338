"""What a model says is not taken for more than it is: a judge, a rewriter, a reply, an address.

With ``LEXLOOP_DATA`` set to a folder of ``canard_dev/rewrites.jsonl`` and
``trec_cast_rewrites/rewrites.jsonl`` (see ``followups.py``), what people wrote out is tried too.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from _canary import leaks, said
from _garbage import garbage
from _judged import judged
from _pipeline import read_rows
from _promise import Line
from fake_openai import FakeOpenAI, Reply, reply
from followups import turns

from lexloop.core.errors import ModelError
from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources
from lexloop.models.minilm import load_shipped
from lexloop.nodes.rewrite import drift

_GARBAGE, _SEED = 200, 13
_REWRITES = {"canard_dev": True, "trec_cast_rewrites": False}
_PAIRS, _LEAST_LEGITIMATE, _LEAST_REFUSED = 300, 0.95, 0.98
_CHANGED = (
    ("What is a bias audit?", "What is the penalty for a violation?"),
    ("Who may enforce the law in court?", "When did the law take effect?"),
    ("How long must results stay posted?", "Which tools are exempt from the law?"),
    ("When must notice be given?", "Who is an independent auditor?"),
    ("What is an impact ratio?", "What must an employer publish?"),
)
_QUESTION = "What is the penalty for a first violation?"


def held() -> Iterator[Line]:
    """Try each."""
    yield from _judging()
    yield from _replies()
    yield from _rewriting()
    yield _address()


def _judging() -> Iterator[Line]:
    """Answers that a model gives 0.95 in everything: those that rules were made on, and others."""
    counted: Counter[tuple[bool, bool, bool]] = Counter()
    for row, result in judged():
        counted[row.get("beside", False), row["passes"], result["evaluation"]["passed"]] += 1
    for beside, (most_bad, least_good) in {False: (0, 28), True: (3, 13)}.items():
        bad, good = (counted[beside, right, True] for right in (False, True))
        of = [
            counted[beside, right, False] + counted[beside, right, True] for right in (False, True)
        ]
        which = "that no rule was made on" if beside else "that rules were made on"
        yield Line(
            f"of bad answers {which} at most {most_bad} pass a model that gives 0.95 to everything",
            f"{bad} of {of[0]} passed",
            bad <= most_bad,
        )
        yield Line(
            f"of correct answers {which} at least {least_good} still do",
            f"{good} of {of[1]} passed",
            good >= least_good,
        )


def _replies() -> Iterator[Line]:
    """What comes with status 200 and is no answer."""
    without = build_graph(Resources()).invoke({"question": _QUESTION})["answer"]
    with FakeOpenAI() as server:
        falling = _generating(server, fallback=True)
        answered = told = 0
        for given in garbage(_GARBAGE, _SEED):
            server.otherwise = given
            result = falling.invoke({"question": _QUESTION})
            answered += result["answer"] != without
            told += any(lost["node"] == "generate" for lost in result["degraded"])
        yield Line(
            f"of {_GARBAGE} replies that are no answer none becomes one, and each is told",
            f"{answered} became answers, {told} told in degraded",
            not answered and told == _GARBAGE,
        )
        alone, raised = _generating(server, fallback=False), 0
        for given in garbage(_GARBAGE, _SEED):
            server.otherwise = given
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


def _rewriting() -> Iterator[Line]:
    """Standalone forms of another question than the one asked."""
    answered = told = 0
    with FakeOpenAI() as server:
        graph = build_graph(Resources(server.connection, Settings(model="openai:played")))
        for question, written in _CHANGED:
            server.requests.clear()
            server.play("rewrite", reply(standalone=written, queries=[written]))
            server.play("generate", Reply(ABSTENTION))
            result = graph.invoke({"question": question})
            told += any(lost["node"] == "rewrite" for lost in result["degraded"])
            shown = [one.user for one in server.requests if one.role == "generate"]
            answered += any(written in said or question not in said for said in shown)
    yield Line(
        f"of {len(_CHANGED)} questions that the rewriter changes none is answered as changed",
        f"{answered} shown to the generator, {told} told in degraded",
        not answered and told == len(_CHANGED),
    )
    for name, answers in _REWRITES.items():
        path = Path(os.environ.get("LEXLOOP_DATA", "")) / name / "rewrites.jsonl"
        if path.exists():
            yield _people(path, answers)


def _people(path: Path, answers: bool) -> Line:
    """What people wrote out, and the same beside another conversation."""
    rows = [row for row in read_rows(path) if row["history"]]
    rows = random.Random(_SEED).sample(rows, min(_PAIRS, len(rows)))
    embed = load_shipped().embed
    taken = refused = 0
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        history = turns(row["history"], answers)
        taken += not drift(row["standalone"], row["q"], history, embed)
        refused += bool(drift(other["standalone"], row["q"], history, embed))
    return Line(
        f"{path.parent.name}: what a person wrote out is taken, another question is not",
        f"{taken / len(rows):.3f} taken, {refused / len(rows):.3f} refused of {len(rows)}",
        taken >= _LEAST_LEGITIMATE * len(rows) and refused >= _LEAST_REFUSED * len(rows),
    )


def _address() -> Line:
    """A name and a password in the model's address."""
    found = said()
    leaking = leaks(found)
    return Line(
        f"a password in the model's address is sent, and stands in none of {len(found) - 1} places",
        f"{'sent' if found['sent'].startswith('Basic ') else 'not sent'}, "
        f"{', '.join(leaking) or 'nowhere else'}",
        found["sent"].startswith("Basic ") and not leaking,
    )
