"""Errors as HTTP says them: a status and one JSON object, for every kind of failure."""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount

from lexloop.apps.offered import EMBEDDED_ALONE
from lexloop.apps.shapes.text import first_of
from lexloop.core import errors
from lexloop.core.errors import LexloopError
from lexloop_server.translation import Translated, in_language
from lexloop_server.uploads import RefusedFile

_log = logging.getLogger("lexloop.serve")
_STATUS: Mapping[type[LexloopError], int] = {
    errors.UnknownPerson: 401,
    errors.AccessError: 403,
    errors.NotFoundError: 404,
    errors.TooSlow: 408,
    errors.ThreadBusy: 409,
    errors.ConflictError: 409,
    errors.TooLargeError: 413,
    errors.RateExceeded: 429,
    errors.DeadlineExceeded: 504,
    errors.Overloaded: 503,
    errors.AuditError: 503,
    errors.ModelError: 503,
    errors.CorpusError: 503,
    errors.DataError: 503,
    errors.EngineError: 503,
    errors.InputError: 400,
    errors.LexloopError: 500,
}
"""The status of each kind of error; a kind before those that it descends from."""
_HTTP_KINDS = {404: "NotFoundError", 405: "MethodNotAllowed"}
_MOST_TOLD = 5
_SEE_LOG = "The server's log says why; tell its operator."
OPENAI = "/v1/"
"""The prefix of paths of OpenAI's protocol."""
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_OPENAI_CODES = {"UnknownPerson": "invalid_api_key", "NotFoundError": "model_not_found"}


class Problem(BaseModel):
    """An error: what happened and what to do about it."""

    kind: str
    what: str
    hint: str
    embedded_possible: bool = False
    """Whether the question would be answered without the model, by ``settings``."""
    settings: dict[str, str] | None = None
    refused: list[RefusedFile] = []
    """The files of an upload, if none was accepted."""


class ErrorBody(BaseModel):
    """The body of every response that is an error."""

    error: Problem


COMMON = (400, 401, 403, 408, 413, 422, 429, 500, 503)
"""Statuses that any route may return."""


class _AsciiResponse(Translated):
    """JSON that can hold any text that a caller sent, including lone surrogates."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(in_language(content)).encode("ascii")


class Refused(HTTPException):
    """An error that leaves a request's body half read. FastAPI passes it on unchanged."""

    def __init__(self, error: LexloopError) -> None:
        super().__init__(status_of(error), error.what)
        self.error = error


class OpenAIProblem(BaseModel):
    """An error in the form of OpenAI's protocol."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIErrorBody(BaseModel):
    """The body of every response of OpenAI's protocol that is an error."""

    error: OpenAIProblem


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the error responses of a route for its schema, those that any may have included."""
    return {status: {"model": ErrorBody} for status in sorted({*COMMON, *statuses})}


def problem_of(error: Exception) -> Problem:
    """Return the message of an error for people. Paths are left out of it and logged."""
    kind = type(error).__name__
    if not isinstance(error, LexloopError):
        _log.error("Unexpected %s", kind, exc_info=error)
        return Problem(
            kind="UnexpectedError",
            what=f"Something unexpected happened ({kind}).",
            hint="Try again; the server's log has more.",
        )
    what, hint = error.what, error.hint
    if isinstance(error, (errors.CorpusError, errors.DataError, errors.EngineError)):
        _log.error("%s: %s", kind, error)
        what, hint = "The documents cannot be read at the moment.", _SEE_LOG
    possible = isinstance(error, errors.ModelError) and error.embedded_possible
    return Problem(
        kind=kind,
        what=what,
        hint=hint,
        embedded_possible=possible,
        settings=EMBEDDED_ALONE if possible else None,
    )


def status_of(error: Exception) -> int:
    """Return the HTTP status that tells an error."""
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def body_of(
    error: Exception,
    path: str = "",
    refused: Sequence[RefusedFile] = (),
) -> dict[str, Any]:
    """Return the JSON object of an error.

    Args:
        error: The error.
        path: The path of the request, which decides the form of the object.
        refused: The files of an upload, if none was taken.
    """
    problem = problem_of(error).model_copy(update={"refused": [*refused]})
    return _body(path, status_of(error), problem, code=_OPENAI_CODES.get(problem.kind))


def response_of(
    error: Exception,
    path: str = "",
    refused: Sequence[RefusedFile] = (),
) -> JSONResponse:
    """Return the response that tells an error; see ``body_of``."""
    headers = {}
    if isinstance(error, errors.Overloaded):
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, errors.UnknownPerson):
        headers["WWW-Authenticate"] = "Bearer"
    return _AsciiResponse(body_of(error, path, refused), status_of(error), headers)


def _body(
    path: str, status: int, problem: Problem, param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """Return the JSON object that tells a problem in the form of the request's protocol."""
    if not path.startswith(OPENAI):
        return ErrorBody(error=problem).model_dump()
    usual = "invalid_request_error" if status < 500 else "server_error"
    message, kind = f"{problem.what} {problem.hint}", _OPENAI_TYPES.get(status, usual)
    details = OpenAIProblem(message=message, type=kind, param=param, code=code)
    return OpenAIErrorBody(error=details).model_dump()


def faults_of(found: Sequence[Any]) -> str:
    """Return what pydantic finds wrong with what was sent, without repeating that."""
    faults = [
        f"{'.'.join(str(part)[:100] for part in fault['loc'])}: {fault['msg']}" for fault in found
    ]
    return "; ".join(first_of(faults, _MOST_TOLD, "{} more"))


def install(app: FastAPI) -> None:
    """Return every error of an application in this form."""
    app.add_exception_handler(LexloopError, _ours)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _ours)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, LexloopError) and status_of(error) == 500:
        _log.error("%s: %s", type(error).__name__, error.what, exc_info=error)
    return response_of(error, request.scope["path"])


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    """Return how a request differs from the schema, without repeating its values."""
    assert isinstance(error, RequestValidationError)
    faults, path = error.errors(), request.scope["path"]
    first = faults[0]["loc"][1:2] if faults else ()
    param = first[0] if first and isinstance(first[0], str) else None
    problem = Problem(
        kind="MalformedRequest",
        what=f"The request does not match the schema: {faults_of(faults)}.",
        hint="See /api/openapi.json for the schema.",
    )
    status = 400 if path.startswith(OPENAI) else 422  # as OpenAI has it
    return _AsciiResponse(_body(path, status, problem, param), status)


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    path, status, what = request.scope["path"], error.status_code, str(error.detail)
    if isinstance(error, Refused):
        return response_of(error.error, path)
    headers = dict(error.headers or {})
    methods = _methods(request) if status in (404, 405) else []
    if methods and request.method not in methods:  # the page's files are looked for by GET
        status, what, headers = 405, "There is no such method here", {"Allow": ", ".join(methods)}
    problem = Problem(
        kind=_HTTP_KINDS.get(status, "BadRequest"),
        what=f"{what}.",
        hint="See /api/openapi.json for what there is.",
    )
    return _AsciiResponse(_body(path, status, problem), status, headers)


def _methods(request: Request) -> list[str]:
    """Return the methods of all routes of a path. Starlette gives those of one only."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    return [
        method
        for method in ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
        if any(
            route.matches({**request.scope, "method": method})[0] == Match.FULL for route in routes
        )
    ]
