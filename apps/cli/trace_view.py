"""What the graph did with a question, step by step."""

from typing import TYPE_CHECKING, Any

from lexloop.apps.cli.answer_view import marked, place, scores
from lexloop.apps.cli.terminal import joined, one_line, plain
from lexloop.corpus.triplets.predicates import reading
from lexloop.nodes.rerank.node import merge

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from lexloop.core.types import Attempt, Candidate

_SIGNALS = ("lexical", "dense", "host", "graph", "rerank")
_EXCERPT_CHARS = 200
_REASONING_CHARS = 2000  # the whole of it is in `--json --trace`


def print_trace(console: "Console", state: dict[str, Any]) -> None:
    """Print class and plan, queries, candidates, triplets, and every attempt."""
    _head(console, "Plan")
    shares = ", ".join(f"{label}: {p:.2f}" for label, p in enumerate(state["probabilities"]))
    plan = ", ".join(f"{name} = {value}" for name, value in state["plan"].items())
    console.print(plain(f"Complexity {state['complexity']} ({shares}) · {plan}"))
    _head(console, "Queries")
    _item(console, "question", state["standalone"])
    for query in state["queries"]:
        _item(console, "query", query)
    _item(console, "keywords", ", ".join(state["keywords"]) or "none")
    _head(console, "Candidates")
    console.print(_candidates(state))
    _head(console, "Triplets")
    for triplet in state["triplets"]:
        said = f"{triplet['subject']} — {reading(triplet['predicate'])} → {triplet['object']}"
        console.print(joined(plain(f"  {one_line(said)}  "), place(triplet)))
    if not state["triplets"]:
        console.print(plain("  none", "dim"))
    for attempt in state["attempts"]:
        _attempt(console, attempt)
        for thought in state["reasoning"]:
            if thought["attempt"] == attempt["number"]:
                said = _shortened(one_line(thought["text"]), _REASONING_CHARS)
                _item(console, f"reasoning of {thought['node']}", said)
    _head(console, "Answer")


def _candidates(state: dict[str, Any]) -> "Table":
    """Passages first, with the number they carry, then the other candidates of the last attempt."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("n", justify="right", style="bold cyan")
    table.add_column("passage or candidate", overflow="fold", ratio=1)
    for name in ("score", *_SIGNALS):
        table.add_column(name, justify="right", no_wrap=True)
    chosen = state["attempts"][-1]["passages"]
    known = {passage["id"] for passage in chosen}
    pool = merge(state["candidates"], state["graph_candidates"])
    for candidate in [*chosen, *(c for c in pool if c["id"] not in known)]:
        table.add_row(*map(plain, _row(candidate)))
    return table


def _row(candidate: "Candidate") -> list[str]:
    signals = candidate["signals"]
    where = (
        f"{candidate['document']} {candidate['section']} {candidate['start']}–{candidate['end']}"
    )
    shown = [f"{signals[name]:.2f}" if name in signals else "" for name in _SIGNALS]
    return [str(candidate.get("n", "")), one_line(where), f"{candidate['score']:.2f}", *shown]


def _attempt(console: "Console", attempt: "Attempt") -> None:
    evaluation = attempt["evaluation"]
    _head(console, f"Attempt {attempt['number']}")
    _item(console, "question", attempt["question"])
    _item(console, "queries", "; ".join(attempt["queries"]) or "none")
    shortened = _shortened(one_line(attempt["answer"]), _EXCERPT_CHARS)
    console.print(joined(plain("  answer: ", "dim"), marked(shortened)))
    passed = "passed" if evaluation["passed"] else "not passed"
    verified = "verified" if evaluation["citations_verified"] else "NOT verified"
    _item(console, "verdict", f"{passed} · {scores(evaluation)} · citations {verified}")
    for reason in evaluation["reasons"]:
        _item(console, "reason", reason)
    if advice := attempt.get("advice"):
        _item(console, "advice", f"{advice['strategy']}. {advice['guidance']}".strip())
        _item(console, "reworded", advice["question"])


def _shortened(text: str, limit: int) -> str:
    return text[:limit] + ("…" if len(text) > limit else "")


def _head(console: "Console", title: str) -> None:
    console.print(plain(f"\n{title}" if title != "Plan" else title, "bold underline"))


def _item(console: "Console", name: str, text: str) -> None:
    console.print(joined(plain(f"  {name}: ", "dim"), plain(one_line(text))))
