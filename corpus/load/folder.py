"""Source files -> documents: extracted text with a name and a title."""

import os
import re
import stat
from pathlib import Path, PurePosixPath

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Document, Skipped

SUFFIXES = (".txt", ".md")
_MAX_BYTES = 64 * 1024 * 1024


def source_files(folder: Path) -> list[Path]:
    """The .txt and .md files below ``folder``, in a stable order; hidden ones left out.

    Raises:
        CorpusError: The folder is missing, is no folder, cannot be listed, or holds no such file.
    """
    return _list_sources(folder)[0]


def load_documents(folder: Path) -> tuple[list[Document], list[Skipped]]:
    """Every readable document below ``folder``, and the files and folders that were skipped.

    Raises:
        CorpusError: No file of the folder could be read.
    """
    documents: list[Document] = []
    files, skipped = _list_sources(folder)
    for path in files:
        name = _name(path, folder)
        try:
            documents.append(load_document(path, name))
        except CorpusError as error:
            skipped.append(Skipped(name, error.what))
    if not documents:
        reasons = "; ".join(f"{item.name}: {item.reason}" for item in skipped)
        raise CorpusError(
            f"No document in {folder} could be read ({reasons}).",
            "Check the files' permissions and that they are UTF-8 text.",
        )
    return documents, skipped


def load_document(path: Path, name: str) -> Document:
    """Read one UTF-8 text file; line ends become line feeds.

    Raises:
        CorpusError: The file is unreadable, too large, not UTF-8, binary or empty.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise CorpusError(f"{name} is no regular file.", "Replace it by a file.")
        if found.st_size > _MAX_BYTES:
            raise CorpusError(f"{name} is larger than {_MAX_BYTES >> 20} MiB.", "Split the file.")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CorpusError(f"{name} cannot be read: {error}.", "Check its permissions.") from error
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{name} is not UTF-8 text (byte {error.start}).", "Convert it to UTF-8."
        ) from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        raise CorpusError(f"{name} holds NUL bytes, so it is no text.", "Convert it to UTF-8.")
    if not text.strip():
        raise CorpusError(f"{name} is empty.", "Remove it or fill it.")
    return Document(name, _title(text, PurePosixPath(name).stem), text)


def _list_sources(folder: Path) -> tuple[list[Path], list[Skipped]]:
    """The source files, and what of the folder cannot be listed or leads out of it."""
    hint = f"Give a folder that holds documents ({', '.join(SUFFIXES)})."
    try:
        inside = folder.resolve(strict=True)
        os.listdir(folder)
    except FileNotFoundError as error:
        raise CorpusError(f"The corpus {folder} does not exist.", hint) from error
    except NotADirectoryError as error:
        raise CorpusError(f"The corpus {folder} is not a folder.", hint) from error
    except (OSError, ValueError) as error:
        raise CorpusError(f"The corpus {folder} cannot be listed: {error}.", hint) from error
    barred: list[OSError] = []
    files: list[Path] = []
    skipped: list[Skipped] = []
    for parent, folders, names in os.walk(folder, onerror=barred.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(parent, name) for name in names if not name.startswith(".")):
            if path.suffix.lower() not in SUFFIXES:
                continue
            if path.resolve().is_relative_to(inside):
                files.append(path)
            else:
                skipped.append(Skipped(_name(path, folder), "It is a link out of the corpus."))
    skipped += [
        Skipped(_name(Path(error.filename), folder), f"The folder cannot be listed: {error}.")
        for error in barred
    ]
    if not files:
        reasons = "".join(f" {item.name}: {item.reason}" for item in skipped)
        raise CorpusError(
            f"The corpus {folder} holds no {' or '.join(SUFFIXES)} file.{reasons}", hint
        )
    return sorted(files), skipped


def _name(path: Path, folder: Path) -> str:
    """The path below the corpus; bytes of it that are no text are written as escapes."""
    name = path.relative_to(folder).as_posix()
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _title(text: str, stem: str) -> str:
    """The first heading or short first line; else the file's name in words."""
    for line in text.splitlines()[:10]:
        heading = re.sub(r"^#+\s*", "", line).strip()
        if heading and len(heading) <= 120 and (line.startswith("#") or heading[-1] not in ".;,"):
            return heading
    return re.sub(r"[_\-]+", " ", stem).strip()
