"""The retrieval that a user gets, for benchmarks: passages indexed as they are, nodes run."""

from collections.abc import Sequence

from _shared import Row
from running import runtime, update_of

from lexloop.core.settings import Settings
from lexloop.core.types import Candidate, Chunk, Passage
from lexloop.documents.document import Document
from lexloop.models.embedding import Embedder
from lexloop.nodes.hybrid_retrieve import hybrid_retrieve
from lexloop.nodes.question.parts import parse
from lexloop.nodes.rerank import FeatureReranker, rerank
from lexloop.store.opening import tools_for
from lexloop.store.preparing import Tools, cut_document
from lexloop.store.protocol import PreparedFile
from lexloop.store.view import Collection, View
from lexloop.store.writer import build_index

TOP = 10
_PLAN = {"k": TOP, "Q": 0, "K": 0, "S": 0}


def index_passages(passages: Sequence[Row], settings: Settings, embedder: Embedder) -> Collection:
    """An index in memory in which each passage is one document of one chunk; no triplets.

    Args:
        passages: With ``id`` and a ``text`` that is not blank.
        settings: How they are indexed.
        embedder: Makes the vectors.
    """
    tools = tools_for(settings, embedder)
    return build_index((cut(row["id"], row["text"], [0], tools) for row in passages), tools)


def cut(name: str, text: str, starts: Sequence[int], tools: Tools) -> PreparedFile:
    """A document as a file of its own, in chunks that begin at these places; a sign parts two."""
    chunks: list[Chunk] = [
        {
            "id": f"{name}#{start}",
            "document": name,
            "title": "",
            "section": "",
            "page": None,
            "start": start,
            "end": end,
            "text": text[start:end],
        }
        for start, end in zip(starts, [*(s - 1 for s in starts[1:]), len(text)], strict=True)
    ]
    document = cut_document(name, "", Document(name, "", text), chunks, tools)
    return PreparedFile(name, (document,), ())


def candidates_for(question: str, view: View, settings: Settings) -> list[Candidate]:
    """What hybrid_retrieve hands on for a question as it stands, without sub-queries."""
    state = {"parsed": parse(question), "plan": _PLAN}
    around = runtime(view=view, settings=settings)
    return view.candidates(update_of(hybrid_retrieve, state, around)["candidates"])


def reranked(question: str, candidates: list[Candidate], view: View) -> list[Passage]:
    """The ten passages that the embedded reranker chooses of the candidates."""
    found = {"candidates": candidates, "graph_candidates": []}
    state = {"parsed": parse(question), "plan": _PLAN, **found}
    around = runtime(view=view, reranker=FeatureReranker(view))
    chosen: list[Passage] = update_of(rerank, state, around)["passages"]
    return chosen
