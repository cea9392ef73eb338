"""Models, collections and contexts of runs, made here alone and cached."""

import gc
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from threading import Condition
from typing import Any, Self

from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from lexloop.core.configuration import configured
from lexloop.core.deadline import Deadline, within
from lexloop.core.errors import DataError, ModelError, SettingsError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Degradation
from lexloop.documents.reading.workers import Progress, silent
from lexloop.graph.contexts import build_context
from lexloop.graph.extractors import Budget, extractor_for
from lexloop.graph.node import CONTEXT_KEY
from lexloop.models.chat import ChatModel, connect
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import Embedder
from lexloop.nodes.context import Context
from lexloop.store.opening import corpus_stamp, left_out, open_corpus, tools_for
from lexloop.store.preparing import Tools
from lexloop.store.view import Collection

_CACHED = 16
Opened = tuple[Collection, list[Degradation]]
_BY_MODEL = (
    "retrieval.rewriter",
    "answer.generator",
    "loop.evaluator",
    "loop.prompt_engineer",
    "index.triplets",
)


class _Shelf(LRUCache[Any, Opened]):
    """The collections that are open, each with ten files or so.

    Their caches refer to them, so those put out wait for the garbage collector; it is called before
    as many of them wait as there are open.
    """

    _gone = 0

    def popitem(self) -> tuple[Any, Opened]:
        self._gone += 1
        if self._gone % _CACHED == 0:
            gc.collect()
        return super().popitem()


class Resources:
    """The models, collections and contexts of runs, made by their settings and cached.

    Safe to use from several threads: while one makes something, only those that ask for the same
    wait. Close it when done, which lets go of the collections.

    Args:
        connection: Where models are reached.
        defaults: The settings of a run that brings none.
        progress: Told how far the opening of a corpus has come.

    ``defaults`` are kept.
    """

    def __init__(
        self,
        connection: Connection | None = None,
        defaults: Settings | None = None,
        progress: Progress = silent,
    ) -> None:
        self.connection = connection or Connection()
        self.defaults = defaults or Settings()
        self._progress = progress
        self._contexts: LRUCache[Any, Context] = LRUCache(_CACHED)
        self._collections = _Shelf(_CACHED)
        self._made = cached(self._contexts, condition=Condition())(self._make)
        self._loaded = cached(LRUCache(_CACHED), condition=Condition())(self._load)
        self._opened = cached(self._collections, _corpus_key, condition=Condition())(self._open)

    @classmethod
    def configured(cls) -> Self:
        """Return the resources that settings files and the environment ask for.

        Raises:
            SettingsError: One of them holds what is no setting or no value.
        """
        return cls(Connection.from_environment(os.environ), configured())

    def __call__(self, brought: Any, snapshot: str | None = None) -> Context:
        """Return the context of a run that brings None, ``Settings``, or a parent graph's context.

        Args:
            brought: What the run brings.
            snapshot: The day and the state of the corpus that the question is being answered
                from; None for today's. A corpus that changes meanwhile changes the next question's
                answer, not half of this one's, and midnight likewise; only a corpus that is no
                longer open is read as it is now.

        Raises:
            LexloopError: Settings, corpus, data or model cannot be used.
        """
        settings = settings_of(brought, self.defaults)
        if snapshot is None or hashkey(settings, snapshot) not in self._contexts:
            day = snapshot.partition(" ")[0] if snapshot else str(date.today())
            snapshot = f"{day} {corpus_stamp(settings.corpus)}"
        return self._made(settings, snapshot)

    def chat(self, settings: Settings) -> ChatModel | None:
        """Return the model that the settings name; None where they name none.

        Raises:
            LexloopError: It cannot be used.
        """
        return connect(settings, self.connection) if settings.model.name else None

    def embedder(self, settings: Settings) -> Embedder:
        """Return the embedder that the settings name.

        Raises:
            LexloopError: It cannot be loaded.
        """
        allowed_s = settings.deadline_s
        with within(Deadline(time.monotonic() + allowed_s, allowed_s)):
            return self._loaded(settings.index.embedder)

    def tools(
        self, settings: Settings, chat: ChatModel | None, budget: Budget | None = None
    ) -> Tools:
        """Return the tools that cut, embed and relate documents.

        Raises:
            LexloopError: The settings ask for a model that cannot be used.
        """
        extractor, extract = extractor_for(settings, chat, budget)
        return tools_for(settings, self.embedder(settings), extract, extractor)

    def collection(self, settings: Settings) -> Opened:
        """Return the corpus as the settings cut and embed it, and the problems of its cached index.

        Raises:
            LexloopError: It is missing, damaged, or was built with another embedder.
        """
        tools = self.tools(settings, self.chat(settings))
        return self._opened(settings.corpus, corpus_stamp(settings.corpus), tools)

    def over(self, settings: Settings, collection: Collection) -> Context:
        """Return the context of the settings over a collection."""
        return build_with_fallbacks(settings, collection, self.chat(settings))

    def close(self) -> None:
        """Let go of the collections."""
        for collection, _ in self._collections.values():
            collection.close()
        self._collections.clear()
        self._contexts.clear()

    def _load(self, name: str) -> Embedder:
        return load_embedder(name, self.connection)

    def _open(self, corpus: str, stamp: str, tools: Tools) -> Opened:
        return open_corpus(corpus, tools, self._progress)

    def _make(self, settings: Settings, snapshot: str) -> Context:
        day, _, stamp = snapshot.partition(" ")
        if settings.access.as_of == "today":
            settings = settings.changed(**{"access.as_of": day})
        chat, missing = self._chat_or_none(settings)
        if missing:
            settings = embedded_only(settings)
        collection, troubles = self._collection(settings, stamp, chat)
        unread = left_out(collection.seen_by(Filters.of(settings)))
        made = build_with_fallbacks(settings, collection, chat)
        return replace(made, snapshot=snapshot, degraded=[*missing, *unread, *troubles])

    def _chat_or_none(self, settings: Settings) -> tuple[ChatModel | None, list[Degradation]]:
        try:
            return self.chat(settings), []
        except ModelError as error:
            if not settings.model.fallback or settings.retrieval.source == "none":
                raise
            return None, [_lost("model", str(settings.model.name), error)]

    def _collection(self, settings: Settings, stamp: str, chat: ChatModel | None) -> Opened:
        """Return the collection; where a model fails, that of its stand-in, with the loss noted."""
        try:
            return self._opened(settings.corpus, stamp, self.tools(settings, chat))
        except ModelError as error:
            if not settings.model.fallback or not (error.embedder or chat):
                raise
            failed = error
        if failed.embedder:
            lost = _lost("index", f"index.embedder={settings.index.embedder}", failed)
            settings = settings.changed(**{"index.embedder": "embedded"})
        else:
            lost = _lost("index", f"triplets by {settings.model.name}", failed)
            settings, chat = embedded_only(settings), None
        try:
            collection, troubles = self._collection(settings, stamp, chat)
        except DataError as error:
            if not failed.embedder:
                raise
            raise failed from error  # an index whose vectors no other embedder can search
        return collection, [*troubles, lost]


def _corpus_key(corpus: str, stamp: str, tools: Tools) -> Any:
    return hashkey(corpus, stamp, tools.recipe)


def build_with_fallbacks(
    settings: Settings, collection: Collection, chat: ChatModel | None
) -> Context:
    """Return the context that the settings name, with stand-ins for its chat model and embedder."""
    made = build_context(settings, collection, chat)
    fallback = unembedded = None
    if settings.model.fallback and chat is not None and settings.retrieval.source != "none":
        fallback = build_with_fallbacks(embedded_only(settings), collection, None)
    if settings.model.fallback and collection.embedder.name.startswith("openai:"):
        spare = load_embedder("embedded", Connection())
        unembedded = build_with_fallbacks(
            settings, collection.embedded_by(spare, words_only=True), chat
        )
    return replace(made, fallback=fallback, unembedded=unembedded)


def settings_of(context: Any, defaults: Settings) -> Settings:
    """Return the settings in a run's context, or the defaults.

    A graph that embeds this one may have a context of its own, a mapping or any object; it passes
    settings on under the key or attribute ``lexloop``. Its other fields are never read: a parent's
    ``model`` is no permission to send the documents there.

    Raises:
        SettingsError: What lies under ``lexloop`` holds no settings, or one is outside its
            allowed values.
    """
    if isinstance(context, Settings):
        return context
    if isinstance(context, Mapping):
        passed = context.get(CONTEXT_KEY)
    else:
        passed = getattr(context, CONTEXT_KEY, None)
    if passed is None:
        return defaults
    if isinstance(passed, Settings):
        return passed
    if isinstance(passed, Mapping):
        return defaults.changed(**passed)
    raise SettingsError(
        f"`{CONTEXT_KEY}` in the context is a {type(passed).__name__}, not settings.",
        "Pass Settings or a mapping of settings.",
    )


def embedded_only(settings: Settings) -> Settings:
    """Return the same settings without a model."""
    chosen = settings.flat()
    unset = {name: "embedded" for name in _BY_MODEL if chosen[name] != "none"}
    return settings.changed(**{"model.name": None, **unset})


def _lost(node: str, wanted: str, error: ModelError) -> Degradation:
    return {"node": node, "wanted": wanted, "used": "embedded", "reason": error.what}
