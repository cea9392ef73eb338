"""The file of a table: its questions, the machine's cells and, separately, people's corrections.

Each table is one SQLite file, which only its owner can read. A cell is on disk before the next one
is asked, so that a killed run can continue.
"""

import fcntl
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from lexloop.core.errors import ConflictError, DataError, InputError, NotFoundError
from lexloop_workbench.table.checklist import Checklist, Deviation, Question, Unit, measured
from lexloop_workbench.table.record import Cell, State

VERSION = 1
"""Raise it if cells of an earlier version would come out differently."""
SUFFIX = ".sqlite"
MOST_DOCUMENTS = 100_000
_MARKS = {"application_id": 0x4C585442, "user_version": VERSION}  # "LXTB"
_BUSY_S = 30.0
_TABLES = """
CREATE TABLE about(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents(name TEXT PRIMARY KEY, place INTEGER NOT NULL, title TEXT NOT NULL,
    fingerprint TEXT NOT NULL);
CREATE INDEX documents_by_place ON documents(place);
CREATE TABLE cells(document TEXT NOT NULL, question TEXT NOT NULL, key TEXT NOT NULL,
    state TEXT NOT NULL, deviation TEXT NOT NULL, probability REAL, said TEXT NOT NULL,
    record TEXT NOT NULL, PRIMARY KEY (document, question));
CREATE TABLE corrections(document TEXT NOT NULL, question TEXT NOT NULL, revision INTEGER NOT NULL,
    at TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (document, question, revision));
"""
_MOST = 2 / 3
"""The share of a column that has to agree for another cell to disagree with it."""
_LEAST_OF_MOST = 3


class Correction(BaseModel):
    """A person's correction of a cell. The machine's cell is kept as well.

    ``revision`` counts the corrections of the cell, from 1.
    """

    model_config = ConfigDict(extra="forbid")

    state: Literal["stated", "in part", "not stated"]
    answer: str
    note: str = ""
    deviation: Deviation = ""
    by: str
    at: str
    revision: int


Mend = Callable[[Correction], Correction]
"""Makes of a correction another, or returns it."""


class ShownCell(Cell):
    """A cell as it is shown, with its correction and how it differs from its column.

    Args:
        correction: The last correction, or None.
        revision: The revision that the next correction must name; 0 before the first.
        disagrees: How it differs from most cells of its question, or "" if it does not.
    """

    correction: Correction | None = None
    revision: int = 0
    disagrees: str = ""


class ShownRow(BaseModel):
    """A document with its cells by the ids of their questions; None for one not asked yet."""

    document: str
    title: str
    cells: dict[str, ShownCell | None]


class Progress(BaseModel):
    """The progress of a table: how many of its cells are done, and in which states."""

    documents: int
    questions: int
    cells: int
    done: int
    states: dict[str, int]
    corrected: int


class TableInfo(BaseModel):
    """The questions of a table, its corpus, and its ``title``.

    On a server ``corpus`` is a collection as its ``owner`` sees it with the access ``tags``.
    """

    id: str
    title: str
    corpus: str
    created: str
    checklist: Checklist
    owner: str = ""
    tags: list[str] = []


Sort = Literal["document", "-document", "state", "-state", "probability", "-probability"]


class Page(BaseModel):
    """Some rows of a table; ``total`` are those that fit the filter."""

    total: int
    rows: list[ShownRow]


class TableStore:
    """A table's file. It is safe to use from several threads and processes.

    Args:
        file: The path of the file.

    Raises:
        DataError: From any method, if the file cannot be read or written.
        NotFoundError: From any method except ``make``, if the file does not exist.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        self._withheld: frozenset[str] = frozenset()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def make(
        self,
        title: str,
        corpus: str,
        checklist: Checklist,
        owner: str = "",
        tags: Sequence[str] = (),
    ) -> TableInfo:
        """Create the file, and return its info; see ``TableInfo``.

        Raises:
            ConflictError: The file exists.
        """
        info = TableInfo(
            id=self.file.stem,
            title=title,
            corpus=corpus,
            created=datetime.now(UTC).isoformat(timespec="milliseconds"),
            checklist=checklist,
            owner=owner,
            tags=[*tags],
        )
        with self._told():
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError as error:
                raise ConflictError(f"{self.file} is there.", "Name another file.") from error
        with self._opened() as database:
            self._put(database, "info", info.model_dump_json())
        return info

    @property
    def info(self) -> TableInfo:
        """The questions and corpus of the table."""
        rows = self._rows("SELECT value FROM about WHERE name = 'info'")
        if not rows:
            raise DataError(f"{self.file} does not say what it asks.", "Create the table again.")
        try:
            return TableInfo.model_validate_json(rows[0]["value"])
        except ValidationError as error:
            raise DataError(f"{self.file} is damaged.", "Create the table again.") from error

    @property
    def wanted(self) -> bool:
        """True while a run should continue, however it ended."""
        return bool(self._rows("SELECT 1 FROM about WHERE name = 'wanted'"))

    def want(self, run: bool) -> None:
        """Note whether a run is to be gone on with."""
        with self._opened() as database, database:
            if run:
                self._put(database, "wanted", "")
            else:
                database.execute("DELETE FROM about WHERE name = 'wanted'")

    def ask_for(self, checklist: Checklist) -> None:
        """Replace the questions. Cells of questions that stay are kept."""
        info = self.info.model_copy(update={"checklist": checklist})
        with self._opened() as database, database:
            self._put(database, "info", info.model_dump_json())

    def plan(self, documents: Mapping[str, str], titles: Mapping[str, str]) -> None:
        """Set the rows to these documents, in order, each with its fingerprint.

        Cells of a document that is gone are deleted. People's corrections are kept, in case it
        comes back.

        Raises:
            InputError: There are too many documents.
        """
        if len(documents) > MOST_DOCUMENTS:
            raise InputError(
                f"{len(documents)} documents are more than {MOST_DOCUMENTS}.", "Split them."
            )
        rows = [
            (name, at, titles.get(name, ""), documents[name]) for at, name in enumerate(documents)
        ]
        with self._opened() as database, database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM documents")
            database.executemany("INSERT INTO documents VALUES (?, ?, ?, ?)", rows)
            database.execute("DELETE FROM cells WHERE document NOT IN (SELECT name FROM documents)")

    def withhold(self, fingerprint: Callable[[str], str | None]) -> None:
        """Hide rows whose document is gone or has changed, until they are asked again.

        Args:
            fingerprint: Returns the present fingerprint of a document's file, or None if it is
                gone.
        """
        rows = self._rows("SELECT name, fingerprint FROM documents")
        self._withheld = frozenset(
            row["name"] for row in rows if fingerprint(row["name"]) != row["fingerprint"]
        )

    def keys(self) -> dict[tuple[str, str], str]:
        """Return the key of each cell that is done; one that failed is to be asked again."""
        rows = self._rows("SELECT document, question, key FROM cells WHERE state != 'failed'")
        return {(row["document"], row["question"]): row["key"] for row in rows}

    def put(self, cell: Cell, key: str) -> None:
        """Keep a cell of a document that is still a row."""
        value = value_of(cell)
        values = (cell.state, cell.deviation, cell.probability, value, cell.model_dump_json())
        with self._opened() as database, database:
            database.execute(
                "INSERT OR REPLACE INTO cells SELECT ?, ?, ?, ?, ?, ?, ?, ? "
                "WHERE EXISTS (SELECT 1 FROM documents WHERE name = ?)",
                (cell.document, cell.question, key, *values, cell.document),
            )

    def progress(self) -> Progress:
        """Return how far it is."""
        questions = [question.id for question in self.info.checklist.questions]
        marks = ",".join("?" * len(questions))
        states = self._rows(
            f"SELECT state, count(*) AS n FROM cells WHERE question IN ({marks}) GROUP BY state",  # noqa: S608 - only question marks
            *questions,
        )
        counts = {row["state"]: int(row["n"]) for row in states}
        [rows] = self._rows("SELECT count(*) AS n FROM documents")
        [mended] = self._rows(
            "SELECT count(*) AS n FROM (SELECT DISTINCT document, question FROM corrections "
            "WHERE document IN (SELECT name FROM documents))"
        )
        return Progress(
            documents=rows["n"],
            questions=len(questions),
            cells=rows["n"] * len(questions),
            done=sum(counts.values()),
            states=counts,
            corrected=mended["n"],
        )

    def correct(
        self,
        document: str,
        question: str,
        *,
        by: str,
        expected: int,
        state: Literal["stated", "in part", "not stated"],
        answer: str,
        note: str = "",
        deviation: Deviation | None = None,
    ) -> ShownCell:
        """Store a person's correction of a cell, and return the corrected cell.

        Args:
            document: The document of the row.
            question: The id of the column.
            by: The person.
            expected: The revision that they saw: that of the last correction, or 0.
            state: The corrected state.
            answer: The corrected answer.
            note: The reason.
            deviation: The playbook's verdict, or None to apply its rules.

        Raises:
            InputError: There is no such row or question.
            ConflictError: Another correction came first, or the cell was not asked yet.
        """
        if document in self._withheld:
            raise _no_row(document)
        column, usual = self._question(question), self._usual().get(question)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        if deviation is None:
            deviation = column.deviation(state != "not stated", answer)
        with self._opened() as database, database:
            database.execute("BEGIN IMMEDIATE")
            if not database.execute(
                "SELECT 1 FROM documents WHERE name = ?", (document,)
            ).fetchone():
                raise _no_row(document)
            cell = database.execute(
                "SELECT record, said FROM cells WHERE document = ? AND question = ?",
                (document, question),
            ).fetchone()
            if cell is None:
                raise ConflictError(
                    "This cell was not asked yet, so there is nothing to correct.",
                    "Run the table, and correct the cell once it is there.",
                )
            last = _last(database, document, question)
            revision = last.revision if last else 0
            if revision != expected:
                state_of_cell = f"{last.by} corrected it" if last else "it has no correction"
                raise ConflictError(
                    f"The cell is at revision {revision}, not {expected}: {state_of_cell}.",
                    "Look at it again, then correct it.",
                )
            correction = Correction(
                state=state,
                answer=answer,
                note=note,
                deviation=deviation,
                by=by,
                at=now,
                revision=revision + 1,
            )
            database.execute(
                "INSERT INTO corrections VALUES (?, ?, ?, ?, ?)",
                (document, question, correction.revision, now, correction.model_dump_json()),
            )
        return _shown(cell, usual, correction)

    def history(self, document: str, question: str) -> list[Correction]:
        """Return the corrections of a cell, the oldest first; empty if its row is gone."""
        if document in self._withheld:
            return []
        rows = self._rows(
            "SELECT record FROM corrections WHERE document = ? AND question = ? "
            "AND document IN (SELECT name FROM documents) ORDER BY revision",
            *(document, question),
        )
        return [Correction.model_validate_json(row["record"]) for row in rows]

    def page(
        self,
        *,
        offset: int = 0,
        limit: int = 50,
        containing: str = "",
        states: Sequence[State] = (),
        deviations: Sequence[Deviation] = (),
        question: str | None = None,
        disagreeing: bool = False,
        corrected: bool | None = None,
        sort: Sort = "document",
    ) -> Page:
        """Return some rows, filtered and sorted.

        Args:
            offset: The number of rows to skip.
            limit: The maximum number of rows.
            containing: Only documents with this in their name or title, in any case.
            states: Only rows with a cell in one of these states, after corrections.
            deviations: Only rows with a cell that has one of these verdicts of the playbook.
            question: The column for conditions and order. None for any; rows are then sorted by
                the first.
            disagreeing: Only rows with a cell that disagrees with most of its column.
            corrected: Only rows with a corrected cell, or with none.
            sort: By the document's place, the state or the probability of a cell.

        Raises:
            InputError: There is no such question.
        """
        questions = self.info.checklist.questions
        column = questions[0].id if question is None else self._question(question).id
        usual = self._usual()
        matching: list[tuple[Any, sqlite3.Row]] = []
        needle = containing.casefold()
        conditions: dict[str, Any] = {
            "states": states,
            "deviations": deviations,
            "disagreeing": disagreeing,
            "corrected": corrected,
        }
        filtered = bool(states or deviations or disagreeing or corrected is not None)
        by_cell = sort.lstrip("-") != "document"
        cells = self._states() if filtered or by_cell else {}
        for row in self._rows("SELECT * FROM documents ORDER BY place"):
            name = row["name"]
            if name in self._withheld:
                continue
            if needle and needle not in f"{name}\n{row['title']}".casefold():
                continue
            ids = [other.id for other in questions] if question is None else [column]
            own = [(id_, cells[name, id_]) for id_ in ids if (name, id_) in cells]
            if filtered and not _fits(own, usual, **conditions):
                continue
            at = cells.get((name, column))
            matching.append((_rank(sort, row["place"], at), row))
        matching.sort(key=lambda ranked: ranked[0], reverse=sort.startswith("-"))
        shown = [row for _, row in matching[offset : offset + limit]]
        return Page(total=len(matching), rows=[*self._shown(shown, usual)])

    def rows(self) -> Iterator[ShownRow]:
        """Yield all rows, in order."""
        usual = self._usual()
        at, step = -1, 200
        while rows := self._rows(
            "SELECT * FROM documents WHERE place > ? ORDER BY place LIMIT ?", at, step
        ):
            at = rows[-1]["place"]
            yield from self._shown(rows, usual)

    def row(self, document: str) -> ShownRow:
        """Return a row.

        Raises:
            InputError: The document has no row.
        """
        rows = self._rows("SELECT * FROM documents WHERE name = ?", document)
        for row in self._shown(rows, self._usual()):
            return row
        raise _no_row(document)

    def named(self) -> list[str]:
        """Return the names of all documents with anything kept in the table."""
        rows = self._rows(
            "SELECT name FROM documents UNION SELECT document FROM cells "
            "UNION SELECT document FROM corrections"
        )
        return [row[0] for row in rows]

    def quotes_of(self, documents: Sequence[str]) -> list[str]:
        """Return the quotes of the machine's cells of documents."""
        quotes = []
        for name in documents:
            for row in self._rows("SELECT record FROM cells WHERE document = ?", name):
                quotes += [citation["quote"] for citation in json.loads(row["record"])["citations"]]
        return quotes

    def forget(self, documents: Sequence[str], mended: Mend = lambda one: one) -> int:
        """Delete rows with all their cells and corrections, and return the number of cells.

        Every byte of them is removed from the file.

        Args:
            documents: The names of the documents.
            mended: Returns what may be kept of a correction of another row. Changed corrections
                count as cells.
        """
        marks = [(name,) for name in documents]
        gone = 0
        with self._opened() as database:
            with database:
                database.execute("BEGIN IMMEDIATE")
                for table, column in (
                    ("cells", "document"),
                    ("corrections", "document"),
                    ("documents", "name"),
                ):
                    sql = f"DELETE FROM {table} WHERE {column} = ?"  # noqa: S608 - named above
                    count = database.executemany(sql, marks).rowcount
                    gone += count if table != "documents" else 0
                gone += _mended(database, mended)
            if gone:
                database.execute("VACUUM")
        return gone

    def delete(self) -> None:
        """Delete the table.

        Raises:
            ConflictError: It is being filled.
        """
        with self.filling():
            self.close()
            with self._told():
                for end in ("", "-journal", ".lock"):
                    Path(f"{self.file}{end}").unlink(missing_ok=True)

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Hold the right to ask for this table, among all processes.

        Raises:
            ConflictError: Another holds it.
        """
        with self._told():
            handle = os.open(f"{self.file}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ConflictError(
                    "The table is being filled by another run.", "Wait until that is done."
                ) from error
            yield
        finally:
            with suppress(OSError):
                os.close(handle)

    # --- inside

    def _question(self, id: str) -> Question:
        for question in self.info.checklist.questions:
            if question.id == id:
                return question
        raise InputError(f"The table has no question {id[:60]!r}.", "See its questions.")

    def _states(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return what rows are filtered and sorted by, corrections laid over the machine's."""
        states = {
            (row["document"], row["question"]): {**dict(row), "corrected": False}
            for row in self._rows(
                "SELECT document, question, state, deviation, probability, said FROM cells"
            )
        }
        for key, correction in self._corrections().items():
            state_of_cell = states.setdefault(key, {"probability": None, "said": ""})
            state_of_cell |= {
                "state": correction.state,
                "deviation": correction.deviation,
                "corrected": True,
            }
        return states

    def _corrections(self) -> dict[tuple[str, str], Correction]:
        rows = self._rows("SELECT * FROM corrections ORDER BY revision")
        return {
            (row["document"], row["question"]): Correction.model_validate_json(row["record"])
            for row in rows
        }

    def _usual(self) -> dict[str, str]:
        """Return what most cells of each question say, if most say the same.

        Only questions with three cells or more count. Cells are compared by their quantities, or by
        whether they state anything.
        """
        counts: dict[str, Counter[str]] = {}
        for row in self._rows(
            "SELECT question, said, count(*) AS n FROM cells "
            "WHERE state IN ('stated', 'in part', 'not stated') GROUP BY question, said"
        ):
            counts.setdefault(row["question"], Counter())[row["said"]] += row["n"]
        usual: dict[str, str] = {}
        for question, values in counts.items():
            [(most, count)] = values.most_common(1)
            if count >= _LEAST_OF_MOST and count >= _MOST * values.total():
                usual[question] = most
        return usual

    def _shown(self, rows: Sequence[sqlite3.Row], usual: Mapping[str, str]) -> Iterator[ShownRow]:
        questions = [question.id for question in self.info.checklist.questions]
        for row in rows:
            name = row["name"]
            if name in self._withheld:
                continue
            cells: dict[str, ShownCell | None] = dict.fromkeys(questions)
            corrections = self._rows(
                "SELECT * FROM corrections WHERE document = ? ORDER BY revision", name
            )
            last = {
                correction["question"]: Correction.model_validate_json(correction["record"])
                for correction in corrections
            }
            for stored in self._rows("SELECT * FROM cells WHERE document = ?", name):
                if (question := stored["question"]) in cells:
                    cells[question] = _shown(stored, usual.get(question), last.get(question))
            yield ShownRow(document=name, title=row["title"], cells=cells)

    def _put(self, database: sqlite3.Connection, name: str, value: str) -> None:
        database.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def _rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        with self._opened() as database:
            return database.execute(sql, values).fetchall()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._told():
            if self._database is None:
                if not self.file.is_file():
                    raise NotFoundError("There is no such table.", "List the existing tables.")
                self._database = _connected(self.file)
            yield self._database

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise DataError(
                f"The table {self.file.name} cannot be kept: {error}.",
                "Check the disk, or create the table again.",
            ) from error


def _connected(file: Path) -> sqlite3.Connection:
    """Open a table, or create the schema of a new file.

    Readers never write, so that tables on a full or read-only disk can be read.
    """
    database = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        database.row_factory = sqlite3.Row
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        marks = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]
        if tables and marks != [*_MARKS.values()]:
            raise sqlite3.DatabaseError("another version of Lexloop made it")
        database.execute("PRAGMA secure_delete = ON")
        with suppress(sqlite3.OperationalError):  # earlier versions kept a log that readers write
            database.execute("PRAGMA journal_mode = DELETE").fetchone()
        database.execute("PRAGMA synchronous = FULL")  # corrections survive a power cut
        if tables:
            return database
        with database:
            database.execute("BEGIN IMMEDIATE")
            if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in filter(str.strip, _TABLES.split(";")):
                    database.execute(statement)
                for name, value in _MARKS.items():
                    database.execute(f"PRAGMA {name} = {value}")
    except BaseException:
        database.close()
        raise
    return database


def _no_row(document: str) -> InputError:
    return InputError(f"The table has no row {document[:200]!r}.", "See its rows.")


def _mended(database: sqlite3.Connection, mended: Mend) -> int:
    """Change corrections, and return how many were."""
    count = 0
    for row in database.execute("SELECT rowid, record FROM corrections").fetchall():
        correction = Correction.model_validate_json(row["record"])
        if (kept := mended(correction)) != correction:
            sql = "UPDATE corrections SET record = ? WHERE rowid = ?"
            database.execute(sql, (kept.model_dump_json(), row["rowid"]))
            count += 1
    return count


def _last(database: sqlite3.Connection, document: str, question: str) -> Correction | None:
    row = database.execute(
        "SELECT record FROM corrections WHERE document = ? AND question = ? "
        "ORDER BY revision DESC LIMIT 1",
        (document, question),
    ).fetchone()
    return Correction.model_validate_json(row["record"]) if row else None


def _shown(row: sqlite3.Row, usual: str | None, correction: Correction | None) -> ShownCell:
    """Return a stored cell in the form that is shown, with its last correction."""
    return ShownCell(
        **json.loads(row["record"]),
        correction=correction,
        revision=correction.revision if correction else 0,
        disagrees=_disagreement(row["said"], usual),
    )


_UNITS: tuple[Unit, ...] = ("period", "sum", "share")


def value_of(cell: Cell) -> str:
    """Return the comparable value of a cell: its quantities, or whether it states anything."""
    if cell.state == "not stated":
        return "not stated"
    if cell.state not in ("stated", "in part") or not cell.citations:
        return ""
    quote = cell.citations[0]["quote"]
    quantities = {unit: sorted({*measured(quote, unit)}) for unit in _UNITS}
    return json.dumps({unit: values for unit, values in quantities.items() if values}) or "stated"


def _disagreement(value: str, usual: str | None) -> str:
    if usual is None or not value or value == usual:
        return ""
    if value == "not stated":
        return "Most of the others state it."
    if usual == "not stated":
        return "Most of the others do not state it."
    return "Most of the others name another period, sum or share, or none."


def _fits(
    own: Sequence[tuple[str, Mapping[str, Any]]],
    usual: Mapping[str, str],
    *,
    states: Sequence[str],
    deviations: Sequence[str],
    disagreeing: bool,
    corrected: bool | None,
) -> bool:
    """Return whether one of a row's cells meets all conditions."""
    if corrected is False and any(cell["corrected"] for _, cell in own):
        return False
    return any(
        (not states or cell["state"] in states)
        and (not deviations or cell["deviation"] in deviations)
        and (not disagreeing or _disagreement(cell["said"], usual.get(question)) != "")
        and (not corrected or cell["corrected"])
        for question, cell in own
    ) or (corrected is False and not (states or deviations or disagreeing) and not own)


_ORDER = ("stated", "in part", "not stated", "refused", "failed")


def _rank(sort: str, place: int, cell: Mapping[str, Any] | None) -> tuple[Any, ...]:
    kind = sort.lstrip("-")
    if kind == "state":
        return (_ORDER.index(cell["state"]) if cell else len(_ORDER), place)
    if kind == "probability":
        probability = None if cell is None else cell["probability"]
        return (-1.0 if probability is None else probability, place)
    return (place,)
