"""Structured replies: read defensively out of whatever text a model sends.

Models fence their JSON, talk around it, or answer a request for JSON with a function call. What
can be read is read; what cannot is described, so that one repair can be asked for.
"""

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

Schema = TypeVar("Schema", bound=BaseModel)

_REPAIR = """Your last reply could not be used: {problem}
Answer the same request again, with one JSON object of the requested form and nothing else."""

# A reply of nothing but openings must not keep the event loop busy.
_MOST_FALSE_STARTS = 100


class Unreadable(ValueError):
    """A text holds no object of the schema; the message says why, fit to show the model."""


def read(text: str, schema: type[Schema]) -> Schema:
    """The first JSON object in ``text`` that ``schema`` accepts.

    Args:
        text: A reply, perhaps fenced or surrounded by other text.
        schema: What the object must be.

    Raises:
        Unreadable: No JSON object was found, or none that was found fits the schema.
    """
    problem = "it contains no complete JSON object"
    for found in _objects(text):
        try:
            return schema.model_validate(found)
        except ValidationError as error:
            problem = _described(error)
    raise Unreadable(problem)


def repair_turn(problem: Unreadable) -> str:
    """What to say to a model after a reply that could not be read."""
    return _REPAIR.format(problem=problem)


def _described(error: ValidationError) -> str:
    """The problems of a validation, one phrase each, without pydantic's links."""
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'the object'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of ``text`` that stand in no other, in order."""
    decoder = json.JSONDecoder()
    position, false_starts = text.find("{"), 0
    while position >= 0 and false_starts < _MOST_FALSE_STARTS:
        try:
            found, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end, false_starts = position + 1, false_starts + 1
        else:
            yield found
        position = text.find("{", end)
