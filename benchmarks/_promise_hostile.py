"""Hostile text crashes nothing and hangs nothing: follow-ups after naughty strings, long pumps."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr
from typing import Any

from _naughty import follow_ups
from _promise import Line
from langchain_core.messages import AIMessage, HumanMessage

from lexloop.core.errors import LexloopError
from lexloop.graph.app import graph

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
    crashes: Counter[str] = Counter()
    for first, answer, then in follow_ups(_FOLLOW_UPS, _SEED):
        messages = [HumanMessage(first), AIMessage(answer), HumanMessage(then)]
        if problem := _asked({"messages": messages}):
            crashes[problem] += 1
    yield Line(
        f"{_FOLLOW_UPS} follow-ups after naughty strings crash nothing",
        f"{crashes.total()} crashes {dict(crashes.most_common(3)) or ''}".strip(),
        not crashes,
    )
    slowest, where, problems = 0.0, "", Counter[str]()
    for lead, end in _AROUND:
        for pump in _PUMPS:
            question = (lead + pump * _CHARS)[: _CHARS - len(end)] + end
            begun = time.monotonic()
            if problem := _asked({"question": question}):
                problems[problem] += 1
            if (taken := time.monotonic() - begun) > slowest:
                slowest, where = taken, lead + pump
    yield Line(
        f"questions of {_CHARS:,} hostile characters are answered in {_MOST_S:g} s each",
        f"{len(_AROUND) * len(_PUMPS)} asked, slowest {slowest:.2f} s ({where!r}), "
        f"{problems.total()} crashes",
        slowest < _MOST_S and not problems,
    )


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
