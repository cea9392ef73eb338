"""Files of every format: made by programs, damaged and hostile; what is read, and what refused.

    python benchmarks/file_formats.py [--data DATA] [--formats .docx,.eml] [--told]

DATA is the folder of the published sets (default ``LEXLOOP_DATA``). Its first 20 policies are made
into files of each format by pandoc and LibreOffice, the half by each where both can, by Python's
own modules, and .msg by aspose-email-foss; ``words`` is the share of the words of a policy's plain
text, each as often as it comes there, that the text read has. Ten of these files are then damaged:
cut off, bits turned, blocks zeroed, moved or left out, parts of archives cut or taken out. Five
more are hostile (``_hostile_files.py``). All are read as an index reads them, in a worker with its
limits. ``asked`` counts the requests to a server on this machine that hostile files name, which
LibreOffice, as it comes, does ask.

A fault is a file made by a program that is not read whole; one that is neither read nor refused by
a reason of ours, or takes longer than its limit; a request; and a word of what is not to be read.
Each is named, and the exit code is then 1. ``--told`` prints what became of every file.
"""

import csv
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from email.message import EmailMessage
from html import escape
from pathlib import Path
from typing import NamedTuple

from _hostile_files import Lure, changed, for_office, hostile
from _law import words_of
from _shared import DATA, in_fork, options, table
from fake_engine import FakeEngine

from lexloop.documents.document import mark_partly_read
from lexloop.documents.reading.folder import hash_sources, list_sources
from lexloop.documents.reading.formats import FORMATS, IMAGES
from lexloop.documents.reading.metadata import Sidecars
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.workers import read_files

_FILES, _DAMAGED, _SEED = 20, 10, 7
_KINDS = ("real", "damaged", "hostile")
_PANDOC = {
    **{".docx": "docx", ".odt": "odt", ".rtf": "rtf", ".html": "html", ".epub": "epub"},
    **{".md": "gfm", ".txt": "plain", ".pptx": "pptx", ".xml": "docbook5"},
}
_OFFICE = {
    **{".docx": ".odt", ".odt": ".docx", ".rtf": ".docx", ".html": ".docx", ".epub": ".docx"},
    **{".doc": ".docx", ".pdf": ".docx", ".xlsx": ".csv", ".xls": ".csv", ".ods": ".csv"},
}
_PROGRAMS = (("pandoc", _PANDOC), ("LibreOffice", _OFFICE))
_MADE_BY = {".csv": "csv", ".jsonl": "json", ".zip": "zipfile", ".eml": "email", ".msg": "aspose"}
_TWICE = (".eml", ".msg", ".zip")
"""Formats whose files hold a policy both as text and as a .docx."""
_LEFT_OUT = {".htm", *IMAGES}
"""The same as .html; and pictures, which ``ocr.py`` reads."""
_WORD = ("application", "vnd.openxmlformats-officedocument.wordprocessingml.document")
_CSV = "--infilter=Text - txt - csv (StarCalc):44,34,76,1"
_SECRET = "quetzalcoatlus"
_UNFORESEEN = ("The parser failed", "The parser crashed")
_GRACE_S, _HANGS_S = 15.0, 1500


class Reading(NamedTuple):
    """What became of a file: its text where it was read, and why something of it was not."""

    name: str
    seconds: float
    documents: int
    text: str
    reasons: tuple[str, ...]


def main() -> None:
    """Make the files, read them, and print the table and the faults."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, required=DATA is None)
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--told", action="store_true", help="what became of every file")
    given = parser.parse_args()
    suffixes = [one for one in given.formats.split(",") if one not in _LEFT_OUT]
    policies = sorted((given.data / "policies").glob("*.md"))[:_FILES]
    rows, faults = [], list[str]()
    with tempfile.TemporaryDirectory() as made, FakeEngine() as elsewhere:
        folder = Path(made)
        lure = Lure(f"http://{elsewhere.host}", folder / "secret.txt", folder / "ran")
        texts = _make(policies, folder, lure)
        for suffix in suffixes:
            _spoil(suffix, folder / suffix[1:], lure)
        asked = len(elsewhere.asked)
        lure.secret.write_text(_SECRET, encoding="utf-8")
        for suffix in suffixes:
            row, wrong = _row(suffix, folder / suffix[1:], texts, elsewhere, given.told)
            rows.append(row)
            faults += wrong
        if lure.ran.exists():
            faults.append("a macro ran")
        if not asked:
            faults.append("LibreOffice asked for nothing: that nobody did says nothing")
    kinds = (f"{kind}: read, refused" for kind in _KINDS[1:])
    head = ["format", "made by", "read", "words", *kinds, "longest, s", "asked"]
    print(table(head, rows))
    print(f"\nRequests by LibreOffice while it made files of these: {asked}")
    print("\n".join(faults) or "Faults: none")
    sys.exit(bool(faults))


def _make(policies: Sequence[Path], folder: Path, lure: Lure) -> list[str]:
    """Make all files, and return the plain texts of the policies."""
    for suffix in (*FORMATS, ".office"):
        for kind in _KINDS:
            (folder / suffix[1:] / kind).mkdir(parents=True)
    texts = [_by_pandoc(policy, folder) for policy in policies]
    for policy, text in zip(policies, texts, strict=True):
        _write_table(policy, text, folder / "csv" / "real")
    _by_office([policy.stem for policy in policies], folder)
    for policy, text in zip(policies, texts, strict=True):
        _by_python(policy.stem, text, folder)
    for suffix, sources in for_office(lure).items():
        given = [folder / "office" / name for name in sources]
        for path in given:
            path.write_text(sources[path.name], encoding="utf-8")
        _convert(given, suffix, folder / suffix[1:] / "hostile")
    return texts


def _spoil(suffix: str, folder: Path, lure: Lure) -> None:
    """Make damaged and hostile files of those of a format."""
    files = sorted((folder / "real").iterdir())
    for number, file in enumerate(files[:_DAMAGED]):
        data = _damaged(file.read_bytes(), number)
        (folder / "damaged" / f"{number}{suffix}").write_bytes(data)
    for name, data in hostile(suffix, files[-1].read_bytes(), lure).items():
        (folder / "hostile" / f"{name}{suffix}").write_bytes(data)


def _by_office(stems: Sequence[str], folder: Path) -> None:
    """Convert files of pandoc's and tables; of what pandoc makes too, the second half."""
    out = folder / "office" / "real"
    for suffix, source in _OFFICE.items():
        begun = len(stems) // 2 if suffix in _PANDOC else 0
        real = folder / source[1:] / "real"
        _convert([real / f"{stem}{source}" for stem in stems[begun:]], suffix, out)
    for made in out.iterdir():  # only now: what is converted is still pandoc's
        made.replace(folder / made.suffix[1:] / "real" / made.name)


def _by_pandoc(policy: Path, folder: Path) -> str:
    for suffix, kind in _PANDOC.items():
        target = folder / suffix[1:] / "real" / f"{policy.stem}{suffix}"
        bare = [] if suffix in (".md", ".txt") else ["--standalone"]
        command = ["pandoc", "--quiet", *bare, "-t", kind, str(policy), "-o", str(target)]
        subprocess.run(command, check=True)
    return (folder / "txt" / "real" / f"{policy.stem}.txt").read_text(encoding="utf-8")


def _convert(files: Sequence[Path], suffix: str, out: Path) -> None:
    profile = f"-env:UserInstallation={(out.parents[1] / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", *([_CSV] if files[0].suffix == ".csv" else [])]
    command += ["--convert-to", suffix[1:], "--outdir", str(out), *map(str, files)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)


def _write_table(policy: Path, text: str, folder: Path) -> None:
    """Write a policy's paragraphs as rows, each with the heading above it."""
    found = re.findall(r"^#+ (.*)", policy.read_text(encoding="utf-8"), re.MULTILINE)
    headings, heading = {(*words_of(one),) for one in found}, ""
    with (folder / f"{policy.stem}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for block in text.split("\n\n"):
            headed = (*words_of(block),) in headings
            heading = " ".join(block.split()) if headed else heading
            writer.writerow([heading, "" if headed else " ".join(block.split())])


def _by_python(stem: str, text: str, folder: Path) -> None:
    """Write a policy as a message of two parts with a .docx beside them, and what holds files."""
    from aspose.email_foss.msg import mapi_message as outlook

    document = (folder / "docx" / "real" / f"{stem}.docx").read_bytes()
    half = text.find("\n\n", len(text) // 2)
    message, nested = EmailMessage(), EmailMessage()
    for one, said in ((nested, text[half:]), (message, text[:half])):
        one["From"], one["To"], one["Subject"] = "a@example.org", "b@example.org", stem
        one.set_content(said)
        one.add_alternative(f"<html><body><pre>{escape(said)}</pre></body></html>", subtype="html")
    message.add_attachment(nested)
    message.add_attachment(document, *_WORD, filename=f"{stem}.docx")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{stem}.txt", text)
        archive.writestr(f"in/{stem}.docx", document)
    for suffix, data in {
        ".eml": message.as_bytes(),
        ".msg": bytes(outlook.MapiMessage.from_email_message(message).to_bytes()),
        ".zip": packed.getvalue(),
        ".jsonl": json.dumps({"id": stem, "text": text}).encode(),
    }.items():
        (folder / suffix[1:] / "real" / f"{stem}{suffix}").write_bytes(data)


def _damaged(data: bytes, number: int) -> bytes:
    """A file with the damage of a number."""
    rng = random.Random(_SEED * number + len(data))
    at, size = rng.randrange(len(data)), max(1, len(data) // 20)
    if number >= 8 and data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            part = rng.choice(archive.namelist())
        return changed(data, part, lambda own: own[: len(own) // 2] if number == 8 else b"")
    if number < 3:
        return data[: max(1, len(data) * (5, 50, 95)[number] // 100)]
    if number < 5:
        turned = bytearray(data)
        for place in rng.sample(range(len(data)), min(len(data), 10 ** (number - 2))):
            turned[place] ^= 1 << rng.randrange(8)
        return bytes(turned)
    put = (bytes(size), b"", rng.randbytes(size), data[-size:], data[:size])[number - 5]
    return data[:at] + put + data[at + size :]


def _row(
    suffix: str, folder: Path, texts: Sequence[str], elsewhere: FakeEngine, told: bool
) -> tuple[list[object], list[str]]:
    """One row of the table, and the faults."""
    elsewhere.asked.clear()
    found = {kind: _read(folder / kind) for kind in _KINDS}
    known = [Counter(words_of(text) * (2 if suffix in _TWICE else 1)) for text in texts]
    same = [
        (wanted & Counter(words_of(one.text))).total()
        for wanted, one in zip(known, found["real"], strict=True)
    ]
    every = [(kind, one) for kind in _KINDS for one in found[kind]]
    faults = [f"{kind} {one.name}: {why}" for kind, one in every for why in _faults(kind, one)]
    faults += [f"a {suffix} asked for {path}" for _, path, _ in elsewhere.asked]
    for kind, one in every if told else ():
        print(f"{kind} {one.name}: {one.documents} read, {one.seconds:.1f} s", *one.reasons[:2])
    read = {kind: sum(one.documents > 0 for one in many) for kind, many in found.items()}
    return [
        suffix,
        _MADE_BY.get(suffix) or ", ".join(name for name, made in _PROGRAMS if suffix in made),
        f"{read['real']} of {len(found['real'])}",
        f"{sum(same) / sum(one.total() for one in known):.3f}",
        *(f"{read[kind]}, {len(found[kind]) - read[kind]}" for kind in _KINDS[1:]),
        f"{max(one.seconds for _, one in every):.1f}",
        len(elsewhere.asked),
    ], faults


def _faults(kind: str, one: Reading) -> Iterator[str]:
    if kind == "real" and (one.reasons or not one.documents):
        yield f"not read whole: {'; '.join(one.reasons)}"
    if not (one.documents or one.reasons):
        yield "neither read nor refused"
    yield from (why for why in one.reasons if why.startswith(_UNFORESEEN))
    if one.seconds > Limits().seconds + _GRACE_S:
        yield f"took {one.seconds:.0f} s"
    if _SECRET in one.text:
        yield "holds what was not to be read"


def _read(folder: Path) -> list[Reading]:
    """Read a folder's files one by one in a worker, in a process that is ended where it hangs."""

    def read() -> list[Reading]:
        files, _ = hash_sources(folder, list_sources(folder)[0])
        found, began = list[Reading](), time.perf_counter()
        for one in read_files(files, Sidecars(), workers=1):
            ended = time.perf_counter()
            text = "\n".join(document.text for document in one.documents)
            told = mark_partly_read(one.skipped, [document.name for document in one.documents])
            reasons = tuple(why.reason for why in told if not why.indexed)
            found.append(Reading(one.file.name, ended - began, len(one.documents), text, reasons))
            began = ended
        return found

    try:
        return in_fork(read, _HANGS_S)
    except EOFError:
        return [Reading(path.name, _HANGS_S, 0, "", ()) for path in sorted(folder.iterdir())]


if __name__ == "__main__":
    main()
