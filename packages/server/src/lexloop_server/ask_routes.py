"""Routes of questions, of what a page needs to know before asking, and of conversations."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from importlib.metadata import version
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse

from lexloop.apps.offered import choices
from lexloop.apps.shapes.files import MEDIA_TYPES, Format, disposition, exported
from lexloop.apps.shapes.record import Answer
from lexloop.core.errors import UnknownPerson
from lexloop_server.asking import AskRequest, Event, shown
from lexloop_server.errors import body_of, documented
from lexloop_server.fields import Id
from lexloop_server.laid_out import LaidOut
from lexloop_server.middleware import WRONG_KEY, address_of
from lexloop_server.people import COOKIE, Asker
from lexloop_server.roles import Role
from lexloop_server.state import PING_S, SEND_S, Served, while_there
from lexloop_server.translation import Translated, in_language

router = APIRouter(prefix="/api")
_STREAM = "text/event-stream"
_EVENTS: dict[str, Any] = {
    "schema": {"type": "string"},
    "example": "event: begin\r\ndata: {...}\r\n\r\nevent: step\r\ndata: {...}\r\n\r\n"
    "event: token\r\ndata: {...}\r\n\r\nevent: answer\r\ndata: {...}\r\n\r\n",
}
"""The answer as events: ``begin``, ``step`` and ``token``, then ``answer`` or ``error``."""
_MOST_EXPORTED = 1000
_FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {MEDIA_TYPES[form]: {} for form in get_args(Format)}}
}


class Health(BaseModel):
    """The health of the server."""

    status: str
    version: str


class Me(BaseModel):
    """The current person, the hosts that receive their text, and the server's plugins."""

    name: str
    role: Role
    may_upload: bool
    needs_key: bool
    model: str | None
    hosts: list[str]
    plugins: list[str]


class Key(BaseModel):
    """A person's key."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(min_length=1, max_length=1000)


@router.get("/health", responses=documented())
async def health() -> Health:
    """Return the server's health and version."""
    return Health(status="ok", version=version("lexloop"))


@router.get("/me", responses=documented())
async def me(person: Asker, served: Served) -> Me:
    """Return who you are, and which hosts receive your text."""
    return Me(
        name=person.name,
        role=person.role,
        may_upload=person.may_upload,
        needs_key=served.people.needs_key,
        model=shown(served.engine.settings.model.name),
        hosts=served.asking.hosts,
        plugins=[*served.plugins],
    )


@router.post("/session", responses=documented(), status_code=204)
def open_session(given: Key, request: Request, served: Served) -> Response:
    """Open a session of the page, identified by a cookie."""
    response = Response(status_code=204)
    try:
        token = served.people.open_session(given.key)
    except UnknownPerson:
        served.audit.warn(WRONG_KEY, address_of(request.scope))
        raise
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(served.settings.session_hours * 3600),
        httponly=True,
        samesite="strict",
        secure=_is_https(request),
    )
    return response


@router.delete("/session", responses=documented(), status_code=204)
def end_session(request: Request, served: Served) -> Response:
    """End the session."""
    served.people.end_session(request.cookies.get(COOKIE, ""))
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


@router.get("/settings", responses=documented())
async def settings(person: Asker, served: Served) -> dict[Literal["schema"], dict[str, Any]]:
    """Return a JSON Schema for each setting that a question may change, by its flat name."""
    return {"schema": choices(served.engine.settings)}


@router.post(
    "/ask",
    response_model=None,
    responses={
        200: {"model": Answer, "content": {_STREAM: _EVENTS}},
        **documented(404, 409, 504),
    },
)
async def ask(
    asked: AskRequest, request: Request, person: Asker, served: Served
) -> Translated | EventSourceResponse:
    """Answer a question as one JSON object, or as events if ``Accept`` asks for a stream."""
    if _STREAM in request.headers.get("accept", ""):
        events = served.asking.events(person, asked)
        first = await anext(events)
        return EventSourceResponse(_as_events(first, events), ping=PING_S, send_timeout=SEND_S)
    return Translated(await while_there(request, served.asking.answer(person, asked)))


async def _as_events(
    first: Event, rest: AsyncGenerator[Event, None]
) -> AsyncIterator[dict[str, str]]:
    try:
        yield _sent(*first)
        async for name, data in rest:
            yield _sent(name, data)
    except Exception as error:  # noqa: BLE001 - told and logged; the status is sent by now
        yield _sent("error", body_of(error))
    finally:
        await rest.aclose()


def _sent(name: str, data: dict[str, Any]) -> dict[str, str]:
    return {"event": name, "data": json.dumps(in_language(data), ensure_ascii=False)}


def _is_https(request: Request) -> bool:
    """Return whether the page was loaded over https, perhaps from a proxy before this server."""
    origin = request.headers.get("origin", "")
    return request.scope["scheme"] == "https" or origin.startswith("https://")


class ThreadRecord(BaseModel):
    """A conversation, without its answers."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    title: str
    created: str
    updated: str
    collections: list[str]


class Threads(BaseModel):
    """Conversations, most recently used first."""

    threads: list[ThreadRecord]


class ThreadWithTurns(ThreadRecord):
    """A conversation with some of its answers, oldest first."""

    turns: list[Answer]


class Title(BaseModel):
    """The title of a conversation."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1, max_length=1000, pattern=r"\S")


class Rating(BaseModel):
    """A thumbs up or down for an answer, with a reason."""

    model_config = ConfigDict(extra="forbid")

    vote: Literal["up", "down"]
    comment: str = Field(default="", max_length=10_000)


@router.get("/threads", responses=documented(404))
def threads(
    person: Asker,
    served: Served,
    before: Annotated[str, Query(max_length=100)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> Threads:
    """List your conversations. `before` continues after one of them."""
    return Threads.model_validate({"threads": served.store.threads(person.name, before, limit)})


@router.get(
    "/threads/{id}",
    response_model=ThreadWithTurns,
    responses=documented(404),
)
def thread(
    id: Id,
    person: Asker,
    served: Served,
    before: Annotated[str, Query(max_length=100)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> Translated:
    """Return a conversation's last answers, or those before one of them with `before`."""
    conversation = served.asking.readable(person, id)
    turns = served.store.turns(person.name, id, before, limit)
    # as they were kept, without a check of every number in them
    return Translated({**ThreadRecord.model_validate(conversation).model_dump(), "turns": turns})


@router.patch("/threads/{id}", responses=documented(404))
def rename(id: Id, named: Title, person: Asker, served: Served) -> ThreadRecord:
    """Rename a conversation."""
    return ThreadRecord.model_validate(served.store.rename(person.name, id, named.title))


@router.delete("/threads/{id}", responses=documented(404), status_code=204)
def delete(id: Id, person: Asker, served: Served) -> Response:
    """Delete a conversation with its answers."""
    served.store.delete(person.name, id)
    return Response(status_code=204)


class ExportAs(LaidOut):
    """Format and layout of a file of answers."""

    format: Format


@router.get(
    "/threads/{id}/export",
    response_class=Response,
    responses={**_FILES, **documented(404)},
)
async def export_thread(
    id: Id,
    wanted: Annotated[ExportAs, Query()],
    request: Request,
    person: Asker,
    served: Served,
) -> Response:
    """Export a conversation as a file with a footnote for every source."""

    def work() -> Response:
        conversation = served.asking.readable(person, id)
        turns = served.store.turns(person.name, id, limit=_MOST_EXPORTED + 1)
        return _file(
            turns[-_MOST_EXPORTED:], wanted, conversation.title, len(turns) > _MOST_EXPORTED
        )

    return await served.in_turn(request, person, work)


@router.get(
    "/answers/{id}/export",
    response_class=Response,
    responses={**_FILES, **documented(404)},
)
def export_answer(
    id: Id, wanted: Annotated[ExportAs, Query()], person: Asker, served: Served
) -> Response:
    """Export an answer as a file with a footnote for every source."""
    return _file([served.answer(person, id)], wanted, "")


@router.post(
    "/answers/{id}/feedback",
    status_code=204,
    responses=documented(404),
)
def rate(id: Id, rating: Rating, person: Asker, served: Served) -> Response:
    """Store your opinion of an answer. `lexloop feedback` shows it."""
    from lexloop.apps.feedback import FeedbackStore, feedback_file, opinion_on

    kept_in, answer = served.store.answer(person.name, id)
    history = served.store.history(kept_in.id, before=id)
    opinion = opinion_on(answer, history, rating.vote, rating.comment)
    FeedbackStore(feedback_file(served.store.file)).keep(opinion)
    served.store.rate(id, rating.vote, opinion.comment)
    return Response(status_code=204)


def _file(
    answers: list[dict[str, Any]], export: ExportAs, title: str, cut: bool = False
) -> Response:
    subject = (export.re if export.memo else "") or title or answers[0]["question"]
    return Response(
        exported(answers, export.format, title, cut, export.layout),
        media_type=MEDIA_TYPES[export.format],
        headers={"Content-Disposition": disposition(subject, export.format)},
    )
