"""The reader: a cross-encoder that says how well a text answers a question, by onnxruntime.

It is ms-marco-MiniLM-L-12-v2. It reads both together, so it sees which words of a text answer
which words of the question, as no comparison of two vectors does. That takes some milliseconds a
text: let it read few, chosen by something quicker. Its own output orders texts. A second one, which
``finetune.answers`` trains, says whether a text answers or is only near.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import DataError
from lexloop.core.files import sha256_of
from lexloop.core.running import heed_deadline
from lexloop.models.embedding import usable_threads
from lexloop.models.minilm import TOKENIZER, shipped_folder

SHA256 = "9b0f25129612887984fc766e5585ea55594554ac998955681617222f3b77d404"
MOST_TOKENS = 256
"""The most word pieces of a question and a text together; the longer one is cut at its end."""
_QUESTION_TOKENS = 64
"""The most of them that are the question's; without a bound a long one would leave no text."""
_CACHED = 2048
_REINSTALL = "Install Lexloop again: its file data/reader/model.onnx is missing or damaged."


class Readings(NamedTuple):
    """What the reader makes of texts, log-odds of shape (texts,).

    Args:
        order: How near each is to an answer. Some +10 is one, some -11 is on another subject.
        answers: Whether each answers.
    """

    order: NDArray[np.float32]
    answers: NDArray[np.float32]


class Reader:
    """A trained reader of questions and texts.

    Args:
        weights: The ONNX file.
        tokenizer: The ``tokenizer.json`` of the same vocabulary.

    Raises:
        DataError: A file is missing or damaged.
    """

    def __init__(self, weights: Path, tokenizer: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        if not weights.is_file() or sha256_of(weights) != SHA256:
            raise DataError(f"The reader in {weights} is not the one that ships.", _REINSTALL)
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(MOST_TOKENS)  # of the longer one
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(2, usable_threads())
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            weights.read_bytes(), options, providers=["CPUExecutionProvider"]
        )
        self._known: dict[tuple[str, str], tuple[float, float]] = {}

    def read(self, question: str, texts: Sequence[str]) -> Readings:
        """Return how well each text answers a question. What was read lately is remembered.

        Raises:
            DeadlineExceeded: The time of the question is over.
        """
        question = self._bounded(question)
        scores = [self._score(question, text) for text in texts]
        return Readings(*np.array(scores, dtype=np.float32).reshape(-1, 2).T)

    def _bounded(self, question: str) -> str:
        """Return the beginning of a question, at most ``_QUESTION_TOKENS`` word pieces long."""
        if len(question) <= _QUESTION_TOKENS:  # a word piece has at least a character
            return question
        encoded = self._tokenizer.encode(question, add_special_tokens=False)
        ends = [end for _, end in encoded.offsets]
        return question[: ends[_QUESTION_TOKENS - 1]] if len(ends) > _QUESTION_TOKENS else question

    def _score(self, question: str, text: str) -> tuple[float, float]:
        """Read one text at a time, since in a batch the weights would round differently."""
        known = self._known.get((question, text))
        if known is None:
            heed_deadline("while statements were read")
            encoded: Any = self._tokenizer.encode(question, text)
            fed = {
                "input_ids": encoded.ids,
                "attention_mask": encoded.attention_mask,
                "token_type_ids": encoded.type_ids,
            }
            arrays = {name: np.array([row], dtype=np.int64) for name, row in fed.items()}
            order, answers = self._session.run(["logits", "answers"], arrays)
            known = float(order[0, 0]), float(answers[0])
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[question, text] = known
        return known


@lru_cache(maxsize=1)
def load_reader() -> Reader:
    """Return the reader that ships, loaded once per process; raises as ``Reader``."""
    embedder = shipped_folder()  # of the same vocabulary
    return Reader(embedder.with_name("reader") / "model.onnx", embedder / TOKENIZER)
