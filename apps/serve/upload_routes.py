"""Routes that change the collections of somebody's own: making, uploading, removing, indexing."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from lexloop.apps.serve import document_models as models
from lexloop.apps.serve.document_routes import Named
from lexloop.apps.serve.errors import RefusedFile, documented, response_of
from lexloop.apps.serve.indexing import Job, counts_of
from lexloop.apps.serve.multipart import FIELD, Receiver
from lexloop.apps.serve.people import Asker
from lexloop.apps.serve.state import Serving, serving
from lexloop.apps.serve.uploads import MB, Refusal, Uploaded
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


@router.post("", status_code=201)
def make(new: models.NewCollection, person: Asker, request: Request) -> models.NewCollection:
    """Make an empty collection of your own."""
    made = serving(request).collections.make(person, new.name)
    return models.NewCollection(name=made.name)


@router.delete("/{name}", status_code=204)
def delete(name: str, person: Asker, request: Request) -> Response:
    """Delete a collection of your own with its documents."""
    parts = serving(request)
    one = parts.collections.changeable(person, name)
    parts.indexing.end(one)
    parts.uploads.delete(one)
    return Response(status_code=204)


@router.post(
    "/{name}/documents",
    status_code=202,
    response_model=models.UploadBody,
    openapi_extra=_FORM,
)
async def upload(
    name: str,
    person: Asker,
    request: Request,
    replace: Annotated[bool, Query(description="Replace files of the same names.")] = False,
) -> models.UploadBody | Response:
    """Add documents, and begin to index them; names may have folders."""
    parts = serving(request)
    one = await run_in_threadpool(parts.collections.changeable, person, name)
    added, others = await _taken(request, parts, one, replace)
    refused = [RefusedFile(**vars(one)) for one in others]
    if not added:
        return response_of(_nothing_added(others), refused=refused)
    return models.UploadBody(job=parts.indexing.start(one).id, added=added, refused=refused)


async def _taken(
    request: Request, parts: Serving, one: Uploaded, replace: bool
) -> tuple[list[str], list[Refusal]]:
    """Return the names of the files of a request that are among the documents now, and the rest."""
    content_type = request.headers.get("content-type", "")
    most = int(parts.settings.limits.upload_mb * MB)
    with parts.uploads.staging(one) as folder:
        receiver = Receiver(content_type, folder, most, _FILES)
        try:
            async for block in request.stream():
                await run_in_threadpool(receiver.feed, block)
        except ClientDisconnect as error:
            raise InputError("The upload was cut off.", "Send it again.") from error
        finally:
            receiver.close()
        receiver.finish()
        added, refused = await run_in_threadpool(parts.uploads.put, one, receiver.received, replace)
    return added, [*receiver.refused, *refused]


def _nothing_added(refused: list[Refusal]) -> InputError:
    if not refused:
        return InputError("The form holds no file.", f"Send files in its field `{FIELD}`.")
    told = [f"{one.name}: {one.reason}" for one in refused[:_MOST_TOLD]]
    more = [f"{len(refused) - _MOST_TOLD} more."] if len(refused) > _MOST_TOLD else []
    what = " ".join(["Nothing was added.", *told, *more])
    if any(one.exists for one in refused):
        return ConflictError(what, "Send them again with replace=true to replace them.")
    return InputError(what, "Send other files.")


@router.delete("/{name}/documents", status_code=202)
def remove(name: str, document: Named, person: Asker, request: Request) -> models.JobBody:
    """Remove a file, with all the documents in it."""
    parts = serving(request)
    one = parts.collections.changeable(person, name)
    parts.uploads.remove(one, document)
    return models.JobBody(job=parts.indexing.start(one).id)


@router.get("/{name}/indexing", response_class=EventSourceResponse)
async def indexing(name: str, person: Asker, request: Request) -> EventSourceResponse:
    """Follow the indexing of a collection of your own: `progress`, then `done` or `error`."""
    parts = serving(request)
    one = await run_in_threadpool(parts.collections.uploaded, person, name)
    return EventSourceResponse(_followed(parts.indexing.of(one), one))


async def _followed(job: Job | None, one: Uploaded) -> AsyncIterator[dict[str, str]]:
    if job is None:
        counts = await run_in_threadpool(counts_of, one)
        yield {"event": "done", "data": json.dumps({"counts": counts, "skipped": []})}
        return
    async for kind, data in job.events():
        yield {"event": kind, "data": json.dumps(data)}
