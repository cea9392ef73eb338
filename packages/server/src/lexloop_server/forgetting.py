"""Orders to forget a document: its text, and everything made of it, wherever Lexloop stores it.

Each store forgets by itself; ``lexloop.store.forgetting`` describes how. An order is noted in
DATA/forgotten before the first store is asked. Once it is done, only the hash of its names stays.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Error
from typing import Any

from lexloop.apps.conversations import traces_of, withdraw
from lexloop.apps.shapes.record import owner_and_name, shared_name
from lexloop.apps.threads import FILE_NAME, ThreadStore
from lexloop.core.configuration import data_folder
from lexloop.core.errors import DataError, LexloopError, NotFoundError
from lexloop.core.files import sync, write_text
from lexloop.core.metadata import Filters
from lexloop.core.packages import stores_that
from lexloop.core.settings import Settings
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import Embedder
from lexloop.store.address import absolute, is_address
from lexloop.store.folder.forgetting import FOLDERS, held_in
from lexloop.store.forgetting import Corpora, Forgotten, Held, Removal, Target, not_there
from lexloop_server.homes import home_of, rename_homes, renamed
from lexloop_server.uploads import Uploaded, UploadStore

CHATS = "threads.sqlite"
UPLOADS = "collections"


class Orders:
    """The orders to forget that were begun or carried out, each in a file of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or data_folder() / "forgotten"

    def known(self, order: Mapping[str, str]) -> bool:
        """Return whether an order was begun before."""
        return self._file(order).exists()

    def begin(self, order: Mapping[str, str]) -> None:
        """Note an order until it is carried out.

        Raises:
            DataError: It cannot be written.
        """
        self._write(order, {"order": dict(order)})

    def finish(self, order: Mapping[str, str]) -> None:
        """Note the day on which an order was carried out, and forget its names as well."""
        self._write(order, {"forgotten": datetime.now(UTC).date().isoformat()})

    def begun(self) -> list[dict[str, str]]:
        """Return the orders that were not carried out."""
        orders: list[dict[str, str]] = []
        for file in sorted(self._folder.glob("*.json")):
            with suppress(OSError, ValueError, KeyError):
                orders.append(json.loads(file.read_text(encoding="utf-8"))["order"])
        return orders

    def _write(self, order: Mapping[str, str], record: Mapping[str, Any]) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_text(self._file(order), json.dumps(record))
            sync(self._folder)
        except OSError as error:
            raise DataError(
                f"What is to be forgotten cannot be noted in {self._folder}: {error}.",
                "Check the disk, or set LEXLOOP_DATA_DIR.",
            ) from error

    def _file(self, order: Mapping[str, str]) -> Path:
        names = json.dumps(dict(order), sort_keys=True).encode("utf-8", "surrogatepass")
        return self._folder / f"{hashlib.sha256(names).hexdigest()}.json"


@dataclass(frozen=True)
class Order:
    """An order to forget a document, given on this machine.

    Args:
        target: The document.
        access: The access of the person giving the order. Documents hidden from them are ignored.
        embedder_of: Loads the embedder of an index.
        collections: The corpora of a server's collections, by name.
        chats: The file of chats, or None for the user's own.
        delete_file: Whether to delete the document's own file, even if it is not an upload.
    """

    target: Target
    access: Filters
    embedder_of: Callable[[Settings], Embedder]
    collections: Mapping[str, str] = field(default_factory=dict)
    chats: Path | None = None
    delete_file: bool = False

    def run(self, progress: Progress = silent) -> Forgotten:
        """Forget the document.

        Raises:
            NotFoundError: There is no document with that name, or they may not see it.
            DataError: The data folder cannot be written.
        """
        rename_homes(data_folder() / UPLOADS)
        done, orders = Forgotten(), Orders()
        order = {"corpus": absolute(self.target.corpus), "document": self.target.name}
        removal = Removal(
            self.target,
            lambda owner, corpus: self._served(owner, corpus) if owner else [corpus],
            self._stores(),
            self._indexes(),
            self.embedder_of,
            self.delete_file,
            progress,
        )
        removal.texts = self._looked_up(removal, orders.known(order))
        orders.begin(order)
        for step in ("forget", "delete", "settle"):
            for act in stores_that(step):
                act(removal, done)
        if done.over:
            orders.finish(order)
        return done

    def _looked_up(self, removal: Removal, known: bool) -> list[str]:
        """Return the texts of the document, as indexes have them.

        Raises:
            NotFoundError: They may see no such document, and there was no earlier order for it.
        """
        indexes: list[Held] = [one for find in stores_that("held") for one in find(removal)]
        others = [item for contents in indexes for item in contents.others.items()]
        near = [name for name, metadata in others if self.access.admits(metadata)]
        own = [metadata for contents in indexes for metadata in contents.documents.values()]
        hidden = bool(own) and not any(map(self.access.admits, own))
        there = known or self.target.files() or any(one.documents or one.files for one in indexes)
        if hidden or not (there or any(quotes(removal) for quotes in stores_that("quotes"))):
            raise not_there(self.target.name, self.target.corpus, near)
        return [text for contents in indexes for text in contents.texts]

    def _stores(self) -> list[tuple[Path, Corpora]]:
        """Return the files of conversations, and how the answers of each name their corpora."""
        return [
            (data_folder() / FILE_NAME, self._served),
            (self.chats or data_folder() / CHATS, lambda _, collection: [collection]),
        ]

    def _served(self, person: str, collection: str) -> list[str]:
        """Return the corpora that a server's collection may mean: the operator's or uploaded."""
        if collection in self.collections:
            return [self.collections[collection]]
        uploads = data_folder() / UPLOADS
        owner, name = owner_and_name(collection)
        home = home_of(uploads, owner or person)
        own = [home] if home.is_dir() else sorted(uploads.glob(FOLDERS))
        folders = [
            home / name / "documents"
            for home in own
            if name in (folder.name for folder in home.glob(FOLDERS))
        ]
        return [str(folder) for folder in folders] or [collection]

    def _indexes(self) -> list[Path]:
        """Return the index that is named, and those of uploads which may have the document."""
        corpus = self.target.corpus
        own = [] if is_address(corpus) else [Path(os.path.expanduser(corpus)).absolute()]
        uploads = sorted((data_folder() / UPLOADS).glob(f"{FOLDERS}{FOLDERS}index"))
        own += [index for index in uploads if self.target.may_hold(str(index))]
        return list(dict.fromkeys(own))


def forget_upload(
    uploads: UploadStore, store: ThreadStore, one: Uploaded, document: str, owner: str
) -> Forgotten:
    """Forget an uploaded file. It is deleted first, so that no later answer can quote it.

    The caller must then rewrite its index. After a crash, repeat the same order or call ``resume``.

    Args:
        uploads: The store of the file.
        store: The store of the answers. Opinions are beside it.
        one: The collection.
        document: The name of the file.
        owner: The name of its owner. Others know it as OWNER~NAME.

    Raises:
        NotFoundError: There is no such file, and none was forgotten.
    """
    order = {"folder": str(one.folder), "document": document, "owner": owner}
    orders = Orders()
    if document not in one.files() and not orders.known(order):
        raise not_there(document, one.name, one.files())
    orders.begin(order)
    return _carried_out(uploads, store, order, orders)


def resume(uploads: UploadStore, store: ThreadStore) -> list[Uploaded]:
    """Carry out an earlier process's orders, and return the collections to index again."""
    orders, affected = Orders(), list[Uploaded]()
    for order in orders.begun():
        if order.keys() == {"folder", "document", "owner"}:
            _carried_out(uploads, store, order, orders)
            affected.append(_collection(order))
    return [collection for collection in affected if collection.folder.is_dir()]


def _carried_out(
    uploads: UploadStore, store: ThreadStore, order: Mapping[str, str], orders: Orders
) -> Forgotten:
    document, owner = order["document"], order["owner"]
    collection, done = _collection(order), Forgotten()
    target = Target.of(str(collection.documents), document)
    texts: Sequence[str] = ()
    with suppress(LexloopError, Error):
        texts = held_in(collection.index, target).texts
    with done.trying(collection.name), suppress(NotFoundError):
        uploads.remove(collection, document)
        done.touch("upload", document, "deleted")

    def corpora(person: str, said: str) -> list[str]:
        own = said == collection.name and person in ("", owner)
        return (
            [str(collection.documents)]
            if own or said == shared_name(owner, collection.name)
            else []
        )

    withdraw(store, traces_of(target, corpora, texts), done)
    for withdraw_quotes in stores_that("withdraw_quotes"):
        withdraw_quotes(target, corpora, done, texts)
    if done.over:
        orders.finish(order)
    return done


def _collection(order: Mapping[str, str]) -> Uploaded:
    """Return the present place of an order's collection. It may have moved since the order."""
    folder = Path(order["folder"])
    return Uploaded(folder.name, renamed(folder.parent) / folder.name)
