"""Forgetting of files: uploaded ones with what stored answers quote of them, and a person's own."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from sqlite3 import Error

from lexloop.apps.conversations import traces_of, withdraw
from lexloop.apps.shapes.record import shared_name
from lexloop.apps.threads import ThreadStore
from lexloop.core.configuration import data_folder
from lexloop.core.errors import LexloopError, NotFoundError
from lexloop.store.folder.forgetting import held_in
from lexloop.store.forgetting import Forgotten, Left, Removal, Target, not_there
from lexloop_server.forgetting import UPLOADS, Orders
from lexloop_server.homes import renamed
from lexloop_server.uploads import GONE, STAGED, Uploaded, UploadStore
from lexloop_workbench import tables

FORGETS = 40
_OWN = (
    "It is your own file: --delete-file deletes it. A question on its folder reads it again "
    "otherwise."
)
_RESTS = "It was being uploaded or deleted: the server removes it when it starts."


def delete(removal: Removal, done: Forgotten) -> None:
    """Delete an uploaded copy, and a person's own file only if the order says so."""
    uploads = Path(os.path.realpath(data_folder() / UPLOADS))
    for file in removal.target.files():
        with done.trying(file):
            if str(file) not in removal.target.places:
                why = "It has the document among others: take it out of this file."
                done.left.append(Left(str(file), why))
            elif file.is_relative_to(uploads):
                owner, name, _, *own = file.relative_to(uploads).parts
                UploadStore(uploads).remove(Uploaded(name, uploads / owner / name), "/".join(own))
                done.touch("upload", file, "deleted")
            elif removal.delete_file:
                file.unlink()
                done.touch("file", file, "deleted")
            else:
                done.left.append(Left(str(file), _OWN))


def settle(removal: Removal, done: Forgotten) -> None:
    """Record what a killed server left half uploaded or half deleted."""
    uploads = Path(os.path.realpath(data_folder() / UPLOADS))
    for place in map(Path, sorted(removal.target.places)):
        if place.is_relative_to(uploads) and place != uploads:
            owner, name, *_ = place.relative_to(uploads).parts
            home = uploads / owner
            rests = [*home.glob(f"{GONE}*"), *(home / name).glob(f"{STAGED}*")]
            done.left += [Left(str(rest), _RESTS) for rest in rests]


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
    tables.withdraw(target, corpora, done, texts)
    if done.over:
        orders.finish(order)
    return done


def _collection(order: Mapping[str, str]) -> Uploaded:
    """Return the present place of an order's collection. It may have moved since the order."""
    folder = Path(order["folder"])
    return Uploaded(folder.name, renamed(folder.parent) / folder.name)
