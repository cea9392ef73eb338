"""OpenAI's protocol, so that any chat interface is a client: models are collections."""

import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from lexloop.apps.serve.asking import AskRequest, Event
from lexloop.apps.serve.errors import OPENAI, OpenAIErrorBody, body_of
from lexloop.apps.serve.openai_messages import ChatRequest, content_of
from lexloop.apps.serve.people import Asker, Person
from lexloop.apps.serve.state import PING_S, SEND_S, Served, Serving, while_there
from lexloop.core.errors import NotFoundError

ALL = "lexloop"
"""The model that is all collections."""
_PIECE = re.compile(r".{1,60}(?:\s+|$)|.{1,60}", re.DOTALL)
_TOLD = (
    *("id", "finding", "abstained", "passed", "verdict", "warning", "collections", "as_of"),
    *("citations", "near", "read_as"),
)


class Model(BaseModel):
    """A collection that can be asked as a model."""

    id: str
    object: str = "model"
    created: int = 0
    owned_by: str = "lexloop"


class Models(BaseModel):
    """The collections that can be asked as models."""

    object: str = "list"
    data: list[Model]


_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": OpenAIErrorBody}
    for status in (400, 401, 403, 404, 408, 409, 413, 429, 503, 504)
}
router = APIRouter(prefix="/v1", responses=_RESPONSES)


@router.get("/models")
def models(person: Asker, served: Served) -> Models:
    """List what can be asked: each collection, and all of them together."""
    return Models(data=[Model(id=name) for name in _asked_by(person, served)])


@router.get("/models/{name:path}")
def model(name: str, person: Asker, served: Served) -> Model:
    """Tell of one of them."""
    _collections(name, person, served)
    return Model(id=name)


@router.post(
    "/chat/completions",
    response_model=None,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def complete(
    asked: ChatRequest, request: Request, person: Asker, served: Served
) -> JSONResponse | EventSourceResponse:
    """Answer the last message of a conversation, with the citations under ``lexloop``."""
    asked.check()
    question, before = asked.conversation()
    wanted = AskRequest(
        question=question,
        collections=await run_in_threadpool(_collections, asked.model, person, served),
        as_of=asked.lexloop.as_of,
        settings=asked.lexloop.settings,
    )
    if not asked.stream:
        answer = served.asking.answer(person, wanted, before)
        return JSONResponse(_completion(asked.model, await while_there(request, answer)))
    events = served.asking.events(person, wanted, before)
    first = await anext(events)
    chunks = _Chunks(asked, first[1]["id"], served.people.needs_key)
    return EventSourceResponse(chunks.told(events), ping=PING_S, send_timeout=SEND_S)


def _asked_by(person: Person, served: Serving) -> list[str]:
    names = served.collections.names(person)
    return [*([ALL] if names else []), *(f"{ALL}/{name}" for name in names)]


def _collections(model: str, person: Person, served: Serving) -> list[str] | None:
    """Return the collections that a model's name means, None for all.

    Raises:
        NotFoundError: There is no such model for the person.
    """
    known = _asked_by(person, served)
    if model not in known:
        raise NotFoundError(
            f"The model {model!r} does not exist.",
            f"Use one of {', '.join(known)}." if known else "There are no collections for you.",
        )
    return None if model == ALL else [model.removeprefix(f"{ALL}/")]


def _completion(model: str, record: dict[str, Any]) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": content_of(record),
        "refusal": None,
        "lexloop": _told(record),
    }
    return {
        **_head("chat.completion", model, record["id"]),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": _usage(record),
    }


class _Chunks:
    """The chunks of one streamed completion.

    What a model drafts may be thrown away by the checks, and a chunk cannot be taken back: so the
    draft is told as reasoning, and ``content`` is the answer once it was checked.
    """

    def __init__(self, asked: ChatRequest, id: str, served_to_others: bool) -> None:
        self._head = _head("chat.completion.chunk", asked.model, id)
        options = asked.stream_options
        self._to_others = served_to_others
        self._with_usage = bool(options and options.include_usage)

    async def told(self, events: AsyncGenerator[Event, None]) -> AsyncIterator[dict[str, str]]:
        """Yield the chunks as server-sent events, the mark of the end last."""
        try:
            yield self._delta({"role": "assistant", "content": ""})
            async for name, data in events:
                if name == "token":
                    draft = f"\n\n{data['text']}" if data["restart"] else data["text"]
                    yield self._delta({"reasoning_content": draft})
                elif name == "answer":
                    for chunk in self._answer(data):
                        yield chunk
        except Exception as error:  # noqa: BLE001 - told and logged; the status is sent by now
            yield _event(body_of(error, OPENAI, self._to_others))
        finally:
            await events.aclose()
        yield {"data": "[DONE]"}

    def _answer(self, record: dict[str, Any]) -> Iterator[dict[str, str]]:
        for piece in _PIECE.findall(content_of(record)):
            yield self._delta({"content": piece})
        yield self._delta({"lexloop": _told(record)}, "stop")
        if self._with_usage:
            yield _event({**self._head, "choices": [], "usage": _usage(record)})

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, str]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        usage = {"usage": None} if self._with_usage else {}
        return _event({**self._head, "choices": [choice], **usage})


def _head(kind: str, model: str, id: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{id}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "system_fingerprint": f"lexloop-{version('lexloop')}",
    }


def _told(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in _TOLD}


def _usage(record: dict[str, Any]) -> dict[str, int]:
    used = record["usage"]
    taken, given = used["tokens_in"], used["tokens_out"]
    return {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given}


def _event(data: dict[str, Any]) -> dict[str, str]:
    return {"data": json.dumps(data)}
