"""Settings -> implementations: the only place that chooses and constructs.

What is costly, and the contexts of runs, are made once and cached.
"""

import gc
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path
from threading import Condition
from typing import Any, NamedTuple, Self

from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from lexloop.core.configuration import configured
from lexloop.core.errors import DataError, LexloopError, ModelError, SettingsError
from lexloop.core.metadata import Filters
from lexloop.core.running import Deadline, within
from lexloop.core.settings import Connection, Settings, slip_of
from lexloop.core.types import Degradation
from lexloop.documents.reading.workers import Progress, silent
from lexloop.graph.budget import Budget
from lexloop.graph.extractors import extractor_for
from lexloop.graph.node import CONTEXT_KEY
from lexloop.models.chat import ChatModel, chat_for, connect
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import Embedder
from lexloop.models.minilm import load_shipped
from lexloop.models.object_embedder import ObjectEmbedder
from lexloop.models.objects import Objects
from lexloop.nodes.context import (
    ComplexityClassifier,
    Context,
    Corpus,
    Generator,
    Guard,
    Judge,
    PromptEngineer,
    Reranker,
    Rewriter,
    StandIns,
)
from lexloop.nodes.user import for_user
from lexloop.prompts import check_own
from lexloop.store.address import is_address
from lexloop.store.opening import corpus_stamp, left_out, open_corpus, tools_for
from lexloop.store.preparing import Tools
from lexloop.store.view import Collection, View

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
    """The models, collections and contexts of runs, constructed from settings and cached.

    It is thread-safe: while one thread makes something, only threads that need the same thing wait.
    Close it when done, which releases the collections.

    Args:
        connection: The address and key of models.
        defaults: The settings of a run without its own.
        progress: Called with the progress of opening a corpus.
        objects: Models that a caller brings; the defaults name them.

    ``defaults`` are kept.
    """

    def __init__(
        self,
        connection: Connection | None = None,
        defaults: Settings | None = None,
        progress: Progress = silent,
        objects: Objects | None = None,
    ) -> None:
        self.connection = connection or Connection()
        self._objects = objects or Objects()
        self.defaults = (defaults or Settings()).changed(**self._objects.settings)
        check_own(self.defaults.prompts.model_dump())
        self._progress = progress
        self._contexts: LRUCache[Any, Context] = LRUCache(_CACHED)
        self._collections = _Shelf(_CACHED)
        self._turn = Condition()
        self._made = cached(self._contexts, condition=self._turn)(self._make)
        self._loaded = cached(LRUCache(_CACHED), condition=Condition())(self._load)
        self._opened = cached(self._collections, _corpus_key, condition=self._turn)(self._open)

    @classmethod
    def configured(cls, objects: Objects | None = None, **settings: Any) -> Self:
        """Return the resources that settings files and the environment ask for.

        Args:
            objects: Models that a caller brings.
            settings: By name; they override files and environment.

        Raises:
            SettingsError: One of them has an unknown setting or a value that is not allowed.
        """
        connection = Connection.from_environment(os.environ)
        return cls(connection, configured(settings), objects=objects)

    def __call__(self, brought: Any, snapshot: str | None = None) -> Context:
        """Return the context of a run.

        Args:
            brought: The run's own context: None, ``Settings``, or a parent graph's context.
            snapshot: The day and the state of the corpus that the question is answered from, or
                None for today's. If the corpus or the day changes meanwhile, that affects the next
                question only. A corpus that is no longer open is read in its present state.

        Raises:
            LexloopError: Settings, corpus, data or model cannot be used.
        """
        settings = settings_of(brought, self.defaults)
        if snapshot is None or hashkey(settings, snapshot) not in self._contexts:
            day = snapshot.partition(" ")[0] if snapshot else str(date.today())
            snapshot = f"{day} {corpus_stamp(settings.corpus)}"
        return self._made(settings, snapshot)

    def chat(self, settings: Settings) -> ChatModel | None:
        """Return the model that the settings name, or None if they name none.

        Raises:
            LexloopError: It cannot be used.
        """
        name = settings.model.name
        return connect(settings, self.connection, self._objects) if name else None

    def chats(self, settings: Settings) -> "Chats":
        """Return the model of every step that the settings name.

        Raises:
            LexloopError: One cannot be used.
        """
        steps = {
            step: self.chat(settings.changed(**{"model.name": name}))
            for step, name in settings.model.steps.items()
            if name
        }
        return Chats(self.chat(settings), steps)

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
        return _build_with_fallbacks(settings, collection, self.chats(settings))

    def close(self) -> None:
        """Let go of the collections."""
        for collection, _ in self._collections.values():
            collection.close()
        self._collections.clear()
        self._contexts.clear()

    def let_go(self) -> None:
        """Let go of collections whose corpus is another by now; who reads one goes on with it."""
        with self._turn:
            held = [*self._collections]
        # in an engine a hold ends by itself, and asking costs a request
        stale = [key for key in held if not is_address(key[0]) and _stamp(key[0]) != key[1]]
        with self._turn:
            for key in stale:
                self._collections.pop(key, None)
            gone = {key[1] for key in stale}
            for key in [known for known in self._contexts if known[1].partition(" ")[2] in gone]:
                del self._contexts[key]
        if stale:
            gc.collect()  # their caches refer to them

    def _load(self, name: str) -> Embedder:
        if (embeddings := self._objects.embeddings.get(name)) is not None:
            return ObjectEmbedder(name, embeddings)
        return load_embedder(name, self.connection)

    def _open(self, corpus: str, stamp: str, tools: Tools) -> Opened:
        return open_corpus(corpus, tools, self._progress)

    def _make(self, settings: Settings, snapshot: str) -> Context:
        day, _, stamp = snapshot.partition(" ")
        if settings.access.as_of == "today":
            settings = settings.changed(**{"access.as_of": day})
        chats, missing = self._chats_or_none(settings)
        if missing:
            settings = embedded_only(settings)
        collection, troubles = self._collection(settings, stamp, chats.every)
        if settings.access.passage is not None:
            collection = self._alone(settings, collection)
        unread = left_out(collection.seen_by(Filters.of(settings)))
        made = _build_with_fallbacks(settings, collection, chats)
        return replace(made, corpus=Corpus(snapshot, [*missing, *troubles], unread))

    def _alone(self, settings: Settings, collection: Collection) -> Collection:
        """Return a collection of the passage that the settings name, and of nothing else."""
        from lexloop.store.passage import passage_alone

        assert settings.access.passage is not None
        view = collection.seen_by(Filters.of(settings))
        by_rules = settings.changed(**{"index.triplets": "embedded"})
        return passage_alone(view, *settings.access.passage, self.tools(by_rules, None))

    def _chats_or_none(self, settings: Settings) -> tuple["Chats", list[Degradation]]:
        try:
            return self.chats(settings), []
        except ModelError as error:
            if not settings.model.fallback or settings.retrieval.source == "none":
                raise
            named = ", ".join(sorted(settings.model.names))
            return Chats(), [_lost("model", named, error)]

    def _collection(self, settings: Settings, stamp: str, chat: ChatModel | None) -> Opened:
        """Return the collection. If a model fails, use its fallback and note the loss."""
        try:
            return self._opened(settings.corpus, stamp, self.tools(settings, chat))
        except ModelError as error:
            if not settings.model.fallback or not (error.embedder or chat):
                raise
            failed = error
        if failed.embedder or chat is None:
            lost = _lost("index", f"index.embedder={settings.index.embedder}", failed)
            settings = settings.changed(**{"index.embedder": "embedded"})
        else:
            lost = _lost("index", f"triplets by {chat.name}", failed)
            settings, chat = embedded_only(settings), None
        try:
            collection, troubles = self._collection(settings, stamp, chat)
        except DataError as error:
            if not failed.embedder:
                raise
            raise failed from error  # an index whose vectors no other embedder can search
        return collection, [*troubles, lost]


def _stamp(corpus: str) -> str:
    """Return the stamp of a corpus, or "" if it is gone."""
    try:
        return corpus_stamp(corpus)
    except LexloopError:
        return ""


def _corpus_key(corpus: str, stamp: str, tools: Tools) -> Any:
    return hashkey(corpus, stamp, tools.recipe)


class Chats(NamedTuple):
    """The chat models of a run.

    Args:
        every: The one that every step may ask, or None.
        steps: Those of single steps, by the step.
    """

    every: ChatModel | None = None
    steps: Mapping[str, ChatModel | None] = {}

    def of(self, step: str) -> ChatModel | None:
        """Return the model of a step, or None."""
        return self.steps.get(step, self.every)

    @property
    def any(self) -> ChatModel | None:
        """One of the models, if there is any."""
        return self.every or next(iter(self.steps.values()), None)


def _build_with_fallbacks(settings: Settings, collection: Collection, chats: Chats) -> Context:
    """Return the context that the settings name, with stand-ins for its chat model and embedder.

    The settings say whether they stand in for what fails; a reply of no use is always done over.
    """
    made = build_context(settings, collection, chats)
    by_rules = by_words = None
    if chats.any is not None and settings.retrieval.source != "none":
        by_rules = _build_with_fallbacks(embedded_only(settings), collection, Chats())
    hosted = collection.embedder.name.startswith(("openai:", "object:"))
    if settings.model.fallback and hosted:
        spare = load_embedder("embedded", Connection())
        unembedded = collection.embedded_by(spare, words_only=True)
        by_words = _build_with_fallbacks(settings, unembedded, chats)
    return replace(made, stand_ins=StandIns(by_rules, by_words))


def settings_of(context: Any, defaults: Settings) -> Settings:
    """Return the settings in a run's context, or the defaults.

    A graph that embeds this one may have its own context, a mapping or any object. It passes
    settings on under the key or attribute ``lexloop``. Its other fields are never read: a parent's
    ``model`` does not permit sending the documents there.

    Raises:
        SettingsError: The value of ``lexloop`` is not settings, one of them is not allowed, or
            ``lexloop`` is misspelt.
    """
    if isinstance(context, Settings):
        return context
    fields = context if isinstance(context, Mapping) else getattr(context, "__dict__", {})
    passed = fields.get(CONTEXT_KEY, getattr(context, CONTEXT_KEY, None))
    if passed is None:
        _refuse_misspelt(fields)
        return defaults
    if isinstance(passed, Settings):
        return passed
    if isinstance(passed, Mapping):
        return defaults.changed(**passed)
    raise SettingsError(
        f"`{CONTEXT_KEY}` in the context is a {type(passed).__name__}, not settings.",
        "Pass Settings or a mapping of settings.",
    )


def _refuse_misspelt(fields: Mapping[Any, Any]) -> None:
    """Refuse a parent's context that has settings for us under a misspelt ``lexloop``."""
    for name, passed in fields.items():
        if isinstance(passed, Settings | Mapping) and slip_of(str(name), [CONTEXT_KEY]):
            raise SettingsError(
                f"The context has {name!r}, which nothing reads.", f"Did you mean {CONTEXT_KEY!r}?"
            )


def embedded_only(settings: Settings) -> Settings:
    """Return the same settings without a model."""
    chosen = settings.flat()
    unset = {name: "embedded" for name in _BY_MODEL if chosen[name] != "none"}
    none = dict.fromkeys((f"model.{step}" for step in settings.model.steps), None)
    return settings.changed(**{"model.name": None, **none, **unset})


def _lost(node: str, wanted: str, error: ModelError) -> Degradation:
    return {"node": node, "wanted": wanted, "used": "embedded", "reason": error.what}


_CROSS_ENCODER = "BAAI/bge-reranker-large"
"""HyPA-RAG section 8.4."""


_NONE = Chats()


def build_context(settings: Settings, collection: Collection, chats: Chats = _NONE) -> Context:
    """Return the context that the settings name.

    Args:
        settings: Choose, and say who asks.
        collection: The documents; of these the context has those that the asker may see.
        chats: The connected models; none if none is configured or reachable.

    Raises:
        SettingsError: A model implementation is asked for and no model is configured.
        DataError: A classifier or reranker cannot be loaded.
    """
    check_own(settings.prompts.model_dump())
    retrieval = settings.retrieval
    alone = retrieval.source == "none"
    view = for_user(collection.seen_by(Filters.of(settings)), settings.user)
    if retrieval.lexical == "okapi" and not alone:
        view = view.by_okapi()
    return Context(
        settings=settings,
        view=None if alone else view,
        classifier=_classifier(*_parts(settings.plan.classifier)),
        rewriter=_rewriter(settings, view, chats.of("rewrite")),
        reranker=_reranker(settings, view),
        generator=_generator(settings, view, chats.of("generate")),
        guard=_guard(settings, collection, view, chats.of("generate")),
        judge=_judge(settings, view, chats.of("evaluate")),
        engineer=_engineer(settings, view, chats),
        chat=chats.any,
    )


# what stands in for a model that fails shares these with it: they are costly to load
@lru_cache(maxsize=2)
def _classifier(kind: str, name: str) -> ComplexityClassifier:
    if kind == "transformer":
        from lexloop.nodes.classify import TransformerClassifier

        return TransformerClassifier(name)
    if kind == "zero_shot":
        from lexloop.nodes.classify import ZeroShotClassifier

        return ZeroShotClassifier(name)
    from lexloop.nodes.classify import LinearClassifier

    shipped = Path(str(resources.files("lexloop.data"))) / "classifier"
    return LinearClassifier.load(Path(name) if name else shipped)


def _parts(named: str) -> tuple[str, str]:
    """Split the kind of an implementation from the name or folder of its model."""
    kind, _, name = named.partition(":")
    return kind, name


def _rewrites(settings: Settings) -> bool:
    return settings.retrieval.source != "none" and settings.retrieval.rewriter != "none"


def _rewriter(settings: Settings, view: View, chat: ChatModel | None) -> Rewriter:
    from lexloop.nodes.question.rewrite import NoRewriter, RuleRewriter

    if not _rewrites(settings):
        return NoRewriter()
    if model := chat_for("rewriter", settings.retrieval.rewriter, chat):
        from lexloop.nodes.question.rewrite import ModelRewriter

        return ModelRewriter(model, view, load_shipped().embed, settings.prompts.rewrite)
    return RuleRewriter(lambda texts: load_shipped().embed(texts))


def _reranker(settings: Settings, view: View) -> Reranker:
    from lexloop.nodes.rerank import FeatureReranker, NoReranker

    kind, name = _parts(settings.retrieval.reranker)
    if settings.retrieval.source == "none" or kind == "none":
        return NoReranker()
    if kind == "cross_encoder":
        return _cross_encoder(name or _CROSS_ENCODER)
    return FeatureReranker(view)


@lru_cache(maxsize=2)
def _cross_encoder(name: str) -> Reranker:
    from lexloop.nodes.rerank import CrossEncoderReranker

    return CrossEncoderReranker(name)


def _generator(settings: Settings, view: View, chat: ChatModel | None) -> Generator:
    from lexloop.nodes.generate.extractive import ExtractiveGenerator
    from lexloop.nodes.generate.model import ModelAlone, ModelGenerator
    from lexloop.nodes.generate.select import Lengths

    model = chat_for("generator", settings.answer.generator, chat)
    if settings.retrieval.source == "none":
        if not model:
            raise SettingsError(
                "Without retrieval (llm_only) the model answers alone, and none is configured.",
                "Set model, for example to 'openai:gpt-4o-mini', or choose hypa, pa or fixed.",
            )
        return ModelAlone(model)
    answer, beyond = settings.answer, settings.plan.most_beside is None
    lengths = Lengths(answer.statements, answer.statement_words, answer.words, beyond)
    if not model:
        return ExtractiveGenerator(view, lengths, settings.loop.care)
    return ModelGenerator(model, view, settings.prompts.generate)


def _guard(settings: Settings, collection: Collection, view: View, chat: ChatModel | None) -> Guard:
    from lexloop.nodes.generate.guard import PromptGuard, QuestionGuard, RefusalClassifier

    if chat_for("generator", settings.answer.generator, chat):
        return PromptGuard(view.embed, settings.answer.max_prompt_similarity)
    shipped = load_shipped()
    comparable = collection.embedder.name == shipped.name
    refusal = RefusalClassifier(view.embed if comparable else shipped.embed, comparable)
    return QuestionGuard(view, settings.answer.max_prompt_similarity, refusal)


def _judge(settings: Settings, view: View, chat: ChatModel | None) -> Judge | None:
    if settings.loop.evaluator == "none":
        return None
    from lexloop.nodes.evaluate.judges import EmbeddedJudge, ModelJudge

    embedded = EmbeddedJudge(view)
    model = chat_for("evaluator", settings.loop.evaluator, chat)
    if model is None:
        return embedded
    adviser = embedded if settings.loop.rubrics == "hardened" else None
    return ModelJudge(model, adviser, settings.loop.rubrics, settings.prompts.evaluate)


def _engineer(settings: Settings, view: View, chats: Chats) -> PromptEngineer:
    chat = chats.of("engineer_prompt")
    if model := chat_for("prompt_engineer", settings.loop.prompt_engineer, chat):
        from lexloop.nodes.engineer_prompt import ModelPromptEngineer
        from lexloop.nodes.looking import Looking

        def looking(documents: list[str]) -> Looking:
            return Looking(view.within(documents), settings.fusion)

        may_look = settings.retrieval.tools and settings.retrieval.source != "none"
        own = settings.prompts.engineer_prompt
        return ModelPromptEngineer(model, looking if may_look else None, own)
    from lexloop.nodes.engineer_prompt import RuleEngineer

    writer = chat_for("generator", settings.answer.generator, chats.of("generate"))
    return RuleEngineer(guides=writer is not None)
