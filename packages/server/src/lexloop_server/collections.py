"""The collections that people see, each with its view, and the engine that opens them."""

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from cachetools import LRUCache, cached
from pydantic import BaseModel

from lexloop.apps.shapes.record import owner_and_name, shared_name
from lexloop.apps.threads import LOCAL
from lexloop.apps.withdrawing import Traces, withdrawn
from lexloop.core.errors import (
    AccessError,
    ConflictError,
    CorpusError,
    DataError,
    InputError,
    LexloopError,
    ModelError,
    NotFoundError,
    SettingsError,
)
from lexloop.core.settings import Connection, Settings
from lexloop_server.indexing import removed_of
from lexloop_server.people import Person
from lexloop_server.settings import ServerSettings
from lexloop_server.sharing import Sharing
from lexloop_server.uploads import Uploaded, UploadStore

if TYPE_CHECKING:
    from lexloop.graph.build import Lexloop
    from lexloop.graph.resources import Resources
    from lexloop.store.provisions import Source
    from lexloop.store.view import View

_log = logging.getLogger("lexloop.serve")
Suggested: TypeAlias = "Callable[[View, Settings], list[str] | None]"
_AGENTS = 64
_TITLES = 5
_NAMED, _HEADS = 3, 5
_OPENERS = 4
_PATIENCE_S = 2.0
"""The longest that a list of collections waits for those that are being opened."""
_OPENING = "It is being read for the first time; its documents can be asked when that is done."
_SEE = "See /api/collections for those there are."


class ExampleBody(BaseModel):
    """A question that the documents were found to answer."""

    question: str


class TitledBody(BaseModel):
    """A document and its title."""

    document: str
    title: str


class CollectionBody(BaseModel):
    """A collection with its first titles. ``trouble`` says why it cannot be opened.

    If it is not ``mine``, it may be shared by its ``owner``, and ``may_change`` tells whether I may
    change its documents. While it is ``trying`` questions, it has no ``examples``.
    """

    name: str
    title: str
    description: str
    titles: list[TitledBody]
    documents: int
    chunks: int
    mine: bool
    owner: str = ""
    may_change: bool = False
    examples: list[ExampleBody]
    trying: bool = False
    trouble: str = ""


class Engine:
    """The graph and its resources, which are loaded on first use.

    Args:
        settings: The operator's settings, for all questions.
        connection: The address and key of models.
    """

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self.settings, self.connection = settings, connection
        self._opener: Future[Resources] = Future()
        self._loaded: Future[Lexloop] = Future()
        self._begun = False
        agents: LRUCache[Any, Lexloop] = LRUCache(_AGENTS)
        self._agent = cached(agents, lock=Lock())(self._built)

    def start(self, then: Callable[[], None] | None = None) -> None:
        """Begin to load; ``then`` opens what the first questions are likely to need after it."""
        if not self._begun:
            self._begun = True
            Thread(target=self._load, args=(then,), name="lexloop-load", daemon=True).start()

    def _load(self, then: Callable[[], None] | None) -> None:
        try:
            from lexloop.graph.resources import Resources

            resources = Resources(self.connection, self.settings)
            self._opener.set_result(resources)  # collections are listed before there is a graph

            from lexloop.graph.build import build_graph

            graph = build_graph(resources)
        except BaseException as error:  # noqa: BLE001 - all who wait get it, or would for ever
            if not self._opener.done():
                self._opener.set_exception(error)
            self._loaded.set_exception(error)
            return
        finally:
            gc.enable()  # `lexloop serve` starts without it
        self._loaded.set_result(graph)
        if then is not None:
            then()

    def wait(self) -> None:
        """Wait until collections can be opened, as they are needed."""
        self.start()
        self._opener.result()

    def graph(self) -> "Lexloop":
        """Return the graph; waits until it is loaded."""
        self.start()
        return self._loaded.result()

    @property
    def resources(self) -> "Resources":
        """Opens models and collections. Waits until it is loaded."""
        self.start()
        return self._opener.result()

    def agent(self, collections: Mapping[str, Settings]) -> "Lexloop":
        """Return the agent over collections, by the settings of each; waits until it is loaded."""
        return self._agent(tuple(collections.items()))

    def _built(self, collections: tuple[tuple[str, Settings], ...]) -> "Lexloop":
        from lexloop.graph.agent import build_agent_graph

        return build_agent_graph(dict(collections), self.resources)

    async def ready(self) -> "Lexloop":
        """Return the graph once it is loaded, without blocking the event loop."""
        self.start()
        # a caller who leaves must not end the loading, since others wait for it
        return await asyncio.shield(asyncio.wrap_future(self._loaded))

    def let_go(self) -> None:
        """Let go of collections that are others by now."""
        if self._opener.done() and self._opener.exception() is None:
            self.resources.let_go()

    def close(self) -> None:
        """Let go of the collections."""
        if self._begun and self._loaded.exception() is None:
            self.resources.close()


class Collections:
    """The collections that each person may see: the operator's and uploaded ones.

    A person's own collections are visible only to them and to people with whom they are shared,
    unless the server has no people.

    Args:
        server: The server's settings, with the operator's collections.
        engine: Opens collections.
        uploads: The uploaded collections.
        sharing: Their grants.
        suggested: Returns questions to begin with, or None while they are being looked for.
        named_alone: Whether only the operator's collections are visible.
    """

    def __init__(
        self,
        server: ServerSettings,
        engine: Engine,
        uploads: UploadStore,
        sharing: Sharing,
        suggested: Suggested,
        *,
        named_alone: bool = False,
    ) -> None:
        self._known = dict(server.collections)
        self._engine = engine
        self._uploads, self._sharing, self._suggested = uploads, sharing, suggested
        self._alone, self._named_alone = not server.with_people, named_alone
        self._lock = Lock()
        self._openers = ThreadPoolExecutor(_OPENERS, thread_name_prefix="lexloop-opening")
        self._opening: dict[tuple[str, Person], Future[View]] = {}
        self._opened: set[tuple[str, str]] = set()
        self._described: WeakKeyDictionary[View, str] = WeakKeyDictionary()

    def names(self, person: Person) -> list[str]:
        """Return the names of the collections that a person may ask, the operator's first."""
        held = self.held(person)
        return [
            *self._named(person),
            *(name for name, uploaded in held.items() if uploaded.indexed),
        ]

    def closed(self, person: Person, names: Iterable[str]) -> set[str]:
        """Return those collections of others, the operator's or shared, that a person sees no more.

        Args:
            person: Who saw them once.
            names: As they saw them.
        """
        operators = {*self._known}.difference(self._named(person)).intersection(names)
        shared = {name for name in names if owner_and_name(name)[0]}.difference(self.held(person))
        return operators | shared

    def called(self, reader: Person, owner: str, name: str) -> str | None:
        """Return a reader's name for a collection in another person's conversation.

        Args:
            reader: The reader.
            owner: The owner of the conversation.
            name: The collection's name, as the owner saw it.

        Returns:
            The name, or None if it may be the operator's or an uploaded one of that name.
        """
        holder, own = owner_and_name(name)
        uploaded = own in self._uploads.of(holder or owner)
        if name in self._known:
            return None if uploaded else name
        holder = holder or owner
        return own if holder == reader.name or self._alone else shared_name(holder, own)

    def settings(self, person: Person, name: str, **changes: Any) -> Settings:
        """Return the settings for a person's questions to a collection.

        Raises:
            NotFoundError: They have no such collection.
            ConflictError: It is not indexed yet.
            SettingsError: A change is not allowed.
        """
        granted: dict[str, Any] = {"access.tags": person.tags}
        if name in self._named(person):
            granted["corpus"] = self._known[name].corpus
        else:
            granted |= _of_index(self.uploaded(person, name))
        return self._engine.settings.changed(**{**changes, **granted})

    def view(self, person: Person, name: str, as_of: str = "any") -> "View":
        """Return a person's view of a collection, in force on a day or any day.

        Raises:
            NotFoundError: They have no such collection.
            LexloopError: It cannot be opened.
        """
        from lexloop.core.metadata import Filters

        settings = self.settings(person, name, **{"access.as_of": as_of})
        with opening():
            collection, _ = self._engine.resources.collection(settings)
        return collection.seen_by(Filters.of(settings))

    def meant(
        self, person: Person, named: str, collection: str | None
    ) -> "tuple[str, View, Source]":
        """Return the document that is meant, with its collection and view.

        Args:
            person: Who asks.
            named: The document's name, or the end of it.
            collection: Its collection, or None for all that the person sees.

        Raises:
            LexloopError: No document matches, or several do.
        """
        from lexloop.store.provisions import Source

        views = self.views(person, None if collection is None else [collection])
        candidates, error = [], None
        for name, view in views.items():
            try:
                candidates.append((name, view, Source.of(view, named)))
            except InputError as missing:
                error = missing
        exact = [candidate for candidate in candidates if candidate[2].name == named]
        for certain in (candidates, exact):
            if len(certain) == 1:
                return certain[0]
        if candidates:
            among = ", ".join(name for name, *_ in candidates)
            raise InputError(f"{named!r} is a document of {among}.", "Name one as `collection`.")
        if error is not None and len(views) == 1:
            raise error
        raise NotFoundError(f"There is no document {named!r}.", "See list_documents.")

    def views(
        self, person: Person, requested: Iterable[str] | None, as_of: str = "any"
    ) -> "dict[str, View]":
        """Return the views of the requested collections.

        If none was named, collections that cannot be opened are skipped.

        Raises:
            LexloopError: The person has no such collection, or it cannot be opened.
        """
        views: dict[str, View] = {}
        failed: LexloopError | None = None
        names = self.names(person) if requested is None else dict.fromkeys(requested)
        for name in names:
            try:
                views[name] = self.view(person, name, as_of)
            except (CorpusError, DataError, ModelError) as error:
                failed = error
        if failed is not None and (requested is not None or not views):
            raise failed
        return views

    def make(self, person: Person, name: str) -> Uploaded:
        """Make an empty collection of a person's own.

        Raises:
            InputError: It cannot be called so.
            ConflictError: They see one of that name.
        """
        return self._uploads.make(person.name, name, self._named(person))

    def uploaded(self, person: Person, name: str) -> Uploaded:
        """Return a collection that a person uploaded, or that is shared with them.

        Raises:
            NotFoundError: They have no such collection.
        """
        uploaded = self.held(person).get(name)
        if uploaded is None:
            raise NotFoundError(f"There is no collection {name!r}.", _SEE)
        return uploaded

    def changeable(self, person: Person, name: str) -> Uploaded:
        """Return a collection whose documents a person may change.

        Raises:
            NotFoundError: They have no such collection.
            AccessError: It is the operator's, or another person's who shares it for reading.
        """
        if name in self._named(person):
            raise AccessError(
                f"{name} is the operator's: it follows its folder.",
                "Make a collection of your own.",
            )
        uploaded = self.uploaded(person, name)
        if not self._may_change(person, name):
            raise AccessError(
                f"{name} is shared with you to be read.", "Ask its owner for the right to curate."
            )
        return uploaded

    def owned(self, person: Person, name: str) -> Uploaded:
        """Return a collection that a person may delete and share: one of their own.

        Raises:
            NotFoundError: They have no such collection.
            AccessError: It is another person's.
        """
        uploaded = self.changeable(person, name)
        if name not in self.own(person):
            raise AccessError(f"{name} is another's.", "Ask its owner.")
        return uploaded

    def _may_change(self, person: Person, name: str) -> bool:
        if not person.may_upload:
            return False
        shared = self._sharing.seen_by(person).get(name)
        return name in self.own(person) or (shared is not None and shared[1] == "curate")

    def records(self, person: Person) -> list[CollectionBody]:
        """Return the record of each of a person's collections, including those not indexed yet.

        One that takes long to open is listed without its contents, and opened in the background.
        """
        uploads = self.held(person)
        self._engine.wait()
        until = time.monotonic() + _PATIENCE_S
        names = [*self._named(person), *uploads]
        opening = {
            name: self._begun(person, name)
            for name in names
            if name not in uploads or uploads[name].indexed
        }
        own = self.own(person)
        records = []
        for name in names:
            record = self._record(person, name, opening.get(name), until)
            record.mine, record.owner = name in own, owner_and_name(name)[0]
            record.may_change = name in uploads and self._may_change(person, name)
            records.append(record)
        return records

    def open_aside(self) -> None:
        """Make the operator's first collection ready for questions; open the others aside."""
        anybody = Person(name=LOCAL)
        for place, name in enumerate(self._known):
            if place:
                with suppress(RuntimeError):  # the server has ended meanwhile
                    self._begun(anybody, name)
                continue
            with suppress(LexloopError):  # the caller gets the error
                self._engine.resources(self.settings(anybody, name))

    def unready(self, person: Person, names: Sequence[str]) -> dict[str, str]:
        """Return why some of a person's collections cannot be asked now, by their names.

        A collection that was never opened is opened in the background, with a short wait.

        Raises:
            NotFoundError: They have no such collection.
        """
        until = time.monotonic() + _PATIENCE_S
        new = [name for name in names if (person.name, name) not in self._opened]
        opening = {name: self._begun(person, name) for name in new}
        troubles: dict[str, str] = {}
        for name, view in opening.items():
            if trouble := self._trouble(name, view, until):
                troubles[name] = trouble
            else:
                self._opened.add((person.name, name))
        return troubles

    def _trouble(self, name: str, opening: "Future[View]", until: float) -> str:
        """Return why a collection cannot be read by then, or "" if it can."""
        try:
            opening.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            return _OPENING
        except NotFoundError:
            raise  # do not reveal whether others have one
        except LexloopError as error:
            _log.warning("The collection %s cannot be opened: %s", name, error)
            return "It cannot be opened; the server's log says why."
        return ""

    def let_go(self) -> None:
        """Let go of collections that are others by now."""
        with self._lock:
            self._opening = {
                key: future for key, future in self._opening.items() if not future.done()
            }
        self._engine.let_go()

    def kept(self, person: Person, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what may be kept of an answer: nothing of files that were removed meanwhile."""
        names = answer["collections"]
        files = {
            name: {*uploaded.files()}
            for name, uploaded in self.held(person).items()
            if name in names
        }
        if not files:
            return answer

        def is_gone(name: str, document: str) -> bool:
            above = (
                f"{document[:place]}"
                for place, character in enumerate(document)
                if character == "/"
            )
            return name in files and files[name].isdisjoint((document, *above))

        return withdrawn(answer, Traces(files.__contains__, is_gone))

    def close(self) -> None:
        """Open nothing more."""
        self._openers.shutdown(wait=False, cancel_futures=True)

    def _begun(self, person: Person, name: str) -> "Future[View]":
        """Return the opening of a collection. Only the first caller starts it."""
        key = (name, person)
        with self._lock:
            future = self._opening.get(key)
            if future is None or future.done():
                future = self._openers.submit(self.view, person, name)
                self._opening = {k: begun for k, begun in self._opening.items() if not begun.done()}
                self._opening[key] = future
            return future

    def _record(
        self, person: Person, name: str, opening: "Future[View] | None", until: float
    ) -> CollectionBody:
        configured = self._known[name] if name in self._named(person) else None
        trouble = self._trouble(name, opening, until) if opening is not None else ""
        view = opening.result() if opening is not None and not trouble else None
        passed = [] if view is None else self._suggested(view, self.settings(person, name))
        description = (configured and configured.description) or (
            "" if view is None else self._about(view)
        )
        return CollectionBody(
            name=name,
            title=(configured and configured.title) or name,
            description=description,
            titles=[
                TitledBody(document=document, title=title)
                for document, title in islice(view.titles.items() if view else (), _TITLES)
            ],
            documents=0 if view is None else len(view.documents),
            chunks=0 if view is None else len(view),
            mine=False,
            examples=[ExampleBody(question=question) for question in passed or ()],
            trying=passed is None,
            trouble=trouble,
        )

    def _about(self, view: "View") -> str:
        if view not in self._described:
            self._described[view] = _description_of(view)
        return self._described[view]

    def _named(self, person: Person) -> list[str]:
        visible = person.collections
        return [name for name in self._known if visible is None or name in visible]

    def held(self, person: Person) -> dict[str, Uploaded]:
        """Return a person's uploaded collections, and those that others share with them."""
        if self._alone or self._named_alone:
            return self.own(person)
        shared = self._sharing.seen_by(person)
        return {**self.own(person), **{name: uploaded for name, (uploaded, _) in shared.items()}}

    def own(self, person: Person) -> dict[str, Uploaded]:
        """Return a person's uploaded collections but those that the operator's hide."""
        if self._named_alone:
            return {}
        uploads = self._uploads.of(person.name)
        if self._alone:
            uploads = {**{uploaded.name: uploaded for uploaded in self._uploads.every()}, **uploads}
        hiding = {name.casefold() for name in self._named(person)}
        return {
            name: uploaded
            for name, uploaded in sorted(uploads.items())
            if name.casefold() not in hiding
        }


@contextmanager
def opening() -> Iterator[None]:
    """Report settings that an index was not made with as documents that cannot be read.

    The caller's settings were checked before. These are the operator's, and would reveal paths.

    Raises:
        CorpusError: Instead of a ``SettingsError``.
    """
    try:
        yield
    except SettingsError as error:
        raise CorpusError(error.what, error.hint) from error


def _of_index(uploaded: Uploaded) -> dict[str, Any]:
    """Return the settings that an uploaded collection was indexed with, and its corpus."""
    if not uploaded.indexed:
        raise ConflictError(
            f"{uploaded.name} is not indexed yet.", "Wait until its indexing is done."
        )
    manifest = uploaded.index / "manifest.json"
    recorded = _recorded(uploaded.index, manifest.stat().st_mtime_ns)
    # removed documents no longer answer, even before the index is updated
    return {**recorded, "access.without": removed_of(uploaded) if uploaded.change() else ()}


@lru_cache(maxsize=256)
def _recorded(index: Path, _: int) -> dict[str, Any]:
    from lexloop.store.manifest import Manifest

    manifest = Manifest.read(index)
    settings = {n: value for n, value in manifest.settings.items() if n != "model.name"}
    return {**settings, "corpus": str(index)}


def _description_of(view: "View") -> str:
    """Return one line on the documents: their jurisdictions, and what they define or regulate."""
    from lexloop.graph.collections import contents_of

    contents = contents_of("", {"": view})
    headings = contents["Defines"] or contents["About"]
    heads = [*contents["Jurisdictions"][:_NAMED], "; ".join(headings[:_HEADS])]
    return " · ".join(filter(None, heads))
