"""Kills after an acknowledgement, read-only disks, clocks that jump, OCR bombs, two versions.

Each is tried against ``lexloop serve`` and the commands as processes of their own.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import _bombs
import httpx
from _faults import compiled
from _kept import KINDS, PEOPLE, QUESTION, client_of, kills
from _shared import LEXLOOP, Line, timed
from serving import Serving

_KILLS = 32
_YEARS = (10, -10)
_DAY_S = 86_400
_YEAR_S = 365 * _DAY_S
_READ_ONLY = """
mount --make-rprivate /
for place in $0; do mount --bind "$place" "$place" && mount -o remount,ro,bind "$place"; done
mount -o remount,ro,bind /
cd "$1"; shift; exec "$@"
"""
_ASKED = "What must every dog wear?"
_LAW = "Every dog must wear a collar in the harbour.\n"
_MOST_S, _MOST_MB = 1800.0, 3072.0
_SQLITE = {"server.sqlite": 2, "feedback.sqlite": 2}
"""Files of a server, and the version that a newer one would give them."""


def held() -> Iterator[Line]:
    """Try them one after the other; where something is missing on this machine that is a line."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "bombs").mkdir()
        library = compiled(folder)
        clock = _clock(folder)
        if library is None or clock is None:
            yield Line("kills and clocks", "nothing was tried: there is no C compiler", False)
        else:
            yield _killed(library)
            yield from _jumped(folder, clock)
        yield from _read_only(folder)
        yield _bombed(folder / "bombs")
        yield from _versions(folder)


def _killed(library: Path) -> Line:
    acknowledged, lost = kills(library, _KILLS)
    return Line(
        "what a server acknowledged is there, or told in the audit log, after it was killed",
        f"{_KILLS} kills before a call ({', '.join(KINDS)}), {acknowledged.total()} acts "
        f"acknowledged ({', '.join(acknowledged)}), {len(lost)} lost {lost[:3] or ''}".strip(),
        not lost,
    )


def _clock(folder: Path) -> Path | None:
    if (compiler := shutil.which("cc")) is None:
        return None
    library, source = folder / "clock.so", Path(__file__).with_name("_clock.c")
    command = [compiler, "-shared", "-fPIC", "-O1", str(source), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True)
    return library


def _jumped(folder: Path, clock: Path) -> Iterator[Line]:
    """Let the clock of a server jump and be set right, while it runs and while it starts anew."""
    for years in _YEARS:
        place, off = folder / f"clock {years}", folder / "off"
        place.mkdir()
        environ = {
            "LD_PRELOAD": str(clock),
            "CLOCK_OFF_FILE": str(off),
            "LEXLOOP_RETENTION__THREADS_DAYS": "30",
            "LEXLOOP_RETENTION__FEEDBACK_DAYS": "30",
        }
        settings = PEOPLE + "[limits]\nquestions_per_minute = 2\n"
        kept, statuses = set[str](), list[int]()
        for wrong in (0, years, 0):  # and within each the other
            off.write_text(str(wrong * _YEAR_S))
            with Serving(place, settings=settings, environ=environ) as on, client_of(on) as client:
                for jump in (wrong, years - wrong, 0):
                    off.write_text(str(jump * _YEAR_S))
                    page = httpx.Client(base_url=client.base_url, timeout=60)
                    page.post("session", json={"key": "ann"})
                    statuses += [page.get("me").status_code]
                    told = client.post("ask", json=QUESTION)
                    statuses += [200 if told.status_code in (200, 429) else told.status_code]
                    kept |= {told.json()["thread"]} if told.status_code == 200 else set()
        for days in (1, 2):  # and then all is as it should be
            off.write_text(str(days * _DAY_S))
            with Serving(place, settings=PEOPLE, environ=environ) as on, client_of(on) as client:
                statuses.append(client.post("ask", json=QUESTION).status_code)
                there = {one["id"] for one in client.get("threads").json()["threads"]}
        yield Line(
            f"a clock that jumps by {years:+d} years and back, at 5 starts: nobody loses anything",
            f"{len(kept - there)} of {len(kept)} conversations lost with 30 days of retention, "
            f"{statuses.count(200)} of {len(statuses)} requests answered or within their rate",
            not kept - there and {*statuses} == {200},
        )


def _read_only(folder: Path) -> Iterator[Line]:
    """Run commands where nothing at all can be written, and there is no folder for what passes."""
    home = folder / "home"
    (home / "documents").mkdir(parents=True)
    (home / "documents" / "dogs.txt").write_text(_LAW)
    index = str(home / "index")
    subprocess.run([*LEXLOOP, "index", str(home / "documents"), "--out", index], check=True,
                   capture_output=True)  # fmt: skip
    commands = {
        "ask an index": ("ask", _ASKED, "--corpus", index),
        "ask a folder": ("ask", _ASKED, "--corpus", str(home / "documents")),
        "ask the sample": ("ask", str(QUESTION["question"])),
        "search": ("search", "dog", "--corpus", index),
        "show": ("show", "dogs.txt", "--corpus", index),
        "chat": ("chat", "--corpus", index),
        "index": ("index", str(home / "documents"), "--out", str(home / "more")),
        "update": ("index", "update", index),
        "table": ("table", str(home / "documents"), "--question", _ASKED),
        "doctor": ("doctor",),
    }
    answers = {"ask an index", "ask a folder", "ask the sample", "search", "show", "chat"}
    for said, changes in {
        "a home": {"HOME": str(home)},
        "no HOME": {"HOME": None},
        "a HOME that is nowhere": {"HOME": "/nowhere/at/all"},
    }.items():
        wrong: list[str] = []
        for name, command in commands.items():
            done = _barred(home, command, changes)
            if done is None:
                yield Line("a disk that cannot be written", "no such can be mounted here", False)
                return
            text = done.stdout + done.stderr
            if "Traceback" in text or "Unexpected" in text:
                wrong.append(f"{name}: {text.strip().splitlines()[-1][:120]}")
            elif name in answers and done.returncode:
                wrong.append(f"{name}: exit {done.returncode}: {done.stderr.strip()[:120]}")
        yield Line(
            f"nothing can be written, {said}: {len(commands)} commands answer or say what cannot",
            f"{len(wrong)} did not {wrong or ''}".strip(),
            not wrong,
        )


def _barred(
    home: Path, command: tuple[str, ...], changes: dict[str, str | None]
) -> "subprocess.CompletedProcess[str] | None":
    """Run a command in a view of the disks in which none can be written."""
    drop = ("LEXLOOP_", "XDG_", "TMPDIR")
    environ = {k: v for k, v in os.environ.items() if not k.startswith(drop)} | changes
    places = {"/tmp", "/var", "/dev/shm", "/root", "/run", *_mounted(Path(sys.prefix))}
    script = ["unshare", "-m", "bash", "-c", _READ_ONLY]
    with suppress(FileNotFoundError):
        done = subprocess.run(
            [*script, " ".join(p for p in sorted(places) if Path(p).is_dir()), str(home),
             *LEXLOOP, *command],
            capture_output=True, text=True, input=f"{_ASKED}\n" * (command[0] == "chat"),
            env={k: v for k, v in environ.items() if v is not None}, timeout=600, check=False,
        )  # fmt: skip
        return None if "mount:" in done.stderr or "unshare:" in done.stderr else done
    return None


def _mounted(place: Path) -> set[str]:
    """The disks, other than the first, that a folder lies on."""
    return {str(one) for one in place.parents if one.is_mount() and str(one) != "/"}


def _bombed(folder: Path) -> Line:
    _bombs.made(folder)
    size = sum(one.stat().st_size for one in folder.iterdir())
    took, peak, why, wrong = _bombs.read(folder)
    return Line(
        f"{len(why)} OCR bombs ({size >> 20} MiB) are left out with a reason, good files are read",
        f"{took:.0f} s, {peak:.0f} MiB at most a process, {len(wrong)} of 2 good files lost; "
        + "; ".join(f"{name.rpartition('.')[0]}: {said}" for name, said in sorted(why.items())),
        not wrong and len(why) == len([*folder.iterdir()]) - 2 and took < _MOST_S
        and peak < _MOST_MB,
    )  # fmt: skip


def _versions(folder: Path) -> Iterator[Line]:
    """Serve what a newer version has kept, and have two serve one folder."""
    place = folder / "versions"
    place.mkdir()
    with Serving(place, settings=PEOPLE) as on, client_of(on) as client:
        _filled(client)
        second = folder / "second"
        second.mkdir()
        shared = {"LEXLOOP_DATA_DIR": str(on.data)}
        seconds, refused = timed(lambda: _refusal(Serving(second, environ=shared)))
        named = f"process {on.pid}, {on.address}" in refused
        yield Line(
            "a second server on a folder is refused, and told which process and address has it",
            f"refused after {seconds:.1f} s, {'named' if named else f'not named: {refused[:200]}'}",
            named and client.get("health").status_code == 200,
        )
    _make_newer(on.data)
    before = _bytes_of(on.data)
    with Serving(place, settings=PEOPLE) as on, client_of(on) as client:
        found = _soon_indexed(client)  # questions are refused until then
        told = client.post("ask", json=QUESTION)
        unkept = [one["wanted"] for one in told.json()["degraded"]]
        statuses = {path: client.get(path).status_code for path in ("threads", "tables", "me")}
    changed = [name for name, data in _bytes_of(on.data).items() if before.get(name, data) != data]
    right = {"threads": 503, "tables": 200, "me": 200}
    yield Line(
        "what a newer version keeps is left as it is, and told; indexes of uploads are made anew",
        f"asked: {told.status_code}, {unkept}; {statuses}; upload indexed: {found}; {len(before)} "
        f"files of conversations, feedback and tables, {len(changed)} changed {changed or ''}",
        unkept == ["the answer kept"] and statuses == right and found and not changed,
    )


def _filled(client: httpx.Client) -> None:
    answer = client.post("ask", json=QUESTION).json()
    client.post(f"answers/{answer['id']}/feedback", json={"vote": "up"}).raise_for_status()
    client.post("tables", json={"collection": "sample", "questions": ["Who pays?"]})
    client.post("collections", json={"name": "Mine"})
    files = [("files", ("law.txt", _LAW.encode()))]
    client.post("collections/Mine/documents", files=files).raise_for_status()
    _soon_indexed(client)
    while {one["run"]["state"] for one in client.get("tables").json()} != {"done"}:
        time.sleep(0.5)


def _soon_indexed(client: httpx.Client) -> bool:
    until = time.monotonic() + 180
    while time.monotonic() < until:
        found: Any = client.get("collections/Mine/documents").json()
        if [one["name"] for one in found.get("documents", ())] == ["law.txt"]:
            return True
        time.sleep(0.5)
    return False


def _make_newer(data: Path) -> None:
    """Give all that is kept the version after this one."""
    for file in (*map(data.joinpath, _SQLITE), *data.glob("tables/*/*.sqlite")):
        with closing(sqlite3.connect(file)) as database:
            database.execute("PRAGMA user_version = 2")
    for manifest in data.glob("collections/*/*/index/manifest.json"):
        record = json.loads(manifest.read_text("utf-8"))
        manifest.write_text(json.dumps({**record, "format": record["format"] + 1}))
    (data / "sessions.json").write_text(json.dumps({"version": 2, "sessions": []}))


def _bytes_of(data: Path) -> dict[str, bytes]:
    files = (*map(data.joinpath, _SQLITE), *data.glob("tables/*/*.sqlite"))
    return {str(file.relative_to(data)): file.read_bytes() for file in files}


def _refusal(server: Serving) -> str:
    try:
        with server:
            return "it serves"
    except AssertionError as error:
        return " ".join(str(error).split())
