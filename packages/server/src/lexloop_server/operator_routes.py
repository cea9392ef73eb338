"""Routes for operators only: who may do what, and the audit log."""

from itertools import chain
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict

from lexloop.core.errors import NotFoundError
from lexloop_server.audit_check import Anchor, verified
from lexloop_server.audit_lines import raw_lines
from lexloop_server.errors import documented
from lexloop_server.roles import Role
from lexloop_server.state import Served, Serving

router = APIRouter(prefix="/api", tags=["operator"], responses=documented(404))
_LINES = "application/x-ndjson"


class PersonBody(BaseModel):
    """A person of the settings. ``collections`` is null if they see all of the operator's."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    role: Role
    collections: list[str] | None
    tags: list[str]


class GroupBody(BaseModel):
    """A group that the proxy names, with its role and tags."""

    name: str
    role: Role
    tags: list[str]


class PeopleBody(BaseModel):
    """Who may come in."""

    people: list[PersonBody]
    groups: list[GroupBody]


class FaultBody(BaseModel):
    """A fault in a line of a file of the audit log."""

    file: str
    line: int
    what: str


class VerifiedBody(BaseModel):
    """Whether the audit log is unchanged. ``sha256`` is the hash of its last line.

    ``anchor`` states the last line. Store it elsewhere and pass it as ``expect`` later.
    """

    intact: bool
    lines: int
    first: int
    last: int
    sha256: str
    end_stated: bool
    anchor: str
    faults: list[FaultBody]


@router.get("/people")
def people(served: Served) -> PeopleBody:
    """List people and groups with their roles. Keys are never returned."""
    people = [
        PersonBody.model_validate(person_settings) for person_settings in served.settings.people
    ]
    if (proxy := served.settings.proxy) is None:
        return PeopleBody(people=people, groups=[])
    roles = proxy.roles.items()
    groups = [
        GroupBody(name=name, role=role, tags=[*proxy.tags.get(name, ())]) for name, role in roles
    ]
    return PeopleBody(people=people, groups=groups)


@router.get("/audit", response_class=StreamingResponse, responses={200: {"content": {_LINES: {}}}})
def audit(
    served: Served, since: Annotated[str | None, Query(max_length=50)] = None
) -> StreamingResponse:
    """Return the lines of the audit log unchanged, all or since a day or a moment."""
    lines = raw_lines(_kept(served), since)
    first = next(lines, b"")  # a log that cannot be read gives an error status
    return StreamingResponse(chain([first], lines), media_type=_LINES)


@router.get("/audit/verify")
def verify(
    served: Served,
    expect: Annotated[
        str | None, Query(max_length=100, description="A line that must be there, as N:SHA256.")
    ] = None,
) -> VerifiedBody:
    """Check that no line of the audit log was changed, cut off or moved."""
    anchor = None if expect is None else Anchor.of(expect)
    return VerifiedBody.model_validate(verified(_kept(served), anchor).record())


def _kept(served: Serving) -> Path:
    if served.audit.folder is None:
        raise NotFoundError(
            "The server keeps no audit log.", "Add the table [audit] to its settings."
        )
    return served.audit.folder
