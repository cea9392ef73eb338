"""The model reranker: a cross-encoder, BAAI/bge-reranker-large in HyPA-RAG section 8.4."""

from typing import Any

from lexloop.core.deadline import heed_deadline
from lexloop.core.errors import DataError
from lexloop.core.types import Candidate
from lexloop.models.bars import without_bars

_AT_ONCE = 4


class CrossEncoderReranker:
    """Scores each (question, chunk) pair with a sentence-transformers cross-encoder.

    Args:
        name: A local folder or a hub id.

    Raises:
        DataError: The model cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        from safetensors import SafetensorError
        from sentence_transformers import CrossEncoder

        try:
            with without_bars():
                self._model: Any = CrossEncoder(name, model_kwargs={"use_safetensors": True})
        except (OSError, ValueError, SafetensorError) as error:
            raise DataError(
                f"The reranker {name!r} cannot be loaded: {error}.",
                "Name a local folder or a hub id that this machine can reach, "
                "or set reranker='embedded'.",
            ) from error

    def rerank(self, question: str, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates by the model's score, best first.

        Raises:
            DeadlineExceeded: The question has run out of time.
        """
        pairs = [(question, candidate["text"]) for candidate in candidates]
        scores: list[float] = []
        for start in range(0, len(pairs), _AT_ONCE):
            heed_deadline("while passages were reranked")
            part = pairs[start : start + _AT_ONCE]
            scores += self._model.predict(part, show_progress_bar=False).tolist()
        ranked: list[Candidate] = [
            {**c, "score": s, "signals": {**c["signals"], "rerank": s}}
            for c, s in zip(candidates, scores, strict=True)
        ]
        return sorted(ranked, key=lambda candidate: (-candidate["score"], candidate["id"]))
