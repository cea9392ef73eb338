"""Routes that compare two versions of a document."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from lexloop.apps.serve.document_routes import Named
from lexloop.apps.serve.errors import documented
from lexloop.apps.serve.people import Asker
from lexloop.apps.serve.state import Served
from lexloop.apps.shapes.files import MEDIA_TYPES, disposition
from lexloop.workbench.diff import Comparison, Version
from lexloop.workbench.touched import Report, cited_in

router = APIRouter(prefix="/api/collections", tags=["documents"], responses=documented(404, 409))
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {MEDIA_TYPES["docx"]: {}}}}
_MOST_TURNS = 1000
Thread = Annotated[
    str, Query(max_length=100, description="A conversation of yours: its quotes that are touched.")
]


class _Compared:
    """Two documents of a collection that somebody compares."""

    def __init__(self, name: str, person: Asker, served: Served, old: Named, new: Named) -> None:
        view = served.collections.view(person, name)
        self.comparison = Comparison(Version.of(view, old), Version.of(view, new))


Compared = Annotated[_Compared, Depends()]


@router.get("/{name}/diff")
def diff(compared: Compared, person: Asker, served: Served, thread: Thread = "") -> Report:
    """Tell what changed from one document to another, provision by provision."""
    turns: list[Any] = []
    if thread:
        served.asking.readable(person, thread)
        turns = served.store.turns(person.name, thread, limit=_MOST_TURNS)
    return Report.of(compared.comparison, cited_in(turns))


@router.get("/{name}/diff/export", response_class=Response, responses=_FILE)
def export(compared: Compared) -> Response:
    """Return what changed as a Word document with tracked changes."""
    from lexloop.apps.shapes.tracked import as_tracked

    old, new = compared.comparison.old.source.name, compared.comparison.new.source.name
    return Response(
        as_tracked(compared.comparison),
        media_type=MEDIA_TYPES["docx"],
        headers={"Content-Disposition": disposition(f"{old} - {new}", "docx")},
    )
