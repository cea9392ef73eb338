import io
import stat
import zipfile
from collections.abc import Callable

import pytest
from made_files import zipped

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.source import Limits


def read(data: bytes, limits: Limits | None = None) -> tuple[dict[str, str], dict[str, str]]:
    found = list(read_bytes(data, "laws.zip", limits or Limits()))
    texts = {item.name: item.text for item in found if isinstance(item, Document)}
    return texts, {item.name: item.reason for item in found if isinstance(item, SkippedSource)}


def test_members_are_named_below_their_archive() -> None:
    rows = '{"id": 7, "text": "Row."}'
    texts, skipped = read(
        zipped({"in/act.txt": "Act.", "rows.jsonl": rows, "x.gif": b"GIF8", ".h/a.txt": "h"})
    )
    assert texts == {"laws.zip/in/act.txt": "Act.", "laws.zip/rows.jsonl/7": "Row."}
    assert skipped == {}


def test_members_that_cannot_be_trusted_are_refused_and_the_rest_is_read() -> None:
    out = io.BytesIO()
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("../up.txt", "x")
        archive.writestr("in\\..\\..\\back.txt", "x")
        archive.writestr("/absolute.txt", "x")
        archive.writestr("C:/drive.txt", "x")
        archive.writestr(link, "/etc/passwd")
        archive.writestr("nested.zip", zipped({"a.txt": "x"}))
        archive.writestr("empty.txt", "")
        archive.writestr("scan.txt", "%PDF-1.4")
        archive.writestr("good.txt", "The law.")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("good.txt", "Another law.")
    texts, skipped = read(out.getvalue())
    assert texts == {"laws.zip/good.txt": "The law."}
    assert {name.removeprefix("laws.zip/"): why for name, why in skipped.items()} == {
        "../up.txt": "Its name leads out of the archive (..).",
        "in\\..\\..\\back.txt": "Its name leads out of the archive (..).",
        "/absolute.txt": "Its name is absolute.",
        "C:/drive.txt": "Its name is absolute.",
        "link.txt": "It is a link.",
        "nested.zip": "It is an archive within an archive.",
        "empty.txt": "It is empty.",
        "scan.txt": "By its content it is a PDF, though its name ends in .txt.",
        "good.txt": "The archive contains it twice.",
    }


def encrypted(data: bytearray) -> None:
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1


def damaged(data: bytearray) -> None:
    at = data.index(b"a.txt") + 10
    data[at : at + 3] = b"\xff\xff\xff"


def understated(data: bytearray) -> None:
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = (10).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (encrypted, "It is encrypted."),
        (damaged, "cannot be unpacked"),
        (understated, "cannot be unpacked"),
    ],
)
def test_a_member_that_cannot_be_unpacked_costs_itself_alone(
    harm: Callable[[bytearray], None], reason: str
) -> None:
    data = bytearray(zipped({"a.txt": "The law applies to all. " * 99, "b.txt": "open"}))
    harm(data)
    texts, skipped = read(bytes(data))
    assert texts == {"laws.zip/b.txt": "open"}
    assert reason in skipped["laws.zip/a.txt"]
    with pytest.raises(CorpusError, match="damaged archive"):
        read(bytes(data[:-10]))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(archive_bytes=2000), "unpacks to 3000 bytes, more than 2000"),
        (Limits(archive_free=100, archive_ratio=5), "times its size, as a bomb does"),
    ],
)
def test_a_bomb_is_refused_before_it_is_unpacked(limits: Limits, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        read(zipped(dict.fromkeys(("a.txt", "b.txt", "c.txt"), "x" * 1000)), limits)


def test_the_archives_own_sidecar_is_heeded() -> None:
    table = "file,tags\na.txt,secret\nb.txt,\nc.txt,;\ngone.txt,x\n"
    members: dict[str, str | bytes] = {f"in/{name}.txt": "The law." for name in "abc"}
    found = list(read_bytes(zipped({"in/metadata.csv": table, **members}), "l.zip", Limits()))
    tags = {item.name: item.metadata.tags for item in found if isinstance(item, Document)}
    assert tags == {"l.zip/in/a.txt": ("secret",), "l.zip/in/b.txt": ()}
    skipped = [item for item in found if isinstance(item, SkippedSource)]
    assert [item.name for item in skipped] == ["l.zip/in/metadata.csv"] * 2 + ["l.zip/in/c.txt"]
    assert "Line 4: tags are ';'" in skipped[0].reason
    assert "Line 5: file: there is no" in skipped[1].reason
