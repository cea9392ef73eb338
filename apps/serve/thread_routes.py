"""``/api/threads`` and ``/api/answers``: people's conversations, exported and rated."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from lexloop.apps.serve.errors import documented
from lexloop.apps.serve.people import Asker
from lexloop.apps.serve.state import Served
from lexloop.apps.shapes.files import MEDIA_TYPES, Format, disposition, exported
from lexloop.apps.shapes.record import Answer
from lexloop.apps.threads import Thread

router = APIRouter(prefix="/api")
Id = Annotated[str, Field(min_length=1, max_length=100)]
_MOST_EXPORTED = 1000
_FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {} for kind in MEDIA_TYPES.values()}}
}


class ThreadRecord(BaseModel):
    """What is told of a conversation."""

    id: str
    title: str
    created: str
    updated: str
    collections: list[str]

    @classmethod
    def of(cls, thread: Thread) -> "ThreadRecord":
        """Return what is told of a thread."""
        return cls(**{name: getattr(thread, name) for name in cls.model_fields})


class Threads(BaseModel):
    """Conversations, the one used last first."""

    threads: list[ThreadRecord]


class ThreadWithTurns(ThreadRecord):
    """A conversation with answers of it, the oldest first."""

    turns: list[Answer]


class Title(BaseModel):
    """What a conversation is called."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1, max_length=1000, pattern=r"\S")


class Rating(BaseModel):
    """A thumb for an answer, and why."""

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
    """List your conversations; `before` goes on after one of them."""
    found = served.store.threads(person.name, before, limit)
    return Threads(threads=[ThreadRecord.of(one) for one in found])


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
) -> JSONResponse:
    """Return a conversation's last answers; `before` those before one of them."""
    found = served.asking.readable(person, id)
    turns = served.store.turns(person.name, id, before, limit)
    # as they were kept, without a check of every number in them
    return JSONResponse({**ThreadRecord.of(found).model_dump(), "turns": turns})


@router.patch("/threads/{id}", responses=documented(404))
def rename(id: Id, named: Title, person: Asker, served: Served) -> ThreadRecord:
    """Give a conversation another title."""
    return ThreadRecord.of(served.store.rename(person.name, id, named.title))


@router.delete("/threads/{id}", responses=documented(404), status_code=204)
def delete(id: Id, person: Asker, served: Served) -> Response:
    """Delete a conversation with its answers."""
    served.store.delete(person.name, id)
    return Response(status_code=204)


@router.get(
    "/threads/{id}/export",
    response_class=Response,
    responses={**_FILES, **documented(404)},
)
def export_thread(id: Id, format: Format, person: Asker, served: Served) -> Response:
    """Return a conversation as a file, with a footnote for every source."""
    found = served.asking.readable(person, id)
    turns = served.store.turns(person.name, id, limit=_MOST_EXPORTED + 1)
    return _file(turns[-_MOST_EXPORTED:], format, found.title, len(turns) > _MOST_EXPORTED)


@router.get(
    "/answers/{id}/export",
    response_class=Response,
    responses={**_FILES, **documented(404)},
)
def export_answer(id: Id, format: Format, person: Asker, served: Served) -> Response:
    """Return an answer as a file, with a footnote for every source."""
    kept_in, answer = served.store.answer(person.name, id)
    served.asking.readable(person, kept_in.id)
    return _file([answer], format, "")


@router.post(
    "/answers/{id}/feedback",
    status_code=204,
    responses=documented(404),
)
def rate(id: Id, rating: Rating, person: Asker, served: Served) -> Response:
    """Keep what you think of an answer; `lexloop feedback` shows it."""
    from lexloop.evaluation.feedback import FeedbackStore, feedback_file, opinion_on

    kept_in, answer = served.store.answer(person.name, id)
    history = served.store.history(kept_in.id, before=id)
    opinion = opinion_on(answer, history, rating.vote, rating.comment)
    FeedbackStore(feedback_file(served.store.file)).keep(opinion)
    served.store.rate(id, rating.vote, opinion.comment)
    return Response(status_code=204)


def _file(answers: list[dict[str, Any]], form: Format, title: str, cut: bool = False) -> Response:
    name = disposition(title or answers[0]["question"], form)
    return Response(
        exported(answers, form, title, cut),
        media_type=MEDIA_TYPES[form],
        headers={"Content-Disposition": name},
    )
