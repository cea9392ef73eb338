"""``lexloop register`` and ``describe``, their files, and the same in Python."""

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook
from sets import write_texts

import lexloop
from lexloop_workbench.register import Entry, Register
from lexloop_workbench.shapes.grid import Grid, as_file
from lexloop_workbench.shapes.register import calendar, register_file
from lexloop_workbench.timing import BEYOND, LAST

Run = Callable[..., Any]
LAW = """Harbour Act

Article 1 Duties
1. The owner's boats are listed. The owner must tell the Harbour Office within 10 days of the sale.
2. The owner may sell the boat.

Article 2 Boats
“Boat” means anything that floats.

Article 3 Oil
No owner may dump oil.
"""
HOSTILE = Entry(
    document="=cmd|' /C calc'!A0",
    title="t",
    section="+1",
    page=None,
    start=0,
    end=9,
    quote="@SUM(1+1)\x1b[31m\u202egpj.exe\nnext, line; and \\ é" + "x" * 200,
    kinds=["duty", "deadline"],
    who="-1+1",
    what="=1+1 <b>pay</b> | now",
    when="within a day",
    event="",
    day=date(2026, 12, 31),
    note="",
    unless=["if, so"],
    sums=["$5"],
)


@pytest.fixture
def law(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "acts", {"harbour.txt": LAW})


def test_the_register_is_printed_with_its_places(run: Run, law: Path) -> None:
    shown = run("register", "--corpus", str(law)).stdout
    assert "duty, deadline  The owner: tell the Harbour Office within 10 days of the sale" in shown
    assert "    by when: within 10 days of the sale\n" in shown
    assert "    harbour.txt, Article 1(2), line 5" in shown
    dated = run(
        "register", "--corpus", str(law), "--since", "the sale=2026-01-01", "--only", "deadline"
    )
    assert "    by when: within 10 days of the sale = 2026-01-11\n" in dated.stdout
    none = run("register", "--corpus", str(law), "--only", "penalty")
    assert none.stdout == "These documents say nothing of that kind.\n"


def test_json_is_the_record(in_json: Run, law: Path) -> None:
    found = in_json("register", "--corpus", law, "--actor", "OWNER", "--document", "harbour")
    assert found["documents"] == ["harbour.txt"]
    assert [one["kinds"] for one in found["entries"]] == [
        ["duty", "deadline"],
        ["right"],
        ["prohibition"],
    ]
    assert Register(**found).entries[0].section == "Article 1(1)"


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "md", "docx", "json", "ics"])
def test_a_file_is_written_whole_and_once(run: Run, law: Path, suffix: str) -> None:
    out = law.parent / f"register.{suffix}"
    given = ("register", "--corpus", str(law), "--since", "sale=2026-01-01", "--out", str(out))
    first = run(*given)
    assert (first.exit_code, first.stdout) == (0, "")
    assert "3 entries, 1 with a day" in first.stderr
    again = run(*given)
    assert again.exit_code == 2
    assert "is there already" in again.stderr
    assert run(*given, "--overwrite").exit_code == 0
    assert out.stat().st_size > 100


def test_no_cell_is_a_formula_and_text_stays_text() -> None:
    made = Register(documents=[], unread=[], entries=[HOSTILE])
    table = register_file(made, "csv").decode("utf-8-sig")
    _, cells = csv.reader(io.StringIO(table))
    assert cells[:3] == ["duty, deadline", "'-1+1", "'=1+1 <b>pay</b> | now"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    book = CalamineWorkbook.from_filelike(io.BytesIO(register_file(made, "xlsx", "a/b: *")))
    head, row = book.get_sheet_by_index(0).to_python()
    assert (head[1], row[1], row[2]) == ("who", "-1+1", "=1+1 <b>pay</b> | now")
    word = docx.Document(io.BytesIO(register_file(made, "docx")))
    assert word.tables[0].rows[1].cells[2].text == "=1+1 <b>pay</b> | now"
    markdown = register_file(made, "md").decode()
    assert "=1+1 &lt;b&gt;pay&lt;/b&gt; \\| now" in markdown
    for form in ("csv", "md"):
        text = register_file(made, form).decode()  # type: ignore[arg-type]
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert json.loads(register_file(made, "json"))["entries"][0]["who"] == "-1+1"


def unfolded(data: bytes) -> list[str]:
    """The content lines of a calendar, after checks of RFC 5545 that hold for all."""
    raw = data.split(b"\r\n")
    assert raw[-1] == b""
    assert all(len(line) <= 75 and b"\n" not in line and b"\r" not in line for line in raw)
    return data.decode().replace("\r\n ", "").split("\r\n")[:-1]


def test_a_calendar_is_one_by_rfc_5545() -> None:
    at = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    lines = unfolded(calendar([HOSTILE, HOSTILE], at))
    assert lines[:3] == ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Lexloop//Register//EN"]
    assert lines.count("BEGIN:VEVENT") == lines.count("END:VEVENT") == 1
    assert lines[-1] == "END:VCALENDAR"
    event = dict(line.split(":", 1) for line in lines[4:-2])
    assert re.fullmatch(r"[0-9a-f]{32}@lexloop", event["UID"])
    assert event["DTSTAMP"] == "20260203T040506Z"
    assert event["DTSTART;VALUE=DATE"] == "20261231"
    assert event["DTEND;VALUE=DATE"] == "20270101"
    assert event["SUMMARY"] == "-1+1: =1+1 <b>pay</b> | now"
    assert event["DESCRIPTION"].startswith("By when: within a day\\nUnless or if: if\\, so\\n")
    assert "next\\, line\\; and \\\\ é" in event["DESCRIPTION"]
    later = unfolded(calendar([HOSTILE], datetime(2027, 1, 1, tzinfo=UTC)))
    assert event["UID"] in "\n".join(later)
    assert unfolded(calendar([], at))[-1] == "END:VCALENDAR"


@given(st.text(max_size=200), st.text(max_size=300))
def test_any_text_makes_a_calendar(who: str, quote: str) -> None:
    entry = HOSTILE.model_copy(update={"who": who, "quote": quote})
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert len(unfolded(calendar([entry], at))) == 14


@given(st.lists(st.one_of(st.none(), st.sampled_from((date.min, date.max)), st.dates())))
def test_any_days_make_a_calendar_that_lists_every_entry(days: list[date | None]) -> None:
    entries = [
        HOSTILE.model_copy(update={"day": day, "start": n, "note": "" if day else BEYOND})
        for n, day in enumerate(days)
    ]
    made = Register(documents=[], unread=[], entries=entries)
    lines = unfolded(register_file(made, "ics"))
    held = [day for day in days if day and day < date.max]
    assert lines.count("BEGIN:VEVENT") == lines.count("END:VEVENT") == len(held)
    assert lines.count("BEGIN:VTODO") == lines.count("END:VTODO") == len(days) - len(held)
    first = [line.removeprefix("DTSTART;VALUE=DATE:") for line in lines if "DTSTART" in line]
    assert first == [f"{day.year:04}{day.month:02}{day.day:02}" for day in held]
    assert len({line for line in lines if line.startswith("UID:")}) == len(days)
    for form in ("csv", "json", "md"):
        assert register_file(made, form)  # type: ignore[arg-type]


def test_what_no_calendar_can_hold_is_told(run: Run, in_json: Run, law: Path) -> None:
    out = law.parent / "register.ics"
    given = ("--corpus", str(law), "--since", "the sale=9999-12-21")
    last = in_json("register", *given)["entries"][0]
    assert (last["day"], last["note"]) == ("9999-12-31", LAST)
    result = run("register", *given, "--out", str(out))
    assert result.exit_code == 0
    assert "1 have a day that no calendar can hold: tasks without a day." in result.stderr
    lines = unfolded(out.read_bytes())
    (told,) = [line for line in lines if line.startswith("DESCRIPTION:")]
    assert "within 10 days of the sale = 9999-12-31" in told
    beyond = in_json("register", "--corpus", law, "--since", "the sale=9999-12-31")["entries"][0]
    assert (beyond["day"], beyond["note"]) == (None, BEYOND)


@given(st.lists(st.lists(st.text(max_size=20), min_size=2, max_size=2), max_size=4))
def test_any_cells_make_a_workbook(rows: list[list[str]]) -> None:
    data = as_file(Grid("T", ["a", "b"], rows), "xlsx")
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    assert book.get_sheet_by_index(0).to_python()[0] == ["a", "b"]


def test_describe_tells_what_a_document_is(run: Run, in_json: Run, law: Path) -> None:
    shown = run("describe", "harbour", "--corpus", str(law)).stdout.splitlines()
    assert shown[0] == "Harbour Act  act"
    assert "        Article 1 Duties" in shown
    assert shown[shown.index("Defines") + 1] == "    Boat"
    assert "Worth asking" in shown
    found = in_json("describe", law / "harbour.txt")
    assert (found["kind"], found["document"]) == ("act", "harbour.txt")
    for question in found["questions"]:
        answer = in_json("ask", question["said"], "--corpus", law)
        assert answer["passed"]
        assert not answer["abstained"]


def test_the_same_in_python(law: Path) -> None:
    found = lexloop.register(law, kinds=["deadline"], since={"the sale": date(2026, 1, 1)})
    assert [one.day for one in found.entries] == [date(2026, 1, 11)]
    assert lexloop.describe("harbour.txt", law).kind == "act"
