"""What an index says of itself, for the commands that change it or look into it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexloop.corpus.index.manifest import Manifest, Source
    from lexloop.models.embedding import Embedder


def held_manifest(index: Path) -> "Manifest":
    """The manifest of an index.

    Raises:
        CorpusError: There is no index.
        DataError: It is damaged or of another make.
    """
    from lexloop.core.errors import CorpusError
    from lexloop.corpus.index.manifest import Manifest, is_index

    if not is_index(index):
        raise CorpusError(f"{index} is no index.", "Make one with `lexloop index DIR --out INDEX`.")
    return Manifest.read(index)


def embedder_of(manifest: "Manifest") -> "Embedder":
    """The embedder that an index was made with.

    Raises:
        LexloopError: It cannot be loaded.
    """
    from lexloop.core.settings import Connection
    from lexloop.models.embedders import load_embedder, setting_for

    name = setting_for(manifest.recipe.embedder, str(manifest.settings["embedder"]))
    return load_embedder(name, Connection.from_environment(os.environ))


def known_names(index: Path, manifest: "Manifest") -> set[str]:
    """The names of the documents and of the source files."""
    from lexloop.corpus.index.generations import GENERATIONS
    from lexloop.corpus.index.texts import TextStore

    texts = TextStore.open(index / GENERATIONS / manifest.generation / TextStore.FILE)
    try:
        return {*texts.names(), *manifest.fingerprints}
    finally:
        texts.close()


def restored(manifest: "Manifest", sources: "Sequence[Source]") -> list[str]:
    """The names that stay out when these sources are added: all but those that they hold."""
    from lexloop.corpus.index.scan import scan

    held = scan(sources).fingerprints if manifest.excluded else {}
    return [
        name
        for name in manifest.excluded
        if not any(name == file or name.startswith(f"{file}/") for file in held)
    ]
