"""Forgetting of uploaded files, and of what stored answers quote of them."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from sqlite3 import Error

from lexloop.apps.feedback import FeedbackStore, feedback_file
from lexloop.apps.shapes.record import shared_name
from lexloop.apps.threads import ThreadStore
from lexloop.core.errors import LexloopError, NotFoundError
from lexloop_server.forgetting import (
    Forgotten,
    Orders,
    Target,
    held_in,
    not_there,
    traces_of,
    withdraw,
    withdraw_rows,
)
from lexloop_server.homes import renamed
from lexloop_server.uploads import Uploaded, UploadStore


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
    texts: list[str] = []
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

    opinions = FeedbackStore(feedback_file(store.file))
    withdraw(store, opinions, traces_of(target, corpora), done, texts)
    withdraw_rows(target, corpora, done, texts)
    if done.over:
        orders.finish(order)
    return done


def _collection(order: Mapping[str, str]) -> Uploaded:
    """Return the present place of an order's collection. It may have moved since the order."""
    folder = Path(order["folder"])
    return Uploaded(folder.name, renamed(folder.parent) / folder.name)
