"""Makes components and keeps what is costly to make: collections, embedders and connections."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lexloop.core.errors import ModelError, SettingsError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Degradation
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.draft import Progress, silent
from lexloop.corpus.index.recipe import Recipe
from lexloop.corpus.opening import corpus_stamp, open_corpus, tools_for
from lexloop.graph.components import Components, choose
from lexloop.graph.extractors import extractor_for
from lexloop.graph.kept import Kept
from lexloop.models.chat import ChatModel, connect
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import Embedder

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
        self._components: Kept[tuple[Settings, str], Components] = Kept(_KEPT)
        self._collections: Kept[tuple[str, str, Recipe], Opened] = Kept(_KEPT)
        self._embedders: Kept[str, Embedder] = Kept(_KEPT)

    def __call__(self, context: Any, snapshot: str | None = None) -> Components:
        """The components for a run's context: None, ``Settings``, or a parent graph's own.

        Args:
            context: What the run brings.
            snapshot: The state of the corpus that the question is being answered from; None for
                today's. A corpus that changes meanwhile changes the next question's answer, not
                half of this one's.

        Raises:
            LexloopError: Settings, corpus, data or model cannot be used.
        """
        settings = settings_of(context, self._defaults)
        if snapshot is None or (settings, snapshot) not in self._components:
            snapshot = corpus_stamp(settings.corpus)
        stamp = snapshot
        return self._components.get((settings, stamp), lambda: self._make(settings, stamp))

    def _make(self, settings: Settings, stamp: str) -> Components:
        chat, missing = self._chat(settings)
        if missing:
            settings = embedded_only(settings)
        collection, left_out = self._collection(settings, stamp, chat)
        made = choose(settings, collection, chat)
        fallback = None
        if chat is not None and settings.fallback and settings.variant != "llm_only":
            fallback = choose(embedded_only(settings), collection, None)
        degraded = [*missing, *left_out]
        return replace(made, snapshot=stamp, fallback=fallback, degraded=degraded)

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
        extractor, extract = extractor_for(settings, chat)
        embedder = self._embedder(settings.embedder)
        tools = tools_for(settings, embedder, extract, extractor)
        try:
            return self._collections.get(
                (settings.corpus, stamp, tools.recipe),
                lambda: open_corpus(settings.corpus, tools, self._progress),
            )
        except ModelError as error:
            if chat is None or not settings.fallback:
                raise
            collection, left_out = self._collection(embedded_only(settings), stamp, None)
            return collection, [*left_out, _lost("index", f"triplets by {chat.name}", error)]

    def _embedder(self, name: str) -> Embedder:
        return self._embedders.get(name, lambda: load_embedder(name, self._connection))


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
