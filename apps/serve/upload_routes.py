"""Routes that change somebody's own collections, and the files that a body brings for them."""

import json
import os
from collections.abc import AsyncIterator
from io import FileIO
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from lexloop.apps.serve.document_routes import Named
from lexloop.apps.serve.errors import RefusedFile, documented, response_of
from lexloop.apps.serve.indexing import Job, counts_of
from lexloop.apps.serve.middleware import body_of
from lexloop.apps.serve.people import Asker
from lexloop.apps.serve.state import Served, Serving
from lexloop.apps.serve.uploads import MB, Received, Uploaded, file_name
from lexloop.apps.shapes.text import first_of
from lexloop.core.errors import ConflictError, InputError, LexloopError, TooLargeError

_AS_A_FORM = "Send a form with files in its field `files`."
FIELD = "files"


class Receiver:
    """Takes the bytes of a body, and writes the files that it holds.

    Args:
        content_type: Of the request; names the boundary.
        folder: Gets the files, under names of no meaning.
        files: The most files of one body.

    Raises:
        InputError: It is no multipart body.
    """

    def __init__(self, content_type: str, folder: Path, files: int) -> None:
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise InputError("The body is no form with files.", _AS_A_FORM)
        self.received: list[Received] = []
        self.refused: list[RefusedFile] = []
        self._folder, self._most, self._whole = folder, files, False
        self._names: list[str] = []
        self._header, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._file: FileIO | None = None
        try:
            self._parser = MultipartParser(
                options[b"boundary"],
                {
                    "on_part_begin": self._part_begun,
                    "on_header_field": self._field_read,
                    "on_header_value": self._value_read,
                    "on_header_end": self._header_ended,
                    "on_headers_finished": self._headers_ended,
                    "on_part_data": self._data_read,
                    "on_part_end": self._part_ended,
                    "on_end": self._ended,
                },
            )
        except FormParserError as error:
            raise _malformed(error) from error

    def feed(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            InputError: They are no multipart body, or hold too many files.
            LexloopError: A file cannot be written.
        """
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise _malformed(error) from error
        except OSError as error:
            raise LexloopError(
                f"The upload cannot be written: {error.strerror}.",
                "Ask the operator to check the disk.",
            ) from error

    def finish(self) -> None:
        """Check that the body came whole.

        Raises:
            InputError: It was cut off.
        """
        if not self._whole:
            raise InputError("The upload was cut off: its end is missing.", "Send it again.")

    def close(self) -> None:
        """Close a file that was begun."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _part_begun(self) -> None:
        self._headers, self._header, self._value = {}, b"", b""

    def _field_read(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _value_read(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_ended(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header, self._value = b"", b""

    def _headers_ended(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if options.get(b"name") != FIELD.encode() or b"filename" not in options:
            return
        if len(self.received) + len(self.refused) >= self._most:
            raise TooLargeError(
                f"More than {self._most} files were sent at once.", "Send fewer at once."
            )
        said = options[b"filename"].decode("utf-8", "replace")
        try:
            name = file_name(said)
        except InputError as error:
            self._refuse(said, error.what)
            return
        if name in self._names:
            self._refuse(name, "It was sent twice.")
            return
        self._names.append(name)
        handle = os.open(self._place(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = FileIO(handle, "w")

    def _place(self) -> Path:
        return self._folder / str(len(self._names))

    def _data_read(self, data: bytes, start: int, end: int) -> None:
        left = memoryview(data)[start:end]
        while self._file is not None and left:
            left = left[self._file.write(left) :]

    def _part_ended(self) -> None:
        if self._file is None:
            return
        size = self._file.tell()
        self.close()
        if size:
            self.received.append(Received(self._names[-1], self._place()))
        else:
            self._refuse(self._names[-1], "It is empty.")

    def _ended(self) -> None:
        self._whole = True

    def _refuse(self, name: str, reason: str) -> None:
        self.refused.append(RefusedFile(name=name[:200], reason=reason, exists=False))


def _malformed(error: Exception) -> InputError:
    return InputError(f"The body is no form with files: {error}.", _AS_A_FORM)


router = APIRouter(
    prefix="/api/collections",
    tags=["uploads"],
    responses=documented(404, 409),
)
_FILES = 2000
_MOST_TOLD = 5
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [FIELD],
                    "properties": {
                        FIELD: {"type": "array", "items": {"type": "string", "format": "binary"}}
                    },
                }
            }
        },
    }
}


class NewCollection(BaseModel):
    """The name of a collection to make."""

    name: str


class UploadBody(BaseModel):
    """What was taken of an upload, and the job that indexes it."""

    job: str
    added: list[str]
    refused: list[RefusedFile]


class JobBody(BaseModel):
    """The job that indexes a collection."""

    job: str


@router.post("", status_code=201)
def make(new: NewCollection, person: Asker, served: Served) -> NewCollection:
    """Make an empty collection of your own."""
    made = served.collections.make(person, new.name)
    return NewCollection(name=made.name)


@router.delete("/{name}", status_code=204)
def delete(name: str, person: Asker, served: Served) -> Response:
    """Delete a collection of your own with its documents."""
    one = served.collections.changeable(person, name)
    served.indexing.end(one)
    served.uploads.delete(one)
    return Response(status_code=204)


@router.post(
    "/{name}/documents",
    status_code=202,
    response_model=UploadBody,
    openapi_extra=_FORM,
)
async def upload(
    name: str,
    person: Asker,
    request: Request,
    served: Served,
    replace: Annotated[bool, Query(description="Replace files of the same names.")] = False,
) -> UploadBody | Response:
    """Add documents, and begin to index them; names may have folders."""
    one = await run_in_threadpool(served.collections.changeable, person, name)
    added, refused = await _taken(request, served, one, replace)
    if not added:
        return response_of(_nothing_added(refused), refused=refused)
    return UploadBody(job=served.indexing.start(one).id, added=added, refused=refused)


async def _taken(
    request: Request, served: Serving, one: Uploaded, replace: bool
) -> tuple[list[str], list[RefusedFile]]:
    """Return the names of the files of a request that are among the documents now, and the rest."""
    limits, body = served.settings.limits, body_of(request)
    most = int(limits.upload_mb * MB)
    body.allow(most, limits.upload_s)
    size = most if body.length is None else min(body.length, most)
    await run_in_threadpool(served.uploads.reserve, one, size)
    try:
        with served.uploads.staging(one) as folder:
            receiver = await _received(request, folder)
            added, refused = await run_in_threadpool(
                served.uploads.put, one, receiver.received, replace
            )
    finally:
        served.uploads.release(one, size)
    return added, [*receiver.refused, *refused]


async def _received(request: Request, folder: Path) -> Receiver:
    """Return what received a body, of which it wrote the files into a folder as they came."""
    receiver = Receiver(request.headers.get("content-type", ""), folder, _FILES)
    try:
        async for block in request.stream():
            await run_in_threadpool(receiver.feed, block)
    except ClientDisconnect as error:
        raise InputError("The upload was cut off.", "Send it again.") from error
    finally:
        receiver.close()
    receiver.finish()
    return receiver


def _nothing_added(refused: list[RefusedFile]) -> InputError:
    if not refused:
        return InputError("The form holds no file.", f"Send files in its field `{FIELD}`.")
    told = first_of([f"{one.name}: {one.reason}" for one in refused], _MOST_TOLD)
    what = " ".join(["Nothing was added.", *told])
    if any(one.exists for one in refused):
        return ConflictError(what, "Send them again with replace=true to replace them.")
    return InputError(what, "Send other files.")


@router.delete("/{name}/documents", status_code=202)
def remove(name: str, document: Named, person: Asker, served: Served) -> JobBody:
    """Remove a file, with all the documents in it."""
    one = served.collections.changeable(person, name)
    served.uploads.remove(one, document)
    return JobBody(job=served.indexing.start(one).id)


@router.get("/{name}/indexing", response_class=EventSourceResponse)
async def indexing(name: str, person: Asker, served: Served) -> EventSourceResponse:
    """Follow the indexing of a collection of your own: `progress`, then `done` or `error`."""
    one = await run_in_threadpool(served.collections.uploaded, person, name)
    return EventSourceResponse(_followed(served.indexing.of(one), one))


async def _followed(job: Job | None, one: Uploaded) -> AsyncIterator[dict[str, str]]:
    if job is None:
        counts = await run_in_threadpool(counts_of, one)
        yield {"event": "done", "data": json.dumps({"counts": counts, "skipped": []})}
        return
    async for kind, data in job.events():
        yield {"event": kind, "data": json.dumps(data)}
