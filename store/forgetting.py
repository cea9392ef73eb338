"""Forgetting of a document: which document is meant, and what was done.

Every store is a module with an entry point in the group ``lexloop.stores``. It has ``FORGETS``, the
number by which stores are sorted, and any of these functions. An order calls each function of all
stores before the next one.

* ``held(removal) -> list[Held]``: what its indexes have of the document.
* ``quotes(removal) -> bool``: whether it has something made of the document. This is only asked for
  a document that is not in any index.
* ``forget(removal, done)``: removes what quotes the document, and what can be made again.
* ``delete(removal, done)``: removes the document itself. What identifies it is deleted last.
* ``settle(removal, done)``: removes or reports what is still in use.

They record what they did in ``done``, and can be repeated with the same result, so running a killed
order again finishes it.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from lexloop.core.errors import CorpusError, LexloopError, NotFoundError
from lexloop.core.metadata import Metadata
from lexloop.core.settings import SAMPLE_CORPUS, Settings
from lexloop.documents.reading.formats import is_source
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import Embedder
from lexloop.store.address import absolute, is_address
from lexloop.store.manifest import IndexSource, sources_in
from lexloop.store.opening import manifest_at, sample_folder, tools_for
from lexloop.store.preparing import Tools

Corpora = Callable[[str, str], Sequence[str]]
"""Returns the corpora that a collection or corpus may mean for a person."""


@dataclass(frozen=True)
class Touched:
    """A place from which something was removed: its kind, its path, and what was done."""

    kind: str
    where: str
    done: str


@dataclass(frozen=True)
class Left:
    """A place where something remains, and why.

    Args:
        where: The place.
        why: The reason, and what can be done.
        stays: Whether repeating the order would leave it there as well.
    """

    where: str
    why: str
    stays: bool = False


@dataclass
class Forgotten:
    """The outcome of an order."""

    touched: list[Touched] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def touch(self, kind: str, where: object, done: str) -> None:
        """Record what was done to a place."""
        self.touched.append(Touched(kind, str(where), done))

    def leave(self, where: object, why: str, stays: bool = False) -> None:
        """Note that something remains at a place, and why; see ``Left``."""
        self.left.append(Left(str(where), why, stays))

    @property
    def over(self) -> bool:
        """True if the same order has nothing more to do."""
        return all(place.stays for place in self.left)

    @contextmanager
    def trying(self, where: object) -> Iterator[None]:
        """Record an error as something left at a place, and continue."""
        try:
            yield
        except (LexloopError, OSError, sqlite3.Error) as error:
            remaining = Left(str(where), str(error))
            self.left += [remaining] if remaining not in self.left else []


@dataclass(frozen=True)
class Target:
    """A document, or a source file with all its documents.

    Args:
        corpus: The corpus that should contain it: a folder, a file, an index or an address.
        name: Its name there.
        places: Its paths in the sources, or its names in indexes without sources.
    """

    corpus: str
    name: str
    places: frozenset[str]

    @classmethod
    def of(cls, corpus: str, name: str) -> "Target":
        """Return the document of a name.

        Raises:
            NotFoundError: The name cannot be a document's.
            LexloopError: The corpus is an index that cannot be read.
        """
        parts = name.split("/")
        if "\0" in name or not {"", ".", ".."}.isdisjoint(parts):
            raise not_there(name, corpus, [])
        if corpus == SAMPLE_CORPUS:
            raise CorpusError(
                "The sample comes with Lexloop and is nobody's to forget.",
                "Name your documents with --corpus.",
            )
        _sources.cache_clear()  # an index may have changed since the order before
        manifest = manifest_at(corpus)
        sources = [*(manifest.sources if manifest else ()), IndexSource(absolute(corpus))]
        places = (place for source in sources for place in _places(source, name))
        return cls(corpus, name, frozenset(places))

    def is_of(self, corpus: str, name: str) -> bool:
        """Return whether a document is this one, or comes from this file.

        If a corpus was named by a path from another folder, only the document's name is known.
        """
        if not is_address(corpus) and not os.path.isabs(corpus) and corpus != SAMPLE_CORPUS:
            return _below(name, self.name)
        places = (place for source in _sources(corpus) for place in _places(source, name))
        return any(_below(place, target_place) for place in places for target_place in self.places)

    def may_hold(self, corpus: str) -> bool:
        """Return whether a corpus may have this document."""
        if not is_address(corpus) and not os.path.isabs(corpus):
            return corpus != SAMPLE_CORPUS
        roots = (_real(source.path) for source in _sources(corpus) if source.path)
        return any(_below(target_place, root) for root in roots for target_place in self.places)

    def files(self) -> list[Path]:
        """Return the source files that the name refers to, or that contain it."""
        paths = (Path(place) for place in sorted(self.places) if "://" not in place)
        # unlike Path.is_file this accepts names that no file can have
        return [
            candidate
            for candidate in dict.fromkeys(
                place for path in paths for place in (path, *path.parents)
            )
            if os.path.isfile(candidate) and is_source(candidate.name)
        ]


def _places(source: IndexSource, name: str) -> list[str]:
    """Return a document's possible paths. A source that is gone may have been a file."""
    if not name.startswith(source.prefix) or not source.path:
        return []
    root, path = _real(source.path), name.removeprefix(source.prefix)
    if "://" in root:
        return [f"{root}/{path}"]
    alone = [f"{os.path.dirname(root)}/{path}"] if _below(path, os.path.basename(root)) else []
    return alone if os.path.isfile(root) else [f"{root}/{path}", *alone]


def _real(path: str) -> str:
    """Return a path with its links resolved, and an address unchanged."""
    return path if "://" in path else os.path.realpath(path)


def _below(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}/")


@cache
def _sources(corpus: str) -> tuple[IndexSource, ...]:
    """Return the sources of a corpus by its former name, which may be an index."""
    if corpus == SAMPLE_CORPUS:
        return (IndexSource(str(sample_folder())),)
    folder = (IndexSource(corpus),)
    return folder if is_address(corpus) else (*(sources_in(Path(corpus)) or ()), *folder)


def not_there(name: str, corpus: str, known: Sequence[str]) -> NotFoundError:
    """Return the error for a document that is not there, with the nearest names."""
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    suggestion = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    return NotFoundError(
        f"{corpus} has no document {name[:200]!r}, and nothing that is stored quotes one.",
        f"{suggestion}Name it as answers cite it.",
    )


@dataclass(frozen=True)
class Held:
    """The parts of a document in an index.

    Args:
        documents: Its documents, each with its metadata.
        files: Names of source files.
        others: Other documents.
        texts: Texts of the documents.
    """

    documents: Mapping[str, Metadata]
    files: Sequence[str]
    others: Mapping[str, Metadata]
    texts: Sequence[str]

    @classmethod
    def of(
        cls,
        metadata: Mapping[str, Metadata],
        is_own: Callable[[str], bool],
        text_of: Callable[[str], str],
        files: Collection[str] = (),
    ) -> "Held":
        """Return what an index with these documents and source files holds of one."""
        concerned = {name: record for name, record in metadata.items() if is_own(name)}
        others = {name: record for name, record in metadata.items() if name not in concerned}
        return cls(concerned, [*filter(is_own, files)], others, [*map(text_of, concerned)])


@dataclass
class Removal:
    """A document to remove from all stores, with what they need to know to do it.

    Args:
        target: The document.
        corpora: Returns the corpora that a table's corpus may mean for its owner.
        conversations: The files of conversations. Each has a function that returns the corpora
            that a collection in a person's answer may mean.
        indexes: Folders that may be indexes with the document, besides cached ones.
        embedder_of: Loads the embedder of an index.
        delete_file: Whether to delete the document's own file, even if it is not an upload.
        progress: Called with a stage's name, the number done and the total.
        texts: Texts of the document that indexes still have.
    """

    target: Target
    corpora: Corpora
    conversations: Sequence[tuple[Path, Corpora]]
    indexes: Sequence[Path]
    embedder_of: Callable[[Settings], Embedder]
    delete_file: bool = False
    progress: Progress = silent
    texts: Sequence[str] = ()

    def tools_of(self, settings: Mapping[str, Any]) -> Tools:
        """Return the tools to rewrite an index with these settings; no model is loaded."""
        bare = Settings(**{**settings, "model.name": None, "index.triplets": "embedded"})
        return tools_for(bare, self.embedder_of(bare))
