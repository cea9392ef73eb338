"""A review: gold questions with a person's decision on each, in a file that can be edited.

The file has one JSON object per line. ``decision`` comes first: ``open``, ``accept`` or ``drop``.
Question and answer may be edited in place. The six criteria are those of HyPA-RAG, appendix A.5,
table 5. A review can also be exported to a spreadsheet as CSV and imported back.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from lexloop.core.cells import guarded, unguarded
from lexloop.core.errors import InputError
from lexloop.core.jsonl import as_lines, read_jsonl, refuse, write_checked
from lexloop_eval.case import Case, with_ids

Decision = Literal["open", "accept", "drop"]
CRITERIA: dict[str, str] = {
    "faithfulness": "every claim of the answer follows from the context",
    "answer_relevance": "the answer is about what was asked",
    "context_relevance": "the context is about what was asked",
    "correctness": "the answer is right, going by the context",
    "clarity": "the answer is clear and goes without needless jargon",
    "completeness": "the answer leaves no part of the question out",
}
COLUMNS: tuple[str, ...] = (
    "decision", "id", "type", "section", "before", "question", "answer", "evidence", "failed",
    "note",
)  # fmt: skip
FIXED = ("type", "section", "before", "evidence")
"""The columns that are there to be read; the others are the reviewer's."""
_TEXTS = {"question": "question", "answer": "reference_answer"}
DECISIONS = ("keep", "edit", "drop")
_MOST_CHARS = 30_000
"""Characters of the evidence shown; a spreadsheet cuts a cell at 32,767."""
_LINE_END = re.compile(r"\r\n?")
_HINT = "Correct the table. The review is unchanged."
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
        """Return the question with another wording. Blank texts change nothing."""
        update = {"question": question.strip() or self.question}
        update["reference_answer"] = answer.strip() or self.reference_answer or ""
        if update == {"question": self.question, "reference_answer": self.reference_answer}:
            return self
        return self.model_copy(update={**update, "edited": True})


def open_review(questions: Iterable[Case]) -> list[Reviewed]:
    """Return a review of questions without decisions."""
    return [Reviewed(**question.model_dump()) for question in questions]


def read_review(path: Path) -> list[Reviewed]:
    """The questions of a review file, or of a gold file with nothing decided.

    Raises:
        InputError: The file cannot be read, a line is malformed, or two questions share an id.
    """
    rows = read_jsonl(path, Reviewed)
    if not all(row.id for row in rows):
        raise InputError(f"{path}: a question has no id.", "Give every question its own id.")
    return with_ids(path, rows, "")


def write_review(path: Path, rows: Iterable[Reviewed]) -> None:
    """Replace a review file in one step, with the most important fields first on each line.

    Raises:
        InputError: It cannot be written. The old file is unchanged.
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
                "Edit and judge it again, or drop it.",
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
    write_checked(out, as_lines(passed))
    dropped = sum(row.decision == "drop" for row in rows)
    return len(passed), dropped, len(rows) - len(passed) - dropped


def as_table(rows: Sequence[Reviewed]) -> str:
    """Return a review as CSV with a byte order mark, one question per row.

    The decision is ``keep``, ``edit``, ``drop`` or empty. Text that could be a formula is preceded
    by an apostrophe.
    """
    text = io.StringIO(newline="")
    text.write("\ufeff")
    table = csv.writer(text, quoting=csv.QUOTE_ALL)
    table.writerow(COLUMNS)
    for row in rows:
        table.writerow(map(guarded, _cells(row).values()))
    return text.getvalue()


def read_table(path: Path, rows: Sequence[Reviewed]) -> list[Reviewed]:
    """Return a review with the decisions of its table. Rows missing from the table are unchanged.

    Args:
        path: A table that ``as_table`` wrote and a person edited, with commas or semicolons.
        rows: The review that the table was made from.

    Raises:
        InputError: The table cannot be read, a column is missing, or cells are wrong. The message
            names them by row, line and column.
    """
    known = {row.id: row for row in rows}
    decided: dict[str, Reviewed] = {}
    seen: set[str] = set()
    problems: list[str] = []
    for place, cells in _records(path):
        name = cells["id"]
        if name not in known or name in seen:
            problem = "occurs more than once" if name in seen else "is not a question of the review"
            wrong = [("id", f"{name!r} {problem}")]
        else:
            wrong = list(_wrong(cells, _cells(known[name])))
        seen.add(name)
        problems += [f"{place}, column {column}: {problem}" for column, problem in wrong]
        if not wrong:
            decided[name] = _decided(known[name], cells)
    refuse(path, problems, _HINT)
    return [decided.get(row.id, row) for row in rows]


def _cells(row: Reviewed) -> dict[str, str]:
    """Return the cells of a row by column."""
    decision = {"open": "", "accept": "edit" if row.edited else "keep", "drop": "drop"}
    turns = (f"{turn.role}: {turn.content}" for turn in row.conversation_history)
    return {
        "decision": decision[row.decision],
        "id": row.id,
        "type": row.question_type,
        "section": "; ".join(span.section for span in row.evidence or ()),
        "before": "\n".join(turns),
        "question": row.question,
        "answer": row.reference_answer or "",
        "evidence": (row.reference_context or "")[:_MOST_CHARS],
        "failed": ", ".join(row.failed),
        "note": row.note,
    }


def _records(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Each row's place in words, and its cells by column.

    Raises:
        InputError: The table cannot be read, or a column is missing.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = next(reader, [])
        missing = [name for name in COLUMNS if header.count(name) != 1]
        if missing:
            problem = "are missing or there twice"
            raise InputError(f"{path}, line 1: the columns {', '.join(missing)} {problem}.", _HINT)
        for row, cells in enumerate(reader, start=2):
            place = f"row {row} (line {reader.line_num})"
            if not any(cells):
                continue
            if len(cells) != len(header):
                problem = f"{len(cells)} cells where there are {len(header)} columns"
                raise InputError(f"{path}, {place}, column {COLUMNS[0]}: {problem}.", _HINT)
            values = dict(zip(header, cells, strict=True))
            yield place, {name: unguarded(values[name]) for name in COLUMNS}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}.", "Save it as CSV in UTF-8.") from error


def _wrong(cells: Mapping[str, str], before: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return the faults in the cells of a question, each with its column."""
    changed = [name for name in COLUMNS if not _same(cells[name], before[name])]
    decision = cells["decision"].strip().lower()
    if decision and decision not in DECISIONS:
        yield "decision", f"{cells['decision']!r} is none of {', '.join(DECISIONS)}"
    for name in changed:
        if name in FIXED:
            yield name, "it was changed, and is only there to be read"
        elif name in _TEXTS and not cells[name].strip():
            yield name, "it is empty"
        elif name in _TEXTS and decision != "edit":
            yield name, "it was changed, but the decision is not edit"
    unknown = [name for name in _listed(cells["failed"]) if name not in CRITERIA]
    if unknown:
        yield "failed", f"{unknown[0]!r} is none of {', '.join(CRITERIA)}"
    elif changed and cells["failed"].strip() and decision != "drop":
        yield "failed", "only a question that is dropped fails a criterion"


def _decided(row: Reviewed, cells: Mapping[str, str]) -> Reviewed:
    """Return the row with its cells' decision, or the same row if there is nothing new."""
    before = _cells(row)
    if all(_same(cells[name], before[name]) for name in COLUMNS):
        return row
    decision = cells["decision"].strip().lower()
    if not decision:
        unjudged = dict.fromkeys(CRITERIA) if row.decision != "open" else {}
        return row.model_copy(update={"decision": "open", "note": cells["note"], **unjudged})
    texts = {
        field: cells[name] for name, field in _TEXTS.items() if not _same(cells[name], before[name])
    }
    edited = row.model_copy(update={**texts, "edited": row.edited or bool(texts)})
    failed = _listed(cells["failed"])
    return edited.decided("drop" if decision == "drop" else "accept", failed, cells["note"])


def _listed(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(",") if part.strip()]


def _same(cell: str, other: str) -> bool:
    """Return whether cells are equal except for a spreadsheet's line ends."""
    return _LINE_END.sub("\n", cell) == _LINE_END.sub("\n", other)
