"""OpenAI's protocol, so that any chat interface is a client: models are collections."""

import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from importlib.metadata import version
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from lexloop.apps.shapes.text import answer_alone, as_text
from lexloop.core.errors import NotFoundError, QuestionError
from lexloop.core.types import Turn
from lexloop_server.asking import AskRequest, Event
from lexloop_server.errors import OPENAI, OpenAIErrorBody, body_of
from lexloop_server.fields import GivenSettings
from lexloop_server.people import Asker, Person
from lexloop_server.state import PING_S, SEND_S, Served, Serving, while_there

_MOST_MESSAGES, _MOST_PARTS = 1000, 1000
_PIECE = re.compile(r".{1,60}(?:\s+|$)|.{1,60}", re.DOTALL)
_TOLD = (
    *("id", "finding", "abstained", "passed", "verdict", "warning", "collections", "as_of"),
    *("citations", "near", "read_as"),
)
ALL = "lexloop"
"""The model that is all collections."""
Said = Annotated[str, Field(max_length=1_000_000)]
"""Text of a message. Messages before the question may be long answers."""
Nothing = Annotated[list[Any], Field(max_length=0)] | None


class Part(BaseModel):
    """A part of a message."""

    type: Literal["text"]
    text: Said


class Message(BaseModel):
    """A message of the conversation, except results of tools."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Said | Annotated[list[Part], Field(max_length=_MOST_PARTS)] | None = None

    @property
    def text(self) -> str:
        """All that it says."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class TextFormat(BaseModel):
    """The one form of an answer."""

    type: Literal["text"] = "text"


class StreamOptions(BaseModel):
    """What a stream contains besides the answer."""

    include_usage: bool | None = None


class Extension(BaseModel):
    """Lexloop's own parameters, under ``lexloop``."""

    model_config = ConfigDict(extra="forbid")

    as_of: str | None = Field(default=None, max_length=20)
    settings: GivenSettings = {}


class ChatRequest(BaseModel):
    """A request for a completion. Parameters that are not listed here are ignored.

    Parameters that would change the kind of answer accept only the value that changes nothing:
    an answer is always one text, written from the documents.
    """

    model: str = Field(max_length=300, description="`lexloop`, or `lexloop/COLLECTION`.")
    messages: Annotated[list[Message], Field(min_length=1, max_length=_MOST_MESSAGES)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    tools: Nothing = None
    tool_choice: Literal["none", "auto"] | None = None
    functions: Nothing = None
    function_call: Literal["none", "auto"] | None = None
    response_format: TextFormat | None = None
    logprobs: Literal[False] | None = None
    stop: Nothing = None
    modalities: Annotated[list[Literal["text"]], Field(max_length=10)] | None = None
    lexloop: Extension = Extension()

    def conversation(self) -> tuple[str, list[Turn]]:
        """Return the question, and the turns before it.

        System and developer messages are the caller's own data, not part of the conversation.

        Raises:
            QuestionError: The last message is not a question.
        """
        turns: list[Turn] = []
        for message in self.messages:
            if message.role == "user":
                turns.append({"role": "user", "content": message.text})
            elif message.role == "assistant":
                turns.append({"role": "assistant", "content": answer_alone(message.text)})
        if not turns or turns[-1]["role"] != "user":
            raise QuestionError(
                "The last message is not a user's.", "End the messages with the question."
            )
        return turns[-1]["content"], [turn for turn in turns[:-1] if turn["content"].strip()]


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
def model(name: Annotated[str, Path(max_length=300)], person: Asker, served: Served) -> Model:
    """Return a model, which stands for a collection."""
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
    question, before = asked.conversation()
    question_asked = AskRequest(
        question=question,
        collections=await run_in_threadpool(_collections, asked.model, person, served),
        as_of=asked.lexloop.as_of,
        settings=asked.lexloop.settings,
    )
    if not asked.stream:
        answer = served.asking.answer(person, question_asked, before)
        return JSONResponse(_completion(asked.model, await while_there(request, answer)))
    events = served.asking.events(person, question_asked, before)
    first = await anext(events)
    with_usage = bool(asked.stream_options and asked.stream_options.include_usage)
    chunks = _chunked(asked.model, first[1]["id"], with_usage, events)
    return EventSourceResponse(chunks, ping=PING_S, send_timeout=SEND_S)


def _asked_by(person: Person, served: Serving) -> list[str]:
    names = served.collections.names(person)
    return [*([ALL] if names else []), *(f"{ALL}/{name}" for name in names)]


def _collections(model: str, person: Person, served: Serving) -> list[str] | None:
    """Return the collections that a model's name stands for, or None for all.

    Raises:
        NotFoundError: The person has no such model.
    """
    models = _asked_by(person, served)
    if model not in models:
        raise NotFoundError(
            f"The model {model!r} does not exist.",
            f"Use one of {', '.join(models)}." if models else "There are no collections for you.",
        )
    return None if model == ALL else [model.removeprefix(f"{ALL}/")]


async def _chunked(
    model: str, id: str, usage: bool, events: AsyncGenerator[Event, None]
) -> AsyncIterator[dict[str, str]]:
    """Yield the chunks of a completion as server-sent events, the end mark last.

    The checks may discard a model's draft, and a chunk cannot be taken back. So the draft is sent
    as reasoning, and ``content`` is the checked answer.
    """
    head = _head("chat.completion.chunk", model, id)

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, str]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _event({**head, "choices": [choice], **({"usage": None} if usage else {})})

    try:
        yield chunk({"role": "assistant", "content": ""})
        async for name, data in events:
            if name == "token":
                before = "\n\n" if data["restart"] else ""
                yield chunk({"reasoning_content": before + data["text"]})
            elif name == "answer":
                for piece in _PIECE.findall(as_text(data)):
                    yield chunk({"content": piece})
                yield chunk({"lexloop": _told(data)}, "stop")
                if usage:
                    yield _event({**head, "choices": [], "usage": _usage(data)})
    except Exception as error:  # noqa: BLE001 - told and logged; the status is sent by now
        yield _event(body_of(error, OPENAI))
    finally:
        await events.aclose()
    yield {"data": "[DONE]"}


def _event(data: dict[str, Any]) -> dict[str, str]:
    return {"data": json.dumps(data)}


def _completion(model: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return the completion that a record is, its citations under ``lexloop`` of the message."""
    message = {
        "role": "assistant",
        "content": as_text(record),
        "refusal": None,
        "lexloop": _told(record),
    }
    return {
        **_head("chat.completion", model, record["id"]),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": _usage(record),
    }


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
    tokens_in, tokens_out = used["tokens_in"], used["tokens_out"]
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }
