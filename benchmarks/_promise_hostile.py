"""Hostile text crashes nothing and hangs nothing: follow-ups after naughty strings, long pumps.

``hostile.json`` has the strings: what is taken for an escape, a template, markup, a query, a
command, a pattern, a number or a name, and what characters there are.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from _shared import Line, timed
from langchain_core.messages import AIMessage, HumanMessage

from lexloop.core.errors import LexloopError
from lexloop.graph.app import graph

FRAGMENTS: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("hostile.json").read_text(encoding="utf-8")
)
_LONG = (
    *("9" * 5000, "0." + "3" * 5000, "§ " + "7" * 4500, "1" + ",000" * 900, f"[{'1' * 3000}]"),
    *("a" * 3900, "a-" * 1900, "ab " * 1300, " " * 3000, "\n" * 3000),
)
_FOLLOW_UPS, _SEED = 2188, 7
_CHARS, _MOST_S = 4000, 1.0
_PUMPS = (
    *(" ", "\n", "a", "1", "(", '"', "§", "|", ".", ",", "a ", "A ", "1 ", "a, ", "? ", "\\", "é"),
    *("and ", "what is ", "between ", "must ", "X and ", "(a)", "[1]", "$1", "Article 1(1)(a)"),
    *("the difference between ", "AEDT ", "Big Data Act (BDA) ", "“x” means "),
)
_AROUND = (("", "!"), ("What is the difference between", "x?"), ("What is the AEDT ", "?"))


def held() -> Iterator[Line]:
    """Ask follow-ups, then questions as long as may be; count crashes and take the time."""
    problems = Counter(filter(None, map(_asked, _follow_ups())))
    yield Line(
        f"{_FOLLOW_UPS} follow-ups after naughty strings crash nothing",
        f"{problems.total()} crashes {dict(problems.most_common(3)) or ''}".strip(),
        not problems,
    )
    questions = [
        (lead + pump * _CHARS)[: _CHARS - len(end)] + end
        for lead, end in _AROUND
        for pump in _PUMPS
    ]
    tried = [(*timed(lambda q=one: _asked({"question": q})), one) for one in questions]
    slowest, _, which = max(tried)
    crashes = sum(bool(problem) for _, problem, _ in tried)
    yield Line(
        f"questions of {_CHARS:,} hostile characters are answered in {_MOST_S:g} s each",
        f"{len(tried)} asked, slowest {slowest:.2f} s ({which[:40]!r}), {crashes} crashes",
        slowest < _MOST_S and not crashes,
    )


def _follow_ups() -> Iterator[dict[str, Any]]:
    """Conversations of which every part is a naughty string in its turn."""
    chance, naughty = random.Random(_SEED), [*FRAGMENTS["texts"], *_LONG]
    for number in range(_FOLLOW_UPS):
        text, other = naughty[number % len(naughty)], chance.choice(naughty)
        answer = chance.choice(("A bias audit is impartial [1].", "", other))
        first, then = (
            chance.choice(FRAGMENTS[frame]).replace("{}", chance.choice(said))[:_CHARS]
            for frame, said in (("about", [text]), ("after", [text, other]))
        )
        yield {"messages": [HumanMessage(first), AIMessage(answer), HumanMessage(then)]}


def _asked(question: dict[str, Any]) -> str:
    """What went wrong; an answer and a typed refusal are both right."""
    try:
        with redirect_stderr(sys.stdout):
            graph.invoke(question)
    except LexloopError:
        return ""
    except Exception as error:  # noqa: BLE001 - whatever comes is what is counted
        return f"{type(error).__name__}: {str(error)[:80]}"
    return ""
