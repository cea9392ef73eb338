"""An answer for people: markers, sources, verdict, and what it cost."""

from typing import TYPE_CHECKING, Any

from lexloop.apps.cli.session import Session, tracing
from lexloop.apps.cli.terminal import joined, one_line, plain
from lexloop.nodes.markers import MARKER

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from lexloop.core.types import Citation, Evaluation, Finding, Triplet

_MARK = "bold cyan"
_FINDINGS: dict["Finding", tuple[str, str]] = {
    "answers": ("Passed", "bold green"),
    "in part": ("Not passed: at best in part", "bold red"),
    "near": ("Abstained: found near it, but not this", "bold yellow"),
    "absent": ("Abstained: not in the documents", "bold yellow"),
}


def print_answer(console: "Console", state: dict[str, Any], session: Session) -> None:
    """Print how slips were read, the answer, its sources, the verdict, and what it cost."""
    for item in state["read_as"]:
        said = f"“{item['written']}” read as: {item['read']}"
        console.print(plain(one_line(said), "yellow"))
    console.print(marked(state["answer"]))
    if state["warning"]:
        console.print(joined(plain("Warning: ", "bold yellow"), plain(state["warning"], "yellow")))
    print_sources(console, state["citations"])
    print_sources(console, state["near"], "Near it, but no answer")
    console.print()
    retries = len(state["attempts"]) - 1
    console.print(verdict(state["evaluation"], state["finding"], retries))
    for item in state["degraded"]:
        said = f"{item['node']}: {item['used']} instead of {item['wanted']}. {item['reason']}"
        console.print(joined(plain("Degraded: ", "bold yellow"), plain(one_line(said), "yellow")))
    console.print(_cost(state, session))


def print_sources(
    console: "Console", citations: list["Citation"], heading: str = "Sources"
) -> None:
    """Print the cited spans in the order of their numbers, each with its quote."""
    if not citations:
        return
    console.print()
    console.print(plain(heading, "bold"))
    seen = set()
    for citation in sorted(citations, key=lambda c: (c["n"], c["document"], c["start"])):
        key = (citation["n"], citation["document"], citation["start"], citation["end"])
        if key not in seen:
            seen.add(key)
            console.print(joined(plain(f"[{citation['n']}] ", _MARK), place(citation)))
            _indented(console, f"“{one_line(citation['quote'])}”")


def marked(answer: str) -> "Text":
    """The answer with its [n] markers made visible."""
    text = plain(answer)
    text.highlight_regex(MARKER, _MARK)
    return text


def place(source: "Citation | Triplet") -> "Text":
    """Document, section, page and span."""
    parts = [source["section"]] if source["section"] else []
    if source["page"] is not None:
        parts.append(f"page {source['page']}")
    parts.append(f"characters {source['start']}–{source['end']}")
    if version := source.get("version"):
        parts.append(str(version))
    span = one_line(" · ".join(parts))
    return joined(plain(one_line(source["document"]), "bold"), plain(f" · {span}"))


def verdict(evaluation: "Evaluation", finding: "Finding", retries: int) -> "Text":
    """One line: what came of the question, how likely that is right, what was checked, retries."""
    head = plain(*_FINDINGS[finding])
    again = f"{retries} {'retry' if retries == 1 else 'retries'}"
    if finding in ("near", "absent"):
        return joined(head, plain(f" · {again}"))
    likely = ""
    if "answers" in evaluation:
        likely = f" · {evaluation['answers']:.0%} likely to answer the question"
    verified = "verified" if evaluation["citations_verified"] else "NOT verified"
    checked = f"citations {verified}"
    return joined(head, plain(f"{likely} · {scores(evaluation)} · {checked} · {again}"))


def scores(evaluation: "Evaluation") -> str:
    """The three scores by name; an unresolved one is a dash."""
    named = {
        "answer relevance": evaluation["answer_relevance"],
        "context relevance": evaluation["context_relevance"],
        "groundedness": evaluation["groundedness"],
    }
    shown = {name: "–" if value is None else f"{value:.2f}" for name, value in named.items()}
    return " · ".join(f"{name} {value}" for name, value in shown.items())


def _cost(state: dict[str, Any], session: Session) -> "Text":
    usage = state["usage"]
    if usage["model_calls"]:
        at = f" at {session.hosts[0]}" if session.hosts else ""
        model = (
            f"{session.settings.model.name}{at} · {usage['model_calls']} calls · "
            f"{usage['tokens_in']} tokens in, {usage['tokens_out']} out"
        )
    elif session.hosts:
        model = f"no chat model answered; text goes to {' and '.join(session.hosts)}"
    elif tracing():
        model = "no model, but a trace for LangSmith"
    else:
        model = "no model, nothing left this machine"
    return plain(f"{model} · {usage['seconds']:.2f} s", "dim")


def _indented(console: "Console", text: str) -> None:
    from rich.padding import Padding

    shown = plain(text, "dim")
    if console.is_terminal:
        console.print(Padding(shown, (0, 0, 0, 4)))
    else:
        console.print(joined(plain("    "), shown))
