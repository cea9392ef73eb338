"""The audit log: a chain that tells what was changed, cut off or moved, whoever writes at once."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexloop.core.errors import AuditError, DataError, InputError, RateExceeded
from lexloop_server import audit
from lexloop_server.audit import AuditLog
from lexloop_server.audit_check import Anchor, verified
from lexloop_server.audit_lines import raw_lines, witness_of

Run = Callable[..., Any]
HOSTILE = 'x"}\n{"n":1,"sha256":"\x1b[31m\u202e\ud800'


def written(folder: Path, count: int = 6, segment_bytes: int = 1 << 20) -> Path:
    """A log of so many lines."""
    log = AuditLog(folder, segment_bytes)
    for number in range(1, count + 1):
        log.note("ann", "ask", f"question {number}")
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def change(folder: Path, how: Callable[[list[bytes]], list[bytes]]) -> list[str]:
    """What is found after somebody has changed the lines of the only file."""
    (file,) = files(folder)
    file.write_bytes(b"".join(how(file.read_bytes().splitlines(keepends=True))))
    return [f"{one.line}: {one.what}" for one in verified(folder).faults]


def resealed(line: bytes, **changes: Any) -> bytes:
    """A line with another content and the hash that fits it."""
    entry = {**json.loads(line), **changes}
    del entry["sha256"]
    said = json.dumps(entry, separators=(",", ":")).encode()
    return said[:-1] + b',"sha256":"' + hashlib.sha256(said).hexdigest().encode() + b'"}\n'


def test_a_line_is_checked_by_hand(tmp_path: Path) -> None:
    (file,) = files(written(tmp_path, 2))
    assert file.name == "000000000001.jsonl"
    first, second = file.read_text("ascii").splitlines()
    entry = json.loads(first)
    assert [*entry] == ["n", "at", "did", "who", "question", "before", "sha256"]
    assert (entry["n"], entry["who"], entry["before"]) == (1, "ann", "0" * 64)
    bare = first.replace(f',"sha256":"{entry["sha256"]}"', "")
    assert hashlib.sha256(bare.encode()).hexdigest() == entry["sha256"]
    assert json.loads(second)["before"] == entry["sha256"]
    found = verified(tmp_path)
    assert (found.lines, found.first, found.last, found.faults) == (2, 1, 2, ())
    assert found.sha256 == json.loads(second)["sha256"]
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


def test_what_was_changed_cut_off_or_moved_is_named(tmp_path: Path) -> None:
    def log(name: str) -> Path:
        return written(tmp_path / name)

    assert change(log("same"), lambda lines: lines) == []
    text = change(
        log("text"), lambda a: [*a[:2], a[2].replace(b"question 3", b"question 9"), *a[3:]]
    )
    assert text == ["3: Line 3 was changed: its SHA-256 is another."]
    number = change(log("n"), lambda a: [*a[:2], a[2].replace(b'"n":3', b'"n":30'), *a[3:]])
    assert number == ["3: Line 3 was changed: its SHA-256 is another."]
    sealed = change(log("sealed"), lambda a: [*a[:2], resealed(a[2], who="eve"), *a[3:]])
    assert sealed == ["4: Line 4 does not follow line 3 as it stands."]
    last = change(log("last"), lambda a: [*a[:5], resealed(a[5], who="eve")])
    assert last == ["6: Line 6 is another than the one that was written."]
    assert change(log("first"), lambda a: a[2:]) == ["1: Lines 1 to 2 are missing before line 3."]
    assert change(log("within"), lambda a: [*a[:3], *a[4:]]) == [
        "4: Line 4 is missing before line 5."
    ]
    assert change(log("end"), lambda a: a[:4]) == ["4: Lines 5 to 6 are missing at the end."]
    AuditLog(tmp_path / "end").note("ann", "ask")  # nor is it hidden by going on
    assert faults_of(tmp_path / "end") == ["Lines 5 to 6 are missing before line 7."]
    assert change(log("all"), lambda _: []) == ["0: Lines 1 to 6 are missing at the end."]
    assert change(log("half"), lambda a: [*a[:5], a[5][:-20]]) == [
        "6: This is not a whole line of an audit log.",
        "6: Line 6 is missing at the end.",
    ]
    assert change(log("moved"), lambda a: [a[0], a[2], a[1], *a[3:]]) == [
        "2: Line 2 is missing before line 3.",
        "3: Line 2 is out of order: it was moved here.",
    ]
    assert change(log("blank"), lambda a: [*a[:5], b" " + a[5]])[0].startswith("6: This is not")
    assert change(log("twice"), lambda a: [*a[:3], a[1], *a[3:]]) == [
        "4: Line 2 is out of order: it stands here again."
    ]
    for foreign in (
        *(b"\n", b"1\n", b"null\n", b"{}\n", b"[" * 100_000 + b"\n", b"\xff\n"),
        *(b'{"n":"1","before":""}\n', b'{"n":1,"before":"","sha256":"\xff"}\n'),
    ):
        name = hashlib.sha256(foreign).hexdigest()
        faults = change(log(name), lambda a, f=foreign: [*a[:1], f, *a[1:]])
        assert faults[0].startswith("2: This is not")


def faults_of(folder: Path, expect: str | None = None) -> list[str]:
    anchor = None if expect is None else Anchor.of(expect)
    return [one.what for one in verified(folder, anchor).faults]


def test_a_head_that_is_gone_is_restored_from_its_witness(tmp_path: Path) -> None:
    for name, damage in (("gone", Path.unlink), ("odd", lambda head: head.write_text("x"))):
        folder = written(tmp_path / name)
        damage(folder / "head")
        (fault,) = verified(folder).faults
        assert (fault.file, fault.what) == (
            "head", f"It is missing or no head: {name}.head states the last line."
        )  # fmt: skip
        AuditLog(folder).note("ann", "ask")
        assert verified(folder).faults == ()
        told = [json.loads(raw)["did"] for raw in raw_lines(folder)]
        assert told[-2:] == ["head was restored", "ask"]


def test_a_head_without_a_witness_is_never_missing_in_silence(tmp_path: Path) -> None:
    folder = written(tmp_path / "log")
    (folder / "head").unlink()
    witness_of(folder).unlink()
    wanted = "It is missing or no head: nothing states the last line, so lines may be missing"
    assert faults_of(folder) == [f"{wanted} at the end."]
    AuditLog(folder).note("ann", "ask")
    assert [json.loads(raw)["did"] for raw in raw_lines(folder)][-2:] == ["head was missing", "ask"]
    assert faults_of(folder) == [
        "When line 7 was written nothing stated the last line before it, so others may have been "
        "cut off."
    ]


@given(st.integers(1, 9), st.sampled_from(["lines", "file", "folder"]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_no_end_is_cut_off_unnoticed(
    tmp_path_factory: pytest.TempPathFactory, cut: int, what: str, witnessed: bool
) -> None:
    """Lines, the last file or all of it go with the head; with the witness, too, or without."""
    folder = tmp_path_factory.mktemp("data") / "audit"
    log = AuditLog(folder, 900)
    for number in range(9):
        log.note("ann", "ask", f"question {number}")
    anchor = log.anchor()
    assert anchor == verified(folder).anchor
    (folder / "head").unlink()
    if what == "folder":
        shutil.rmtree(folder)
    elif what == "file":
        files(folder)[-1].unlink()
    else:
        drop_lines(folder, cut)
    if not witnessed:
        witness_of(folder).unlink()
    left = [json.loads(raw)["n"] for raw in raw_lines(folder)] if folder.exists() else []
    lost = f"Line{'' if len(left) == 8 else f's {len(left) + 1} to'} 9"
    told = f"{lost} {'is' if len(left) == 8 else 'are'} missing at the end."
    if witnessed:
        assert told in faults_of(folder)
    elif folder.exists():
        assert "nothing states the last line" in faults_of(folder)[0]
        assert told in faults_of(folder, anchor)
    else:
        with pytest.raises(DataError, match="cannot be read"):
            verified(folder)
    AuditLog(folder).note("eve", "ask")  # nor does going on hide it
    assert witnessed <= any("missing before line 10" in one for one in faults_of(folder))
    assert faults_of(folder, anchor)


def drop_lines(folder: Path, count: int) -> None:
    """Cut lines off the end of a log."""
    for file in reversed(files(folder)):
        lines = file.read_bytes().splitlines(keepends=True)
        kept = lines[: max(0, len(lines) - count)]
        count -= len(lines) - len(kept)
        if kept:
            file.write_bytes(b"".join(kept))
        else:
            file.unlink()


def test_who_writes_knows_the_last_line_whatever_the_folder_says(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    log = AuditLog(folder)
    for number in range(3):
        log.note("ann", "ask", f"question {number}")
    shutil.rmtree(folder)
    witness_of(folder).unlink()
    log.note("eve", "ask")
    assert faults_of(folder) == ["Lines 1 to 3 are missing before line 4."]


def test_an_older_copy_in_the_place_of_the_log_is_told(tmp_path: Path) -> None:
    folder = written(tmp_path / "log", 3)
    shutil.copytree(folder, tmp_path / "copy")
    written(folder, 2)
    shutil.rmtree(folder)
    (tmp_path / "copy").rename(folder)
    assert faults_of(folder) == ["Lines 4 to 5 are missing at the end."]
    AuditLog(folder).note("ann", "ask")
    assert faults_of(folder) == ["Lines 4 to 5 are missing before line 6."]


def test_an_anchor_is_a_line_that_must_be_there(tmp_path: Path) -> None:
    folder = written(tmp_path / "log", 2)
    early = verified(folder).anchor
    written(folder, 2)
    late = verified(folder).anchor
    assert (early[:2], late[:2]) == ("2:", "4:")
    assert faults_of(folder, early) == faults_of(folder, late) == []
    assert faults_of(folder, f"2:{'0' * 64}") == [
        "Line 2 is another than the one that was written."
    ]
    assert faults_of(folder, f"6:{'0' * 64}") == ["Lines 5 to 6 are missing at the end."]
    (file,) = files(folder)
    end = tmp_path / "end.jsonl"
    end.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[2:]))
    assert not verified(end).end_stated
    assert verified(end, Anchor.of(late)).end_stated
    assert faults_of(end, late) == []
    assert faults_of(end, early) == ["Line 2, which was expected, is not in it."]
    for text in ("", "4", "x:y", f"-1:{'0' * 64}", f"4:{'A' * 64}", f"{'9' * 19}:{'0' * 64}"):
        with pytest.raises(InputError, match="is not an anchor"):
            Anchor.of(text)


def test_a_new_log_states_that_it_is_empty(tmp_path: Path) -> None:
    AuditLog(tmp_path / "log")
    found = verified(tmp_path / "log")
    assert (found.lines, found.faults, found.end_stated, found.anchor) == (0, (), True, "")
    assert AuditLog(tmp_path / "log").anchor() == AuditLog(None).anchor() == ""
    bare = tmp_path / "bare"
    bare.mkdir()
    assert "nothing states the last line" in faults_of(bare)[0]


@pytest.mark.parametrize("most", [1 << 20, 1])
def test_a_line_of_any_length_is_read_in_little_memory(tmp_path: Path, most: int) -> None:
    log = AuditLog(tmp_path / "log", most)
    log.note("ann", "ask", "one")
    log.note("ann", "make", collection="\x7f" * 2_000_000)
    before = (tmp_path / "log" / "head").read_bytes()
    log.note("ann", "ask", "x" * 12_000_000)
    (tmp_path / "log" / "head").write_bytes(before)  # a crash: the writer has to read it again
    witness_of(tmp_path / "log").write_bytes(before)
    out = tmp_path / "out.jsonl"
    tracemalloc.start()
    try:
        AuditLog(tmp_path / "log", most).note("ann", "ask", "four")
        assert verified(tmp_path / "log").lines == 4
        with out.open("wb") as written:
            written.writelines(raw_lines(tmp_path / "log", "2000-01-01"))
        assert verified(out).lines == 4
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    assert verified(tmp_path / "log").faults == verified(out).faults == ()
    (file,) = (one for one in files(tmp_path / "log") if b"xxxx" in one.read_bytes())
    file.write_bytes(file.read_bytes().replace(b"xxxx", b"xxyx", 1))
    assert faults_of(tmp_path / "log") == ["Line 3 was changed: its SHA-256 is another."]


def test_a_head_is_found_again_behind_a_half_line(tmp_path: Path) -> None:
    folder = written(tmp_path / "log", 2)
    with files(folder)[0].open("ab") as file:
        file.write(b'{"n":3,"at"' + b"x" * 100_000)
    (folder / "head").unlink()
    witness_of(folder).unlink()
    AuditLog(folder).note("ann", "ask")
    assert [json.loads(raw)["n"] for raw in raw_lines(folder)] == [1, 2, 3, 4]


def test_the_lines_of_one_person_a_day_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock(datetime):
        at = datetime(2026, 3, 1, 12, tzinfo=UTC)

        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return cls.at

    monkeypatch.setattr(audit, "datetime", Clock)
    kept = AuditLog(tmp_path, person_bytes=10_000)

    def write_much(did: str) -> None:
        for _ in range(1000):
            kept.note("ann", did, "x" * 500)

    with pytest.raises(RateExceeded, match=r"audit\.person_mb_per_day") as refused:
        write_much("ask")
    assert refused.value.retry_after_s == 12 * 3600 + 1
    held = sum(len(raw) for raw in raw_lines(tmp_path))
    assert 10_000 <= held < 11_000
    kept.note("ann", "take back", collection="Dogs")  # what ends something has a little more
    with pytest.raises(RateExceeded):
        write_much("take back")
    assert sum(len(raw) for raw in raw_lines(tmp_path)) < 12_000
    kept.note("bob", "ask", "x" * 500)  # others go on
    kept.warn("wrong key", "192.0.2.1")
    Clock.at = datetime(2026, 3, 2, 0, 0, 1, tzinfo=UTC)
    kept.note("ann", "ask", "the next day")
    assert verified(tmp_path).faults == ()


def test_a_new_file_goes_on_where_the_one_before_ends(tmp_path: Path) -> None:
    written(tmp_path, 9, segment_bytes=700)
    names = [file.name for file in files(tmp_path)]
    assert len(names) > 2
    assert [int(json.loads(f.read_bytes().split(b"\n")[0])["n"]) for f in files(tmp_path)] == [
        int(name[:12]) for name in names
    ]
    assert all(file.stat().st_size <= 700 for file in files(tmp_path))
    assert verified(tmp_path).faults == ()
    alone = verified(files(tmp_path)[1])  # a file of it begins anywhere
    assert (alone.faults, alone.first) == ((), int(names[1][:12]))
    files(tmp_path)[1].unlink()
    (fault,) = verified(tmp_path).faults
    assert fault.file == names[2]
    assert "missing" in fault.what


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8), st.integers(200, 2000))
@settings(max_examples=25, deadline=None)
def test_whatever_is_told_is_read_back_in_order(
    tmp_path_factory: pytest.TempPathFactory, said: list[str], most: int
) -> None:
    folder = tmp_path_factory.mktemp("log")
    for one in [*said, HOSTILE]:
        AuditLog(folder, most).note(one, "ask", one, documents=[one])
    raw = [*raw_lines(folder)]
    assert all(line.isascii() and b"\x1b" not in line and b"\x7f" not in line for line in raw)
    assert [json.loads(line)["question"] for line in raw] == [*said, HOSTILE]
    assert verified(folder).faults == ()


WRITER = """
import sys
from pathlib import Path
from lexloop_server.audit import AuditLog
log = AuditLog(Path(sys.argv[1]), 2000)
for number in range(40):
    log.note(sys.argv[2], "ask", f"question {number}")
"""


def test_threads_and_processes_write_one_chain(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, 2000)
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    others = [subprocess.Popen([*command, name]) for name in ("bob", "eve")]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda n: log.note("ann", "ask", f"{n}"), range(60))] == [None] * 60
    assert [one.wait(120) for one in others] == [0, 0]
    found = verified(tmp_path)
    assert (found.lines, found.last, found.faults) == (140, 140, ())
    who = [json.loads(raw)["who"] for raw in raw_lines(tmp_path)]
    assert {name: who.count(name) for name in ("ann", "bob", "eve")} == {
        "ann": 60, "bob": 40, "eve": 40
    }  # fmt: skip


@pytest.mark.parametrize("most", [1 << 20, 1])
def test_what_a_crash_leaves_is_taken_up(tmp_path: Path, most: int) -> None:
    log = AuditLog(tmp_path, most)
    log.note("ann", "ask", "one")
    before = (tmp_path / "head").read_bytes()
    log.note("ann", "ask", "two")
    (tmp_path / "head").write_bytes(before)  # the line came to the disk, the head did not
    assert verified(tmp_path).faults == ()
    log.note("ann", "ask", "three")
    assert verified(tmp_path).faults == ()
    with files(tmp_path)[-1].open("ab") as file:
        file.write(b'{"n":4,"at":"20')  # half a line of a process that was killed
    assert verified(tmp_path).faults == ()  # as if it was being written
    log.note("ann", "ask", "four")
    assert verified(tmp_path).faults == ()
    assert [json.loads(raw)["question"] for raw in raw_lines(tmp_path)] == [
        "one", "two", "three", "four"
    ]  # fmt: skip


def test_a_write_that_fails_half_way_leaves_the_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, write = AuditLog(written(tmp_path, 1)), os.write

    def half(handle: int, data: Any) -> int:
        if len(data) < 50:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data[: len(data) // 2])

    with monkeypatch.context() as patch:
        patch.setattr("lexloop.core.files.os.write", half)
        with pytest.raises(AuditError):
            log.note("ann", "ask", "two")
    log.note("ann", "ask", "three")
    assert (verified(tmp_path).lines, verified(tmp_path).faults) == (2, ())


def test_a_lock_that_is_held_ends_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr(audit, "_PATIENCE_S", 0.05)
    written(tmp_path, 1)
    with (tmp_path / "head").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(AuditError, match="others hold it"):
            AuditLog(tmp_path).note("ann", "ask")


def test_strangers_do_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(audit.time, "monotonic", lambda: now[0])
    kept = AuditLog(tmp_path)
    for _ in range(100):
        kept.warn("wrong key", "192.0.2.1")
    now[0] += 61
    kept.warn("wrong key", "192.0.2.2")
    told = [json.loads(raw) for raw in raw_lines(tmp_path)]
    assert len(told) == 61
    assert (told[-1]["address"], told[-1]["more_before"]) == ("192.0.2.2", 40)


def test_lines_since_a_moment(tmp_path: Path) -> None:
    written(tmp_path, 3)
    for since in (None, "2000-01-01", "2000-01-01T00:00Z", "0001-01-01", "0500-02-28"):
        assert len([*raw_lines(tmp_path, since)]) == 3
    for since in ("2999-01-01T00:00:00+02:00", "9999-12-31"):
        assert [*raw_lines(tmp_path, since)] == []
    for since in ("", "yesterday", "2026-13-01", "0001-01-01T00:00:00+14:00"):
        with pytest.raises(InputError, match="not a day or a moment"):
            [*raw_lines(tmp_path, since)]


def test_no_line_is_left_out_because_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock(datetime):
        shown = 2025

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Clock":
            return cls(cls.shown, 6, 1, tzinfo=tz)

    monkeypatch.setattr(audit, "datetime", Clock)
    log = AuditLog(tmp_path / "log")
    for Clock.shown in (2025, 2026, 1970, 2026):
        log.note("ann", "ask", "What?")
    lines = [*raw_lines(tmp_path / "log", "2026-01-01")]
    assert [json.loads(raw)["n"] for raw in lines] == [2, 3, 4]
    (tmp_path / "export.jsonl").write_bytes(b"".join(lines))
    assert verified(tmp_path / "export.jsonl").faults == ()


def test_the_command_shows_exports_and_verifies(run: Run, tmp_path: Path) -> None:
    folder = written(tmp_path / "audit", 3)
    AuditLog(folder).note("eve\x1b[31m", "ask", HOSTILE)
    shown = run("audit", "--data", str(tmp_path))
    assert shown.exit_code == 0
    assert 'ann ask {"question": "question 1"}' in shown.stdout
    assert "\x1b" not in shown.stdout
    told = json.loads(run("audit", "--data", str(tmp_path), "--json").stdout)["audit"]
    assert [one["n"] for one in told] == [1, 2, 3, 4]
    intact = run("audit", "--data", str(tmp_path), "--verify")
    assert intact.exit_code == 0
    assert intact.stdout.startswith("Intact: lines 1 to 4; the last has SHA-256 ")
    anchor = verified(folder).anchor
    assert f"Anchor: {anchor}" in intact.stdout
    assert "A file alone" not in intact.stdout
    expected = ("audit", "--data", str(tmp_path), "--verify", "--expect")
    assert run(*expected, anchor).exit_code == 0
    later = run(*expected, f"9:{'0' * 64}")
    assert later.exit_code == 5
    assert "Lines 5 to 9 are missing at the end." in later.stdout
    assert run(*expected, "soon").exit_code == 2
    assert run("audit", "--data", str(tmp_path), "--expect", anchor).exit_code == 2
    out = tmp_path / "export.jsonl"
    assert run("audit", "--data", str(tmp_path), "--out", str(out)).stdout.startswith("4 lines in")
    assert out.read_bytes() == b"".join(raw_lines(folder))
    exported = run("audit", str(out), "--verify")
    assert exported.exit_code == 0
    assert "A file alone does not say where its log ends" in exported.stdout
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join([lines[0], *lines[2:]]))
    cut = run("audit", str(out), "--verify")
    assert cut.exit_code == 5
    assert "export.jsonl, line 2: Line 2 is missing before line 3." in cut.stdout
    told = run("audit", str(out), "--verify", "--json")
    assert told.exit_code == 5
    assert json.loads(told.stdout)["faults"] == [
        {"file": "export.jsonl", "line": 2, "what": "Line 2 is missing before line 3."}
    ]
    AuditLog(folder).note("ann", "ask", "x" * 100_000)
    long = json.loads(run("audit", "--data", str(tmp_path), "--json").stdout)["audit"][-1]
    assert (long["n"], long["did"], long["bytes"] > 100_000) == (5, "ask", True)
    assert '"bytes": 100' in run("audit", "--data", str(tmp_path)).stdout
    none = run("audit", "--data", str(tmp_path), "--json", "--since", "2999-01-01")
    assert json.loads(none.stdout) == {"audit": []}
    assert run("audit", str(tmp_path / "none.jsonl")).exit_code == 5
    assert run("audit", str(out), "--since", "never").exit_code == 2
    assert run("audit", str(out), "--out", str(tmp_path / "none" / "x")).exit_code == 2
