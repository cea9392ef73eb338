"""What a chat model's rewrites bring to the passages, from replies that were recorded.

    python benchmarks/replay.py [--data FOLDER] [--sets gdpr,contracts] [--by embedded,recorded]
        [--model NAME --base-url URL] [--every N] [--longest N] [--setting NAME=VALUE ...]

FOLDER holds ``rewrites``, with one JSON Lines file a set, and the sets themselves (default:
``LEXLOOP_DATA``). A server on loopback plays the model: it answers a rewriting with the recorded
one. ``--by live`` has a running model rewrite instead. Contracts are asked one at a time. Evidence
is there if a passage that the generator is given overlaps the text that answers; tokens are those
of all passages, four characters each. The last columns are the evidence in the first passages that
have so many tokens together. ``--longest N`` asks the N longest documents alone.
"""

import json
import math
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

from _shared import DATA, Row, options, read_rows, table
from fake_openai import FakeOpenAI, Reply, Request, reply
from langchain_core.messages import AIMessage, HumanMessage

from lexloop.core.settings import Connection, Settings
from lexloop.core.state import State
from lexloop.core.types import ABSTENTION
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

Span = tuple[int, int]
_REWRITERS = {"embedded": "embedded", "recorded": "model", "live": "model"}
_CHARS_PER_TOKEN = 4
_FIRST = 3
_BUDGETS = (500, 1_000, 1_500, 2_000, 2_500)
"""Tokens of the first passages within which evidence is sought."""


@dataclass(frozen=True)
class Asked:
    """A question with its conversation, and the text of a document that answers it."""

    kind: str
    question: str
    history: tuple[str, ...]
    document: str
    spans: tuple[Span, ...]
    rewrite: Row


def main() -> None:
    """Ask all questions by each rewriter, and print what came of it."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", default="gdpr,contracts")
    parser.add_argument("--by", default="embedded,recorded")
    parser.add_argument("--model", default="openai:replayed")
    parser.add_argument("--base-url")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--longest", type=int, default=0, metavar="N")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    if given.data is None or not (given.data / "rewrites").is_dir():
        sys.exit("There are no recorded rewrites; give --data FOLDER or set LEXLOOP_DATA.")
    settings = {"model": given.model, **dict(_setting(text) for text in given.setting)}
    rows = [
        [f"{kind}, {by}", *figures]
        for name in given.sets.split(",")
        for by in given.by.split(",")
        for kind, figures in _measured(given, name, by, settings)
    ]
    head = ["questions, rewriter", "asked", "evidence", "in the first three", "passages", "tokens"]
    within = [f"within {tokens:,}" for tokens in _BUDGETS]
    print(table([*head, "first citation", "refused", *within], rows))


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def asked_of_gdpr(data: Path) -> tuple[Path, list[Asked]]:
    """Return the law's file, and the recorded questions with the paragraphs that answer them."""
    home = data / "gdpr"
    articles = {row["article"]: row for row in json.loads((home / "structure.json").read_text())}

    def span(article: str, paragraph: str) -> Span:
        whole = articles[article]
        inner = (p for p in whole["paragraphs"] if p["n"] == paragraph)
        found = next(inner, whole)
        return found["start"], found["end"]

    def answering(probe: Row) -> tuple[Span, ...]:
        places = [(probe["article"], probe["paragraph"]), *probe.get("also", [])]
        return tuple(span(*place) for place in places)

    law = home / "gdpr_en.txt"
    return law, [
        Asked(p["kind"], p["question"], tuple(p["history"]), law.name, answering(p), rewrite)
        for p, rewrite in _recorded(data, "gdpr")
    ]


def asked_of_contracts(data: Path) -> tuple[Path, list[Asked]]:
    """Return the contracts' folder, and the recorded questions with the clauses that answer."""
    return data / "contracts" / "documents", [
        Asked(
            "contracts",
            rewrite["question"],
            (),
            probe["document"],
            tuple((start, end) for start, end in probe["spans"]),
            rewrite,
        )
        for probe, rewrite in _recorded(data, "contracts")
    ]


def _recorded(data: Path, name: str) -> Iterator[tuple[Row, Row]]:
    probes = {probe["id"]: probe for probe in read_rows(data / name / "probes.jsonl")}
    for rewrite in read_rows(data / "rewrites" / f"{name}.jsonl"):
        yield probes[rewrite["id"]], rewrite


@contextmanager
def replaying(asked: Iterable[Asked]) -> Iterator[FakeOpenAI]:
    """Run a server that answers each rewriting of these questions as it was recorded."""
    # a follow-up is told apart by what it follows; the latest question stands last in a prompt
    by_question = {(one.question, one.history[-1:]): one.rewrite for one in asked}

    def rewritten(request: Request) -> Reply:
        fitting = [
            (request.user.rfind(question), recorded)
            for (question, before), recorded in by_question.items()
            if question in request.user and all(turn in request.user for turn in before)
        ]
        if not fitting:  # an earlier question of a conversation
            return reply(standalone=None, queries=[], keywords=[])
        found = max(fitting, key=lambda place: place[0])[1]
        return reply(**{key: found[key] for key in ("standalone", "queries", "keywords")})

    with FakeOpenAI() as server:
        server.play("rewrite", rewritten)
        server.play("generate", Reply(ABSTENTION))
        yield server


def _measured(
    given: Namespace, name: str, by: str, settings: dict[str, Any]
) -> Iterator[tuple[str, list[object]]]:
    source, every = (asked_of_gdpr if name == "gdpr" else asked_of_contracts)(given.data)
    if given.longest:
        every.sort(key=lambda one: -(source / one.document).stat().st_size)
        every = every[: given.longest]
    live = Connection(base_url=given.base_url, api_key="none") if given.base_url else None
    results: dict[str, list[tuple[Asked, State]]] = {}
    with tempfile.TemporaryDirectory() as folder, replaying(every) as server:
        connection = live if by == "live" and live else server.connection
        for one in every[:: given.every]:
            home = Path(folder, one.document).with_suffix("")
            if not home.is_dir():
                home.mkdir()
                shutil.copy(source if source.is_file() else source / one.document, home)
            chosen = Settings(
                **{
                    "corpus": str(home),
                    "retrieval.rewriter": _REWRITERS[by],
                    "answer.generator": "embedded",
                    "loop.evaluator": "embedded",
                    "loop.max_retries": 0,
                    **settings,
                }
            )
            graph = build_graph(Resources(connection, chosen))
            results.setdefault(one.kind, []).append((one, _answered(graph, one)))
    for kind, found in results.items():
        yield kind, _figures(found)


def _answered(graph: Any, asked: Asked) -> State:
    """Return the final state of a conversation whose last question is the one asked."""
    messages: list[Any] = []
    for question in asked.history:
        messages.append(HumanMessage(question))
        messages.append(AIMessage(graph.invoke({"messages": messages})["answer"]))
    state: State = graph.invoke({"messages": [*messages, HumanMessage(asked.question)]})
    return state


def _figures(found: Sequence[tuple[Asked, State]]) -> list[object]:
    evidence, early, cited, passages, tokens, refused = [], [], [], [], [], []
    needed: list[float] = []
    for asked, state in found:
        given = [p for p in state["passages"] if "quoted" not in p["signals"]]
        places = [any(_overlap(passage, span) for span in asked.spans) for passage in given]
        evidence.append(any(places))
        early.append(any(places[:_FIRST]))
        first = state["citations"][:1]
        cited.append(any(_overlap(citation, span) for citation in first for span in asked.spans))
        passages.append(len(given))
        lengths = [*accumulate(len(passage["text"]) / _CHARS_PER_TOKEN for passage in given)]
        tokens.append(lengths[-1] if lengths else 0.0)
        needed.append(lengths[places.index(True)] if any(places) else math.inf)
        refused.append(any("written out" in lost["wanted"] for lost in state["degraded"]))
    shares = [f"{fmean(values):.3f}" for values in (evidence, early)]
    means = [f"{fmean(passages):.1f}", f"{fmean(tokens):.0f}"]
    within = [f"{fmean(one <= budget for one in needed):.3f}" for budget in _BUDGETS]
    return [len(found), *shares, *means, f"{fmean(cited):.3f}", f"{fmean(refused):.3f}", *within]


def _overlap(place: Any, span: Span) -> bool:
    return bool(place["start"] < span[1] and span[0] < place["end"])


if __name__ == "__main__":
    main()
