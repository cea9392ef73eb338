"""The example questions of HyPA-RAG's appendix A.3, where the paper is at hand."""

import os
import re
from pathlib import Path

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from sets import rows

from lexloop.graph.app import graph

_PAPER = Path(os.environ.get("LEXLOOP_DATA", "")) / ".." / "papers" / "hypa-rag-v1.txt"
"""Beside the published data, which ``LEXLOOP_DATA`` names."""


def _questions() -> dict[str, list[str]]:
    """Return the turns of the example of each type of question."""
    text = _PAPER.read_text(encoding="utf-8")
    rows = text.partition("A.3 Question Types")[2].partition("Table 4")[0].strip().split("\n")
    cells = [row.split("\t") for row in rows if row.count("\t") == 3][1:]
    turns = {kind: re.split(r"\(\d\)\s", said) for kind, _, said, _ in cells}
    return {kind: [one.strip() for one in said if one.strip()] for kind, said in turns.items()}


@pytest.mark.skipif(
    "LEXLOOP_DATA" not in os.environ or not _PAPER.is_file(),
    reason="the papers are not beside LEXLOOP_DATA",
)
@pytest.mark.parametrize(("kind", "says", "passes"), rows("question_types"))
def test_each_type_of_question_is_answered(kind: str, says: str, passes: bool) -> None:
    messages: list[AnyMessage] = []
    for turn in _questions()[kind]:
        done = graph.invoke({"messages": [*messages, HumanMessage(turn)]})
        messages = done["messages"]
    assert says in done["answer"]
    assert done["evaluation"]["passed"] is passes
