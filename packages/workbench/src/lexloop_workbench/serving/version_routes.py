"""Routes that show the versions of a document, and how two of them differ word by word."""

from datetime import date
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel
from typing_extensions import TypedDict

from lexloop.core.errors import InputError
from lexloop.store.provisions import SEE_TREE, Source
from lexloop_server.fields import CollectionName, DocumentName
from lexloop_server.plugins import Asker, Hosted, documented
from lexloop_workbench.versions import compared, same_provision, version_record, versions_of

router = APIRouter(prefix="/api/collections", tags=["documents"], responses=documented(404, 409))
Named = Annotated[DocumentName, Query()]
Label = Annotated[str, Query(max_length=500, description="E.g. Article 5(1)(a), or a heading.")]
AsOf = Annotated[str, Query(pattern=r"^(today|\d{4}-\d{2}-\d{2})$", max_length=10)]


class VersionBody(BaseModel):
    """A version, with a provision if it has it. ``answers`` tells if it is used on the day."""

    document: str
    title: str
    in_force_from: date | None
    in_force_to: date | None
    version: str
    answers: bool
    label: str | None
    heading: str | None
    text: str | None
    start: int | None
    end: int | None


class VersionsBody(BaseModel):
    """The versions of a document, oldest first."""

    versions: list[VersionBody]


class DifferenceBody(TypedDict):
    """Words of both versions or of one of them."""

    op: Literal["same", "added", "removed"]
    text: str


class CompareBody(BaseModel):
    """Two versions and how they differ."""

    a: VersionBody
    b: VersionBody
    parts: list[DifferenceBody]


@router.get("/{name}/versions")
def versions(  # noqa: PLR0917 - FastAPI names them
    name: CollectionName,
    person: Asker,
    host: Hosted,
    document: Named,
    label: Label = "",
    as_of: AsOf = "today",
) -> VersionsBody:
    """Return the versions of a document, oldest first, each with its version of a provision."""
    view = host.collections.view(person, name)
    source = Source.of(view, document)
    day = _day(as_of)
    place = source.places(label, SEE_TREE)[0] if label else None
    records: list[dict[str, Any]] = []
    for version in versions_of(view, source.name):
        counterpart = Source.of(view, version)
        there = None if place is None else same_provision(source, place, counterpart)
        records.append(version_record(view, counterpart, there, day))
    return VersionsBody(versions=[VersionBody(**record) for record in records])


@router.get("/{name}/compare")
def compare(  # noqa: PLR0917 - FastAPI names them
    name: CollectionName,
    person: Asker,
    host: Hosted,
    a: Named,
    b: Named,
    label: Label = "",
    as_of: AsOf = "today",
) -> CompareBody:
    """Compare two versions of a provision, or of the whole document, word by word."""
    view = host.collections.view(person, name)
    first, second = Source.of(view, a), Source.of(view, b)
    return CompareBody(**compared(view, first, second, label, _day(as_of)))


def _day(day: str) -> date:
    try:
        return date.today() if day == "today" else date.fromisoformat(day)
    except ValueError as error:
        raise InputError(f"as_of is {day!r}.", "Write the day as YYYY-MM-DD.") from error
