"""What makes two runs the same run: the bytes of what they read and the code that read it."""

import hashlib
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lexloop.core.checksums import sha256_of
from lexloop.core.errors import CorpusError, InputError
from lexloop.core.settings import SAMPLE_CORPUS
from lexloop.corpus.index.manifest import Manifest, is_index
from lexloop.corpus.load.folder import source_files
from lexloop.corpus.opening import sample_folder

_GIT_S = 20.0


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return sha256_of(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}.", "Give a file.") from error


def corpus_folder(corpus: str) -> Path:
    """Where the corpus of a setting lies."""
    return sample_folder() if corpus == SAMPLE_CORPUS else Path(corpus).expanduser()


def corpus_sha256(corpus: str, gold: Path) -> str:
    """The SHA-256 of all documents of a corpus with their names, or of an index's files.

    Args:
        corpus: The setting.
        gold: Left out where it lies in the folder: it is no document.

    Raises:
        CorpusError: The folder is missing or cannot be read.
        DataError: The index is damaged.
    """
    folder = corpus_folder(corpus)
    if is_index(folder):
        held = Manifest.read(folder).sha256
    else:
        paths = [path for path in source_files(folder) if path.resolve() != gold.resolve()]
        try:
            top = folder if folder.is_dir() else folder.parent
            held = {path.relative_to(top).as_posix(): sha256_of(path) for path in paths}
        except OSError as error:
            raise CorpusError(
                f"{folder} cannot be read: {error}.", "Make its files readable."
            ) from error
    digest = hashlib.sha256()
    for name, sha256 in sorted(held.items()):
        digest.update(f"{name}\0{sha256}\n".encode(errors="backslashreplace"))
    return digest.hexdigest()


def code_version() -> tuple[str, str]:
    """The package's version, and the commit of its checkout with ``-dirty`` where it was changed.

    The commit is empty where the code lies in no checkout of its own.
    """
    try:
        number = version("lexloop")
    except PackageNotFoundError:
        number = ""
    here = Path(__file__).resolve()
    tracked = _git(here.parent, "ls-files", "--error-unmatch", here.name)
    commit = _git(here.parent, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*")
    return number, commit if tracked else ""


def _git(folder: Path, *arguments: str) -> str:
    try:
        told = subprocess.run(  # noqa: S603 - a fixed command
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - wherever the user has it
            capture_output=True,
            text=True,
            timeout=_GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""
