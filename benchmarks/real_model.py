"""What becomes of questions when a real model, however weak, does the steps of the loop.

    python benchmarks/real_model.py --model NAME [--base-url URL] [--questions N] [--retries N]
        [--max-tokens N] [--work FILE]

The sample's questions and, where LEXLOOP_DATA has the GDPR, those of its probes that are put in
everyday words or follow another, N of both together and evenly spread, each within the deadline of
the default settings. A question is ``late`` where its answer, or an error, took a second more;
``untyped`` where what ended it is no error of this project; ``unverified`` where an answer passed
with a citation that does not verify. The lines below say which steps the embedded implementation
did in the model's place, how often, and why most often. Tokens and seconds are means over
questions. A small model that loses itself fills its window; --max-tokens bounds its replies. With
--work what came of each question is kept, and a run that was killed goes on.
"""

import asyncio
import json
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean

from _shared import DATA, ROOT, Row, options, read_rows, table

from lexloop.core.errors import LexloopError
from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import build_graph
from lexloop.graph.compiled import Lexloop
from lexloop.graph.resources import Resources

_KINDS = ("everyday", "follow_up")
_GRACE_S = 1.0
_KEPT = ("abstained", "evaluation", "degraded", "usage")
_COSTS = ("model_calls", "tokens_in", "tokens_out")


def main() -> None:
    """Ask everything and print the tables."""
    parser = options(__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--retries", type=int, default=Settings().loop.max_retries)
    parser.add_argument("--deadline", type=float, default=Settings().deadline_s, metavar="S")
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--work", type=Path, metavar="FILE")
    given = parser.parse_args()
    os.environ["LANGSMITH_TRACING"] = "false"
    asked = [("sample", row) for row in read_rows(ROOT / "data" / "gold.jsonl")]
    law = DATA and DATA / "gdpr"
    if law and law.exists():
        probes = [row for row in read_rows(law / "probes.jsonl") if row["kind"] in _KINDS]
        asked += [(str(law / "gdpr_en.txt"), row) for row in probes]
    chosen = [asked[n * len(asked) // given.questions] for n in range(given.questions)]
    settings = Settings(
        model=given.model,
        deadline_s=given.deadline,
        **{"loop.max_retries": given.retries, "model.max_tokens": given.max_tokens},
    )
    connection = Connection(base_url=given.base_url)
    _show(asyncio.run(_all(chosen, settings, connection, given.work)), settings)


async def _all(
    chosen: list[tuple[str, Row]], settings: Settings, connection: Connection, work: Path | None
) -> list[Row]:
    graphs = {
        corpus: build_graph(Resources(connection, settings.changed(corpus=corpus)))
        for corpus in {corpus for corpus, _ in chosen}
    }
    found = read_rows(work) if work and work.exists() else []
    if [one["question"] for one in found] != [row["question"] for _, row in chosen[: len(found)]]:
        sys.exit(f"{work} is of other questions")
    for corpus, row in chosen[len(found) :]:
        one = {"corpus": Path(corpus).stem, **await _asked(graphs[corpus], row)}
        found.append(one)
        if work:
            with work.open("a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")
        print(f"\r{len(found)} of {len(chosen)}", end="", flush=True)
    print()
    return found


async def _asked(graph: Lexloop, row: Row) -> Row:
    """What became of a question: what its state says of it, or why there is none."""
    history = row.get("conversation_history") or row.get("history") or []
    one: Row = {"question": row["question"]}
    began = time.monotonic()
    try:
        state = await graph.ainvoke({"question": row["question"], "history": history})
        one |= {name: state[name] for name in _KEPT}
    except LexloopError as error:
        one["error"] = error.what
    except Exception as error:  # noqa: BLE001 - counted: there are to be none
        one["untyped"] = repr(error)
    return {**one, "seconds": time.monotonic() - began}


def _show(found: list[Row], settings: Settings) -> None:
    rows = []
    for corpus in dict.fromkeys(one["corpus"] for one in found):
        some = [one for one in found if one["corpus"] == corpus]
        states = [one for one in some if "usage" in one]
        usage = [state["usage"] for state in states]
        costs = [fmean(one[name] for one in usage) for name in _COSTS]
        passed = [state["evaluation"] for state in states if state["evaluation"]["passed"]]
        rows.append(
            [
                *(corpus, len(some), sum(not state["abstained"] for state in states), len(passed)),
                sum(one["seconds"] > settings.deadline_s + _GRACE_S for one in some),
                sum("untyped" in one for one in some),
                sum("error" in one for one in some),
                sum(not evaluation["citations_verified"] for evaluation in passed),
                *(f"{cost:,.1f}" for cost in costs),
                f"{fmean(one['seconds'] for one in some):.1f}",
            ]
        )
    head = ["", "questions", "answered", "passed", "late", "untyped", "errors", "unverified"]
    print(table([*head, "calls", "tokens in", "out", "seconds"], rows))
    _show_lost(found)


def _show_lost(found: list[Row]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    reasons: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in found:
        lost = one.get("degraded", [])
        for key in {(loss["node"], loss["wanted"]) for loss in lost}:
            counts[key] += 1
        for loss in lost:
            reasons[loss["node"], loss["wanted"]][loss["reason"][:80]] += 1
        if problem := one.get("untyped") or one.get("error"):
            counts["question", "an answer"] += 1
            reasons["question", "an answer"][problem[:80]] += 1
    rows = [[*key, n, reasons[key].most_common(1)[0][0]] for key, n in counts.most_common()]
    print(table(["step", "wanted", "questions", "most often because"], rows))


if __name__ == "__main__":
    main()
