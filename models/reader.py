"""The reader: a cross-encoder that says how well a text answers a question, by onnxruntime.

It is ms-marco-MiniLM-L-12-v2. It reads both together, so it sees which words of a text answer
which words of the question, as no comparison of two vectors does. That takes some milliseconds a
text: let it read few, chosen by something quicker.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import DataError
from lexloop.core.files import sha256_of
from lexloop.core.running import heed_deadline
from lexloop.models.embedding import usable_threads
from lexloop.models.minilm import TOKENIZER, genuine_folder

SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
MOST_TOKENS = 256
"""The most word pieces of a question and a text together; the longer one is cut at its end."""
_QUESTION_TOKENS = 128
"""The most of them that are the question's; without a bound a long one would leave no text."""
_CACHED = 2048
_REINSTALL = "Install Lexloop again: its file data/reader/model.onnx is missing or damaged."


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
        self._known: dict[tuple[str, str], float] = {}

    def read(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how well each text answers a question, as a log-odd of shape (len(texts),).

        Some +10 is a text that answers, some -11 one on another subject. What was read lately is
        remembered.

        Raises:
            DeadlineExceeded: The time of the question is over.
        """
        question = self._bounded(question)
        return np.array([self._score(question, text) for text in texts], dtype=np.float32)

    def _bounded(self, question: str) -> str:
        """Return the beginning of a question, at most ``_QUESTION_TOKENS`` word pieces long."""
        if len(question) <= _QUESTION_TOKENS:  # a word piece has at least a character
            return question
        encoded = self._tokenizer.encode(question, add_special_tokens=False)
        ends = [end for _, end in encoded.offsets]
        return question[: ends[_QUESTION_TOKENS - 1]] if len(ends) > _QUESTION_TOKENS else question

    def _score(self, question: str, text: str) -> float:
        """Read one text alone: beside others the rounding of the weights would differ."""
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
            known = float(self._session.run(None, arrays)[0][0, 0])
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[question, text] = known
        return known


@lru_cache(maxsize=1)
def load_reader() -> Reader:
    """Return the reader that ships, loaded once per process; raises as ``Reader``."""
    weights = Path(str(resources.files("lexloop.data"))) / "reader" / "model.onnx"
    return Reader(weights, genuine_folder() / TOKENIZER)
