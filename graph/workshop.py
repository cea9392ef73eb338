"""Makes components and keeps what is costly to make: collections, embedders and connections."""

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from lexloop.core.deadline import Deadline, within
from lexloop.core.errors import DataError, ModelError, SettingsError
from lexloop.core.filters import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Degradation
from lexloop.corpus.by_words import WordsView
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.draft import Progress, silent
from lexloop.corpus.index.recipe import Recipe
from lexloop.corpus.opening import corpus_stamp, left_out, open_corpus, tools_for
from lexloop.graph.components import choose
from lexloop.graph.extractors import extractor_for
from lexloop.graph.kept import Kept
from lexloop.models.chat import ChatModel, connect
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import Embedder
from lexloop.nodes.context import Context

_KEPT = 8
Opened = tuple[Collection, list[Degradation]]
CONTEXT_KEY = "lexloop"
"""Under this key a parent graph with a context of its own passes settings on."""


class Workshop:
    """Resolves a run's context into components; safe to use from several threads.

    Args:
        connection: Where models are reached.
        defaults: The settings of a run that brings none.
        progress: Told how far the opening of a corpus has come.
    """

    def __init__(
        self,
        connection: Connection | None = None,
        defaults: Settings | None = None,
        progress: Progress = silent,
    ) -> None:
        self._connection = connection or Connection()
        self._defaults = defaults or Settings()
        self._progress = progress
        self._components: Kept[tuple[Settings, str], Context] = Kept(_KEPT)
        self._collections: Kept[tuple[str, str, Recipe], Opened] = Kept(_KEPT)
        self._embedders: Kept[str, Embedder] = Kept(_KEPT)

    def __call__(self, context: Any, snapshot: str | None = None) -> Context:
        """The components for a run's context: None, ``Settings``, or a parent graph's own.

        Args:
            context: What the run brings.
            snapshot: The day and the state of the corpus that the question is being answered
                from; None for today's. A corpus that changes meanwhile changes the next question's
                answer, not half of this one's, and midnight likewise; only a corpus that is no
                longer open is read as it is now.

        Raises:
            LexloopError: Settings, corpus, data or model cannot be used.
        """
        settings = settings_of(context, self._defaults)
        if snapshot is None or (settings, snapshot) not in self._components:
            day = snapshot.partition(" ")[0] if snapshot else str(date.today())
            snapshot = f"{day} {corpus_stamp(settings.corpus)}"
        day_and_stamp = snapshot
        return self._components.get(
            (settings, day_and_stamp), lambda: self._make(settings, day_and_stamp)
        )

    def _make(self, settings: Settings, snapshot: str) -> Context:
        day, _, stamp = snapshot.partition(" ")
        if settings.as_of == "today":
            settings = settings.changed(as_of=day)
        chat, missing = self._chat(settings)
        if missing:
            settings = embedded_only(settings)
        collection, troubles = self._collection(settings, stamp, chat)
        unread = left_out(collection.seen_by(Filters.of(settings)))
        made = equip(settings, collection, chat)
        return replace(made, snapshot=snapshot, degraded=[*missing, *unread, *troubles])

    def _chat(self, settings: Settings) -> tuple[ChatModel | None, list[Degradation]]:
        if settings.model is None:
            return None, []
        try:
            return connect(settings, self._connection), []
        except ModelError as error:
            if not settings.fallback or settings.variant == "llm_only":
                raise
            return None, [_lost("model", settings.model, error)]

    def _collection(self, settings: Settings, stamp: str, chat: ChatModel | None) -> Opened:
        try:
            return self._opened(settings, stamp, chat)
        except ModelError as error:
            if not settings.fallback or not (error.embedder or chat):
                raise
            failed = error
        if failed.embedder:
            lost = _lost("index", f"embedder={settings.embedder}", failed)
            settings = settings.changed(embedder="embedded")
        else:
            lost = _lost("index", f"triplets by {settings.model}", failed)
            settings, chat = embedded_only(settings), None
        try:
            collection, troubles = self._collection(settings, stamp, chat)
        except DataError as error:
            if not failed.embedder:
                raise
            raise failed from error  # an index whose vectors no other embedder can search
        return collection, [*troubles, lost]

    def _opened(self, settings: Settings, stamp: str, chat: ChatModel | None) -> Opened:
        extractor, extract = extractor_for(settings, chat)
        tools = tools_for(settings, self._embedder(settings), extract, extractor)
        return self._collections.get(
            (settings.corpus, stamp, tools.recipe),
            lambda: open_corpus(settings.corpus, tools, self._progress),
        )

    def _embedder(self, settings: Settings) -> Embedder:
        name, allowed_s = settings.embedder, settings.deadline_s
        with within(Deadline(time.monotonic() + allowed_s, allowed_s)):
            return self._embedders.get(name, lambda: load_embedder(name, self._connection))


def equip(settings: Settings, collection: Collection, chat: ChatModel | None) -> Context:
    """The components that the settings name, and what stands in for those that can fail."""
    made = choose(settings, collection, chat)
    fallback = unembedded = None
    if settings.fallback and chat is not None and settings.variant != "llm_only":
        fallback = equip(embedded_only(settings), collection, None)
    if settings.fallback and collection.embedder.name.startswith("openai:"):
        spare = load_embedder("embedded", Connection())
        unembedded = equip(settings, collection.embedded_by(spare, WordsView), chat)
    return replace(made, fallback=fallback, unembedded=unembedded)


def settings_of(context: Any, defaults: Settings) -> Settings:
    """The settings in a run's context, or the defaults.

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
        return Settings.model_validate({**defaults.model_dump(), **passed})
    raise SettingsError(
        f"`{CONTEXT_KEY}` in the context is a {type(passed).__name__}, not settings.",
        "Pass Settings or a mapping of settings.",
    )


def embedded_only(settings: Settings) -> Settings:
    """The same settings without a model."""
    choices = {"rewriter", "generator", "evaluator", "prompt_engineer", "triplet_extractor"}
    unset = {name: "embedded" for name in choices if getattr(settings, name) != "none"}
    return settings.changed(model=None, **unset)


def _lost(node: str, wanted: str, error: ModelError) -> Degradation:
    return {"node": node, "wanted": wanted, "used": "embedded", "reason": error.what}
