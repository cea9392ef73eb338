import os
from pathlib import Path

import pytest

from lexloop.core.errors import CorpusError
from lexloop.documents.reading.folder import load_documents, source_files
from lexloop.documents.reading.source import Limits

SMALL = Limits(file_bytes=2048)


def reasons(folder: Path) -> dict[str, str]:
    return {item.name: item.reason for item in load_documents(folder, limits=SMALL)[1]}


def test_documents_are_named_by_their_path_in_a_stable_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.MD", "a/c.txt", "a/d.wpd", ".hidden.txt", ".git/x.txt", "e.txt~"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"Text of {name}")
    documents, skipped = load_documents(tmp_path)
    assert [document.name for document in documents] == ["a/c.txt", "a/z.MD", "b.txt"]
    assert skipped == []


BAD = {
    "nul.txt": (b"a\x00b", "NUL bytes"),
    "mixed.txt": (b"Gr\xc3\xb6\xc3\x9fe und Ma\xdf", "mixes UTF-8"),
    "large.txt": (b"x" * 2049, "larger than"),
    "picture.md": (b"\x89PNG\r\n\x1a\n\x00\x00", "a PNG image"),
    "paper.txt": (b"%PDF-1.4\n", "By its content it is a PDF, though its name ends in .txt."),
    "noise.pdf": (b"\x00\x01\x02", "of a kind that is not known"),
    "old.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1", "older Office file"),
}


def test_each_bad_file_is_skipped_with_its_reason_and_the_rest_is_read(tmp_path: Path) -> None:
    for name, (content, _) in BAD.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "good.txt").write_text("The law applies.")
    documents, skipped = load_documents(tmp_path, limits=SMALL)
    assert [document.name for document in documents] == ["good.txt"]
    found = {item.name: item.reason for item in skipped}
    assert found.keys() == BAD.keys()
    assert {name: found[name] for name in BAD if BAD[name][1] not in found[name]} == {}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "does not exist"),
        ("empty", r"contains no file that can be read \(\.txt, \.md, \.html"),
        ("n" * 300, "cannot be listed: .*too long"),
    ],
)
def test_a_folder_that_is_none_is_named(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file.txt").write_text("text")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "scan.gif").write_bytes(b"GIF89a")
    with pytest.raises(CorpusError, match=reason) as raised:
        source_files(tmp_path / name)
    assert str(tmp_path / name) in raised.value.what
    assert ".txt, .md" in raised.value.hint


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "corpus"
    outside.mkdir()
    folder.mkdir()
    (outside / "secret.txt").write_text("A secret.")
    (folder / "inside.txt").write_text("The law.")
    (folder / "file.txt").symlink_to(outside / "secret.txt")
    (folder / "folder").symlink_to(outside)
    (folder / "again.txt").symlink_to(folder / "inside.txt")
    (folder / "loop").symlink_to(folder)
    documents, skipped = load_documents(folder)
    assert [document.name for document in documents] == ["again.txt", "inside.txt"]
    assert [(item.name, "link out" in item.reason) for item in skipped] == [("file.txt", True)]


def test_what_is_no_regular_file_is_skipped_without_waiting_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The law.")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "broken.txt").symlink_to(tmp_path / "gone.txt")
    found = reasons(tmp_path)
    assert "not a regular file" in found["pipe.txt"]
    assert "No such file" in found["broken.txt"]
