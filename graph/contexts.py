"""Settings -> implementations: the only place that chooses, and the only one that constructs."""

from functools import lru_cache
from importlib import resources
from pathlib import Path

from lexloop.core.errors import SettingsError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.models.chat import ChatModel, chat_for
from lexloop.models.embedders import load_shipped
from lexloop.nodes.context import (
    ComplexityClassifier,
    Context,
    Generator,
    Guard,
    Judge,
    PromptEngineer,
    Reranker,
    Rewriter,
)
from lexloop.store.view import Collection, View

_CROSS_ENCODER = "BAAI/bge-reranker-large"
"""HyPA-RAG section 8.4."""


def build_context(settings: Settings, collection: Collection, chat: ChatModel | None) -> Context:
    """Return the context that the settings name.

    Args:
        settings: Choose, and say who asks.
        collection: The documents; of these the context has those that the asker may see.
        chat: The connected model; None when none is configured or reachable.

    Raises:
        SettingsError: A model implementation is asked for and no model is configured.
        DataError: A classifier or reranker cannot be loaded.
    """
    retrieval = settings.retrieval
    alone = retrieval.source == "none"
    view = collection.seen_by(Filters.of(settings))
    walked = not alone and retrieval.knowledge_graph != "none"
    return Context(
        settings=settings,
        classifier=_classifier(*_parts(settings.plan.classifier)),
        rewriter=_rewriter(settings, view, chat),
        wording=view if _rewrites(settings) else None,
        backend=None if alone else view,
        graph_source=view if walked else None,
        reranker=_reranker(settings, view),
        generator=_generator(settings, view, chat),
        guard=_guard(settings, collection, view, chat),
        judge=_judge(settings, view, chat),
        text_of=None if alone else view.text_of,
        engineer=_engineer(settings, chat),
        chat=chat,
    )


# what stands in for a model that fails shares these with it: they are costly to load
@lru_cache(maxsize=2)
def _classifier(kind: str, name: str) -> ComplexityClassifier:
    if kind == "transformer":
        from lexloop.nodes.classify.transformers import TransformerClassifier

        return TransformerClassifier(name)
    if kind == "zero_shot":
        from lexloop.nodes.classify.transformers import ZeroShotClassifier

        return ZeroShotClassifier(name)
    from lexloop.nodes.classify.linear import LinearClassifier

    shipped = Path(str(resources.files("lexloop.data"))) / "classifier"
    return LinearClassifier.load(Path(name) if name else shipped)


def _parts(named: str) -> tuple[str, str]:
    """Split the kind of an implementation from the name or folder of its model."""
    kind, _, name = named.partition(":")
    return kind, name


def _rewrites(settings: Settings) -> bool:
    return settings.retrieval.source != "none" and settings.retrieval.rewriter != "none"


def _rewriter(settings: Settings, view: View, chat: ChatModel | None) -> Rewriter:
    from lexloop.nodes.rewrite.rewriters import NoRewriter, RuleRewriter

    if not _rewrites(settings):
        return NoRewriter()
    if model := chat_for("rewriter", settings.retrieval.rewriter, chat):
        from lexloop.nodes.rewrite.rewriters import ModelRewriter

        return ModelRewriter(model, view)
    return RuleRewriter()


def _reranker(settings: Settings, view: View) -> Reranker:
    from lexloop.nodes.rerank.rerankers import FeatureReranker, NoReranker

    kind, name = _parts(settings.retrieval.reranker)
    if settings.retrieval.source == "none" or kind == "none":
        return NoReranker()
    if kind == "cross_encoder":
        return _cross_encoder(name or _CROSS_ENCODER)
    return FeatureReranker(view)


@lru_cache(maxsize=2)
def _cross_encoder(name: str) -> Reranker:
    from lexloop.nodes.rerank.rerankers import CrossEncoderReranker

    return CrossEncoderReranker(name)


def _generator(settings: Settings, view: View, chat: ChatModel | None) -> Generator:
    from lexloop.nodes.generate.extractive import ExtractiveGenerator, Lengths
    from lexloop.nodes.generate.model import ModelAlone, ModelGenerator

    model = chat_for("generator", settings.answer.generator, chat)
    if settings.retrieval.source == "none":
        if not model:
            raise SettingsError(
                "Without retrieval (llm_only) the model answers alone, and none is configured.",
                "Set model, for example to 'openai:gpt-4o-mini', or choose hypa, pa or fixed.",
            )
        return ModelAlone(model)
    if model:
        return ModelGenerator(model, view)
    lengths = Lengths(
        settings.answer.statements, settings.answer.statement_words, settings.answer.words
    )
    return ExtractiveGenerator(view, lengths)


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
    if model := chat_for("evaluator", settings.loop.evaluator, chat):
        from lexloop.nodes.evaluate.judges import ModelJudge

        return ModelJudge(model)
    from lexloop.nodes.evaluate.judges import EmbeddedJudge

    return EmbeddedJudge(view)


def _engineer(settings: Settings, chat: ChatModel | None) -> PromptEngineer:
    if model := chat_for("prompt_engineer", settings.loop.prompt_engineer, chat):
        from lexloop.nodes.engineer_prompt.node import ModelPromptEngineer

        return ModelPromptEngineer(model)
    from lexloop.nodes.engineer_prompt.node import RuleEngineer

    return RuleEngineer(guides=chat_for("generator", settings.answer.generator, chat) is not None)
