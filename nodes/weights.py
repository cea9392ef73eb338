"""The weights of the embedded judges: logistic regressions kept as plain JSON."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources
from typing import Any, TypeVar

from lexloop.core.errors import DataError

Read = TypeVar("Read")


@dataclass(frozen=True)
class Weights:
    """A logistic regression.

    Args:
        intercept: The log odds where every feature is 0.
        weights: One weight per feature, in the order of the features.
    """

    intercept: float
    weights: tuple[float, ...]

    @staticmethod
    def of(stored: Any, features: type[Any]) -> "Weights":
        """The weights in the form of the files of ``data/judges``, for the fields of ``features``.

        Raises:
            KeyError, TypeError, ValueError: They have another form, or are for other features.
        """
        names = [field.name for field in fields(features)]
        if list(stored["weights"]) != names:
            raise ValueError(f"the weights are for {list(stored['weights'])}, not for {names}")
        found = Weights(
            float(stored["intercept"]), tuple(float(stored["weights"][name]) for name in names)
        )
        if not all(map(math.isfinite, (found.intercept, *found.weights))):
            raise ValueError("a weight is no finite number")
        return found

    def probability(self, features: Sequence[float]) -> float:
        """The logistic function of the weighted features, in [0, 1]."""
        logit = self.intercept + sum(w * x for w, x in zip(self.weights, features, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, logit))))


@lru_cache
def load_weights(file: str, part: str, features: type[Any]) -> Weights:
    """One of the regressions in a file of ``data/judges``, for the fields of ``features``.

    Raises:
        DataError: The file is missing or broken, or its weights are for other features.
    """
    return read_shipped(f"judges/{file}.json", lambda kept: Weights.of(kept[part], features))


def read_shipped(name: str, read: Callable[[Any], Read]) -> Read:
    """What ``read`` makes of a JSON file of the package's data.

    Raises:
        DataError: The file is missing, or has another form.
    """
    source = resources.files("lexloop.data") / name
    try:
        return read(json.loads(source.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"The weights {source} cannot be read: {error}.", "Reinstall lexloop."
        ) from error
