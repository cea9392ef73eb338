"""The folders of tables: those of the command line, and those of a server's people."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lexloop.apps.withdrawing import REMOVED, Traces
from lexloop.core.configuration import data_folder
from lexloop.core.errors import ConflictError, LexloopError
from lexloop.core.files import cache_folder
from lexloop.core.settings import Settings
from lexloop.store.address import absolute
from lexloop_workbench.table.store import SUFFIX, Correction, TableStore

if TYPE_CHECKING:
    from lexloop.store.forgetting import Corpora, Forgotten, Removal, Target

FOLDER = "tables"
FORGETS = 20
_ASKED = "A question of this table, or its title, quotes the document: delete the table."


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


def quotes(removal: "Removal") -> bool:
    """Return whether a table has a row of the document."""
    for store in every_table():
        with suppress(LexloopError), closing(store):
            if _rows_of(removal.target, store, removal.corpora):
                return True
    return False


def forget(removal: "Removal", done: "Forgotten") -> None:
    """Delete the document's rows, and its quotes from corrections of other rows."""
    withdraw_quotes(removal.target, removal.corpora, done, removal.texts)


def withdraw_quotes(
    target: "Target", corpora: "Corpora", done: "Forgotten", texts: Sequence[str] = ()
) -> None:
    """Delete a document's rows from tables, and its quotes from corrections of other rows.

    Args:
        target: The document.
        corpora: Returns the corpora that a table's corpus may mean for its owner.
        done: Records the changes, and questions that quote the document.
        texts: The texts of the document, if they are still known.
    """
    for store in every_table():
        with done.trying(store.file), closing(store):
            info = store.info
            if not any(map(target.may_hold, corpora(info.owner, info.corpus))):
                continue
            rows = _rows_of(target, store, corpora)
            traces = Traces(lambda _: True, lambda *_: False)
            for text in (*texts, *store.quotes_of(rows)):
                traces.learn(text)
            if gone := store.forget(rows, partial(_mended, traces=traces)):
                done.touch("table", store.file, f"{gone} cells deleted")
            asked = (question.question for question in info.checklist.questions)
            if any(map(traces.quotes, (info.title, info.checklist.title, *asked))):
                done.leave(store.file, _ASKED, stays=True)


def _rows_of(target: "Target", store: TableStore, corpora: "Corpora") -> list[str]:
    """Return the names by which a table has a document."""
    may_be = corpora(store.info.owner, store.info.corpus)
    return [name for name in store.named() if any(target.is_of(corpus, name) for corpus in may_be)]


def _mended(correction: Correction, traces: Traces) -> Correction:
    texts = {name: getattr(correction, name) for name in ("answer", "note")}
    removed = {name: REMOVED for name, text in texts.items() if traces.quotes(text)}
    return correction.model_copy(update=removed) if removed else correction


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
