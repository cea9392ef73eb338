"""``/api/ask``, and what a page has to know before it asks: health, who one is, what may be set."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse

from lexloop.apps.serve.asking import AskRequest, Event
from lexloop.apps.serve.bodies import EVENTS
from lexloop.apps.serve.choices import choices
from lexloop.apps.serve.errors import body_of, documented
from lexloop.apps.serve.people import COOKIE, Asker
from lexloop.apps.serve.run import shown
from lexloop.apps.serve.state import PING_S, SEND_S, Served, while_there
from lexloop.apps.shapes.record import Answer

router = APIRouter(prefix="/api")
_STREAM = "text/event-stream"


class Health(BaseModel):
    """That the server runs."""

    status: str
    version: str


class Me(BaseModel):
    """Who asks, and where their text goes."""

    name: str
    may_upload: bool
    needs_key: bool
    model: str | None
    hosts: list[str]


class Key(BaseModel):
    """A person's key."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(min_length=1, max_length=1000)


class Choices(BaseModel):
    """What a caller may set: a JSON Schema for each setting, by its flat name."""

    model_config = ConfigDict(populate_by_name=True)

    schemas: dict[str, Any] = Field(alias="schema")


@router.get("/health", responses=documented())
async def health() -> Health:
    """Say that the server runs."""
    return Health(status="ok", version=version("lexloop"))


@router.get("/me", responses=documented())
async def me(person: Asker, served: Served) -> Me:
    """Say who asks, and where their text goes."""
    return Me(
        name=person.name,
        may_upload=person.may_upload,
        needs_key=served.people.needs_key,
        model=shown(served.engine.settings.model.name),
        hosts=served.asking.hosts,
    )


@router.post("/session", responses=documented(), status_code=204)
def open_session(given: Key, request: Request, served: Served) -> Response:
    """Open a session of the page, which a cookie names."""
    made = Response(status_code=204)
    token = served.people.open_session(given.key)
    made.set_cookie(
        COOKIE,
        token,
        max_age=int(served.settings.session_hours * 3600),
        httponly=True,
        samesite="strict",
        secure=_is_https(request),
    )
    return made


@router.delete("/session", responses=documented(), status_code=204)
def end_session(request: Request, served: Served) -> Response:
    """End the session."""
    served.people.end_session(request.cookies.get(COOKIE, ""))
    made = Response(status_code=204)
    made.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return made


@router.get("/settings", responses=documented())
async def settings(person: Asker, served: Served) -> Choices:
    """List what a question may set."""
    return Choices(schema=choices(served.engine.settings))


@router.post(
    "/ask",
    response_model=None,
    responses={
        200: {"model": Answer, "content": {_STREAM: EVENTS}},
        **documented(404, 409, 504),
    },
)
async def ask(
    asked: AskRequest, request: Request, person: Asker, served: Served
) -> JSONResponse | EventSourceResponse:
    """Answer a question: as one JSON object, or as events where ``Accept`` asks for a stream."""
    if _STREAM in request.headers.get("accept", ""):
        events = served.asking.events(person, asked)
        first = await anext(events)
        return EventSourceResponse(_as_events(first, events), ping=PING_S, send_timeout=SEND_S)
    return JSONResponse(await while_there(request, served.asking.answer(person, asked)))


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
    return {"event": name, "data": json.dumps(data, ensure_ascii=False)}


def _is_https(request: Request) -> bool:
    """Return whether the page was loaded over https, perhaps from a proxy before this server."""
    origin = request.headers.get("origin", "")
    return request.url.scheme == "https" or origin.startswith("https://")
