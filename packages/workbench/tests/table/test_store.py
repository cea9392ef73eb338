"""The file of a table: cells, corrections kept apart, pages of rows, and what is forgotten."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from disks import filled, read_only, small_disk

from lexloop.core.errors import ConflictError, DataError, InputError, NotFoundError
from lexloop_workbench.table.checklist import Checklist, Question, Rule
from lexloop_workbench.table.record import Cell
from lexloop_workbench.table.store import Correction, TableStore

TERM = Question(id="term", title="Term", question="How long?", unacceptable=Rule(least="61 months"))
LAW = Question(id="law", title="Law", question="Which law?")


def cell(document: str, question: str, quote: str = "", **more: Any) -> Cell:
    cited = {"n": 1, "document": document, "section": "1", "page": None, "start": 0, "end": 9}
    citations: Any = [{**cited, "quote": quote}] if quote else []
    state = "stated" if quote else "not stated"
    made = {"state": state, "answer": quote, "citations": citations, **more}
    return Cell(document=document, question=question, **made)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TableStore]:
    made = TableStore(tmp_path / "tables" / "one.sqlite")
    made.make("Leases", "leases", Checklist(questions=(TERM, LAW)))
    names = ["a.txt", "b.txt", "c.txt", "d.txt"]
    made.plan(dict.fromkeys(names, "f"), {"d.txt": "The lease of D"})
    for name, quote, sure in zip(
        names, ["two years", "2 years", "24 months", "ten years"], (0.9, 0.4, 0.6, 0.8), strict=True
    ):
        made.put(cell(name, "term", f"It runs {quote}.", probability=sure), "k")
    yield made
    made.close()


def names(store: TableStore, **wanted: Any) -> list[str]:
    return [row.document for row in store.page(**wanted).rows]


def test_the_file_is_its_owners_alone(store: TableStore) -> None:
    assert store.file.stat().st_mode & 0o777 == 0o600
    assert store.file.parent.stat().st_mode & 0o777 == 0o700


def test_rows_are_paged_filtered_and_sorted(store: TableStore) -> None:
    store.put(cell("b.txt", "law"), "k")
    assert names(store, offset=1, limit=2) == ["b.txt", "c.txt"]
    assert store.page(limit=1).total == 4
    assert names(store, containing="LEASE OF") == ["d.txt"]
    assert names(store, states=["not stated"]) == ["b.txt"]
    assert names(store, states=["not stated"], question="term") == []
    assert names(store, sort="-probability") == ["a.txt", "d.txt", "c.txt", "b.txt"]
    assert names(store, question="law", sort="state")[0] == "b.txt"


def test_a_cell_that_names_another_period_than_most_disagrees(store: TableStore) -> None:
    assert names(store, disagreeing=True) == ["d.txt"]
    told = store.row("d.txt").cells["term"]
    assert told is not None
    assert told.disagrees == "Most of the others name another period, sum or share, or none."
    first = store.row("a.txt").cells["term"]
    assert first is not None
    assert first.disagrees == ""
    store.put(cell("a.txt", "law", "That of Utah."), "k")
    store.put(cell("b.txt", "law"), "k")
    assert names(store, disagreeing=True, question="law") == []  # of two none is a majority


def correct(store: TableStore, expected: int, **more: Any) -> Any:
    said = {"by": "ann", "state": "stated", "answer": "Six years.", **more}
    return store.correct("a.txt", "term", expected=expected, **said)


def test_a_correction_stands_beside_what_the_machine_said(store: TableStore) -> None:
    made = correct(store, 0, note="See the annex.")
    assert (made.revision, made.correction.deviation) == (1, "deviates")
    told = store.row("a.txt").cells["term"]
    assert told == made
    assert (told.answer, told.state, told.revision) == ("It runs two years.", "stated", 1)
    assert names(store, corrected=True) == ["a.txt"]
    assert names(store, corrected=False) == ["b.txt", "c.txt", "d.txt"]
    assert names(store, deviations=["deviates"]) == ["a.txt"]
    assert store.progress().corrected == 1


def test_of_two_people_who_edit_a_cell_the_second_is_told(store: TableStore) -> None:
    correct(store, 0)
    with pytest.raises(ConflictError, match="revision 1, not 0: ann corrected it"):
        correct(store, 0, by="bob")
    correct(store, 1, by="bob", answer="Five.")
    assert [one.by for one in store.history("a.txt", "term")] == ["ann", "bob"]


def test_a_correction_outlives_that_the_cell_is_asked_again(store: TableStore) -> None:
    correct(store, 0)
    store.put(cell("a.txt", "term", "It runs nine years."), "other")
    told = store.row("a.txt").cells["term"]
    assert told is not None
    assert told.correction is not None
    assert told.answer == "It runs nine years."


def test_what_is_not_there_cannot_be_corrected(store: TableStore) -> None:
    with pytest.raises(InputError, match="no row 'x'"):
        store.correct("x", "term", by="ann", expected=0, state="stated", answer="")
    with pytest.raises(InputError, match="no question 'x'"):
        store.correct("a.txt", "x", by="ann", expected=0, state="stated", answer="")
    with pytest.raises(ConflictError, match="not asked yet"):
        store.correct("a.txt", "law", by="ann", expected=0, state="stated", answer="Utah's.")
    assert store.history("a.txt", "law") == []
    assert store.progress().corrected == 0


def test_a_document_that_was_removed_meanwhile_leaves_no_cell(store: TableStore) -> None:
    store.plan({"b.txt": "f"}, {})
    store.put(cell("a.txt", "law", "Late."), "k")
    assert names(store) == ["b.txt"]
    assert store.progress().done == 1


@pytest.mark.parametrize("unwritable", [filled, read_only])
@pytest.mark.parametrize("earlier", [False, True])
def test_a_table_is_read_from_a_disk_that_cannot_be_written(
    tmp_path: Path, unwritable: Any, earlier: bool
) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        store = TableStore(disk / "tables" / "one.sqlite")
        store.make("Leases", "leases", Checklist(questions=(TERM, LAW)))
        store.plan({"a.txt": "f"}, {})
        store.put(cell("a.txt", "term", "It runs two years."), "k")
        correct(store, 0)
        store.want(True)
        store.close()
        with closing(TableStore(store.file)) as again:
            told = again.progress()
            assert (told.documents, told.questions, told.cells, told.done) == (1, 2, 2, 1)
        if earlier:  # its kind of journal was another
            with closing(sqlite3.connect(store.file)) as database:
                assert database.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
            with closing(TableStore(store.file)) as here:
                assert here.progress().done == 1
        with unwritable(disk), closing(TableStore(store.file)) as again:
            assert again.info.title == "Leases"
            assert again.progress().corrected == 1
            told = again.row("a.txt").cells["term"]
            assert told is not None
            assert told.correction is not None
            assert again.page().total == 1
            assert [one.answer for one in again.history("a.txt", "term")] == ["Six years."]
            assert again.wanted
            with pytest.raises(DataError, match="cannot be kept"):
                correct(again, 1, answer="x" * 9000)
            assert again.row("a.txt").cells["term"] == told


def test_nothing_of_a_forgotten_document_is_in_any_file(store: TableStore) -> None:
    store.put(cell("c.txt", "law", "CANARY-QUOTE of it"), "k")
    said = {"by": "ann", "expected": 0, "state": "stated"}
    store.correct("c.txt", "law", answer="CANARY-ANSWER", note="CANARY-NOTE", **said)  # type: ignore[arg-type]
    assert store.forget(["c.txt"]) == 3
    store.close()
    held = b"".join(path.read_bytes() for path in store.file.parent.iterdir())
    assert b"CANARY" not in held
    assert b"c.txt" not in held
    assert names(store) == ["a.txt", "b.txt", "d.txt"]


def test_a_document_that_only_a_correction_names_is_forgotten_too(store: TableStore) -> None:
    correct(store, 0)
    store.plan({"b.txt": "f"}, {})
    assert store.named() == ["a.txt", "b.txt"]
    assert store.forget(["a.txt"]) == 1
    assert store.named() == ["b.txt"]


def test_two_runs_cannot_fill_it_at_once_and_a_full_one_is_not_deleted(store: TableStore) -> None:
    other = TableStore(store.file)
    with (
        store.filling(),
        pytest.raises(ConflictError, match="filled by another run"),
        other.filling(),
    ):
        pass
    with store.filling(), pytest.raises(ConflictError):
        other.delete()
    other.delete()
    assert [*store.file.parent.iterdir()] == []


def test_a_file_of_something_else_is_told_and_left(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    file.write_bytes(b"something else, and long enough to be looked at" * 40)
    store = TableStore(file)
    with pytest.raises(DataError, match="cannot be kept"):
        store.rows().__next__()
    store.close()
    assert file.read_bytes().startswith(b"something else")
    with pytest.raises(NotFoundError):
        TableStore(tmp_path / "none.sqlite").progress()


def test_ten_thousand_rows_are_paged_in_a_second(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "big.sqlite")
    store.make("", "many", Checklist(questions=(TERM,)))
    many = {f"{n:05d}.txt": "f" for n in range(10_000)}
    store.plan(many, {})
    made = cell("x", "term", "It runs two years.").model_dump_json()
    with store._opened() as database, database:
        database.execute("BEGIN")
        row = ("term", "k", "stated", "", 0.5, "said", made)
        database.executemany(
            "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(n, *row) for n in many]
        )
    began = time.monotonic()
    page = store.page(offset=9_990, states=["stated"], sort="-document")
    took = time.monotonic() - began
    assert (page.total, page.rows[-1].document, len(page.rows)) == (10_000, "00000.txt", 10)
    assert took < 5
    with pytest.raises(InputError, match="more than"):
        store.plan({str(n): "" for n in range(100_001)}, {})
    store.close()


def test_a_row_whose_document_is_gone_or_another_is_withheld(store: TableStore) -> None:
    correct(store, 0)
    held = {row["name"]: row["fingerprint"] for row in store._rows("SELECT * FROM documents")}
    assert [*held] == ["a.txt", "b.txt", "c.txt", "d.txt"]
    store.withhold({**held, "a.txt": None, "b.txt": "another"}.get)
    assert names(store) == [row.document for row in store.rows()] == ["c.txt", "d.txt"]
    assert store.page(corrected=True).total == 0
    assert store.history("a.txt", "term") == []
    for document in ("a.txt", "b.txt"):
        with pytest.raises(InputError, match="no row"):
            store.row(document)
    with pytest.raises(InputError, match="no row"):
        correct(store, 1)
    store.withhold(held.get)
    assert names(store) == [*held]
    assert [one.revision for one in store.history("a.txt", "term")] == [1]
    store.plan({"b.txt": "f"}, {})  # a run that no longer finds it
    assert store.history("a.txt", "term") == []


def test_what_a_correction_of_another_row_quotes_goes_too(store: TableStore) -> None:
    correct(store, 0, answer="As the other says: zanzibarite.", note="Mine.")
    store.put(cell("b.txt", "term", "zanzibarite"), "k")
    assert store.quotes_of(["b.txt"])

    def mended(one: Correction) -> Correction:
        return one.model_copy(update={"answer": "gone"}) if "zanz" in one.answer else one

    assert store.forget(["b.txt"], mended) == 2
    store.close()
    assert b"zanz" not in b"".join(one.read_bytes() for one in store.file.parent.glob("*"))
    [made] = store.history("a.txt", "term")
    assert (made.answer, made.note, made.by, made.revision) == ("gone", "Mine.", "ann", 1)
