"""Source files -> documents: extracted text with a name and a title."""

import re
from dataclasses import dataclass
from pathlib import Path

from lexloop.core.errors import CorpusError

SUFFIXES = (".txt", ".md")
_MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Document:
    """One source file. ``name`` is its path below the corpus folder, with forward slashes."""

    name: str
    title: str
    text: str


@dataclass(frozen=True)
class Skipped:
    """A file that could not be read, and why."""

    name: str
    reason: str


def source_files(folder: Path) -> list[Path]:
    """The .txt and .md files below ``folder``, in a stable order; hidden ones left out.

    Raises:
        CorpusError: The folder is missing, is no folder, cannot be listed, or holds no such file.
    """
    hint = f"Give a folder that holds documents ({', '.join(SUFFIXES)})."
    if not folder.exists():
        raise CorpusError(f"The corpus {folder} does not exist.", hint)
    if not folder.is_dir():
        raise CorpusError(f"The corpus {folder} is not a folder.", hint)
    try:
        found = sorted(
            path
            for path in folder.rglob("*")
            if path.suffix.lower() in SUFFIXES
            and path.is_file()
            and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        )
    except OSError as error:
        raise CorpusError(f"The corpus {folder} cannot be listed: {error}.", hint) from error
    inside = folder.resolve()
    found = [path for path in found if path.resolve().is_relative_to(inside)]
    if not found:
        raise CorpusError(f"The corpus {folder} holds no {' or '.join(SUFFIXES)} file.", hint)
    return found


def load_documents(folder: Path) -> tuple[list[Document], list[Skipped]]:
    """Every readable document below ``folder``, and the files that were skipped.

    Raises:
        CorpusError: No file of the folder could be read.
    """
    documents: list[Document] = []
    skipped: list[Skipped] = []
    for path in source_files(folder):
        name = path.relative_to(folder).as_posix()
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
    """Read one UTF-8 text file; line ends become ``\\n``.

    Raises:
        CorpusError: The file is unreadable, too large, not UTF-8, binary or empty.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
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
    return Document(name, _title(text, path.stem), text)


def _title(text: str, stem: str) -> str:
    """The first heading or short first line; else the file's name in words."""
    for line in text.splitlines()[:10]:
        heading = re.sub(r"^#+\s*", "", line).strip()
        if heading and len(heading) <= 120 and (line.startswith("#") or heading[-1] not in ".;,"):
            return heading
    return re.sub(r"[_\-]+", " ", stem).strip()
