"""The bodies of responses, for the schema: what is told of collections and documents."""

from datetime import date
from typing import Any, Literal

from pydantic import BaseModel
from typing_extensions import TypedDict

EVENTS: dict[str, Any] = {
    "schema": {"type": "string"},
    "example": "event: begin\r\ndata: {...}\r\n\r\nevent: step\r\ndata: {...}\r\n\r\n"
    "event: token\r\ndata: {...}\r\n\r\nevent: answer\r\ndata: {...}\r\n\r\n",
}
"""The answer as events: ``begin``, ``step`` and ``token``, then ``answer`` or ``error``."""


class ExampleBody(BaseModel):
    """A question that may be asked; ``before`` are the questions that it goes on from."""

    type: str
    question: str
    before: list[str] = []


class TitledBody(BaseModel):
    """A document and what it is called."""

    document: str
    title: str


class CollectionBody(BaseModel):
    """A collection with its first titles; ``trouble`` says where it cannot be opened."""

    name: str
    title: str
    description: str
    titles: list[TitledBody]
    documents: int
    chunks: int
    mine: bool
    examples: list[ExampleBody]
    trouble: str = ""


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
    start: int
    end: int
    depth: int = 0


class TreeBody(BaseModel):
    """What a document consists of."""

    document: str
    title: str
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
