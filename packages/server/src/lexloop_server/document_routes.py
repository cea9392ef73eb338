"""Routes of documents: what is read of them, and what changes somebody's own collections."""

import json
import logging
from collections.abc import AsyncIterator, Callable
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import BaseModel, Field, ValidationError
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from typing_extensions import TypedDict

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
from lexloop_workbench.versions import compared, same_provision, version_record, versions_of

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
AsOf = Annotated[str, Query(pattern=r"^(today|\d{4}-\d{2}-\d{2})$", max_length=10)]
ETag = Annotated[str | None, Header(max_length=1000)]


class DocumentBody(BaseModel):
    """A document; ``file`` is the uploaded file that it is of, where that may be removed."""

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
    """What could not be read, or of which only a part could, and why."""

    name: str
    reason: str
    in_part: bool


class DocumentsBody(BaseModel):
    """The documents of a collection."""

    documents: list[DocumentBody]
    skipped: list[SkippedBody]
    indexing: bool


class UnitBody(BaseModel):
    """A part, provision, paragraph or point; its span is in code points of the text."""

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
    """What a document consists of."""

    document: str
    title: str
    identifier: str
    units: list[UnitBody]
    problems: list[str]


class ReferenceBody(BaseModel):
    """Words that refer, and the labels of what they refer to in this document."""

    said: str
    labels: list[str]


class ProvisionBody(UnitBody):
    """A provision with what is around it."""

    document: str
    above: list[UnitBody]
    lead_in: list[str]
    text: str
    refers_to: list[ReferenceBody]
    version: str


class TextUnitBody(UnitBody):
    """A unit of a text; ``body`` is where its own words begin behind its heading."""

    body: int


class TextBody(BaseModel):
    """A stretch of a document's text; ``pages`` has the offset at which each page begins."""

    document: str
    title: str
    text: str
    start: int
    end: int
    length: int
    units: list[TextUnitBody]
    pages: list[int]


class BoxedPage(BaseModel):
    """A page with boxes: left, top, right and bottom as shares of it."""

    page: int
    width: float
    height: float
    boxes: list[tuple[float, float, float, float]]


class BoxesBody(BaseModel):
    """Where a span stands."""

    pages: list[BoxedPage]


class VersionBody(BaseModel):
    """A version of a document, with a provision where it has that; ``answers`` on the day asked."""

    document: str
    title: str
    in_force_from: date | None
    in_force_to: date | None
    version: str
    answers: bool
    label: str | None
    heading: str | None
    text: str | None
    start: int | None
    end: int | None


class VersionsBody(BaseModel):
    """The versions of a document, the oldest first."""

    versions: list[VersionBody]


class DifferenceBody(TypedDict):
    """Words that both versions have, or one of them."""

    op: Literal["same", "added", "removed"]
    text: str


class CompareBody(BaseModel):
    """Two versions and how they differ."""

    a: VersionBody
    b: VersionBody
    parts: list[DifferenceBody]


class NewCollection(BaseModel):
    """The name of a collection to make."""

    name: str = Field(max_length=250)


class UploadBody(BaseModel):
    """What was taken of an upload, and the job that indexes it."""

    job: str
    added: list[str]
    refused: list[RefusedFile]


class JobBody(BaseModel):
    """The job that indexes a collection."""

    job: str


class TouchedBody(BaseModel):
    """What was taken out, and of which kind: an upload, a thread's answer or feedback."""

    kind: str
    done: str


class RemovedBody(JobBody):
    """What went with a file that was to be forgotten; ``left`` says what could not go."""

    touched: list[TouchedBody] = []
    left: list[str] = []


@router.get("")
def collections(person: Asker, served: Served) -> list[CollectionBody]:
    """List the collections that you see."""
    return served.collections.records(person)


@router.get("/{name}/documents")
def documents(name: CollectionName, person: Asker, served: Served) -> DocumentsBody:
    """List the documents of a collection, and what of its files could not be read."""
    own = served.collections.held(person).get(name)
    job = None if own is None else served.indexing.of(own)
    indexing = job is not None and not job.over
    if own is not None and not own.indexed:
        return DocumentsBody(documents=[], skipped=[], indexing=indexing)
    view = served.collections.view(person, name)
    skipped = [
        SkippedBody(name=one.name, reason=one.reason, in_part=one.indexed)
        for one in view.skipped(stored=True)
    ]
    listed = _listed(view, frozenset(person.tags), with_files=own is not None)
    return DocumentsBody(documents=listed, skipped=skipped, indexing=indexing)


def _listed(view: "View", tags: frozenset[str], with_files: bool) -> list[DocumentBody]:
    from lexloop.documents.document import older_version

    known = view.metadata(view.documents)
    newer = {
        older: name
        for name, one in known.items()
        if (older := older_version(name, one, known)) is not None
    }
    return [
        DocumentBody(
            name=name,
            title=view.titles[name],
            pages=len(view.pages_of(name)) if name.lower().endswith(PAGED) else 0,
            kind=one.kind,
            jurisdiction=one.jurisdiction,
            in_force_from=one.in_force_from,
            in_force_to=one.in_force_to,
            version=one.version,
            supersedes=older_version(name, one, known),
            superseded_by=newer.get(name),
            # another's tags would tell which groups there are
            tags=sorted(tags.intersection(one.tags)),
            format=PurePosixPath(name).suffix.lower().lstrip("."),
            file=(view.source_of(name) or ("",))[0] if with_files else None,
        )
        for name, one in known.items()
    ]


class _Seen:
    """What somebody sees of a collection."""

    def __init__(self, name: CollectionName, person: Asker, served: Served) -> None:
        self.view: View = served.collections.view(person, name)


class _Reading(_Seen):
    """A document that somebody reads."""

    def __init__(
        self, name: CollectionName, person: Asker, served: Served, document: Named
    ) -> None:
        super().__init__(name, person, served)
        self.source = Source.of(self.view, document)


class _Paper(_Seen):
    """A document whose pages somebody sees."""

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
    """Return everything that a document consists of, in order, and what is misnumbered."""
    source = read.source
    return TreeBody(title=read.view.titles[source.name], **source.outline(depth))


@router.get("/{name}/provision")
def provision(read: Read, label: Label, start: Offset | None = None) -> ProvisionBody:
    """Return a provision with the headings above it, its lead-in and what it refers to.

    Of several of one label it is the one that holds ``start``, else the first.
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
    """Return where a span of the text stands on the pages, as shares from the top left."""
    found = paper.view.boxes(paper.document, start, min(end, start + _STRETCH))
    if not found:
        return BoxesBody(pages=[])
    sizes = paper.pages.sizes(paper.original(), (box.page for box in found))
    return BoxesBody(pages=[BoxedPage(**one) for one in shares(found, sizes)])


@router.get("/{name}/page", response_class=Response, responses={200: {"content": {_PICTURE: {}}}})
def page(
    paper: Paper,
    page: Annotated[int, Query(ge=1, le=FARTHEST)],
    width: Annotated[int, Query(ge=1, le=10_000)] = 1200,
    if_none_match: ETag = None,
) -> Response:
    """Return the picture of a page of a PDF or an image, of about the width asked for."""
    original = paper.original()
    headers = {"ETag": original.etag(page, fitting(width)), "Cache-Control": "private, no-cache"}
    if headers["ETag"] in (if_none_match or ""):
        return Response(status_code=304, headers=headers)
    drawn = paper.pages.picture(original, page, fitting(width))
    return Response(drawn, media_type=_PICTURE, headers=headers)


@router.get("/{name}/versions")
def versions(read: Read, label: Label = "", as_of: AsOf = "today") -> VersionsBody:
    """Return the versions of a document, the oldest first, with a provision of each."""
    view, source = read.view, read.source
    day = _day(as_of)
    place = source.places(label, SEE_TREE)[0] if label else None
    found: list[dict[str, Any]] = []
    for version in versions_of(view, source.name):
        other = Source.of(view, version)
        there = None if place is None else same_provision(source, place, other)
        found.append(version_record(view, other, there, day))
    return VersionsBody(versions=[VersionBody(**one) for one in found])


@router.get("/{name}/compare")
def compare(
    seen: Seen, a: Named, b: Named, label: Label = "", as_of: AsOf = "today"
) -> CompareBody:
    """Return a provision in two versions, or both whole, and their differences by words."""
    first, second = Source.of(seen.view, a), Source.of(seen.view, b)
    return CompareBody(**compared(seen.view, first, second, label, _day(as_of)))


def _day(said: str) -> date:
    try:
        return date.today() if said == "today" else date.fromisoformat(said)
    except ValueError as error:
        raise InputError(f"as_of is {said!r}.", "Write the day as YYYY-MM-DD.") from error


@router.post("", status_code=201)
def make(new: NewCollection, person: Asker, served: Served) -> NewCollection:
    """Make an empty collection of your own."""
    served.audit.note(person.name, "make", collection=new.name)
    made = served.collections.make(person, new.name)
    return NewCollection(name=made.name)


@router.delete("/{name}", status_code=204)
def delete(name: CollectionName, person: Asker, served: Served) -> Response:
    """Delete a collection of your own with its documents."""
    one = served.collections.owned(person, name)
    served.audit.note(person.name, "delete", collection=name)
    served.indexing.end(one)
    served.uploads.delete(one)
    served.sharing.forget(one)
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
    """Add documents, and begin to index them; names may have folders."""
    one = await run_in_threadpool(served.collections.changeable, person, name)
    note = partial(served.audit.note, person.name, "upload", collection=name, replace=replace)
    added, refused = await _taken(request, served, one, replace, note)
    if not added:
        return response_of(_nothing_added(refused), refused=refused)
    return UploadBody(job=served.indexing.start(one).id, added=added, refused=refused)


async def _taken(
    request: Request,
    served: Serving,
    one: Uploaded,
    replace: bool,
    note: Callable[..., None],
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
            if sent := [file.name for file in receiver.received]:
                await run_in_threadpool(note, documents=sent)
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
def remove(
    name: CollectionName,
    document: Named,
    person: Asker,
    served: Served,
    forget: Annotated[
        bool, Query(description="Also withdraw kept answers and feedback that quote it.")
    ] = False,
) -> RemovedBody:
    """Remove a file, with all the documents in it."""
    one = served.collections.changeable(person, name)
    served.audit.note(person.name, "remove", collection=name, documents=[document])
    if not forget:
        served.uploads.remove(one, document)
        return RemovedBody(job=served.indexing.start(one).id)
    from lexloop_server.forget_uploads import forget_upload
    from lexloop_server.forgetting import tell_of_audit_log

    owner = owner_and_name(name)[0] or person.name
    done = forget_upload(served.uploads, served.store, one, document, owner)
    tell_of_audit_log(served.audit.folder, done)
    stays = [left.why for left in done.left if left.stays]
    for left in done.left:
        if not left.stays:
            _log.error("Not all is forgotten of a document: %s: %s", left.where, left.why)
    return RemovedBody(
        job=served.indexing.start(one).id,
        touched=[TouchedBody(kind=item.kind, done=item.done) for item in done.touched],
        left=[*dict.fromkeys(stays), *([] if done.over else [_SEND_AGAIN])],
    )


class Grants(BaseModel):
    """With whom a collection is shared."""

    grants: list[Grant]


@router.get("/{name}/grants")
def grants(name: CollectionName, person: Asker, served: Served) -> Grants:
    """List with whom you share a collection of your own."""
    return Grants(grants=served.sharing.of(served.collections.owned(person, name)))


@router.put("/{name}/grants")
def share(name: CollectionName, grant: Grant, person: Asker, served: Served) -> Grants:
    """Share a collection of your own with a person, or with all who have a tag."""
    one = served.collections.owned(person, name)
    if not served.people.needs_key:
        raise InputError("There is nobody to share with.", "Name people in the server's settings.")
    told = grant.model_dump(exclude_none=True)
    served.audit.note(person.name, "share", collection=name, grant=told)
    served.sharing.give(person.name, one, grant)
    return Grants(grants=served.sharing.of(one))


@router.delete("/{name}/grants")
def take_back(
    name: CollectionName,
    person: Asker,
    served: Served,
    of_person: Annotated[str | None, Query(alias="person", max_length=100)] = None,
    of_tag: Annotated[str | None, Query(alias="tag", max_length=100)] = None,
) -> Grants:
    """Take a grant back; nothing happens where there is none."""
    one = served.collections.owned(person, name)
    try:
        whom = Whom(person=of_person, tag=of_tag)
    except ValidationError as error:
        raise InputError("It says not whose grant.", "Name either a person or a tag.") from error
    told = whom.model_dump(exclude_none=True)
    served.audit.note(person.name, "take back", collection=name, grant=told)
    served.sharing.take_back(person.name, one, whom)
    return Grants(grants=served.sharing.of(one))


@router.get("/{name}/indexing", response_class=EventSourceResponse)
async def indexing(name: CollectionName, person: Asker, served: Served) -> EventSourceResponse:
    """Follow the indexing of an uploaded collection: `progress`, then `done` or `error`."""
    one = await run_in_threadpool(served.collections.uploaded, person, name)
    return EventSourceResponse(_followed(served.indexing.of(one), one))


async def _followed(job: Job | None, one: Uploaded) -> AsyncIterator[dict[str, str]]:
    if job is None:
        counts = await run_in_threadpool(counts_of, one)
        yield {"event": "done", "data": json.dumps({"counts": counts, "skipped": []})}
        return
    async for kind, data in job.events():
        yield {"event": kind, "data": json.dumps(in_language(data))}
