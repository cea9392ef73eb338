"""Checks of requests: the known query parameters of a route, and the limits of values.

``tests/test_bounds.py`` walks the schemas of all routes and tools, and checks that each string,
list and number in them has a limit.
"""

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, WithJsonSchema

from lexloop.core.settings import slip_of

MOST_DOCUMENTS, MOST_COLLECTIONS = 500, 100
"""Names of documents or collections in one request."""
FARTHEST = 2**31
"""The largest place in a text or a list."""
CollectionName: TypeAlias = Annotated[
    str,
    # a person's name of up to 100 letters, `~` and the collection's own of as many
    Field(min_length=1, max_length=250, description="As /api/collections names it."),
]
DocumentName: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=4096, description="A document's name.")
]
Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]
QuestionText: TypeAlias = Annotated[
    str,
    # `checked_question` checks it and explains the fault: max_question_chars is at most this
    Field(json_schema_extra={"maxLength": 100_000}, description="In words."),
]
Label: TypeAlias = Annotated[str, Field(max_length=500)]
Day: TypeAlias = Annotated[str, Field(max_length=20)]
Place: TypeAlias = Annotated[int, Field(ge=0, le=FARTHEST)]
GivenSettings: TypeAlias = Annotated[
    dict[str, Any],
    # checked by `chosen`, which explains what is wrong: by name, then by what each setting takes
    WithJsonSchema(
        {
            "type": "object",
            "description": "By flat name; see /api/settings.",
            "propertyNames": {"maxLength": 100},
            "maxProperties": 100,
            "additionalProperties": {
                "anyOf": [
                    {"type": "boolean"},
                    {"type": "number", "maximum": 1e12},
                    {"type": "string", "maxLength": 1000},
                    {
                        "type": "array",
                        "maxItems": 100,
                        "items": {"type": "string", "maxLength": 1000},
                    },
                    {
                        "type": "object",
                        "maxProperties": 1000,
                        "propertyNames": {"maxLength": 1000},
                        "additionalProperties": {"type": "number", "maximum": 1e12},
                    },
                    {"type": "null"},
                ]
            },
        }
    ),
]

Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Words = Annotated[str, Field(min_length=1, max_length=500)]
AsOf = Annotated[
    Day | None,
    Field(
        description="Answer from the law in force on this day (YYYY-MM-DD), 'today', or 'any' for "
        "every version. Leave it out for today."
    ),
]
Names = Annotated[
    Annotated[list[CollectionName], Field(max_length=MOST_COLLECTIONS)] | None,
    Field(description="Names of collections, as list_documents gives them. Leave it out for all."),
]

Only = Annotated[
    Annotated[list[DocumentName], Field(max_length=MOST_DOCUMENTS)] | None,
    Field(description="Limit to these documents, by name or the end of it. Leave it out for all."),
]


async def only_known_query(request: Request) -> None:
    """Refuse a query parameter that the route ignores: a misspelt ``document`` would mean them all.

    Raises:
        RequestValidationError: There is one.
    """
    route: APIRoute = request.scope["route"]
    known = frozenset(_names(route.dependant)) if request.query_params else frozenset()
    faults = []
    for name in sorted({*request.query_params} - known):
        intended = slip_of(name, known)
        hint = (
            f"did you mean {intended}?"
            if intended
            else f"taken are {', '.join(sorted(known)) or 'none'}"
        )
        faults.append({"loc": ("query", name), "msg": f"unknown parameter, {hint}"})
    if faults:
        raise RequestValidationError(faults)


def _names(dependant: Dependant) -> Iterator[str]:
    """Yield the query parameters of a route and of what it depends on."""
    for parameter in dependant.query_params:
        kind = parameter.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from (field.alias or name for name, field in kind.model_fields.items())
        else:
            yield parameter.alias
    for inner in dependant.dependencies:
        yield from _names(inner)
