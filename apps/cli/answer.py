"""An answer and how it came about, for people."""

from typing import TYPE_CHECKING, Any

from lexloop.apps.cli.session import Session
from lexloop.apps.cli.terminal import Part, joined, plain, result_console, say
from lexloop.apps.hosts import tracing
from lexloop.apps.plain_text import one_line, shortened
from lexloop.apps.record import HEADS, SCORES, retries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table
    from rich.text import Text

    from lexloop.core.types import Attempt, Candidate, Citation, Evaluation, Finding, Triplet

_SIGNALS = ("lexical", "dense", "host", "graph", "rerank")
_EXCERPT_CHARS = 200
_REASONING_CHARS = 2000  # the whole of it is in `--json --trace`
_MARK = "bold cyan"
_COLOURS: dict["Finding", str] = {
    "answers": "bold green",
    "in part": "bold red",
    "near": "bold yellow",
    "absent": "bold yellow",
    "reply": "bold green",
}


def print_answer(state: dict[str, Any], session: Session, start_s: float | None = None) -> None:
    """Print how slips were read, the answer, its sources, the verdict, and what it cost.

    Args:
        state: The working state after the question.
        session: Where it was asked.
        start_s: What went by before it was asked, where it was the first.
    """
    for item in state["read_as"]:
        say(f"“{item['written']}” read as: {item['read']}", style="yellow")
    result_console().print(_marked(state["answer"]))
    if state["warning"]:
        say(("Warning: ", "bold yellow"), (state["warning"], "yellow"))
    print_sources(state["citations"])
    print_sources(state["near"], "Near it, but no answer")
    say()
    say(_verdict(state["evaluation"], state["finding"], retries(state["attempts"])))
    for item in state["degraded"]:
        said = f"{item['node']}: {item['used']} instead of {item['wanted']}. {item['reason']}"
        say(("Degraded: ", "bold yellow"), (said, "yellow"))
    start = "" if start_s is None else f", and {start_s:.2f} s to start"
    say(f"{_cost(state, session)} · {state['usage']['seconds']:.2f} s{start}", style="dim")


def print_sources(citations: list["Citation"], heading: str = "Sources") -> None:
    """Print the cited spans in the order of their numbers, each with its quote."""
    if not citations:
        return
    say()
    say(heading, style="bold")
    seen = set()
    for citation in sorted(citations, key=lambda c: (c["n"], c["document"], c["start"])):
        key = (citation["n"], citation["document"], citation["start"], citation["end"])
        if key not in seen:
            seen.add(key)
            say((f"[{citation['n']}] ", _MARK), *_place(citation))
            _print_indented(f"“{one_line(citation['quote'])}”")


def _marked(answer: str) -> "Text":
    from lexloop.nodes.markers import MARKER

    text = plain(answer)
    text.highlight_regex(MARKER, _MARK)
    return text


def _place(source: "Citation | Triplet") -> list[Part]:
    parts = [source["section"]] if source["section"] else []
    if source["page"] is not None:
        parts.append(f"page {source['page']}")
    parts.append(f"characters {source['start']}–{source['end']}")
    if version := source.get("version"):
        parts.append(str(version))
    collection = source.get("collection")
    of = f"{one_line(collection)}: " if collection else ""
    return [(f"{of}{one_line(source['document'])}", "bold"), f" · {' · '.join(parts)}"]


def _verdict(evaluation: "Evaluation", finding: "Finding", tries: int) -> "Text":
    """Return one line: the finding, how likely the answer is right, the scores and the retries."""
    head = (HEADS[finding], _COLOURS[finding])
    if finding == "reply":
        return joined(head)
    again = f"{tries} {'retry' if tries == 1 else 'retries'}"
    if finding in ("near", "absent"):
        return joined(head, f" · {again}")
    likely = ""
    if "answers" in evaluation:
        likely = f" · {evaluation['answers']:.0%} likely to answer the question"
    return joined(head, f"{likely} · {_verified(evaluation)} · {again}")


def shown_scores(scores: "Mapping[str, Any]") -> list[str]:
    """Return each score with its name; an unresolved one is a dash."""
    named = ((name.replace("_", " "), value) for name, value in scores.items())
    return [f"{name} {'–' if value is None else f'{value:.2f}'}" for name, value in named]


def _verified(evaluation: "Evaluation") -> str:
    """Return the three scores, and whether the citations were verified."""
    scores = shown_scores({name: evaluation.get(name) for name in SCORES})
    verified = "verified" if evaluation["citations_verified"] else "NOT verified"
    return " · ".join([*scores, f"citations {verified}"])


def _cost(state: dict[str, Any], session: Session) -> str:
    usage = state["usage"]
    if usage["model_calls"]:
        at = f" at {session.hosts[0]}" if session.hosts else ""
        tokens = f"{usage['tokens_in']} tokens in, {usage['tokens_out']} out"
        return f"{session.settings.model.name}{at} · {usage['model_calls']} calls · {tokens}"
    if session.hosts:
        return f"no chat model answered; text goes to {' and '.join(session.hosts)}"
    if tracing():
        return "no model, but a trace for LangSmith"
    return "no model, nothing left this machine"


def _print_indented(text: str) -> None:
    from rich.padding import Padding

    console = result_console()
    # what goes into a pipe is not padded to a width
    if console.is_terminal:
        console.print(Padding(plain(text, "dim"), (0, 0, 0, 4)))
    else:
        say(f"    {text}")


def print_trace(state: dict[str, Any]) -> None:
    """Print class and plan, queries, candidates, triplets, and every attempt."""
    if not state["attempts"]:  # no documents were needed, or none are about it
        return
    _head("Plan")
    shares = ", ".join(f"{label}: {p:.2f}" for label, p in enumerate(state["probabilities"]))
    plan = ", ".join(f"{name} = {value}" for name, value in state["plan"].items())
    say(f"Complexity {state['complexity']} ({shares}) · {plan}")
    _head("Queries")
    parsed = state["parsed"]
    _item("question", parsed["text"])
    for query in parsed["queries"]:
        _item("query", query)
    _item("keywords", ", ".join(parsed["keywords"]) or "none")
    _head("Candidates")
    result_console().print(_candidates(state))
    _head("Triplets")
    from lexloop.knowledge.relations import reading

    for triplet in state["triplets"]:
        said = f"{triplet['subject']} — {reading(triplet['predicate'])} → {triplet['object']}"
        say(f"  {said}  ", *_place(triplet))
    if not state["triplets"]:
        say("  none", style="dim")
    for attempt in state["attempts"]:
        _attempt(attempt)
        for thought in state["reasoning"]:
            if thought["attempt"] == attempt["number"]:
                said = shortened(thought["text"], _REASONING_CHARS)
                _item(f"reasoning of {thought['node']}", said)
    _head("Answer")


def _candidates(state: dict[str, Any]) -> "Table":
    """Return a table of the passages by number, then of the last attempt's other candidates."""
    from rich import box
    from rich.table import Table

    from lexloop.nodes.rerank import merge

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


def _attempt(attempt: "Attempt") -> None:
    evaluation = attempt["evaluation"]
    _head(f"Attempt {attempt['number']}")
    _item("question", attempt["question"])
    _item("queries", "; ".join(attempt["queries"]) or "none")
    say(("  answer: ", "dim"), _marked(shortened(attempt["answer"], _EXCERPT_CHARS)))
    passed = "passed" if evaluation["passed"] else "not passed"
    _item("verdict", f"{passed} · {_verified(evaluation)}")
    for reason in evaluation["reasons"]:
        _item("reason", reason)
    if advice := attempt.get("advice"):
        _item("advice", f"{advice['strategy']}. {advice['guidance']}".strip())
        _item("reworded", advice["question"])


def _head(title: str) -> None:
    if title != "Plan":
        say()
    say(title, style="bold underline")


def _item(name: str, text: str) -> None:
    say((f"  {name}: ", "dim"), one_line(text))
