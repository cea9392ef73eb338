"""Routes that compare two versions of a document."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from lexloop.apps.shapes.files import MEDIA_TYPES, disposition
from lexloop_server.fields import CollectionName, DocumentName
from lexloop_server.plugins import Asker, Hosted, documented
from lexloop_workbench.diff import Comparison, Version
from lexloop_workbench.touched import Report, cited_in

router = APIRouter(prefix="/api/collections", tags=["documents"], responses=documented(404, 409))
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {MEDIA_TYPES["docx"]: {}}}}
Named = Annotated[DocumentName, Query()]
Thread = Annotated[
    str, Query(max_length=100, description="A conversation of yours: its quotes that are touched.")
]


def _comparing(
    name: CollectionName, person: Asker, host: Hosted, old: Named, new: Named
) -> Callable[[], Comparison]:
    """Return what compares two documents of a collection."""

    def compare() -> Comparison:
        view = host.collections.view(person, name)
        return Comparison(Version.of(view, old), Version.of(view, new))

    return compare


Compare = Annotated[Callable[[], Comparison], Depends(_comparing)]


@router.get("/{name}/diff")
async def diff(
    compare: Compare, request: Request, person: Asker, host: Hosted, thread: Thread = ""
) -> Report:
    """Compare two documents, provision by provision."""

    def report() -> Report:
        turns = host.turns(person, thread) if thread else []
        return Report.of(compare(), cited_in(turns))

    return await host.in_turn(request, person, report)


@router.get("/{name}/diff/export", response_class=Response, responses=_FILE)
async def export(compare: Compare, request: Request, person: Asker, host: Hosted) -> Response:
    """Return what changed as a Word document with tracked changes."""
    from lexloop_workbench.shapes.tracked import as_tracked

    def tracked() -> Response:
        comparison = compare()
        old, new = comparison.old.source.name, comparison.new.source.name
        return Response(
            as_tracked(comparison),
            media_type=MEDIA_TYPES["docx"],
            headers={"Content-Disposition": disposition(f"{old} - {new}", "docx")},
        )

    return await host.in_turn(request, person, tracked)
