"""Routes of the register, and of what documents say that they are."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, get_args

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from lexloop.apps.shapes.files import MEDIA_TYPES, disposition
from lexloop.store.provisions import Source
from lexloop_server.fields import CollectionName, DocumentName, Id, Label
from lexloop_server.plugins import Asker, Host, Hosted, Person, documented, opening
from lexloop_workbench.describing import described
from lexloop_workbench.profile import Profile
from lexloop_workbench.register import MOST_AT_ONCE, Register, Wanted, register
from lexloop_workbench.shapes.register import RegisterFormat, register_file

if TYPE_CHECKING:
    from lexloop.store.view import View

router = APIRouter(prefix="/api/collections", tags=["documents"], responses=documented(404, 409))


class _Chosen(BaseModel):
    """Which entries."""

    document: list[DocumentName] = Field(default=[], max_length=100, description="None for all.")
    kind: list[Id] = Field(default=[], max_length=6, description="For example duty. Empty for all.")
    actor: str = Field(default="", max_length=500, description="Words that who acts is named with.")
    since: list[Label] = Field(default=[], max_length=100, description="Days, EVENT=YYYY-MM-DD.")
    as_of: str | None = Field(
        default=None,
        max_length=20,
        description="In force on: YYYY-MM-DD, `today`, or `any`; none for named documents "
        "whenever they are, and for today otherwise.",
    )
    format: RegisterFormat | None = Field(
        default=None, description="Format of a file. Leave it out for JSON."
    )


@router.get(
    "/{name}/register",
    response_model=Register,
    responses={200: {"content": {MEDIA_TYPES[form]: {} for form in get_args(RegisterFormat)}}},
)
async def register_of(
    name: CollectionName,
    request: Request,
    person: Asker,
    host: Hosted,
    chosen: Annotated[_Chosen, Query()],
) -> Register | Response:
    """List who must, may or must not do what, by when, unless what; ``format`` makes it a file."""
    work = partial(_listed, name, person, host, chosen)
    return await host.in_turn(request, person, work)


def _listed(name: str, person: Person, host: Host, chosen: _Chosen) -> Register | Response:
    # who names a version that was replaced wants that one
    day = chosen.as_of or ("any" if chosen.document else "today")
    view = host.collections.view(person, name, day)
    selection = Wanted.of(chosen.kind, chosen.actor, chosen.since)
    entries = register(view, chosen.document, selection, MOST_AT_ONCE)
    host.note(person, "register", collection=name, documents=entries.documents)
    if (form := chosen.format) is None:
        return entries
    title = f"Register of {name}"
    return Response(
        register_file(entries, form, title),
        media_type=MEDIA_TYPES[form],
        headers={"Content-Disposition": disposition(title, form)},
    )


@router.get("/{name}/profile")
async def profile_of(
    name: CollectionName,
    request: Request,
    person: Asker,
    host: Hosted,
    document: Annotated[DocumentName, Query()],
) -> Profile:
    """Describe a document, with questions that it answers. The questions are tried first."""

    def work() -> Profile:
        view = host.collections.view(person, name)
        return profiled(host, person, name, view, Source.of(view, document))

    return await host.in_turn(request, person, work)


def profiled(host: Host, person: Person, collection: str, view: "View", source: Source) -> Profile:
    """Return the profile of a document, counted and recorded as one of a person's questions.

    Raises:
        LexloopError: It is one too many, or cannot be recorded or read.
    """
    host.count(person)
    host.note(person, "describe", collection=collection, documents=[source.name])
    settings = host.collections.settings(person, collection)
    with opening():
        return described(host.engine.graph(), settings, view, source.name)
