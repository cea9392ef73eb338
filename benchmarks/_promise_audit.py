"""The audit log: what is over-long is written nowhere, any line is checked, a cut end is told.

The requests go to ``lexloop serve`` as a process of its own, the checks run on files.
"""

import json
import shutil
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from _shared import Line, timed
from serving import Serving, person

from lexloop_server.audit import FOLDER, AuditLog
from lexloop_server.audit_check import Anchor, verified
from lexloop_server.audit_lines import files, witness_of

_LONG, _MB = 900_000, 1 << 20
_LOG_MB, _LONGEST_MB, _MOST_MB = 100, 57, 4
_LINES, _CUT = 40, 15


def held() -> Iterator[Line]:
    """Send over-long values to every route, check a large log, and cut ends off a small one."""
    with tempfile.TemporaryDirectory() as place:
        yield _over_long(Path(place))
    with tempfile.TemporaryDirectory() as place:
        yield _large(Path(place) / "audit")
    with tempfile.TemporaryDirectory() as place:
        yield _cut_off(Path(place))


def _over_long(place: Path) -> Line:
    """Put a value that is far too long into each field of each route in its turn."""
    settings = person("ann", "ann", role="operator") + "[audit]\n"
    told, before, after = Counter[int](), 0, 0
    with Serving(place, settings=settings) as on:
        headers = {"Authorization": "Bearer ann"}
        with httpx.Client(base_url=on.address, headers=headers, timeout=60) as client:
            schema = client.get("/api/openapi.json").json()
            before = _size(place)
            for method, path, query, body in _requests(schema):
                told[client.request(method, path, params=query, json=body).status_code] += 1
            after = _size(place)
    refused = all(400 <= status < 500 for status in told)
    return Line(
        "an over-long value in any field of any route is refused and written nowhere",
        f"{told.total()} requests, answered {dict(told)}, {after - before} bytes in the log",
        refused and told.total() > 50 and after == before,
    )


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob(f"{FOLDER}/*.jsonl"))


def _requests(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, str], Any]]:
    """Each request with one of its texts too long: of its path, its query or its body."""
    known = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method, about in methods.items():
            plain = path.replace("{", "").replace("}", "")
            for one in about.get("parameters", ()):
                if one["schema"].get("type") == "boolean":
                    continue
                if one["in"] == "path":
                    yield method, path.replace(f"{{{one['name']}}}", "x" * 9000), {}, None
                elif one["in"] == "query":
                    yield method, plain, {one["name"]: "x" * 9000}, None
            content = about.get("requestBody", {}).get("content", {})
            if (held_in := content.get("application/json")) is not None:
                named = held_in["schema"].get("$ref", "").rpartition("/")[2]
                for field in known.get(named, {}).get("properties", {}):
                    yield method, plain, {}, {field: "\x7f" * _LONG}


def _large(folder: Path) -> Line:
    """Check a log of many lines, one of them as long as ten requests once made the log."""
    log, text = AuditLog(folder), "x" * 4000
    log.note("ann", "make", collection="\x7f" * (_LONGEST_MB * _MB // 6))
    head = log.anchor()
    while sum(file.stat().st_size for file in files(folder)) < _LOG_MB * _MB:
        for _ in range(500):
            log.note("ann", "ask", text)
    tracemalloc.start()
    seconds, found = timed(lambda: verified(folder, Anchor.of(head)))
    peak = tracemalloc.get_traced_memory()[1] / _MB
    tracemalloc.stop()
    return Line(
        f"a log of {_LOG_MB} MB, one line of it of {_LONGEST_MB} MB, is checked in little memory",
        f"{found.lines:,} lines, {len(found.faults)} faults, {peak:.2f} MiB, {seconds:.1f} s",
        not found.faults and peak < _MOST_MB,
    )


def _cut_off(place: Path) -> Line:
    """Cut the end off a log with its head, then with its witness too; count what is told."""
    original = place / "original" / FOLDER
    log = AuditLog(original, segment_bytes=2000)
    for number in range(_LINES):
        log.note("ann", "ask", f"question {number}")
    anchor = Anchor.of(log.anchor())
    told = Counter[str]()
    cuts = [*range(1, _CUT + 1), _LINES]
    for cut in cuts:
        for witnessed in (True, False):
            data = place / f"{cut}-{witnessed}"
            shutil.copytree(original.parent, data)
            folder = data / FOLDER
            _drop(folder, cut)
            (folder / "head").unlink()
            if not witnessed:
                witness_of(folder).unlink()
            told["witnessed" if witnessed else "alone"] += bool(verified(folder).faults)
            told["anchored"] += bool(verified(folder, anchor).faults)
    return Line(
        "an end that was cut off with its head is never called intact",
        f"{len(cuts)} cuts: told {json.dumps(told)}",
        told == {"witnessed": len(cuts), "alone": len(cuts), "anchored": 2 * len(cuts)},
    )


def _drop(folder: Path, count: int) -> None:
    for file in reversed(files(folder)):
        lines = file.read_bytes().splitlines(keepends=True)
        kept = lines[: max(0, len(lines) - count)]
        count -= len(lines) - len(kept)
        file.write_bytes(b"".join(kept))
        if not kept:
            file.unlink()
