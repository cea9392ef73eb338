"""Questions on small documents, each with what its answer must hold."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from sets import DATA

from lexloop.graph.app import graph

SETS = {
    path.stem: tomllib.loads(path.read_text("utf-8"))
    for path in sorted((DATA / "cases").glob("*.toml"))
}
CASES = [(name, number) for name, held in SETS.items() for number in range(len(held["case"]))]


def told(done: dict[str, Any]) -> str:
    return "\n".join(done["evaluation"]["reasons"])


def in_order(done: dict[str, Any], field: str, expected: list[str]) -> bool:
    return [citation[field] for citation in done["citations"]][: len(expected)] == expected


CHECKS: dict[str, Callable[[dict[str, Any], Any], bool]] = {
    "answer": lambda done, text: done["answer"] == text,
    "differs": lambda done, text: done["answer"] != text,
    "holds": lambda done, texts: all(text in done["answer"] for text in texts),
    "lacks": lambda done, texts: not any(text in done["answer"] for text in texts),
    "abstains": lambda done, whether: done["abstained"] is whether,
    "passes": lambda done, whether: done["evaluation"]["passed"] is whether,
    "verified": lambda done, whether: done["evaluation"]["citations_verified"] is whether,
    "reasons": lambda done, reasons: done["evaluation"]["reasons"] == reasons,
    "told": lambda done, texts: all(text in told(done) for text in texts),
    "told_or_abstains": lambda done, text: done["abstained"] or text in told(done),
    "untold": lambda done, texts: not any(text in told(done) for text in texts),
    "warned": lambda done, text: text in done["warning"],
    "cites": lambda done, names: {c["document"] for c in done["citations"]} == set(names),
    "first": lambda done, name: in_order(done, "document", [name]),
    "sections": lambda done, labels: in_order(done, "section", labels),
    "read": lambda done, text: done["attempts"][0]["question"] == text,
}
"""What a case may say of its last answer."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The documents of a set as files."""

    def written(name: str) -> Path:
        folder = tmp_path_factory.getbasetemp() / "cases" / name
        if not folder.exists():
            folder.mkdir(parents=True)
            for file, text in SETS[name]["documents"].items():
                (folder / file).write_text(text, encoding="utf-8")
        return folder

    return written


@pytest.mark.parametrize(("name", "number"), CASES)
def test_an_answer_fits_its_case(folders: Callable[[str], Path], name: str, number: int) -> None:
    case = dict(SETS[name]["case"][number])
    messages: list[AnyMessage] = []
    asked = case.pop("asked")
    for question in asked if isinstance(asked, list) else [asked]:
        messages.append(HumanMessage(question))
        done = graph.invoke({"messages": messages}, context={"corpus": str(folders(name))})
        messages = done["messages"]
    for check, expected in case.items():
        assert CHECKS[check](done, expected), (check, done["answer"], done["evaluation"])
    for citation in done["citations"]:
        text = SETS[name]["documents"][citation["document"]]
        if citation["document"].endswith(".txt"):
            assert text[citation["start"] : citation["end"]] == citation["quote"]
