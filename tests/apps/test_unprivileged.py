"""Somebody who is not root, whose home and folder cannot be written: all is answered."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lexloop.core.configuration import configured
from lexloop.core.errors import DataError
from lexloop.core.settings import Settings
from lexloop_server.settings import settings_file
from lexloop_server.uploads import UploadStore

NOBODY = 65534
# what another user may not read on this machine, such as root's own Python, it may here
READS = [
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def place(tmp_path: Path, documents: Path) -> Path:
    """A home and, in it, a folder of documents, none of which can be written."""
    home = tmp_path / "home"
    shutil.copytree(documents, home / "work" / "documents")
    for path in (home / "work" / "documents", home / "work", home):
        path.chmod(0o555)
    return home


@pytest.fixture
def run_barred(place: Path) -> Run:
    """Run ``lexloop`` there as somebody who is not root."""
    before = [] if os.geteuid() else READS
    able = not before or shutil.which("setpriv")
    if not able or subprocess.run([*before, "true"], check=False).returncode:
        pytest.skip("root without the power to become another user")
    set_apart = ("LEXLOOP_", "XDG_")
    environment = {name: v for name, v in os.environ.items() if not name.startswith(set_apart)}
    environment["HOME"] = str(place)

    def run(*arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        command = [*before, sys.executable, "-m", "lexloop.apps.cli", *arguments]
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            cwd=place / "work",
            env=environment,
            timeout=240,
            check=False,
        )

    return run


def test_what_cannot_be_kept_is_said_once_and_all_is_answered(run_barred: Run, place: Path) -> None:
    before = sorted(place.rglob("*"))
    asked = "What does a dog licence cost?\nWhere must every dog be kept on a leash?\n/up\n"
    chat = run_barred("chat", "--corpus", "documents", stdin=asked)
    said = chat.stdout + chat.stderr
    assert (chat.returncode, "Traceback" in said) == (0, False)
    assert chat.stdout.count("Passed") == 2
    for once in (
        "Used memory only in place of an index kept for next time: ",
        "LEXLOOP_CACHE names another folder for it.",
        "This conversation is not kept.",
        "Feedback cannot be kept in",
    ):
        assert said.count(once) == 1, once
    assert sorted(place.rglob("*")) == before


def test_what_is_asked_for_and_cannot_be_written_is_one_line(run_barred: Run) -> None:
    refused = run_barred("index", "documents", "--out", "made.index")
    assert (refused.returncode, refused.stdout) == (4, "")
    assert refused.stderr.startswith("Error: ")
    assert "made" in refused.stderr
    assert "ermission denied" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_closed_home_has_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0)
    monkeypatch.setenv("LEXLOOP_CONFIG", str(home / "lexloop.toml"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    root = os.geteuid() == 0
    configured()  # what it imports is read before
    if root:
        try:
            os.seteuid(NOBODY)
        except PermissionError:
            pytest.skip("root without the power to become another user")
    try:
        assert configured() == Settings()
        assert settings_file(None) is None
        with pytest.raises(DataError, match=r"cannot be read: Permission denied.*LEXLOOP_DATA_DIR"):
            UploadStore(home / "collections").every()
    finally:
        if root:
            os.seteuid(0)
