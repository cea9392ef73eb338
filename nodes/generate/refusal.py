"""Which questions are none for the documents: orders to the assistant, and other subjects.

Two linear models read the question's MiniLM vector. The first tells orders to the assistant and
obscenities from questions, whatever the documents are about. The second tells what laws and
policies are asked about from the rest of the world; since any subject may have rules, what it says
is weighed against how close the documents come. `lexloop.finetune.refusal` fits both.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np

from lexloop.core.errors import DataError
from lexloop.core.types import Candidate
from lexloop.models.embedding import Vectors

MANNERS = 0.3
"""The weight of each sign of how a question is put, beside a unit vector."""
_MANNERS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\?\s*$",
        r"\b(?:you|your|yours|yourself)\b",
        r"[\[\]{}<>|#=_]",
        r"[a-z]\d[a-z]",
        r"^\W*(?:what|which|who|whom|whose|when|where|how|why|may|must|can|could|does|do|did|is|are"
        r"|am|was|were|should|shall|will|would|has|have|if|in|under)\b",
    )
]
NEAR = 0.5
"""A question that is as near as this to the documents is on their subject, whatever it is."""
_DIMENSION = 384


@dataclass(frozen=True)
class Head:
    """A linear model over signs; it speaks against a question where the sum is positive."""

    intercept: float
    weights: Vectors

    def __call__(self, signs: Vectors) -> float:
        """The log odds."""
        return self.intercept + float(self.weights @ signs)


class Refusal:
    """Refuses what no documents answer.

    Args:
        embed: Gives MiniLM's unit vectors of texts.
        comparable: Whether the vectors of the documents are MiniLM's as well.

    Raises:
        DataError: The shipped weights cannot be read.
    """

    def __init__(self, embed: Callable[[list[str]], Vectors], comparable: bool) -> None:
        self._embed, self._comparable = embed, comparable
        self._orders, self._elsewhere = shipped()

    def __call__(self, asked: str, standalone: str, found: Sequence[Candidate]) -> bool:
        """Whether a question is refused.

        Args:
            asked: What was written.
            standalone: The same, understood without the conversation.
            found: What the documents have that is near it, each with its signals.
        """
        written, understood = self._embed([asked, standalone])
        if self._orders(order_signs(asked, written)) > 0:
            return True
        cosines = [c["signals"]["dense"] for c in found if "dense" in c["signals"]]
        if not self._comparable or max(cosines, default=NEAR) >= NEAR:
            return False
        return self._elsewhere(subject_signs(understood, max(cosines))) > 0


def order_signs(asked: str, vector: Vectors) -> Vectors:
    """The signs of an order: the vector, then how it is put."""
    manners = [MANNERS * (pattern.search(asked) is not None) for pattern in _MANNERS]
    return np.concatenate([vector, np.array(manners, dtype=np.float32)])


def subject_signs(vector: Vectors, closeness: float) -> Vectors:
    """The signs of another subject: the vector, then the highest cosine with the documents."""
    return np.concatenate([vector, np.array([closeness], dtype=np.float32)])


@lru_cache(maxsize=1)
def shipped() -> tuple[Head, Head]:
    """The shipped models: of orders, and of other subjects.

    Raises:
        DataError: They are missing or broken.
    """
    source = resources.files("lexloop.data") / "refusal" / "weights.json"
    try:
        stored = json.loads(source.read_text(encoding="utf-8"))
        orders = _head(stored["orders"], _DIMENSION + len(_MANNERS))
        return orders, _head(stored["elsewhere"], _DIMENSION + 1)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"The weights {source} cannot be read: {error}.", "Reinstall lexloop."
        ) from error


def _head(stored: dict[str, object], size: int) -> Head:
    weights = np.array(stored["weights"], dtype=np.float32)
    intercept = float(str(stored["intercept"]))
    if weights.shape != (size,) or not (np.isfinite(weights).all() and math.isfinite(intercept)):
        raise ValueError(f"there are not {size} finite weights")
    return Head(intercept, weights)
