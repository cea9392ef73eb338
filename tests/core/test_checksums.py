"""The checksums of a folder."""

import hashlib
from pathlib import Path

import pytest

from lexloop.core.errors import DataError
from lexloop.core.files import SUMS, check_sums, write_sums


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.bin").write_bytes(b"one")
    (tmp_path / "b c.txt").write_bytes(b"two")
    return tmp_path


def test_every_file_is_summed_as_sha256sum_does(folder: Path) -> None:
    write_sums(folder)
    one, two = (hashlib.sha256(text).hexdigest() for text in (b"one", b"two"))
    assert (folder / SUMS).read_text() == f"{one}  a.bin\n{two}  b c.txt\n"
    check_sums(folder)
    write_sums(folder, ["a.bin"])
    assert (folder / SUMS).read_text() == f"{one}  a.bin\n"


@pytest.mark.parametrize("name", ["a.bin", "b c.txt"])
def test_a_file_that_was_changed_is_named(folder: Path, name: str) -> None:
    write_sums(folder)
    (folder / name).write_bytes(b"three")
    with pytest.raises(DataError, match=f"{name} has SHA-256"):
        check_sums(folder)


@pytest.mark.parametrize("sums", [None, "nonsense\n", "00  gone.bin\n", "\udcff"])
def test_sums_that_cannot_be_used(folder: Path, sums: str | None) -> None:
    if sums is not None:
        (folder / SUMS).write_bytes(sums.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match="cannot be checked"):
        check_sums(folder)


def test_no_file_outside_the_folder_is_read(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / SUMS).write_text("00  ../a.bin\n")
    with pytest.raises(DataError, match="cannot be checked"):
        check_sums(inner)
