"""From a question to the authority that answers the nearest known question (Eval-RAG, figure 2)."""

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import numpy as np

from lexloop.core.errors import DataError
from lexloop.core.files import write_bytes
from lexloop.corpus.index.ann import Half, flat_index, one_thread, search_few, search_flat
from lexloop.evaluation.eval_rag.authorities import Authority, Entry
from lexloop.models.embedding import Embedder, Vectors

_VERSION = 1
_DIGEST_CHARS = 64
_WRITTEN = ("kind", "origin", "label", "text", "documents")
Progress = Callable[[int, int], None]
Match = tuple[Entry, float]
"""The nearest known question, and its cosine to the question that was asked, in [-1, 1]."""


class QuestionIndex:
    """Known questions, their vectors, and the authority that answers each.

    Args:
        entries: At least one.
        vectors: Those of the questions, shape (entries, dimension), in half precision.
        embedder: Made them, and embeds what is asked.
    """

    def __init__(self, entries: Sequence[Entry], vectors: Half, embedder: Embedder) -> None:
        self.entries = list(entries)
        self._vectors = vectors
        self._embedder = embedder
        self._flat = flat_index(vectors)

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def build(cls, entries: Sequence[Entry], embedder: Embedder, progress: Progress) -> Self:
        """Embed the questions of ``entries``."""
        vectors = embedder.encode([entry.question for entry in entries], progress)
        return cls(entries, vectors, embedder)

    def nearest(
        self, questions: Sequence[str], documents: Sequence[Collection[str] | None]
    ) -> list[Match | None]:
        """Return for each question the known question whose cosine is highest.

        Args:
            questions: What was asked.
            documents: Of each question the documents of which one must be the authority's; None
                for no such condition.

        Returns:
            None where no authority comes from those documents.
        """
        if not questions:
            return []
        vectors = self._embedder.embed(list(questions))
        with one_thread():
            return [
                self._nearest(vector[None, :], wanted)
                for vector, wanted in zip(vectors, documents, strict=True)
            ]

    def _nearest(self, vector: Vectors, documents: Collection[str] | None) -> Match | None:
        if documents is None:
            scores, rows = search_flat(self._flat, vector, 1)
        else:
            wanted = set(documents)
            mask = np.array([not wanted.isdisjoint(e.authority.documents) for e in self.entries])
            if not mask.any():
                return None
            scores, rows = search_few(self._vectors, vector, 1, mask)
        return self.entries[int(rows[0, 0])], float(scores[0, 0])

    def save(self, path: Path) -> None:
        """Write everything to one file, in one step.

        Raises:
            OSError: It cannot be written.
        """
        body = _described(self.entries, self._embedder) + b"\n" + self._vectors.tobytes()
        write_bytes(path, hashlib.sha256(body).hexdigest().encode() + body)

    @classmethod
    def load(cls, path: Path, embedder: Embedder) -> Self:
        """Read what ``save`` wrote.

        Raises:
            DataError: The file is missing, damaged, of another version or by another embedder.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise _unusable(path, str(error)) from error
        digest, body = data[:_DIGEST_CHARS], data[_DIGEST_CHARS:]
        if hashlib.sha256(body).hexdigest().encode() != digest:
            raise _unusable(path, "it is damaged")
        described, _, vectors = body.partition(b"\n")
        record = json.loads(described)
        made = (record["version"], record["embedder"], record["dimension"])
        if made != (_VERSION, embedder.name, embedder.dimension):
            raise _unusable(path, f"it was made by {made}")
        authorities = [
            Authority(**{**one, "documents": tuple(one["documents"])})
            for one in record["authorities"]
        ]
        entries = [Entry(question, authorities[at]) for question, at in record["questions"]]
        shape = (len(entries), embedder.dimension)
        return cls(entries, np.frombuffer(vectors, dtype=np.float16).reshape(shape), embedder)


def cached_index(
    entries: Sequence[Entry], embedder: Embedder, folder: Path, progress: Progress
) -> QuestionIndex:
    """Return the index over ``entries``, from ``folder`` where the same was made before.

    Its file is named by a hash of its content; a damaged one is made anew.

    Raises:
        DataError: It cannot be written.
    """
    key = hashlib.sha256(_described(entries, embedder)).hexdigest()[:32]
    path = folder / f"{key}.questions"
    if path.exists():
        with suppress(DataError):
            return QuestionIndex.load(path, embedder)
    index = QuestionIndex.build(entries, embedder, progress)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        index.save(path)
    except OSError as error:
        raise _unusable(path, str(error)) from error
    return index


def _described(entries: Sequence[Entry], embedder: Embedder) -> bytes:
    """Everything but the vectors, each authority once."""
    places: dict[Authority, int] = {}
    questions = [
        (entry.question, places.setdefault(entry.authority, len(places))) for entry in entries
    ]
    record = {
        "version": _VERSION,
        "embedder": embedder.name,
        "dimension": embedder.dimension,
        "authorities": [{name: getattr(one, name) for name in _WRITTEN} for one in places],
        "questions": questions,
    }
    return json.dumps(record).encode()


def _unusable(path: Path, reason: str) -> DataError:
    return DataError(
        f"The index of questions {path} cannot be used: {reason}.",
        "Name another folder for caches with LEXLOOP_CACHE.",
    )
