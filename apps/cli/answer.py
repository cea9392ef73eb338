"""An answer and how it came about, for people."""

from typing import TYPE_CHECKING, Any

from lexloop.apps.cli.session import Session
from lexloop.apps.cli.terminal import Part, joined, plain, result_console, say
from lexloop.apps.shapes.record import HEADS, SCORES, asked_of, lost_in_words, tracing
from lexloop.apps.shapes.text import NEAR, is_said, one_line, places, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table
    from rich.text import Text

    from lexloop.core.types import Attempt, Candidate, Citation, Finding, Triplet, Usage

_SIGNALS = ("lexical", "dense", "host", "graph", "rerank")
_EXCERPT_CHARS = 200
_BEGINNING_CHARS = 60
_REASONING_CHARS = 2000  # the whole of it is in `--json --trace`
_MARK = "bold cyan"
_COLOURS: dict["Finding", str] = {
    "answers": "bold green",
    "in part": "bold red",
    "near": "bold yellow",
    "absent": "bold yellow",
    "reply": "bold green",
}


def print_answer(record: dict[str, Any], session: Session, start_s: float | None = None) -> None:
    """Print the verdict, corrected typing errors, the answer, its sources, and its cost.

    With the first answer it also prints how long the start took.
    """
    say(_finding(record))
    for item in record["read_as"]:
        say(f"“{item['written']}” read as: {item['read']}", style="yellow")
    for name in asked_of(record):
        say(f"Asked only of {name}", style="yellow")
    for name in record["inside"]:
        say(f"Asked in {name}", style="yellow")
    result_console().print(_marked(record["answer"]))
    if record["warning"]:
        say(("Warning: ", "bold yellow"), (record["warning"], "yellow"))
    if record["abstained"] and record["reasons"]:
        say(" ".join(record["reasons"]), style="yellow")
    print_sources(record["citations"], answer=record["answer"])
    print_sources(record["near"], NEAR)
    say()
    if checked := _checked(record):
        say(checked, style="dim")
    for item in record["degraded"]:
        say(lost_in_words(item), style="yellow")
    start = "" if start_s is None else f", and {start_s:.2f} s to start"
    cost = _cost(record["usage"], session)
    say(f"{cost} · {record['usage']['seconds']:.2f} s{start}", style="dim")


def print_sources(citations: list["Citation"], heading: str = "Sources", answer: str = "") -> None:
    """Print the sources in the order of their numbers, each with its quote.

    Quotes that the answer above contains are not printed again.
    """
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
            if not is_said(citation["quote"], answer, citation["n"]):
                _print_indented(f"“{one_line(citation['quote'])}”")


def _marked(answer: str) -> "Text":
    from lexloop.nodes.markers import MARKER

    text = plain(answer)
    text.highlight_regex(MARKER, _MARK)
    return text


def _place(source: "Citation | Triplet") -> list[Part]:
    collection = source.get("collection")
    prefix = f"{one_line(collection)}: " if collection else ""
    return [(f"{prefix}{one_line(source['document'])}", "bold"), f" · {' · '.join(places(source))}"]


def _finding(record: dict[str, Any]) -> "Text":
    """Return the first line: what was found, and how likely it is the answer."""
    head = (HEADS[record["finding"]], _COLOURS[record["finding"]])
    likely = record["answers"]
    if record["finding"] not in ("answers", "in part") or likely is None:
        return joined(head)
    return joined(head, f" · {likely:.0%} likely to answer the question")


def _checked(record: dict[str, Any]) -> str:
    """Return the line behind an answer: its scores, whether its citations verify, the retries."""
    finding, tries = record["finding"], record["retries"]
    again = f"{tries} {'retry' if tries == 1 else 'retries'}"
    if finding == "reply":
        return ""
    if finding in ("near", "absent"):
        return again
    return f"{_verified(record['scores'], record['citations_verified'])} · {again}"


def shown_scores(scores: "Mapping[str, Any]") -> list[str]:
    """Return each score with its name; an unresolved one is a dash."""
    scores_by_name = ((name.replace("_", " "), value) for name, value in scores.items())
    return [f"{name} {'–' if value is None else f'{value:.2f}'}" for name, value in scores_by_name]


def _verified(scores: "Mapping[str, Any]", citations: bool) -> str:
    """Return the three scores, and whether the citations were verified."""
    shown = shown_scores({name: scores.get(name) for name in SCORES})
    verified = "verified" if citations else "NOT verified"
    return " · ".join([*shown, f"citations {verified}"])


def _cost(usage: "Usage", session: Session) -> str:
    if usage["model_calls"]:
        at = f" at {session.hosts[0]}" if session.hosts else ""
        tokens = f"{usage['tokens_in']} tokens in, {usage['tokens_out']} out"
        usd = f" · ${usage['cost_usd']:.4f}" if "cost_usd" in usage else ""
        return f"{session.settings.model.name}{at} · {usage['model_calls']} calls · {tokens}{usd}"
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


def print_trace(record: dict[str, Any]) -> None:
    """Print class and plan, queries, all candidates, triplets, and every attempt."""
    if not record["attempts"]:  # no documents were needed, or none are about it
        return
    _head("Plan")
    shares = ", ".join(f"{label}: {p:.2f}" for label, p in enumerate(record["probabilities"]))
    plan = ", ".join(f"{name} = {value}" for name, value in record["plan"].items())
    say(f"Complexity {record['complexity']} ({shares}) · {plan}")
    _head("Queries")
    _item("question", record["standalone"])
    for query in record["queries"]:
        _item("query", query)
    _item("keywords", ", ".join(record["keywords"]) or "none")
    _head("Candidates")
    result_console().print(_candidates(record))
    _head("Triplets")
    for triplet in record["triplets"]:
        text = f"{triplet['subject']} — {triplet['reads']} → {triplet['object']}"
        say(f"  {text}  ", *_place(triplet))
    if not record["triplets"]:
        say("  none", style="dim")
    for attempt in record["attempts"]:
        _attempt(attempt)
        for thought in record["reasoning"]:
            if thought["attempt"] == attempt["number"]:
                text = shortened(thought["text"], _REASONING_CHARS)
                _item(f"reasoning of {thought['node']}", text)
    _head("Answer")


def _candidates(record: dict[str, Any]) -> "Table":
    """Return a table of the passages by number, then of the last attempt's other candidates."""
    from rich import box
    from rich.table import Table

    from lexloop.nodes.rerank import merge

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("n", justify="right", style="bold cyan")
    table.add_column("passage or candidate", overflow="fold", ratio=1)
    for name in ("score", *_SIGNALS):
        table.add_column(name, justify="right", no_wrap=True)
    found = [*record["passages"], *merge(record["candidates"], record["graph_candidates"])]
    known = {candidate["id"]: candidate for candidate in found}
    chosen = {passage["id"]: passage for passage in record["attempts"][-1]["passages"]}
    for name in [name for name in dict.fromkeys([*chosen, *known]) if name in known]:
        row: Any = {**known[name], **chosen.get(name, {})}
        table.add_row(*map(plain, _row(row)))
    return table


def _row(candidate: "Candidate") -> list[str]:
    signals = candidate["signals"]
    place = " · ".join([candidate["document"], *places(candidate)])
    place += f" · {shortened(candidate['text'], _BEGINNING_CHARS)}"
    shown = [f"{signals[name]:.2f}" if name in signals else "" for name in _SIGNALS]
    return [str(candidate.get("n", "")), one_line(place), f"{candidate['score']:.2f}", *shown]


def _attempt(attempt: "Attempt") -> None:
    evaluation = attempt["evaluation"]
    _head(f"Attempt {attempt['number']}")
    _item("question", attempt["question"])
    _item("queries", "; ".join(attempt["queries"]) or "none")
    say(("  answer: ", "dim"), _marked(shortened(attempt["answer"], _EXCERPT_CHARS)))
    passed = "passed" if evaluation["passed"] else "not passed"
    _item("verdict", f"{passed} · {_verified(evaluation, evaluation['citations_verified'])}")
    for reason in evaluation["reasons"]:
        _item("reason", reason)
    if advice := attempt.get("advice"):
        _item("advice", f"{advice['strategy']}. {advice['guidance']}".strip())
        _item("reworded", advice["question"])
        for look in advice.get("looked", []):
            places = (f"{one['document']} {one['section']}".strip() for one in look["found"])
            found = "; ".join(places) or "nothing"
            _item("looked", f"{look['tool']} {look['words']!r}: {found}")


def _head(title: str) -> None:
    if title != "Plan":
        say()
    say(title, style="bold underline")


def _item(name: str, text: str) -> None:
    say((f"  {name}: ", "dim"), one_line(text))
