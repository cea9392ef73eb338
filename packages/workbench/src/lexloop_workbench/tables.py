"""The folders of tables: those of the command line, and those of a server's people."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from lexloop.apps.withdrawing import REMOVED
from lexloop.core.configuration import data_folder
from lexloop.core.errors import ConflictError
from lexloop.core.files import cache_folder
from lexloop.core.settings import SAMPLE_CORPUS, Settings
from lexloop.store.address import is_address
from lexloop_workbench.table.store import SUFFIX, Correction, TableStore

FOLDER = "tables"


def absolute(corpus: str) -> str:
    """Return a corpus as an absolute path or address."""
    if corpus == SAMPLE_CORPUS or is_address(corpus):
        return corpus
    return os.path.abspath(os.path.expanduser(corpus))


def local_table(settings: Settings) -> Path:
    """Return the file of the table that the command line keeps of a corpus, as one sees it."""
    parts = [absolute(settings.corpus), *sorted(settings.access.tags)]
    identity = "\n".join(parts)
    return cache_folder().parent / FOLDER / f"{_hashed(identity)}{SUFFIX}"


def folder_of(tables: Path, person: str) -> Path:
    """Return the folder of a person's tables on a server, inside ``tables``."""
    return tables / _hashed(person)


def every_table() -> Iterator[TableStore]:
    """Yield all tables of this user, of the command line and of servers."""
    for folder, pattern in ((cache_folder().parent, f"*{SUFFIX}"), (data_folder(), f"*/*{SUFFIX}")):
        yield from map(TableStore, sorted((folder / FOLDER).glob(pattern)))


def forget_rows(
    store: TableStore, is_of: Callable[[str], bool], quotes: Callable[[str], bool]
) -> int:
    """Delete a document from a table, and return the number of deleted cells.

    Texts that quote it are removed from people's corrections of other rows.

    Args:
        store: The table, open.
        is_of: Returns whether the document with this name is to be forgotten.
        quotes: Returns whether a text quotes that document.

    Raises:
        DataError: The file cannot be read or written.
    """

    def mended(correction: Correction) -> Correction:
        texts = {name: getattr(correction, name) for name in ("answer", "note")}
        removed = {name: REMOVED for name, text in texts.items() if quotes(text)}
        return correction.model_copy(update=removed) if removed else correction

    return store.forget([name for name in store.named() if is_of(name)], mended)


def asks_with(store: TableStore, quotes: Callable[[str], bool]) -> bool:
    """Return whether the title or a question of a table quotes a document."""
    checklist = store.info.checklist
    texts = (
        store.info.title,
        checklist.title,
        *(question.question for question in checklist.questions),
    )
    return any(map(quotes, texts))


def holds_row(store: TableStore, is_of: Callable[[str, str, str], bool]) -> bool:
    """Return whether a table has anything from a document.

    Args:
        store: The table.
        is_of: Takes an owner, their name for a corpus and a document's name in it. Returns
            whether it is that document.

    Raises:
        DataError: The file cannot be read.
    """
    with closing(store):
        info = store.info
        return any(is_of(info.owner, info.corpus, name) for name in store.named())


def expire(until: datetime) -> int:
    """Delete the tables that were made before a moment and not written to since.

    Returns:
        How many were deleted.
    """
    gone = 0
    for store in every_table():
        with closing(store):
            modified = store.file.stat().st_mtime
            # the clock may have been set back when it was written to
            if modified < until.timestamp() and datetime.fromisoformat(store.info.created) < until:
                try:
                    store.delete()
                    gone += 1
                except ConflictError:
                    continue  # it is being filled
    return gone


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
