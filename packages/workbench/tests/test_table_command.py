"""`lexloop table` and the files of tables: nothing asked twice, and hostile text stays text."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import docx
import pytest
from python_calamine import CalamineWorkbook
from sets import whole_text, write_texts

import lexloop
from lexloop.apps.shapes.outline import Layout, Memo
from lexloop.core.errors import InputError
from lexloop_workbench.shapes.grid import as_csv
from lexloop_workbench.shapes.review import reviewed
from lexloop_workbench.table.checklist import Checklist, Question
from lexloop_workbench.table.record import Cell
from lexloop_workbench.table.store import TableStore
from lexloop_workbench.tables import every_table

Run = Callable[..., Any]
LEASE = whole_text("lease_short.txt")
LOAN = """LOAN

1. Loan. The lender lends the borrower the sum of $90,000 on the day on which this is signed.
"""
ASKED = "What rent does the tenant pay?"
HOSTILE = '=HYPERLINK("http://x.test","y") <script>alert(1)</script> \u202etxt.exe\x1b[31m\x00'


@pytest.fixture
def contracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(tmp_path / "data"))
    return write_texts(tmp_path / "contracts", {"lease.txt": LEASE, "loan.txt": LOAN})


def test_a_table_is_written_and_gone_on_with(run: Run, contracts: Path, tmp_path: Path) -> None:
    out = tmp_path / "review.csv"
    done = run("table", str(contracts), "--question", ASKED, "--out", str(out), "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["progress"]["cells"] == 2
    [first] = told["rows"][0]["cells"].values()
    assert "$4,000" in first["answer"]
    lines = [*csv.DictReader(io.StringIO(out.read_text("utf-8-sig")))]
    assert [line["Document"] for line in lines] == ["lease.txt", "loan.txt"]
    assert "Rent" in lines[0]["Quote"] or "$4,000" in lines[0]["Quote"]
    # the second run adds a question, and keeps what there is
    [store] = every_table()
    before = store.keys()
    store.close()
    again = run("table", str(contracts), "--question", ASKED, "--question", "What is the sum?")
    assert again.exit_code == 0, again.output
    [store] = every_table()
    assert before.items() <= store.keys().items()
    store.close()
    refused = run("table", str(contracts), "--question", ASKED, "--out", str(out))
    assert refused.exit_code == 2
    assert "is there already" in refused.stderr


def test_python_gets_rows(contracts: Path) -> None:
    rows = lexloop.table(contracts, [ASKED])
    assert [row.document for row in rows] == ["lease.txt", "loan.txt"]
    [cell] = rows[0].cells.values()
    assert cell is not None
    assert "$4,000" in cell.answer


@pytest.fixture
def hostile(tmp_path: Path) -> TableStore:
    """A table in whose every field somebody wrote what is meant to do something."""
    store = TableStore(tmp_path / "hostile.sqlite")
    asked = Question(id="q", title=HOSTILE[:80].strip(), question=HOSTILE)
    store.make(HOSTILE, "x", Checklist(title="", questions=(asked,)))
    store.plan({HOSTILE: "f"}, {HOSTILE: HOSTILE})
    citation: Any = {"n": 1, "document": HOSTILE, "section": HOSTILE, "page": 2}
    citation |= {"start": 0, "end": 4, "quote": HOSTILE}
    cell = Cell(document=HOSTILE, question="q", state="stated", answer=HOSTILE)
    store.put(cell.model_copy(update={"citations": [citation], "probability": 0.5}), "k")
    store.correct(
        HOSTILE, "q", by=HOSTILE, expected=0, state="stated", answer=HOSTILE, note=HOSTILE
    )
    return store


def test_no_field_of_csv_is_a_formula(hostile: TableStore) -> None:
    text = reviewed(hostile, "csv").decode("utf-8-sig")
    assert not {"\u202e", "\x1b", "\x00"} & set(text)
    for line in csv.reader(io.StringIO(text)):
        assert not [field for field in line if field.startswith(("=", "+", "-", "@"))]
    assert as_csv([["-1", "a;=1", "a=1"]]) == '\ufeff"\'-1","a;\'=1","a=1"\r\n'.encode()


def test_a_workbook_has_text_alone(hostile: TableStore) -> None:
    data = reviewed(hostile, "xlsx")
    parts = zipfile.ZipFile(io.BytesIO(data))
    sheets = b"".join(parts.read(one) for one in parts.namelist() if "worksheets" in one)
    assert b"<f>" not in sheets
    assert b"hyperlink" not in sheets
    rows = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_name("Cells").to_python()
    assert str(rows[1][3]).startswith("=HYPERLINK")
    assert "\u202e" not in str(rows)


def test_a_page_has_no_markup_but_its_own(hostile: TableStore) -> None:
    page = reviewed(hostile, "html").decode()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert not {"\u202e", "\x1b", "\x00"} & set(page)


def test_a_memorandum_names_first_what_deviates(tmp_path: Path) -> None:
    asked = Question(id="rent", title="Rent", question=ASKED)
    with closing(TableStore(tmp_path / "memo.sqlite")) as store:
        store.make("Leases", "x", Checklist(title="", questions=(asked,)))
        store.plan({"a.txt": "1", "b.txt": "2"}, {"a.txt": "Shop lease", "b.txt": "Flat lease"})
        citation: Any = {"n": 1, "document": "a.txt", "section": "Section 4", "page": None}
        citation |= {"start": 0, "end": 11, "quote": "The rent is\n900 euros."}
        cell = Cell(document="a.txt", question="rent", state="stated", answer="900 euros")
        cell = cell.model_copy(update={"citations": [citation], "deviation": "standard"})
        store.put(cell, "k")
        none = Cell(document="b.txt", question="rent", state="not stated", deviation="deviates")
        store.put(none.model_copy(update={"citations": [citation]}), "k")
        layout = Layout("oscola", Memo(to="The Board", re="Rents"))
        said = reviewed(store, "md", layout).decode()
        with pytest.raises(InputError, match="has no footnotes"):
            reviewed(store, "xlsx", layout)
    assert said.startswith("# Memorandum\n\n- **To:** The Board\n- **From:** \n")
    assert re.findall(r"(?m)^#+ (.*)$", said) == [
        *("Memorandum", "What deviates", "a.txt", "Rent", "b.txt", "Rent")
    ]
    assert "- b.txt, Rent: not stated\n" in said
    assert "stated (standard): 900 euros[^1]" in said
    note = "[^1]: Shop lease, s 4: “The rent is  \n    900 euros.”"
    assert said.endswith(f"{note}\n")
    assert "[^2]" not in said  # what is not stated quotes nothing


def test_a_word_document_says_who_corrected_what(hostile: TableStore) -> None:
    document = docx.Document(io.BytesIO(reviewed(hostile, "docx")))
    said = "\n".join(one.text for one in document.paragraphs)
    assert "Corrected by =HYPERLINK" in said
    assert "The machine said: stated." in said
    assert "\u202e" not in said
    hostile.close()
