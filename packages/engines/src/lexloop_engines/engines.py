"""What Lexloop asks of indexes in engines, which it finds by the product of an address."""

import os
from contextlib import closing

from lexloop.core.metadata import UNKNOWN
from lexloop.store.address import beside, is_address
from lexloop.store.forgetting import Forgotten, Held, Removal
from lexloop_engines.engine.client import credentials_in
from lexloop_engines.engine.moving import (
    pull_index,
    push_index,
    remove_from_engine,
    verify_engine,
)
from lexloop_engines.engine.store import manifest_of, open_engine, stamp_of

__all__ = [
    "FORGETS",
    "delete",
    "held",
    "manifest_of",
    "open_engine",
    "pull_index",
    "push_index",
    "remove_from_engine",
    "signs_in",
    "stamp_of",
    "verify_engine",
]

FORGETS = 60


def signs_in() -> bool:
    """Return whether the environment has credentials for an engine."""
    return bool(credentials_in(os.environ))


def held(removal: Removal) -> list[Held]:
    """Return what the index at an address has of the document.

    Raises:
        LexloopError: The engine failed, or has no such index.
    """
    address, is_of = removal.target.corpus, removal.target.is_of
    if not is_address(address):
        return []
    embedder = removal.tools_of(manifest_of(address).settings).embedder
    with closing(open_engine(address, embedder)) as store:
        known, names = store.catalogue.metadata, store.catalogue.names
        return [
            Held.of(
                {name: known.get(name, UNKNOWN) for name in names},
                lambda name: is_of(address, name),
                lambda name: store.document(name).text,
            )
        ]


def delete(removal: Removal, done: Forgotten) -> None:
    """Rewrite the index at an address without the document."""
    address = removal.target.corpus
    with done.trying(address):
        for contents in held(removal):
            if contents.documents and not contents.others:
                done.leave(address, "It has nothing else: delete the index in the engine.")
            elif contents.documents:
                tools = removal.tools_of(manifest_of(address).settings)
                names = [*contents.documents]
                remove_from_engine(address, names, beside(address), tools, removal.progress)
                done.touch("engine", address, f"rewritten without {', '.join(names)}")
