"""Which questions are asked back, and with which choices.

    python benchmarks/ask_back.py [--contracts FOLDER]

``ask_back.toml`` beside this script has three small documents of our own, twenty questions that fit
two of them or that have a pronoun without an antecedent, and twenty clear ones. The choices are
right if they are those listed there: the documents, or the parties for a person. The questions of
``data/gold.jsonl`` on the sample are clear as well: its law and its rules answer together.

FOLDER is that of ``contracts.py``: collections of three contracts are asked what two of them answer
at least, without a description of a contract, and then as a question that describes one of those
that do. The choices are right if every contract with the clause is among them.
"""

import tempfile
import tomllib
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from _shared import DATA, ROOT, options, read_rows, table
from contracts import threes
from langgraph.checkpoint.memory import InMemorySaver

from lexloop.core.conversation import messages_of
from lexloop.core.types import Turn
from lexloop.graph.build import Lexloop, build_graph

QUESTIONS = Path(__file__).with_suffix(".toml")
Asked = tuple[bool, bool]
"""Whether a question was asked back, and whether with the right choices."""


def choices(graph: Lexloop, question: str, corpus: str, history: Sequence[Turn] = ()) -> list[str]:
    """Return the labels of the choices that a question is asked back with; none if it is not."""
    thread = {"configurable": {"thread_id": uuid.uuid4().hex}}
    asked = {"question": question, "messages": messages_of(history)}
    found = graph.invoke(asked, thread, context={"corpus": corpus})
    return [c["label"] for i in found.get("__interrupt__", ()) for c in i.value["choices"]]


def own(graph: Lexloop) -> Iterator[tuple[str, list[Asked]]]:
    """Yield what came of our own questions: of the ambiguous ones, and of the clear ones."""
    listed: dict[str, Any] = tomllib.loads(QUESTIONS.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in listed["documents"].items():
            (Path(folder) / name).write_text(text.lstrip(), encoding="utf-8")
        for kind in ("ambiguous", "clear"):
            said = [choices(graph, one["question"], folder) for one in listed[kind]]
            wanted = [one.get("choices", []) for one in listed[kind]]
            yield (
                kind,
                [
                    (bool(labels), bool(labels) and _are_these(labels, names))
                    for labels, names in zip(said, wanted, strict=True)
                ],
            )


def _are_these(labels: list[str], names: list[str]) -> bool:
    """Whether there is a label for each name, and no other."""
    return len(labels) == len(names) and all(any(n in label for label in labels) for n in names)


def _sample(graph: Lexloop) -> list[Asked]:
    rows = read_rows(ROOT / "data" / "gold.jsonl")
    said = [
        choices(graph, row["question"], "sample", row.get("conversation_history", ()))
        for row in rows
    ]
    return [(bool(labels), False) for labels in said]


def _contracts(graph: Lexloop, folder: Path) -> tuple[list[Asked], list[Asked]]:
    """Return what came of questions that three contracts are asked, and that describe one."""
    bare, described = list[Asked](), list[Asked]()
    texts, probes = sorted((folder / "documents").iterdir()), read_rows(folder / "probes.jsonl")
    for corpus, questions in threes(texts, probes):
        for each in questions:
            there = [probe for probe in each if probe["answerable"]]
            labels = choices(graph, each[0]["bare_question"], corpus)
            right = all(any(p["document"] in label for label in labels) for p in there)
            bare.append((bool(labels), bool(labels) and right))
            described.append((bool(choices(graph, there[0]["question"], corpus)), False))
    return bare, described


def main() -> None:
    """Ask, and print the table."""
    parser = options(__doc__)
    parser.add_argument("--contracts", type=Path, default=DATA and DATA / "contracts")
    given = parser.parse_args()
    graph = build_graph(checkpointer=InMemorySaver(), settings={"answer.ask_back": True})
    rows = [_row(f"{kind}, of our own", asked) for kind, asked in own(graph)]
    rows.append(_row("clear, of the sample", _sample(graph)))
    if given.contracts is not None and (given.contracts / "probes.jsonl").is_file():
        bare, described = _contracts(graph, given.contracts)
        rows.append(_row("of three contracts, which two answer at least", bare))
        rows.append(_row("the same, with one of them described", described))
    print(table(["questions", "asked", "asked back", "with the right choices"], rows))


def _row(name: str, asked: Iterable[Asked]) -> list[str]:
    back, right = zip(*asked, strict=True)
    return [name, str(len(back)), str(sum(back)), str(sum(right)) if any(right) else ""]


if __name__ == "__main__":
    main()
