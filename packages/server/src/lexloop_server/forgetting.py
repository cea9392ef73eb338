"""Forgetting of a document: its text, and everything made of it, wherever Lexloop stores it.

Each step can be repeated with the same result, and what identifies the document is deleted last, so
running a killed order again finishes it. An order is noted in DATA/forgotten before the first step.
Once it is done, only the hash of its names stays.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import Any

from lexloop.apps.feedback import FeedbackStore, feedback_file
from lexloop.apps.shapes.record import owner_and_name
from lexloop.apps.threads import FILE_NAME, ThreadStore
from lexloop.apps.withdrawing import NOTE, Traces, withdrawn, without
from lexloop.core.configuration import data_folder
from lexloop.core.errors import CorpusError, DataError, LexloopError, NotFoundError
from lexloop.core.files import MANIFEST, cache_folder, is_index, sync, write_text
from lexloop.core.metadata import UNKNOWN, Filters, Metadata
from lexloop.core.settings import SAMPLE_CORPUS, Settings
from lexloop.core.text_cache import TextCache, replies_path
from lexloop.documents.reading.formats import is_source
from lexloop.documents.reading.workers import Progress, silent
from lexloop.graph.extractors import extractions_path
from lexloop.models.embedding import Embedder
from lexloop.store.address import is_address
from lexloop.store.engines import engines_for
from lexloop.store.folder.generations import (
    GENERATIONS,
    STAGING,
    drop,
    still_read,
    writing,
)
from lexloop.store.folder.texts import TextStore
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import manifest_at, sample_folder, tools_for
from lexloop.store.writer import remove_documents
from lexloop_server.audit import FOLDER as AUDIT
from lexloop_server.audit_lines import files
from lexloop_server.homes import home_of, rename_homes
from lexloop_workbench.tables import asks_with, every_table, forget_rows, holds_row

CHATS = "threads.sqlite"
UPLOADS = "collections"
_ORDERS = "forgotten"
_OWN = (
    "It is your own file: --delete-file deletes it. A question on its folder reads it again "
    "otherwise."
)
_ASKED = "A question of this table, or its title, quotes the document: delete the table."
_RESTS = "It was being uploaded or deleted: the server removes it when it starts."
_AUDITED = (
    "The audit log still has the name of the document, and the questions that were asked, as text "
    "unless it keeps them keyed. Each line holds the hash of the one before, so a single line "
    "cannot be removed. The operator can delete whole old files."
)
_PATIENCE_S, _POLL_S = 30.0, 0.2
"""How long a run waits for who reads an index; a server looks every 20 s whether it is another."""


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
        """Note what was done to a place."""
        self.touched.append(Touched(kind, str(where), done))

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


# --- which document


@dataclass(frozen=True)
class Target:
    """A document, or a source file with all its documents.

    Args:
        corpus: The corpus that should contain it: a folder, a file, an index or an address.
        name: Its name there.
        places: Its paths in the sources, or its names in indexes without sources.
        roots: The roots of these sources.
    """

    corpus: str
    name: str
    places: frozenset[str]
    roots: frozenset[str]

    @classmethod
    def of(cls, corpus: str, name: str) -> "Target":
        """Return the document of a name.

        Raises:
            NotFoundError: Nothing can be called so.
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
        manifest = manifest_at(corpus)
        sources = [*(manifest.sources if manifest else ()), IndexSource(_absolute(corpus))]
        places = frozenset(place for source in sources for place in _places(source, name))
        return cls(
            corpus, name, places, frozenset(source.path for source in sources if source.path)
        )

    def is_of(self, corpus: str, name: str) -> bool:
        """Return whether a document is this one, or one of this file.

        Of a corpus that was named by a path from some folder only the document's name is known.
        """
        if not is_address(corpus) and not os.path.isabs(corpus) and corpus != SAMPLE_CORPUS:
            return _below(name, self.name)
        places = (place for source in _sources(corpus) for place in _places(source, name))
        return any(_below(place, own) for place in places for own in self.places)

    def may_hold(self, corpus: str) -> bool:
        """Return whether a corpus may have this document."""
        if not is_address(corpus) and not os.path.isabs(corpus):
            return corpus != SAMPLE_CORPUS
        roots = (_real(source.path) for source in _sources(corpus) if source.path)
        return any(_below(own, root) for root in roots for own in self.places)

    def files(self) -> list[Path]:
        """Return the source files that it is, or lies in."""
        lying = (Path(place) for place in sorted(self.places) if "://" not in place)
        above = (ancestor for path in lying for ancestor in (path, *path.parents))
        # unlike Path.is_file this answers for a name that no file can have
        return [
            candidate
            for candidate in dict.fromkeys(above)
            if os.path.isfile(candidate) and is_source(candidate.name)
        ]


def _places(source: IndexSource, name: str) -> list[str]:
    """Return a document's possible paths. A source that is gone may have been a file."""
    if not name.startswith(source.prefix) or not source.path:
        return []
    root, own = _real(source.path), name.removeprefix(source.prefix)
    if "://" in root:
        return [f"{root}/{own}"]
    alone = [f"{os.path.dirname(root)}/{own}"] if _below(own, os.path.basename(root)) else []
    return alone if os.path.isfile(root) else [f"{root}/{own}", *alone]


def _real(path: str) -> str:
    """Return a path with its links resolved, and an address unchanged."""
    return path if "://" in path else os.path.realpath(path)


def _below(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}/")


def _absolute(corpus: str) -> str:
    return corpus if is_address(corpus) else os.path.abspath(os.path.expanduser(corpus))


@cache
def _sources(corpus: str) -> tuple[IndexSource, ...]:
    """Return the sources of a corpus by its former name. An index may be one as well."""
    if corpus == SAMPLE_CORPUS:
        return (IndexSource(str(sample_folder())),)
    own = (IndexSource(corpus),)
    return own if is_address(corpus) else (*(sources_in(Path(corpus)) or ()), *own)


def sources_in(index: Path) -> list[IndexSource] | None:
    """Return the sources of an index of any format, or None if it does not name them."""
    try:
        records = json.loads((index / MANIFEST).read_text(encoding="utf-8"))["sources"]
        return [IndexSource(str(record["path"]), str(record["prefix"])) for record in records]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def not_there(name: str, corpus: str, known: Sequence[str]) -> NotFoundError:
    """Return the error for a document that is not there, with the nearest names."""
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    suggestion = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    return NotFoundError(
        f"{corpus} has no document {name[:200]!r}, and nothing that is stored quotes one.",
        f"{suggestion}Name it as answers cite it.",
    )


# --- orders


class Orders:
    """The orders to forget that were begun or carried out, each in a file of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or data_folder() / _ORDERS

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
        day = datetime.now(UTC).date().isoformat()
        self._write(order, {"forgotten": day})

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


# --- answers and opinions

Corpora = Callable[[str, str], Sequence[str]]
"""Returns the corpora that a collection in a person's answer may mean."""


def traces_of(target: Target, corpora: Corpora) -> Callable[[str], Traces]:
    """Return a function that returns the traces of a document in a person's answers."""

    @cache
    def found(person: str) -> Traces:
        return Traces(
            lambda collection: any(map(target.may_hold, corpora(person, collection))),
            lambda collection, name: any(
                target.is_of(corpus, name) for corpus in corpora(person, collection)
            ),
        )

    return found


def withdraw(
    store: ThreadStore,
    feedback: FeedbackStore,
    traces: Callable[[str], Traces],
    done: Forgotten,
    texts: Sequence[str] = (),
) -> None:
    """Remove a document from kept answers and opinions. Opinions are changed first.

    Args:
        store: The store of the answers.
        feedback: The store of the opinions.
        traces: Returns the traces for a person's answers. "" stands for the author of an opinion
            on an answer that is not kept.
        done: Records the changes.
        texts: The texts of the document, if they are still known.
    """
    whose: dict[str, str] = {}
    emptied: set[str] = set()

    @cache
    def of(person: str) -> Traces:
        traces_found = traces(person)
        for text in texts:
            traces_found.learn(text)
        return traces_found

    def changed(person: str, answer: dict[str, Any]) -> Mapping[str, Any]:
        rest = withdrawn(answer, of(person))
        if rest["answer"] == NOTE:
            emptied.add(answer["id"])
        return rest

    with done.trying(store.file):
        for person, answer in store.every():
            whose[answer["id"]] = person
            of(person).note(answer)
    with done.trying(feedback.file):
        for id in feedback.rewrite(
            lambda opinion: without(opinion, of(whose.get(opinion["answer_id"], "")))
        ):
            done.touch("feedback", feedback.file, f"what was said of answer {id}")
    with done.trying(store.file):
        for _, thread, id in store.rewrite(changed):
            subject = "the answer" if id in emptied else "passages of the answer"
            done.touch("thread", store.file, f"{subject} {id} of thread {thread}")


def withdraw_rows(
    target: Target, corpora: Corpora, done: Forgotten, texts: Sequence[str] = ()
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
            may_be = corpora(info.owner, info.corpus)
            if not any(map(target.may_hold, may_be)):
                continue

            def is_of(name: str, may_be: Sequence[str] = may_be) -> bool:
                return any(target.is_of(corpus, name) for corpus in may_be)

            traces = Traces(lambda _: True, lambda *_: False)
            for text in (*texts, *store.quotes_of([*filter(is_of, store.named())])):
                traces.learn(text)
            if gone := forget_rows(store, is_of, traces.quotes):
                done.touch("table", store.file, f"{gone} cells deleted")
            if asks_with(store, traces.quotes):
                done.left.append(Left(str(store.file), _ASKED, stays=True))


def tell_of_audit_log(folder: Path | None, done: Forgotten) -> None:
    """Record that the audit log remains, if there is one."""
    if folder is not None and files(folder):
        done.left.append(Left(str(folder), _AUDITED, stays=True))


# --- indexes


def cached_indexes() -> list[Path]:
    """Return the folders of all cached indexes, of any format."""
    cache_ = cache_folder()
    return _folders(cache_) + _folders(cache_.parent / "engines")


def uploaded_indexes() -> list[Path]:
    """Return the indexes of what people uploaded to a server."""
    homes = _folders(data_folder() / UPLOADS)
    return [
        folder / "index"
        for home in homes
        for folder in _folders(home)
        if (folder / "index").is_dir()
    ]


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(
            folder for folder in place.iterdir() if folder.is_dir() and folder.name[0] != "."
        )
    except OSError:
        return []


@dataclass(frozen=True)
class Held:
    """What an index has of a document.

    Args:
        documents: Names of documents.
        files: Names of source files.
        others: Other documents, each with its metadata.
        texts: Of the documents.
        metadata: Of the documents.
    """

    documents: list[str]
    files: list[str]
    others: dict[str, Metadata]
    texts: list[str]
    metadata: list[Metadata]


def held_in(index: Path, target: Target) -> Held:
    """Return what an index of this format has of a document.

    Raises:
        DataError: It cannot be read.
    """
    manifest = Manifest.read(index)
    belongs = partial(target.is_of, str(index.absolute()))
    file = index / GENERATIONS / manifest.generation / TextStore.FILE
    with closing(TextStore.open(file)) as texts:
        rows = texts.rows("SELECT name, metadata FROM documents")
        metadata = {name: Metadata.from_record(json.loads(record)) for name, record in rows}
        own = [name for name in metadata if belongs(name)]
        rows_of = [texts.rows("SELECT text FROM documents WHERE name = ?", [name]) for name in own]
    return Held(
        documents=own,
        files=[name for name in manifest.fingerprints if belongs(name)],
        others={name: record for name, record in metadata.items() if name not in own},
        texts=[text for ((text,),) in rows_of],
        metadata=[metadata[name] for name in own],
    )


def take_out(
    index: Path,
    target: Target,
    embedder_of: Callable[[Settings], Embedder],
    done: Forgotten,
    progress: Progress = silent,
) -> None:
    """Rewrite an index without a document, or remove it if it has no other."""
    contents = held_in(index, target)
    if contents.documents or contents.files:
        if not contents.others:
            drop(index)
            done.touch("index", index, "removed: nothing else is in it")
            return
        settings = _bare(Manifest.read(index).settings)
        tools = tools_for(settings, embedder_of(settings))
        names = [*contents.documents, *contents.files]
        there = bool(target.files())
        remove_documents(index, names, tools, progress=progress, keep_out=there)
        done.touch("index", index, f"rewritten without {', '.join(contents.documents or names)}")


def tidy(index: Path, until: float, done: Forgotten) -> None:
    """Remove files of an index that nobody reads any more, and report those still in use."""
    while index.is_dir() and ((readers := still_read(index)) or (index / STAGING).is_dir()):
        with writing(index):
            shutil.rmtree(index / STAGING, ignore_errors=True)
        if not (readers := still_read(index)):
            return
        if time.monotonic() > until:
            why = f"Generation {readers[0]} is being read. End its reader, then run this again."
            done.left.append(Left(str(index), why))
            return
        time.sleep(_POLL_S)


# --- all of it


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
        _sources.cache_clear()
        done, orders = Forgotten(), Orders()
        order = {"corpus": _absolute(self.target.corpus), "document": self.target.name}
        texts = self._looked_up(orders.known(order))
        orders.begin(order)
        for store, corpora in self._stores():
            with closing(store):
                traces = traces_of(self.target, corpora)
                withdraw(store, FeedbackStore(feedback_file(store.file)), traces, done, texts)
        withdraw_rows(self.target, self._of_table, done, texts)
        tell_of_audit_log(data_folder() / AUDIT, done)
        self._empty_caches(done)
        self._delete_files(done)
        for index in self._own_indexes():
            with done.trying(index):
                take_out(index, self.target, self.embedder_of, done, progress)
        if is_address(self.target.corpus):
            with done.trying(self.target.corpus):
                self._take_out_of_engine(done, progress)
        self._tell_of_rests(done)
        self._tidy(done)
        if done.over:
            orders.finish(order)
        return done

    def _looked_up(self, known: bool) -> list[str]:
        """Return the texts of the document, as indexes have them.

        Raises:
            NotFoundError: They may see no such document, and there was no earlier order for it.
        """
        near: list[str] = []
        holdings: list[Held] = []
        for index in [*self._own_indexes(), *cached_indexes()]:
            with suppress(LexloopError, sqlite3.Error):
                if self.target.may_hold(str(index.absolute())) and is_index(index):
                    contents = held_in(index, self.target)
                    near += [
                        n for n, metadata in contents.others.items() if self.access.admits(metadata)
                    ]
                    holdings += [contents] if contents.documents or contents.files else []
        if is_address(self.target.corpus):
            contents = self._held_in_engine()
            near += [n for n, metadata in contents.others.items() if self.access.admits(metadata)]
            holdings += [contents] if contents.documents else []
        own = [metadata for contents in holdings for metadata in contents.metadata]
        hidden = bool(own) and not any(map(self.access.admits, own))
        there = known or holdings or self.target.files()
        if hidden or not (there or self._is_quoted()):
            raise not_there(self.target.name, self.target.corpus, near)
        return [text for contents in holdings for text in contents.texts]

    def _is_quoted(self) -> bool:
        """Return whether a kept answer or a table has something of the document."""
        for table in every_table():
            with suppress(LexloopError):
                if holds_row(table, self._is_row):
                    return True
        for store, corpora in self._stores():
            traces = traces_of(self.target, corpora)
            with closing(store), suppress(DataError):
                for person, answer in store.every():
                    if withdrawn(answer, traces(person)) != answer:
                        return True
        return False

    def _stores(self) -> list[tuple[ThreadStore, Corpora]]:
        """Return the files of conversations, and how the answers of each name their corpora."""
        data = data_folder()
        return [
            (ThreadStore(data / FILE_NAME), self._served),
            (ThreadStore(self.chats or data / CHATS), lambda _, collection: [collection]),
        ]

    def _served(self, person: str, collection: str) -> list[str]:
        """Return the corpora that a server's collection may mean: the operator's or uploaded."""
        if collection in self.collections:
            return [self.collections[collection]]
        uploads = data_folder() / UPLOADS
        owner, name = owner_and_name(collection)
        home = home_of(uploads, owner or person)
        own = [home] if home.is_dir() else _folders(uploads)
        folders = [home / name / "documents" for home in own if name in map(_name, _folders(home))]
        return [str(folder) for folder in folders] or [collection]

    def _is_row(self, owner: str, corpus: str, name: str) -> bool:
        """Return whether a row of a table is the document."""
        return any(self.target.is_of(place, name) for place in self._of_table(owner, corpus))

    def _of_table(self, owner: str, corpus: str) -> list[str]:
        """Return the corpora that a table's may be; who runs commands owns by no name."""
        return self._served(owner, corpus) if owner else [corpus]

    def _own_indexes(self) -> list[Path]:
        """Return the index that is named, and those of uploads which may have the document."""
        corpus = self.target.corpus
        own = [] if is_address(corpus) else [Path(os.path.expanduser(corpus)).absolute()]
        uploads = [index for index in uploaded_indexes() if self.target.may_hold(str(index))]
        return [index for index in dict.fromkeys((*own, *uploads)) if is_index(index)]

    def _empty_caches(self, done: Forgotten) -> None:
        """Drop what can be made again: indexes that have it, and all that models wrote."""
        root = cache_folder().parent
        for file, kind in ((replies_path(), "replies"), (extractions_path(), "extractions")):
            with done.trying(file):
                if file.exists():
                    with closing(TextCache(file, kind)) as texts:
                        if gone := texts.empty():
                            done.touch("cache", file, f"emptied of {gone} {kind} of models")
        for index in cached_indexes():
            with done.trying(index):
                if is_index(index) and self._holds(index):
                    drop(index)
                    done.touch("cache", index, "removed; it is rebuilt when needed")
        if (graphs := root / "graphs").is_dir():
            with done.trying(graphs):
                shutil.rmtree(graphs)
                done.touch("cache", graphs, "removed: copies of an engine's relations")

    def _holds(self, index: Path) -> bool:
        """Return whether a cached index has the document, or cannot say that it has not."""
        try:
            contents = held_in(index, self.target)
        except (LexloopError, sqlite3.Error, OSError, ValueError, KeyError):
            return sources_in(index) is None or self.target.may_hold(str(index))
        return bool(contents.documents or contents.files)

    def _delete_files(self, done: Forgotten) -> None:
        """Delete an uploaded copy, and a person's own file only if the order says so."""
        uploads = os.path.realpath(data_folder() / UPLOADS)
        for file in self.target.files():
            with done.trying(file):
                if str(file) not in self.target.places:
                    why = "It has the document among others: take it out of this file."
                    done.left.append(Left(str(file), why))
                elif _below(str(file), uploads):
                    _delete_upload(file, Path(uploads))
                    done.touch("upload", file, "deleted")
                elif self.delete_file:
                    file.unlink()
                    done.touch("file", file, "deleted")
                else:
                    done.left.append(Left(str(file), _OWN))

    def _tell_of_rests(self, done: Forgotten) -> None:
        """Record what a killed server left half uploaded or half deleted."""
        uploads = Path(os.path.realpath(data_folder() / UPLOADS))
        for place in sorted(self.target.places):
            if _below(place, str(uploads)) and place != str(uploads):
                owner, name, *_ = Path(place).relative_to(uploads).parts
                home = uploads / owner
                rests = [*home.glob(".deleted-*"), *(home / name).glob(".upload-*")]
                done.left += [Left(str(rest), _RESTS) for rest in rests]

    def _held_in_engine(self) -> Held:
        """Return what the engine that is named has of the document."""
        address, engines = self.target.corpus, engines_for(self.target.corpus)
        settings = _bare(engines.manifest_of(address).settings)
        with closing(engines.open_engine(address, self.embedder_of(settings))) as store:
            metadata = {
                name: store.catalogue.metadata.get(name, UNKNOWN) for name in store.catalogue.names
            }
            own = [name for name in metadata if self.target.is_of(address, name)]
            return Held(
                documents=own,
                files=[],
                others={name: record for name, record in metadata.items() if name not in own},
                texts=[store.document(name).text for name in own],
                metadata=[metadata[name] for name in own],
            )

    def _take_out_of_engine(self, done: Forgotten, progress: Progress) -> None:
        address, contents = self.target.corpus, self._held_in_engine()
        if contents.documents and not contents.others:
            why = "It has nothing else: delete the index in the engine."
            done.left.append(Left(address, why))
        elif contents.documents:
            engines = engines_for(address)
            settings = _bare(engines.manifest_of(address).settings)
            tools = tools_for(settings, self.embedder_of(settings))
            beside = cache_folder().parent / "engines" / _hashed(address)[:32]
            engines.remove_from_engine(address, contents.documents, beside, tools, progress)
            done.touch("engine", address, f"rewritten without {', '.join(contents.documents)}")

    def _tidy(self, done: Forgotten) -> None:
        until = time.monotonic() + _PATIENCE_S
        for index in [*self._own_indexes(), *cached_indexes()]:
            if not is_index(index) or self.target.may_hold(str(index)):
                with done.trying(index):
                    tidy(index, until, done)


def _delete_upload(file: Path, uploads: Path) -> None:
    """Delete an uploaded file; a server that runs or starts has its index follow."""
    from lexloop_server.uploads import Uploaded, UploadStore

    owner, name, _, *own = file.relative_to(uploads).parts
    UploadStore(uploads).remove(Uploaded(name, uploads / owner / name), "/".join(own))


def _bare(settings: Mapping[str, Any]) -> Settings:
    """Return the settings of an index as nothing but its embedder is needed for."""
    return Settings(**{**settings, "model.name": None, "index.triplets": "embedded"})


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _name(folder: Path) -> str:
    return folder.name
