"""The retrieval that a user gets, for benchmarks: passages indexed as they are, nodes run."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from langgraph.runtime import Runtime

from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.types import Candidate, Chunk, Passage
from lexloop.documents.document import Document
from lexloop.documents.reading.workers import Progress
from lexloop.models.embedding import Embedder
from lexloop.nodes.context import Context
from lexloop.nodes.hybrid_retrieve import hybrid_retrieve
from lexloop.nodes.question import parse
from lexloop.nodes.rerank import FeatureReranker, rerank
from lexloop.store.opening import tools_for
from lexloop.store.preparing import Tools, cut_document
from lexloop.store.protocol import PreparedFile
from lexloop.store.view import Collection, View
from lexloop.store.writer import build_index

Row = dict[str, Any]
TOP = 10


def read_rows(path: Path) -> list[Row]:
    """The records of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def index_passages(
    passages: list[Row],
    settings: Settings,
    embedder: Embedder,
    progress: Progress,
) -> Collection:
    """An index in memory in which each passage is one document of one chunk; no triplets.

    Args:
        passages: With ``id`` and a ``text`` that is not blank.
        settings: How they are indexed.
        embedder: Makes the vectors.
        progress: Called with a stage's name, what is done and how much there is.
    """
    tools = tools_for(settings, embedder)
    files = (_cut(row["id"], row["text"], tools) for row in passages)
    return build_index(files, tools, progress=progress)


def _cut(name: str, text: str, tools: Tools) -> PreparedFile:
    chunk: Chunk = {
        "id": f"{name}#0",
        "document": name,
        "title": "",
        "section": "",
        "page": None,
        "start": 0,
        "end": len(text),
        "text": text,
    }
    document = cut_document(name, "", Document(name, "", text), [chunk], tools)
    return PreparedFile(name, (document,), ())


def runtime(**parts: object) -> Runtime[Context]:
    """A runtime whose context has these parts, and the default settings."""
    return Runtime(context=cast("Context", SimpleNamespace(**{"settings": Settings(), **parts})))


def candidates_for(question: str, view: View, settings: Settings) -> list[Candidate]:
    """What hybrid_retrieve hands on for a question as it stands, without sub-queries."""
    state = {"parsed": parse(question), "plan": {"k": TOP, "Q": 0, "K": 0, "S": 0}}
    found: list[Candidate] = waited(
        hybrid_retrieve(state, runtime(backend=view, settings=settings))
    )["candidates"]
    return found


def reranked(question: str, candidates: list[Candidate], view: View) -> list[Passage]:
    """The ten passages that the embedded reranker chooses of the candidates."""
    state = {
        "parsed": parse(question),
        "candidates": candidates,
        "plan": {"k": TOP, "Q": 0, "K": 0, "S": 0},
    }
    chosen: list[Passage] = waited(rerank(state, runtime(reranker=FeatureReranker(view))))[
        "passages"
    ]
    return chosen
