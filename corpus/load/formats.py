"""Bytes of a file -> documents, by the file's suffix. Runs in the worker process."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Document, Limits, Part, Skipped
from lexloop.corpus.load.kinds import check_kind

SUFFIXES = (".txt", ".md", ".html", ".htm", ".pdf", ".docx", ".jsonl", ".zip")


def read_bytes(
    data: bytes, name: str, limits: Limits, start: int = 0
) -> Iterator[Document | Skipped | Part]:
    """The documents of one file, and what of it cannot be read.

    Args:
        data: The whole file.
        name: Its name in the corpus; the suffix says the format.
        limits: What an archive may unpack to.
        start: For an archive, the first member to read.

    Raises:
        CorpusError: Nothing of the file can be read.
    """
    check_kind(data, name)
    suffix = PurePosixPath(name).suffix.lower()
    # each library is loaded by the first file that needs it: a worker must start in no time
    if suffix in (".txt", ".md"):
        from lexloop.corpus.load.plain import read_plain

        yield from read_plain(data, name)
    elif suffix in (".html", ".htm"):
        from lexloop.corpus.load.html import read_html

        yield from read_html(data, name)
    elif suffix == ".pdf":
        from lexloop.corpus.load.pdf import read_pdf

        yield from read_pdf(data, name)
    elif suffix == ".docx":
        from lexloop.corpus.load.word import read_docx

        yield from read_docx(data, name, limits)
    elif suffix == ".jsonl":
        from lexloop.corpus.load.jsonl import read_jsonl

        yield from read_jsonl(data, name)
    elif suffix == ".zip":
        yield from _members(data, name, limits, start)
    else:
        raise CorpusError(f"Its suffix {suffix!r} is unknown.", f"Use {', '.join(SUFFIXES)}.")


def _members(
    data: bytes, name: str, limits: Limits, start: int
) -> Iterator[Document | Skipped | Part]:
    from lexloop.corpus.load.archive import read_zip

    def read(content: bytes, within: str) -> Iterator[Document | Skipped | Part]:
        return read_bytes(content, within, limits)

    yield from read_zip(data, name, limits, read, suffixes=SUFFIXES, start=start)
