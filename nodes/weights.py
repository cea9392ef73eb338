"""The weights of the embedded judges: logistic regressions kept as plain JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources
from typing import Any

from lexloop.core.errors import DataError


@dataclass(frozen=True)
class Weights:
    """A logistic regression.

    Args:
        intercept: The log odds where every sign is 0.
        weights: One weight per sign, in the order of the signs.
    """

    intercept: float
    weights: tuple[float, ...]

    def probability(self, signs: Sequence[float]) -> float:
        """The logistic function of the weighted signs, in [0, 1]."""
        logit = self.intercept + sum(w * x for w, x in zip(self.weights, signs, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, logit))))


@lru_cache
def load_weights(file: str, part: str, signs: type[Any]) -> Weights:
    """Weights of ``data/judges``.

    Args:
        file: The name of the file without its ending.
        part: Which of the regressions in it.
        signs: The dataclass whose fields the weights must be named after.

    Raises:
        DataError: The file is missing or broken, or its weights are for other signs.
    """
    source = resources.files("lexloop.data") / "judges" / f"{file}.json"
    names = [field.name for field in fields(signs)]
    try:
        stored = json.loads(source.read_text(encoding="utf-8"))[part]
        if list(stored["weights"]) != names:
            raise ValueError(f"the weights are for {list(stored['weights'])}, not for {names}")
        found = Weights(
            float(stored["intercept"]), tuple(float(stored["weights"][name]) for name in names)
        )
        if not all(map(math.isfinite, (found.intercept, *found.weights))):
            raise ValueError("a weight is no finite number")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"The judge's weights {source} cannot be read: {error}.", "Reinstall lexloop."
        ) from error
    return found
