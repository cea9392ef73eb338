"""Routes that change the collections of somebody's own: making, uploading, removing, indexing."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from lexloop.apps.serve.document_routes import Named
from lexloop.apps.serve.errors import RefusedFile, documented, response_of
from lexloop.apps.serve.indexing import Job, counts_of
from lexloop.apps.serve.multipart import FIELD, Receiver
from lexloop.apps.serve.people import Asker
from lexloop.apps.serve.state import Served, Serving
from lexloop.apps.serve.uploads import MB, Uploaded
from lexloop.core.errors import ConflictError, InputError

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
    content_type = request.headers.get("content-type", "")
    most = int(served.settings.limits.upload_mb * MB)
    with served.uploads.staging(one) as folder:
        receiver = Receiver(content_type, folder, most, _FILES)
        try:
            async for block in request.stream():
                await run_in_threadpool(receiver.feed, block)
        except ClientDisconnect as error:
            raise InputError("The upload was cut off.", "Send it again.") from error
        finally:
            receiver.close()
        receiver.finish()
        added, refused = await run_in_threadpool(
            served.uploads.put, one, receiver.received, replace
        )
    return added, [*receiver.refused, *refused]


def _nothing_added(refused: list[RefusedFile]) -> InputError:
    if not refused:
        return InputError("The form holds no file.", f"Send files in its field `{FIELD}`.")
    told = [f"{one.name}: {one.reason}" for one in refused[:_MOST_TOLD]]
    more = [f"{len(refused) - _MOST_TOLD} more."] if len(refused) > _MOST_TOLD else []
    what = " ".join(["Nothing was added.", *told, *more])
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
