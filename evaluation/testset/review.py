"""A review: gold questions with a person's decision on each, kept in a file that can be edited.

The file holds one JSON object a line. ``decision`` comes first: ``open``, ``accept`` or ``drop``.
Question and answer may be edited in place. The six criteria are those of HyPA-RAG, appendix A.5,
table 5.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from lexloop.core.errors import InputError
from lexloop.evaluation.case import Case
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.evaluation.testset.writing import write_checked, write_rows

Decision = Literal["open", "accept", "drop"]
CRITERIA: dict[str, str] = {
    "faithfulness": "every claim of the answer follows from the context",
    "answer_relevance": "the answer is about what was asked",
    "context_relevance": "the context is about what was asked",
    "correctness": "the answer is right, going by the context",
    "clarity": "the answer is clear and goes without needless jargon",
    "completeness": "the answer leaves no part of the question out",
}
_FIRST = ("decision", "id", "question_type", "question", "reference_answer")


class Reviewed(Case):
    """A gold question with what its reviewer decided; a criterion is None until it is judged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    decision: Decision = "open"
    faithfulness: bool | None = None
    answer_relevance: bool | None = None
    context_relevance: bool | None = None
    correctness: bool | None = None
    clarity: bool | None = None
    completeness: bool | None = None
    edited: bool = False
    note: str = ""

    @property
    def failed(self) -> list[str]:
        """The criteria that are not met."""
        return [name for name in CRITERIA if getattr(self, name) is False]

    def decided(self, decision: Decision, failed: Iterable[str] = (), note: str = "") -> "Reviewed":
        """The same question with a decision; the criteria not named as failed are met."""
        wrong = set(failed)
        unsaid = decision == "drop" and not wrong
        judged = {name: None if unsaid else name not in wrong for name in CRITERIA}
        return self.model_copy(update={"decision": decision, "note": note, **judged})

    def changed(self, question: str, answer: str) -> "Reviewed":
        """The same with another wording; blank texts leave it as it is."""
        update = {"question": question.strip() or self.question}
        update["reference_answer"] = answer.strip() or self.reference_answer or ""
        if update == {"question": self.question, "reference_answer": self.reference_answer}:
            return self
        return self.model_copy(update={**update, "edited": True})


def open_review(questions: Iterable[Case]) -> list[Reviewed]:
    """Questions of which none is decided yet."""
    return [Reviewed(**question.model_dump()) for question in questions]


def read_review(path: Path) -> list[Reviewed]:
    """The questions of a review file, or of a gold file with nothing decided.

    Raises:
        InputError: The file cannot be read, a line is malformed, or two questions share an id.
    """
    rows = read_jsonl(path, Reviewed)
    ids = [row.id for row in rows]
    if "" in ids:
        raise InputError(f"{path}: a question has no id.", "Give every question an id of its own.")
    shared = sorted({name for name in ids if ids.count(name) > 1})
    if shared:
        raise InputError(f"{path}: {shared[0]!r} is the id of two questions.", "Rename one.")
    return rows


def write_review(path: Path, rows: Iterable[Reviewed]) -> None:
    """Replace a review file in one step, what a reader looks for first at the start of each line.

    Raises:
        InputError: It cannot be written; what was there is still there.
    """
    lines = []
    for row in rows:
        record = row.model_dump(mode="json")
        ordered = {name: record.pop(name) for name in _FIRST} | record
        lines.append(json.dumps(ordered, ensure_ascii=False) + "\n")
    write_checked(path, "".join(lines))


def accepted(rows: Sequence[Reviewed]) -> list[Case]:
    """The questions that passed.

    Raises:
        InputError: None did, or one was accepted although it fails a criterion.
    """
    for row in rows:
        if row.decision == "accept" and row.failed:
            raise InputError(
                f"{row.id} is accepted, but fails {', '.join(row.failed)}.",
                "Edit and judge it anew, or drop it.",
            )
    names = Case.model_fields
    passed = [row for row in rows if row.decision == "accept"]
    if not passed:
        raise InputError(
            f"None of {len(rows)} questions is accepted.", "Review them: lexloop testset review."
        )
    return [Case(**row.model_dump(include=set(names))) for row in passed]


def apply_review(review: Path, out: Path) -> tuple[int, int, int]:
    """Write the accepted questions as a gold file.

    Returns:
        How many were accepted, dropped and left open.

    Raises:
        InputError: The review cannot be read, accepts nothing, or ``out`` cannot be written.
    """
    rows = read_review(review)
    passed = accepted(rows)
    write_rows(out, passed)
    dropped = sum(row.decision == "drop" for row in rows)
    return len(passed), dropped, len(rows) - len(passed) - dropped
