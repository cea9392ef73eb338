"""Records of the core, filled in for tests."""

from collections.abc import Collection, Sequence
from typing import Any, cast

import numpy as np

from lexloop.core.metadata import UNKNOWN, Metadata
from lexloop.core.types import Attempt, Candidate, Chunk, Draft, Evaluation, Passage, Triplet
from lexloop.documents.chunks.statements import Statement, statements_in_text
from lexloop.documents.document import Document
from lexloop.documents.structure.parse import parse
from lexloop.documents.structure.tree import Tree
from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.checks import citation_problems
from lexloop.nodes.question.parts import parse as parse_question
from lexloop.nodes.relevance import Query, Sources, query_of
from lexloop.store.reading import Readable
from lexloop.store.view import View


def chunk(text: str = "x", *, document: str = "d.txt", start: int = 0, **fields: Any) -> Chunk:
    """A chunk of a document, named by where it stands unless its fields name it."""
    plain: dict[str, Any] = {
        "id": f"{document}#{start}",
        "document": document,
        "title": "Rule",
        "section": "§ 1",
        "page": None,
        "start": start,
        "end": start + len(text),
        "text": text,
    }
    return cast("Chunk", plain | fields)


def candidate(name: str, text: str = "", score: float = 1.0, **signals: float) -> Candidate:
    """A chunk that was found, with its score and the signals that found it."""
    whole = chunk(text or f"text of {name}", id=name)
    return {**whole, "score": score, "signals": signals}


def passage(n: int, text: str, *, start: int = 0, section: str = "§ 1") -> Passage:
    """Passage ``n``, which stands at ``start`` in its document."""
    whole = chunk(text, id=f"c{n}", document=f"d{n}.txt", start=start, section=section)
    return {**whole, "score": 1.0, "signals": {}, "n": n}


class Read:
    """Passages, each alone in its document, whose statements are read off their texts.

    The vectors are all alike.
    """

    def __init__(self, *passages: Passage) -> None:
        self._names = {one["id"]: one["document"] for one in passages}
        self._texts = {one["document"]: " " * one["start"] + one["text"] for one in passages}

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        found = statements_in_text(self._texts[self._names[chunk_id]])
        return found, np.ones((len(found), 1), dtype=np.float32)

    def text_of(self, document: str) -> str | None:
        return self._texts.get(document)

    def tree_of(self, document: str) -> Tree | None:
        text = self.text_of(document)
        return None if text is None else parse(text)


class Held(Readable):
    """Chunks that are read by their ids as a view reads them; their documents are empty."""

    def __init__(self, *chunks: Chunk) -> None:
        self._held = {one["id"]: one for one in chunks}

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        return [self._held[name] for name in chunk_ids]

    def document(self, name: str) -> Document:
        return Document(name, "", "")

    def metadata(self, documents: Collection[str]) -> dict[str, Metadata]:
        return dict.fromkeys(documents, UNKNOWN)


def triplet(subject: str, predicate: str, obj: str) -> Triplet:
    """A relation stated by the first chunk."""
    quote = f"{subject} {predicate} {obj}"
    return {
        "subject": subject,
        "predicate": predicate,
        "object": obj,
        "chunk_id": "c1",
        "document": "d1.txt",
        "section": "§ 1",
        "page": None,
        "start": 0,
        "end": len(quote),
        "quote": quote,
    }


def evaluation(
    answer: float | None, context: float | None, grounded: float | None, *reasons: str
) -> Evaluation:
    """A verdict that did not pass."""
    return {
        "answer_relevance": answer,
        "context_relevance": context,
        "groundedness": grounded,
        "citations_verified": True,
        "passed": False,
        "reasons": list(reasons),
    }


def attempt(number: int, question: str, queries: list[str], verdict: Evaluation) -> Attempt:
    """An attempt that found nothing."""
    return {
        "number": number,
        "question": question,
        "queries": queries,
        "keywords": [],
        "passages": [],
        "answer": "An answer.",
        "abstained": False,
        "citations": [],
        "evaluation": verdict,
    }


def query(question: str, sources: Sources) -> Query:
    """A question as statements are compared with it."""
    return query_of(parse_question(question), sources)


def problems(view: View, draft: Draft) -> list[str]:
    """What is wrong with the citations of an answer that was read off a collection."""
    return citation_problems(draft["answer"], draft["citations"], view.text_of, draft["told"])
