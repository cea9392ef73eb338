"""Everyday questions on small documents: how many answers are right, and how many mislead.

    python benchmarks/cases.py [--cases FOLDER] [--show]

FOLDER holds ``cases.jsonl`` and the folders of documents that it names; by default those beside
this script. A case has ``turns``, asked one after the other. The last answer must hold ``says``
and must not hold ``not``, and passes or not as ``passes`` says. If ``or_told`` stands in what is
told with the answer, or the answer passes as ``or_passes`` says, that counts as right too.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from _shared import Row, options, read_rows, table
from langchain_core.messages import AnyMessage, HumanMessage

from lexloop.graph.build import build_graph
from lexloop.graph.compiled import Lexloop

CASES = Path(__file__).parent / "cases"


class Outcome(NamedTuple):
    """What became of a case."""

    right: bool
    passed: bool
    answer: str

    @property
    def misleads(self) -> bool:
        """True if the answer is wrong and passed."""
        return self.passed and not self.right


def main() -> None:
    """Ask every case and print the counts."""
    parser = options(__doc__)
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--show", action="store_true", help="print every answer")
    given = parser.parse_args()
    graph, cases = build_graph(), read_rows(given.cases / "cases.jsonl")
    outcomes = [_asked(graph, case, given.cases) for case in cases]
    for case, outcome in zip(cases, outcomes, strict=True):
        if given.show or not outcome.right:
            verdict = "passed" if outcome.passed else "not passed"
            answer = " ".join(outcome.answer.split())[:160]
            mark = "right" if outcome.right else "WRONG"
            print(f"{mark} | {case['folder']} | {' / '.join(case['turns'])} | {verdict} | {answer}")
    right, misleads = sum(o.right for o in outcomes), sum(o.misleads for o in outcomes)
    print(table(["cases", "right", "wrong and passed"], [[len(cases), right, misleads]]))


def _asked(graph: Lexloop, case: Row, home: Path) -> Outcome:
    messages: list[AnyMessage] = []
    for turn in case["turns"]:
        asked = {"messages": [*messages, HumanMessage(turn)]}
        state = graph.invoke(asked, context={"corpus": str(home / case["folder"])})
        messages = state["messages"]
    return outcome_of(case, state)


def outcome_of(case: Row, state: Mapping[str, Any]) -> Outcome:
    """Return what became of a case whose last turn ended in a state."""
    evaluation = state.get("evaluation") or {}
    passed = bool(evaluation.get("passed")) and not state["abstained"]
    answer = _plain(state["answer"])
    told = _plain(" ".join([state.get("warning", ""), *evaluation.get("reasons", []), answer]))
    right = (
        _plain(case.get("says", "")) in answer
        or ("or_told" in case and _plain(case["or_told"]) in told)
        or ("or_passes" in case and case["or_passes"] == passed)
    )
    right = right and not ("not" in case and _plain(case["not"]) in answer)
    return Outcome(right and case.get("passes", passed) == passed, passed, state["answer"])


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


if __name__ == "__main__":
    main()
