"""A LangChain retriever of the caller's own, in place of the search of a corpus.

What it finds is indexed in memory for the question, so that all that comes after works on it as on
any other documents: statements are ranked, quoted and cited, and each quote is checked.
"""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from threading import Condition
from typing import Annotated, Any, cast

from cachetools import LRUCache, cached
from langchain_core.documents import Document as Found
from langchain_core.retrievers import BaseRetriever
from langgraph.runtime import Runtime

from lexloop.core.errors import SettingsError
from lexloop.core.metadata import Metadata
from lexloop.core.packed import Packed
from lexloop.core.running import computed
from lexloop.core.settings import Settings
from lexloop.core.state import State, Update, about
from lexloop.core.types import Piece
from lexloop.documents.document import Document
from lexloop.graph.resources import Resources, settings_of
from lexloop.nodes.context import Context, Corpus
from lexloop.nodes.hybrid_retrieve import hybrid_retrieve
from lexloop.store.writer import build_collection

_CACHED = 16
_DESCRIBING = ("title", "url", "identifier", "jurisdiction")
"""The metadata that is shown with citations. Others, such as tags, are the retriever's business."""


class RetrievedState(State, total=False):
    """The working state of a graph with a retriever of the caller's own."""

    retrieved: Annotated[list[Piece], about("What the retriever found."), Packed]


class Retrieved:
    """The contexts of runs whose documents a retriever finds.

    Args:
        retriever: The caller's.
        resources: Have the models. Their corpus is not opened.

    Raises:
        SettingsError: These are no LangChain retriever and ``Resources``.
    """

    def __init__(self, retriever: BaseRetriever, resources: Any) -> None:
        for given, wanted in ((retriever, BaseRetriever), (resources, Resources)):
            if not isinstance(given, wanted):
                raise SettingsError(
                    f"The retriever works with a {wanted.__name__}, and was given a "
                    f"{type(given).__name__}.",
                    "Give a LangChain retriever, and leave contexts out.",
                )
        self._retriever, self._resources = retriever, resources
        kept: LRUCache[Any, Context] = LRUCache(_CACHED)
        self._over = cached(kept, condition=Condition())(self._indexed)

    def __call__(self, brought: Any, snapshot: str | None = None) -> Context:
        """Return the context of a run before anything is found."""
        context: Context = self._over(settings_of(brought, self._resources.defaults), "[]")
        return replace(context, corpus=Corpus(snapshot or str(date.today())))

    def among(self, context: Context, state: State) -> Context:
        """Return a context over what was found in a turn so far."""
        return self._with(context, _found_before(state))

    def _with(self, context: Context, pieces: list[Piece]) -> Context:
        over: Context = self._over(context.settings, json.dumps(pieces))
        return replace(over, corpus=context.corpus)

    async def search(self, state: State, runtime: Runtime[Context]) -> Update:
        """Ask the retriever for each query, and make candidates of what it finds."""
        parsed, known = state["parsed"], _found_before(state)
        queries = dict.fromkeys([parsed["inside"], *parsed["queries"]])
        found = await asyncio.gather(*map(self._retriever.ainvoke, queries))
        pieces = [*known]
        pieces += (p for documents in found for p in map(_piece, documents) if p not in pieces)
        context = await computed(self._with, runtime.context, pieces)
        searched = await hybrid_retrieve(state, runtime.override(context=context))
        update: Any = {**searched, "retrieved": pieces}
        return cast("Update", update)

    def _indexed(self, settings: Settings, pieces: str) -> Context:
        by_rules = settings.changed(**{"index.triplets": "embedded"})
        documents = _documents(json.loads(pieces))
        collection = build_collection(documents, self._resources.tools(by_rules, None))
        made: Context = self._resources.over(settings, collection)
        return made


def _found_before(state: Any) -> list[Piece]:
    """Return what was found in a turn so far; what the last one left does not count."""
    begun = state.get("candidates") or state.get("attempts")
    return state.get("retrieved", []) if begun else []


def _piece(found: Found) -> Piece:
    """Return what is kept of a document that a retriever found; its name is that of its source."""
    metadata = found.metadata
    names = (metadata.get("document"), metadata.get("source"), found.id, "document")
    page = str(metadata.get("page_label") or metadata.get("page") or "")
    return {
        "source": str(next(filter(None, names))),
        "page": int(page) if page.isdecimal() else 0,
        "text": found.page_content,
        "metadata": {name: str(metadata[name]) for name in _DESCRIBING if metadata.get(name)},
    }


def _documents(pieces: Iterable[Piece]) -> list[Document]:
    """Return the documents that pieces are of: those of one source in the order of their pages."""
    by_source: dict[str, list[Piece]] = {}
    for piece in pieces:
        by_source.setdefault(piece["source"], []).append(piece)
    return [_joined(name, own) for name, own in by_source.items()]


def _joined(name: str, pieces: list[Piece]) -> Document:
    pieces.sort(key=lambda piece: piece["page"])
    text, pages = "", list[int]()
    for piece in pieces:
        text += "\n\n" if text else ""
        # pages that were not found are empty
        pages += [len(text)] * (piece["page"] - len(pages))
        text += piece["text"].strip()
    metadata = Metadata.from_record(pieces[0]["metadata"])
    paged = pieces[0]["page"] > 0
    return Document(name, metadata.title or name, text, metadata, tuple(pages) if paged else ())
