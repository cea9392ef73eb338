"""Which sentences of a strong model are refused, and which with one fact altered are not.

    python benchmarks/sentences.py [--show]

``sentences.jsonl`` has right answers to questions about the small documents of ``sentences``, each
with the words of the passages it cites in ``[[ ]]``, and the one fact that its altered version has
otherwise. All passages of the document are handed over; a server on loopback plays the judge, whom
code advises. It praises everything: the figures are of what code refuses, and of what code doubts
to the judge. Every third row was left out while the checks were mended. ``--show`` prints the right
ones that are refused and the altered ones that are neither refused nor doubted.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import cast

from _shared import Row, options, read_rows, table
from fake_openai import FakeOpenAI, reply
from langgraph.runtime import Runtime

from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.state import State
from lexloop.core.types import Candidate, Evaluation, Passage, Usage
from lexloop.graph.resources import Resources
from lexloop.models.chat import ChatModel, asking
from lexloop.models.request import ChatReply, ChatRequest
from lexloop.nodes.context import TRIAD, Context
from lexloop.nodes.evaluate.node import evaluate
from lexloop.nodes.generate.model import cited_answer
from lexloop.nodes.question.parts import parse
from lexloop.store.view import View

HOME = Path(__file__).with_name("sentences")
_CITED = re.compile(r"\[\[(.+?)\]\]")
_GOOD = {name: {"reasoning": "Good.", "score": 0.95} for name in TRIAD}
_KEPT_BACK = 3
_ENOUGH_S = 60.0
_NOTHING: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
Figures = dict[str, str]


@dataclass(frozen=True)
class Tried:
    """A sentence as it is or altered, and what became of it."""

    row: Row
    altered: bool
    answer: str
    reasons: tuple[str, ...]  # why code refused it
    doubts: tuple[str, ...]  # what the judge was told

    @property
    def held(self) -> bool:
        """Whether code refused it, or doubted it to the judge."""
        return bool(self.reasons or self.doubts)


def tried(rows: Sequence[Row]) -> Iterator[Tried]:
    """Put each sentence, and then its altered version, through the graph's own code."""
    with FakeOpenAI() as server, asking(_ask):
        server.play("evaluate", reply(**_GOOD, unsupported=[], missing=[]))
        settings = Settings(
            **{"model": "openai:played", "corpus": str(HOME), "loop.max_retries": 0}
        )
        with_all = Resources(server.connection, settings)(None)
        for row in rows:
            passages = _passages(cast("View", with_all.view), row["document"])
            for altered in (False, True):
                said = row["answer"].replace(*row["altered"], 1) if altered else row["answer"]
                server.requests.clear()
                evaluation = _judged(row["question"], _marked(said, passages), passages, with_all)
                shown = "".join(request.user for request in server.requests)
                doubts = re.findall(r'<data-\w+ kind="doubt">\n?(.*?)\n?</data-', shown, re.DOTALL)
                reasons = [] if evaluation["citations_verified"] else evaluation["reasons"]
                yield Tried(row, altered, said, tuple(reasons), tuple(doubts))


async def _ask(model: ChatModel, request: ChatRequest) -> ChatReply:
    return await model.acomplete(request, deadline=time.monotonic() + _ENOUGH_S, meter={**_NOTHING})


def _passages(view: View, document: str) -> list[Passage]:
    numbers = count(1)
    return [
        view.as_passage(cast("Candidate", {**chunk, "score": 1.0, "signals": {}}), next(numbers))
        for chunk in view.every_chunk()
        if chunk["document"] == document
    ]


def _marked(answer: str, passages: list[Passage]) -> str:
    """The answer with the number of the passage that holds the words it names."""

    def marker(named: re.Match[str]) -> str:
        held = (p["n"] for p in passages if named[1] in " ".join(p["text"].split()))
        return f"[{next(held)}]"

    return _CITED.sub(marker, answer)


def _judged(question: str, answer: str, passages: list[Passage], context: Context) -> Evaluation:
    view = cast("View", context.view)
    asked = parse(question)
    state = {
        "turn": {"id": "played"},
        "asked": question,
        "question": question,
        "meant": asked,
        "parsed": asked,
        "passages": passages,
        "triplets": [],
        "draft": cited_answer(answer, passages, lambda name: view.statements(name)[0]),
        "attempts": [],
        "degraded": [],
        "usage": {**_NOTHING},
    }
    ended = waited(evaluate(cast("State", state), Runtime(context=context)))
    return ended["evaluation"]


def parted(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows that checks were mended by, and those that were left out."""
    late = [place % _KEPT_BACK == 0 for place in range(len(rows))]
    return {
        "mended by": [row for row, out in zip(rows, late, strict=True) if not out],
        "left out": [row for row, out in zip(rows, late, strict=True) if out],
    }


def figures(every: Sequence[Tried]) -> Figures:
    """How many right and altered sentences code refused or doubted."""
    right = [one for one in every if not one.altered]
    altered = [one for one in every if one.altered]
    return {
        "pairs": str(len(right)),
        "right refused": _share(right, lambda one: bool(one.reasons)),
        "right doubted": _share(right, lambda one: bool(one.doubts)),
        "altered refused by code": _share(altered, lambda one: bool(one.reasons)),
        "altered doubted only": _share(altered, lambda one: one.held and not one.reasons),
        "altered refused or doubted": _share(altered, lambda one: one.held),
    }


def _share(every: Sequence[Tried], holds: Callable[[Tried], bool]) -> str:
    found = sum(map(holds, every))
    return f"{found} ({found / max(1, len(every)):.3f})"


def main() -> None:
    """Print the figures of both parts, by kind, and by the fact that was altered."""
    parser = options(__doc__)
    parser.add_argument("--show", action="store_true")
    show = parser.parse_args().show
    rows = read_rows(HOME.with_suffix(".jsonl"))
    found = [*tried(rows)]
    by_row = {id(one.row): (one, other) for one, other in zip(found[::2], found[1::2], strict=True)}
    groups = dict(parted(rows))
    for key in ("kind", "fact"):
        for value in dict.fromkeys(row[key] for row in rows):
            groups[f"{key}: {value}"] = [row for row in rows if row[key] == value]
    shown = {
        name: figures([one for row in some for one in by_row[id(row)]])
        for name, some in groups.items()
    }
    print(table(["", *shown["mended by"]], [[name, *f.values()] for name, f in shown.items()]))
    if show:
        _show([one for row in groups["mended by"] for one in by_row[id(row)]])


def _show(found: Sequence[Tried]) -> None:
    for one in found:
        if one.reasons and not one.altered:
            print(f"\nRIGHT AND REFUSED: {one.answer}", *one.reasons, sep="\n  ")
        if one.altered and not one.held:
            print(f"\nALTERED AND HELD BY NOTHING: {one.row['altered']}: {one.answer}")


if __name__ == "__main__":
    main()
