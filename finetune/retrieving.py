"""What retrieval brings up for a question, without a model and without an answer."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from lexloop.core.settings import Settings
from lexloop.core.types import Passage
from lexloop.corpus.index.collection import Collection
from lexloop.evaluation.case import Said
from lexloop.graph.build import build_graph
from lexloop.graph.contexts import build_context

_ROLES = {"user": HumanMessage, "assistant": AIMessage}


class Retriever:
    """Runs the graph up to rerank.

    Args:
        collection: The documents.
        settings: Those of retrieval.
        k: How many passages are taken.
    """

    def __init__(self, collection: Collection, settings: Settings, k: int) -> None:
        plain = settings.model_copy(update={"model": None, "k": k, "evaluator": "none"})
        parts = build_context(plain, collection, None)
        self._graph = build_graph(lambda *_: parts)

    def __call__(self, question: str, history: Sequence[Said] = ()) -> list[Passage]:
        """The passages, best first.

        Args:
            question: What is asked.
            history: What was said before.
        """
        messages: list[AnyMessage] = [_ROLES[turn.role](content=turn.content) for turn in history]
        asked = {"messages": [*messages, HumanMessage(content=question)]}
        for step in self._graph.stream(asked, stream_mode="updates"):
            reranked: Any = step.get("rerank")
            if reranked is not None:
                passages: list[Passage] = reranked["passages"]
                return passages
        return []
