"""The retrieval of Lexloop, from classify to rerank, as a LangChain retriever."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from lexloop.apps.library import Asking, asking_with, passages_for
from lexloop.core.types import Passage
from lexloop.graph.build import LAST_OF_RETRIEVAL


def as_retriever(corpus: str | Path | None = None, **settings: Any) -> BaseRetriever:
    """Make a LangChain retriever that finds the passages that an answer would be written from.

    Args:
        corpus: A folder, a file, an index, or ``sample``; None for the one that is configured.
        settings: See ``ask``; ``plan.k`` is the number of passages.

    Returns:
        A retriever of ``Document``s, best first. ``page_content`` is the passage's text. Its
        ``metadata`` says where it stands: ``document``, ``title``, ``section``, ``page``, and
        ``start`` and ``end`` in the document's text; ``score`` is what it was ranked by.

    Raises:
        LexloopError: A setting cannot be used.
    """
    return _Retriever(asking=asking_with(corpus, settings))


class _Retriever(BaseRetriever):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    asking: Asking

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [_document(passage) for passage in passages_for(query, self.asking)]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        asked, context = {"question": query}, self.asking.settings
        steps = self.asking.graph.astream(asked, context=context, stream_mode="updates")
        async with aclosing(cast("AsyncGenerator[dict[str, Any]]", steps)) as updates:
            async for step in updates:
                if update := step.get(LAST_OF_RETRIEVAL):
                    return [_document(passage) for passage in update["passages"]]
        return []


def _document(passage: Passage) -> Document:
    place = ("document", "title", "section", "page", "start", "end", "score")
    metadata = {name: passage.get(name) for name in place}
    return Document(id=passage["id"], page_content=passage["text"], metadata=metadata)
