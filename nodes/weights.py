"""The weights of the embedded judges: logistic regressions stored as plain JSON."""

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
        intercept: The log odds if every feature is 0.
        weights: One weight per feature, in the order of the features.
    """

    intercept: float
    weights: tuple[float, ...]

    @staticmethod
    def of(stored: Any, features: type[Any] | int) -> "Weights":
        """Return the weights in the form of the shipped files.

        Args:
            stored: ``intercept`` and ``weights``, by name or in their order.
            features: The dataclass whose fields the weights are named after; or how many numbers
                they are.

        Raises:
            KeyError, TypeError, ValueError: They have another form, or are for other features.
        """
        weights = stored["weights"]
        held = range(len(weights)) if isinstance(weights, list) else list(weights)
        names: Sequence[Any] = (
            range(features)
            if isinstance(features, int)
            else [field.name for field in fields(features)]
        )
        if held != names:
            raise ValueError(f"the weights are for {held}, not for {names}")
        found = Weights(float(stored["intercept"]), tuple(float(weights[name]) for name in names))
        if not all(map(math.isfinite, (found.intercept, *found.weights))):
            raise ValueError("a weight is no finite number")
        return found

    def logit(self, features: Sequence[float]) -> float:
        """Return the log odds: above 0 if they speak for it."""
        return self.intercept + sum([w * x for w, x in zip(self.weights, features, strict=True)])

    def probability(self, features: Sequence[float]) -> float:
        """Return the logistic function of the log odds, in [0, 1]."""
        return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, self.logit(features)))))


@lru_cache
def load_weights(file: str, part: str, features: type[Any] | int) -> Weights:
    """Return one of the regressions in a JSON file of the package's data, as ``Weights.of`` does.

    Raises:
        DataError: The file is missing or broken, or its weights are for other features.
    """
    return read_shipped(file, lambda stored: Weights.of(stored[part], features))


def read_shipped(name: str, read: Callable[[Any], Read]) -> Read:
    """Return what ``read`` makes of a JSON file of the package's data.

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
