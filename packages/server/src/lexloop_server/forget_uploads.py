"""Forgetting of what was uploaded to a server: a file, and what kept answers have of it."""

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

    The caller must then write its index again. After a crash, the same order or ``resume`` starts
    again.

    Args:
        uploads: The store of the file.
        store: The store of the answers. Opinions are beside it.
        one: The collection.
        document: The name of the file.
        owner: The name of its owner. Others know it as OWNER~NAME.

    Raises:
        NotFoundError: There is no such file, nor was it forgotten before.
    """
    order = {"folder": str(one.folder), "document": document, "owner": owner}
    orders = Orders()
    if document not in one.files() and not orders.known(order):
        raise not_there(document, one.name, one.files())
    orders.begin(order)
    return _carried_out(uploads, store, order, orders)


def resume(uploads: UploadStore, store: ThreadStore) -> list[Uploaded]:
    """Carry out the orders of an earlier process; return the collections whose index follows."""
    orders, found = Orders(), list[Uploaded]()
    for order in orders.begun():
        if order.keys() == {"folder", "document", "owner"}:
            _carried_out(uploads, store, order, orders)
            found.append(_collection(order))
    return [one for one in found if one.folder.is_dir()]


def _carried_out(
    uploads: UploadStore, store: ThreadStore, order: Mapping[str, str], orders: Orders
) -> Forgotten:
    document, owner = order["document"], order["owner"]
    one, done = _collection(order), Forgotten()
    target = Target.of(str(one.documents), document)
    texts: list[str] = []
    with suppress(LexloopError, Error):
        texts = held_in(one.index, target).texts
    with done.trying(one.name), suppress(NotFoundError):
        uploads.remove(one, document)
        done.touch("upload", document, "deleted")

    def corpora(who: str, said: str) -> list[str]:
        own = said == one.name and who in ("", owner)
        return [str(one.documents)] if own or said == shared_name(owner, one.name) else []

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
