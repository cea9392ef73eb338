""".doc: a Word 97 document, which LibreOffice turns into the .docx that is read.

LibreOffice runs in a folder of its own, with the limits of this process. It runs no macro, follows
no link, and ends with this process, however that ends.
"""

import ctypes
import io
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from lexloop.core.errors import CorpusError
from lexloop.core.files import write_bytes, write_text
from lexloop.documents.document import Document
from lexloop.documents.reading import word
from lexloop.documents.reading.source import Limits

_PROGRAM = "soffice"
_STREAM = "WordDocument"
_FLAGS = 10
"""Where the size of sectors stands in the file, and what is looked for in the entry and stream."""
_ENCRYPTED = 0x0100
_BEGUN_ANEW = 81
"""Exit code of LibreOffice where it has made its profile and wants to be started again."""
_STARTS = 3
_SHARE = 0.9
"""Of the time for a file: this process, which clears up, is ended where that is over."""
_PARENT_DEATH_SIGNAL = 1
_WAYS_OUT = "install it (its soffice is looked for in the PATH), or save the file as .docx"
_SETTINGS = (
    ("Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Common/Security/Scripting", "DisableOLEAutomation", "true"),
    ("Writer/Content/Update", "Link", "2"),  # never
    ("Writer/Content/Update", "Field", "false"),
    ("Inet/Settings", "ooInetProxyType", "1"),
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),  # where nobody listens
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
)


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document]:
    """Read the one document of a Word 97 file.

    Raises:
        CorpusError: There is no LibreOffice; or the file is encrypted or damaged, takes too long,
            or contains no text.
    """
    if _is_encrypted(data):
        raise CorpusError("It is encrypted.", "Save it without a password.")
    found = shutil.which(_PROGRAM)
    if found is None:
        what = f"It is read through LibreOffice, which is not here: {_WAYS_OUT}."
        raise CorpusError(what, _WAYS_OUT)
    with tempfile.TemporaryDirectory(prefix="lexloop-") as folder:
        converted = _converted(data, found, Path(folder), limits)
    yield from word.read(converted, name, limits)


def _is_encrypted(data: bytes) -> bool:
    from olefile import OleFileIO

    try:
        with OleFileIO(io.BytesIO(data)) as file:
            flags = file.openstream(_STREAM).read()[_FLAGS : _FLAGS + 2]
    except (OSError, ValueError, IndexError):
        return False  # LibreOffice tells what is wrong
    return bool(int.from_bytes(flags, "little") & _ENCRYPTED)


def _converted(data: bytes, found: str, folder: Path, limits: Limits) -> bytes:
    """Return the document as LibreOffice writes it as .docx."""
    source, made = folder / "document.doc", folder / "document.docx"
    write_bytes(source, data)
    profile = folder / "profile"
    _write_settings(profile / "user" / "registrymodifications.xcu")
    # the program behind the script that starts it: what is started is what ends
    program = Path(found).resolve().with_name("soffice.bin")
    command = [
        str(program) if program.exists() else found,
        f"-env:UserInstallation={profile.as_uri()}",
    ]
    command += ["--headless", "--norestore", "--nolockcheck", "--convert-to", "docx"]
    command += ["--outdir", str(folder), str(source)]
    deadline = time.monotonic() + _SHARE * limits.seconds
    try:
        for _ in range(_STARTS):
            if _run(command, folder, deadline - time.monotonic()) != _BEGUN_ANEW:
                break
        return made.read_bytes()
    except subprocess.TimeoutExpired as error:
        raise CorpusError(
            f"It took longer than {limits.seconds:g} s.", "Split the file."
        ) from error
    except FileNotFoundError as error:
        what = "LibreOffice cannot read it: it is damaged, or takes too much memory."
        raise CorpusError(what, "Save it again, best as .docx.") from error


def _run(command: list[str], folder: Path, seconds: float) -> int:
    """Run a program that ends when this process does; return its exit code."""
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def ends_with_parent() -> None:
        prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # it has ended meanwhile
            os._exit(1)

    ended = subprocess.run(  # noqa: S603 - the program is found by its name
        command,
        cwd=folder,
        env={"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "PATH": os.defpath},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
        preexec_fn=ends_with_parent,
    )
    return ended.returncode


def _write_settings(path: Path) -> None:
    items = "".join(
        f'<item oor:path="/org.openoffice.{"" if at.startswith("Inet") else "Office."}{at}">'
        f'<prop oor:name="{key}" oor:op="fuse"><value>{escape(value)}</value></prop></item>'
        for at, key, value in _SETTINGS
    )
    path.parent.mkdir(parents=True)
    write_text(
        path,
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<oor:items xmlns:oor="http://openoffice.org/2001/registry">{items}</oor:items>',
    )
