"""Routes that read documents and change people's own collections."""

import json
import logging
from collections.abc import AsyncIterator, Callable
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import BaseModel, Field, ValidationError
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from lexloop.apps.shapes.record import owner_and_name
from lexloop.apps.shapes.text import first_of
from lexloop.core.errors import ConflictError, InputError
from lexloop.core.types import At
from lexloop.documents.reading.formats import PAGED
from lexloop.store.naming import named_document
from lexloop.store.provisions import SEE_TREE, Source
from lexloop_server.collections import CollectionBody
from lexloop_server.errors import documented, response_of
from lexloop_server.fields import FARTHEST, CollectionName, DocumentName, Place
from lexloop_server.indexing import Job, counts_of
from lexloop_server.middleware import body_of
from lexloop_server.pages import Original, fitting, shares
from lexloop_server.people import Asker
from lexloop_server.sharing import Grant, Whom
from lexloop_server.state import Served, Serving
from lexloop_server.translation import in_language
from lexloop_server.uploads import FIELD, MB, Receiver, RefusedFile, Uploaded

if TYPE_CHECKING:
    from lexloop.store.view import View

_log = logging.getLogger("lexloop.serve")
router = APIRouter(
    prefix="/api/collections",
    tags=["documents"],
    responses=documented(404, 409),
)
_LONGEST_DEPTH = 99
_STRETCH = 20_000
_PICTURE = "image/webp"
_FILES, _MOST_TOLD = 2000, 5
_SEND_AGAIN = "Some of it is left: send this again. The server's log says why."
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [FIELD],
                    "properties": {
                        FIELD: {
                            "type": "array",
                            "maxItems": _FILES,
                            "items": {"type": "string", "format": "binary"},
                        }
                    },
                }
            }
        },
    }
}
Named = Annotated[DocumentName, Query()]
Label = Annotated[str, Query(max_length=500, description="E.g. Article 5(1)(a), or a heading.")]
Offset = Annotated[Place, Query(description="In code points of the text.")]
ETag = Annotated[str | None, Header(max_length=1000)]


class DocumentBody(BaseModel):
    """A document. ``file`` names its uploaded file if you may remove it."""

    name: str
    title: str
    pages: int
    kind: str
    jurisdiction: str
    in_force_from: date | None
    in_force_to: date | None
    version: str
    supersedes: str | None
    superseded_by: str | None
    tags: list[str]
    format: str
    file: str | None = None


class SkippedBody(BaseModel):
    """A file that could not be read, or only in part, and why."""

    name: str
    reason: str
    in_part: bool


class DocumentsBody(BaseModel):
    """The documents of a collection."""

    documents: list[DocumentBody]
    skipped: list[SkippedBody]
    indexing: bool


class UnitBody(BaseModel):
    """A part, provision, paragraph or point. Its span is in code points of the text."""

    label: str
    kind: str
    number: str
    heading: str
    page: int | None
    at: At = At()
    start: int
    end: int
    depth: int = 0


class TreeBody(BaseModel):
    """The structure of a document."""

    document: str
    title: str
    identifier: str
    units: list[UnitBody]
    problems: list[str]


class ReferenceBody(BaseModel):
    """Words that refer to something, and its labels in this document."""

    said: str
    labels: list[str]


class ProvisionBody(UnitBody):
    """A provision with its surroundings."""

    document: str
    above: list[UnitBody]
    lead_in: list[str]
    text: str
    refers_to: list[ReferenceBody]
    version: str


class TextUnitBody(UnitBody):
    """A unit of a text. ``body`` is the offset of its own words after its heading."""

    body: int


class TextBody(BaseModel):
    """Part of a document's text. ``pages`` has the offset of the start of each page."""

    document: str
    title: str
    text: str
    start: int
    end: int
    length: int
    units: list[TextUnitBody]
    pages: list[int]


class BoxedPage(BaseModel):
    """A page with boxes: left, top, right and bottom as fractions of the page."""

    page: int
    width: float
    height: float
    boxes: list[tuple[float, float, float, float]]


class BoxesBody(BaseModel):
    """The place of a span on its pages."""

    pages: list[BoxedPage]


class NewCollection(BaseModel):
    """The name of a collection to make."""

    name: str = Field(max_length=250)


class UploadBody(BaseModel):
    """The accepted and refused files of an upload, and the job that indexes them."""

    job: str
    added: list[str]
    refused: list[RefusedFile]


class JobBody(BaseModel):
    """The job that indexes a collection."""

    job: str


class TouchedBody(BaseModel):
    """Something that was removed, with its kind: an upload, a thread's answer or feedback."""

    kind: str
    done: str


class RemovedBody(JobBody):
    """What was removed with a forgotten file. ``left`` says what could not be removed."""

    touched: list[TouchedBody] = []
    left: list[str] = []


@router.get("")
def collections(person: Asker, served: Served) -> list[CollectionBody]:
    """List the collections that you see."""
    return served.collections.records(person)


@router.get("/{name}/documents")
def documents(name: CollectionName, person: Asker, served: Served) -> DocumentsBody:
    """List the documents of a collection, and the files that could not be read."""
    own = served.collections.held(person).get(name)
    job = None if own is None else served.indexing.of(own)
    indexing = job is not None and not job.over
    if own is not None and not own.indexed:
        return DocumentsBody(documents=[], skipped=[], indexing=indexing)
    view = served.collections.view(person, name)
    skipped = [
        SkippedBody(name=skipped.name, reason=skipped.reason, in_part=skipped.indexed)
        for skipped in view.access.skipped(stored=True)
    ]
    listed = _listed(view, frozenset(person.tags), with_files=own is not None)
    return DocumentsBody(documents=listed, skipped=skipped, indexing=indexing)


def _listed(view: "View", tags: frozenset[str], with_files: bool) -> list[DocumentBody]:
    from lexloop.documents.document import older_version

    metadata_of = view.metadata(view.documents)
    newer = {
        older: name
        for name, metadata in metadata_of.items()
        if (older := older_version(name, metadata, metadata_of)) is not None
    }
    return [
        DocumentBody(
            name=name,
            title=view.titles[name],
            pages=len(view.document(name).pages) if name.lower().endswith(PAGED) else 0,
            kind=metadata.kind,
            jurisdiction=metadata.jurisdiction,
            in_force_from=metadata.in_force_from,
            in_force_to=metadata.in_force_to,
            version=metadata.version,
            supersedes=older_version(name, metadata, metadata_of),
            superseded_by=newer.get(name),
            # another's tags would tell which groups there are
            tags=sorted(tags.intersection(metadata.tags)),
            format=PurePosixPath(name).suffix.lower().lstrip("."),
            file=(view.access.source_of(name) or ("",))[0] if with_files else None,
        )
        for name, metadata in metadata_of.items()
    ]


class _Seen:
    """A collection as a person sees it."""

    def __init__(self, name: CollectionName, person: Asker, served: Served) -> None:
        self.view: View = served.collections.view(person, name)


class _Reading(_Seen):
    """A document that a person reads."""

    def __init__(
        self, name: CollectionName, person: Asker, served: Served, document: Named
    ) -> None:
        super().__init__(name, person, served)
        self.source = Source.of(self.view, document)


class _Paper(_Seen):
    """A document whose pages a person sees."""

    def __init__(
        self, name: CollectionName, person: Asker, served: Served, document: Named
    ) -> None:
        super().__init__(name, person, served)
        self.document = named_document(self.view.documents, document)
        self.pages = served.pages
        self._corpus = served.collections.settings(person, name).corpus

    def original(self) -> Original:
        return self.pages.original(self._corpus, self.view, self.document)


Seen = Annotated[_Seen, Depends()]
Read = Annotated[_Reading, Depends()]
Paper = Annotated[_Paper, Depends()]


@router.get("/{name}/tree")
def tree(
    read: Read, depth: Annotated[int, Query(ge=0, le=_LONGEST_DEPTH)] = _LONGEST_DEPTH
) -> TreeBody:
    """Return the structure of a document in order, and what is misnumbered."""
    source = read.source
    return TreeBody(title=read.view.titles[source.name], **source.outline(depth))


@router.get("/{name}/provision")
def provision(read: Read, label: Label, start: Offset | None = None) -> ProvisionBody:
    """Return a provision with the headings above it, its lead-in and what it refers to.

    Of several with the same label, it is the one that contains ``start``, or else the first.
    """
    source = read.source
    places, units = source.places(label, SEE_TREE), source.tree.units
    holding = (p for p in places if start is not None and units[p].start <= start < units[p].end)
    metadata = read.view.metadata([source.name])[source.name]
    return ProvisionBody(
        document=source.name,
        version=metadata.version,
        **source.provision(next(holding, places[0])),
    )


@router.get("/{name}/text")
def text(read: Read, start: Offset = 0, end: Offset | None = None) -> TextBody:
    """Return a stretch of a document's text, widened to whole provisions or lines."""
    last = start + _STRETCH if end is None else end
    title = read.view.titles[read.source.name]
    return TextBody(title=title, **read.source.stretch(start, last))


@router.get("/{name}/boxes")
def boxes(paper: Paper, start: Offset, end: Offset) -> BoxesBody:
    """Return the place of a span of the text on its pages, as fractions from the top left."""
    areas = paper.view.boxes(paper.document, start, min(end, start + _STRETCH))
    if not areas:
        return BoxesBody(pages=[])
    sizes = paper.pages.sizes(paper.original(), (box.page for box in areas))
    return BoxesBody(pages=[BoxedPage(**page) for page in shares(areas, sizes)])


@router.get("/{name}/page", response_class=Response, responses={200: {"content": {_PICTURE: {}}}})
def page(
    paper: Paper,
    page: Annotated[int, Query(ge=1, le=FARTHEST)],
    width: Annotated[int, Query(ge=1, le=10_000)] = 1200,
    if_none_match: ETag = None,
) -> Response:
    """Return a picture of a page of a PDF or an image, of about the requested width."""
    original = paper.original()
    headers = {"ETag": original.etag(page, fitting(width)), "Cache-Control": "private, no-cache"}
    if headers["ETag"] in (if_none_match or ""):
        return Response(status_code=304, headers=headers)
    drawn = paper.pages.picture(original, page, fitting(width))
    return Response(drawn, media_type=_PICTURE, headers=headers)


@router.post("", status_code=201)
def make(new: NewCollection, person: Asker, served: Served) -> NewCollection:
    """Create an empty collection of your own."""
    served.audit.note(person.name, "make", collection=new.name)
    uploaded = served.collections.make(person, new.name)
    return NewCollection(name=uploaded.name)


@router.delete("/{name}", status_code=204)
def delete(name: CollectionName, person: Asker, served: Served) -> Response:
    """Delete one of your collections with its documents."""
    uploaded = served.collections.owned(person, name)
    served.audit.note(person.name, "delete", collection=name)
    served.indexing.end(uploaded)
    served.uploads.delete(uploaded)
    served.sharing.forget(uploaded)
    return Response(status_code=204)


@router.post(
    "/{name}/documents",
    status_code=202,
    response_model=UploadBody,
    openapi_extra=_FORM,
)
async def upload(
    name: CollectionName,
    person: Asker,
    request: Request,
    served: Served,
    replace: Annotated[bool, Query(description="Replace files of the same names.")] = False,
) -> UploadBody | Response:
    """Add documents and start indexing them. Names may contain folders."""
    uploaded = await run_in_threadpool(served.collections.changeable, person, name)
    note = partial(served.audit.note, person.name, "upload", collection=name, replace=replace)
    added, refused = await _taken(request, served, uploaded, replace, note)
    if not added:
        return response_of(_nothing_added(refused), refused=refused)
    return UploadBody(job=served.indexing.start(uploaded).id, added=added, refused=refused)


async def _taken(
    request: Request,
    served: Serving,
    uploaded: Uploaded,
    replace: bool,
    note: Callable[..., None],
) -> tuple[list[str], list[RefusedFile]]:
    """Return the names of a request's files that were added, and the files that were refused."""
    limits, body = served.settings.limits, body_of(request)
    most = int(limits.upload_mb * MB)
    body.allow(most, limits.upload_s)
    size = most if body.length is None else min(body.length, most)
    await run_in_threadpool(served.uploads.reserve, uploaded, size)
    try:
        with served.uploads.staging(uploaded) as folder:
            receiver = await _received(request, folder)
            if sent := [file.name for file in receiver.received]:
                await run_in_threadpool(note, documents=sent)
            added, refused = await run_in_threadpool(
                served.uploads.put, uploaded, receiver.received, replace
            )
    finally:
        served.uploads.release(uploaded, size)
    return added, [*receiver.refused, *refused]


async def _received(request: Request, folder: Path) -> Receiver:
    """Receive a body, writing its files into a folder as they arrive."""
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
    reasons = first_of([f"{file.name}: {file.reason}" for file in refused], _MOST_TOLD)
    what = " ".join(["Nothing was added.", *reasons])
    if any(file.exists for file in refused):
        return ConflictError(what, "Send them again with replace=true to replace them.")
    return InputError(what, "Send other files.")


@router.delete("/{name}/documents", status_code=202)
def remove(
    name: CollectionName,
    document: Named,
    person: Asker,
    served: Served,
    forget: Annotated[
        bool, Query(description="Also withdraw kept answers and feedback that quote it.")
    ] = False,
) -> RemovedBody:
    """Remove a file with all documents in it."""
    uploaded = served.collections.changeable(person, name)
    served.audit.note(person.name, "remove", collection=name, documents=[document])
    if not forget:
        served.uploads.remove(uploaded, document)
        return RemovedBody(job=served.indexing.start(uploaded).id)
    from lexloop_server.forgetting import forget_upload

    owner = owner_and_name(name)[0] or person.name
    done = forget_upload(served.uploads, served.store, uploaded, document, owner)
    served.audit.remain(done)
    stays = [remaining.why for remaining in done.left if remaining.stays]
    for remaining in done.left:
        if not remaining.stays:
            _log.error("Not all is forgotten of a document: %s: %s", remaining.where, remaining.why)
    return RemovedBody(
        job=served.indexing.start(uploaded).id,
        touched=[TouchedBody(kind=item.kind, done=item.done) for item in done.touched],
        left=[*dict.fromkeys(stays), *([] if done.over else [_SEND_AGAIN])],
    )


class Grants(BaseModel):
    """The people and tags that a collection is shared with."""

    grants: list[Grant]


@router.get("/{name}/grants")
def grants(name: CollectionName, person: Asker, served: Served) -> Grants:
    """List with whom you share one of your collections."""
    return Grants(grants=served.sharing.of(served.collections.owned(person, name)))


@router.put("/{name}/grants")
def share(name: CollectionName, grant: Grant, person: Asker, served: Served) -> Grants:
    """Share one of your collections with a person, or with everybody who has a tag."""
    uploaded = served.collections.owned(person, name)
    if not served.people.needs_key:
        raise InputError("There is nobody to share with.", "Name people in the server's settings.")
    granted = grant.model_dump(exclude_none=True)
    served.audit.note(person.name, "share", collection=name, grant=granted)
    served.sharing.give(person.name, uploaded, grant)
    return Grants(grants=served.sharing.of(uploaded))


@router.delete("/{name}/grants")
def take_back(
    name: CollectionName,
    person: Asker,
    served: Served,
    of_person: Annotated[str | None, Query(alias="person", max_length=100)] = None,
    of_tag: Annotated[str | None, Query(alias="tag", max_length=100)] = None,
) -> Grants:
    """Revoke a grant. Does nothing if there is none."""
    uploaded = served.collections.owned(person, name)
    try:
        whom = Whom(person=of_person, tag=of_tag)
    except ValidationError as error:
        raise InputError("It says not whose grant.", "Name either a person or a tag.") from error
    revoked = whom.model_dump(exclude_none=True)
    served.audit.note(person.name, "take back", collection=name, grant=revoked)
    served.sharing.take_back(person.name, uploaded, whom)
    return Grants(grants=served.sharing.of(uploaded))


@router.get("/{name}/indexing", response_class=EventSourceResponse)
async def indexing(name: CollectionName, person: Asker, served: Served) -> EventSourceResponse:
    """Follow the indexing of an uploaded collection: `progress`, then `done` or `error`."""
    uploaded = await run_in_threadpool(served.collections.uploaded, person, name)
    return EventSourceResponse(_followed(served.indexing.of(uploaded), uploaded))


async def _followed(job: Job | None, uploaded: Uploaded) -> AsyncIterator[dict[str, str]]:
    if job is None:
        counts = await run_in_threadpool(counts_of, uploaded)
        yield {"event": "done", "data": json.dumps({"counts": counts, "skipped": []})}
        return
    async for kind, data in job.events():
        yield {"event": kind, "data": json.dumps(in_language(data))}
