"""Indexes that commands name, on this machine or in an engine: what made them reads them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.settings import Connection

if TYPE_CHECKING:
    from lexloop.models.embedding import Embedder
    from lexloop.store.manifest import Manifest


def manifest_in(index: Path) -> "Manifest":
    """Return the manifest of an index on this machine.

    Raises:
        InputError: It is an address, which only some commands take.
        CorpusError: There is none.
        DataError: It is damaged.
    """
    from lexloop.core.files import is_index
    from lexloop.store.manifest import Manifest

    refuse_address(
        index, "Change the index on this machine, then `lexloop index push INDEX ADDRESS`."
    )
    if not is_index(index):
        raise CorpusError(f"{index} is no index.", "Make one with `lexloop index DIR --out INDEX`.")
    return Manifest.read(index)


def refuse_address(path: Path, hint: str) -> None:
    """Refuse the address of an index in an engine where a path is asked for.

    Raises:
        InputError: It is one.
    """
    from lexloop.store.engine.address import is_address

    typed = str(path).replace(":/", "://", 1)  # a path has one slash where an address has two
    if is_address(typed):
        raise InputError(
            f"{typed} is an address in an engine, and this command takes a folder.", hint
        )


def manifest_named(index: str) -> "Manifest":
    """Return the manifest of an index, by its folder or by its address in an engine.

    Raises:
        CorpusError: There is none.
        DataError: It is damaged.
        EngineError: The engine cannot be used.
    """
    from lexloop.store.engine.address import is_address
    from lexloop.store.engine.store import manifest_of

    return manifest_of(index) if is_address(index) else manifest_in(Path(index))


def embedder_of(manifest: "Manifest") -> "Embedder":
    """Return the embedder that made the vectors of an index.

    Raises:
        LexloopError: It cannot be loaded.
    """
    from lexloop.models.embedders import load_embedder

    name = str(manifest.settings["index.embedder"])
    return load_embedder(name, Connection.from_environment(os.environ))
