"""Small disks, and how they are filled to the last byte."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_BLOCK = 4096


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A disk of its own at a new folder; the test is skipped where none can be mounted."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("no small disk can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Nothing more can be written to a disk inside."""
    filler = disk / "filler"
    fill(filler)
    try:
        with suppress(OSError):
            (disk / "more").write_bytes(b"x")
            raise AssertionError("the disk is not full")
        (disk / "more").unlink()
        yield
    finally:
        filler.unlink()


@contextmanager
def read_only(disk: Path) -> Iterator[None]:
    """Nothing can be written to a small disk inside."""
    remount = ["mount", "-o", "remount,{}", str(disk)]
    subprocess.run([part.format("ro") for part in remount], check=True)
    try:
        with suppress(OSError):
            (disk / "more").touch()
            raise AssertionError("the disk can be written to")
        yield
    finally:
        subprocess.run([part.format("rw") for part in remount], check=True)


def fill(file: Path) -> None:
    """Write to a file until its disk is full."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        while True:
            os.write(handle, b"x" * _BLOCK)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    finally:
        os.close(handle)
