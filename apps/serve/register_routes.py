"""Routes of the register, and of what documents say that they are."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from lexloop.apps.serve.errors import documented
from lexloop.apps.serve.people import Asker
from lexloop.apps.serve.state import Served
from lexloop.apps.shapes.files import disposition
from lexloop.apps.shapes.register import REGISTER_TYPES, RegisterFormat, register_file
from lexloop.workbench.profile import Profile
from lexloop.workbench.provisions import Source
from lexloop.workbench.register import Register, Wanted, register

router = APIRouter(prefix="/api/collections", tags=["documents"], responses=documented(404, 409))
Name = Annotated[str, Query(min_length=1, max_length=4096, description="A document's name.")]
Several = Annotated[list[Name], Query(max_length=100, description="Documents; none for all.")]
Kinds = Annotated[list[str], Query(max_length=6, description="E.g. duty; none for all.")]
Since = Annotated[
    list[str], Query(max_length=100, description="Days of events, as EVENT=YYYY-MM-DD.")
]
Words = Annotated[str, Query(max_length=500, description="Words that who acts is named with.")]


@router.get(
    "/{name}/register",
    response_model=Register,
    responses={200: {"content": {kind: {} for kind in REGISTER_TYPES.values()}}},
)
def register_of(
    name: str,
    person: Asker,
    served: Served,
    document: Several = [],  # noqa: B006 - FastAPI copies it
    kind: Kinds = [],  # noqa: B006
    actor: Words = "",
    since: Since = [],  # noqa: B006
    format: RegisterFormat | None = None,
) -> Register | Response:
    """List who must, may or must not do what, by when, unless what; ``format`` makes it a file."""
    view = served.collections.view(person, name)
    made = register(view, document, Wanted.of(kind, actor, since))
    served.audit.note(person.name, "register", collection=name, documents=made.documents)
    if format is None:
        return made
    title = f"Register of {name}"
    return Response(
        register_file(made, format, title),
        media_type=REGISTER_TYPES[format],
        headers={"Content-Disposition": disposition(title, format)},
    )


@router.get("/{name}/profile")
async def profile_of(name: str, person: Asker, served: Served, document: Name) -> Profile:
    """Tell what a document is, and questions that it was found to answer; takes a question's time."""

    def meant() -> tuple:
        view = served.collections.view(person, name)
        return name, view, Source.of(view, document)

    _, made = await served.asking.described(person, meant)
    return made
