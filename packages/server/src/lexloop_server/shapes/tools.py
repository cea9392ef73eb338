"""What the tools of MCP give: typed, and as text for clients that read no types.

The text is the same as JSON, as the protocol has it; an answer's is prose with its sources.

The address of a source is ``lexloop://COLLECTION/DOCUMENT#LABEL``, every part percent-encoded.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple, Self
from urllib.parse import quote, unquote

from pydantic import BaseModel, Field

from lexloop.apps.shapes.text import as_text, clean, places, said_at, shortened
from lexloop.core.errors import NotFoundError
from lexloop.core.types import At
from lexloop_workbench.diff import Diff, Kind, Place
from lexloop_workbench.search import Found
from lexloop_workbench.shapes.changes import marked

TEMPLATE = "lexloop://{collection}/{document}{#label}"
"""The form of an address as a URI template (RFC 6570)."""
_ADDRESS = re.compile(r"lexloop://([^/?#]+)/([^?#]+)(?:#(.*))?", re.IGNORECASE)
_QUOTE_CHARS = 400
_MOST_TEXT = 4_000


class SourceLink(NamedTuple):
    """A place in a collection; ``label`` is that of a provision, empty for the whole document."""

    collection: str
    document: str
    label: str = ""

    @property
    def uri(self) -> str:
        """The address, in which a document's slashes are encoded, too."""
        place = f"#{_encoded(self.label)}" if self.label else ""
        return f"lexloop://{_encoded(self.collection)}/{_encoded(self.document)}{place}"

    @classmethod
    def of(cls, uri: str) -> Self:
        """Return the place that an address names; there need not be one.

        Raises:
            NotFoundError: It is no address of a source.
        """
        found = _ADDRESS.fullmatch(uri)
        if found is None:
            raise NotFoundError(f"{uri[:200]!r} is no source.", f"Write {TEMPLATE}.")
        return cls(*(unquote(part or "") for part in found.groups()))


def _encoded(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")


class Source(BaseModel):
    """A place in a document: ``uri`` can be read as a resource."""

    collection: str
    document: str
    provision: str
    page: int | None
    at: At = Field(default=At(), description="Where it stands in a file that has no pages.")
    quote: str
    version: str = Field(description="When the document is in force, where it says so.")
    identifier: str = Field(description="What the law is known by: an ELI, a CELEX number.")
    uri: str
    read_from_picture: float | None = Field(
        default=None, description="How surely the quote was recognised on a picture, from 0 to 1."
    )

    @classmethod
    def of(cls, found: Mapping[str, Any], **more: Any) -> Self:
        """Return a source of a citation, a passage or a triplet that names its collection."""
        return cls(
            collection=found["collection"],
            document=clean(found["document"]),
            provision=clean(found["section"]),
            page=found["page"],
            at=found.get("at", {}),
            quote=clean(found["text"] if "text" in found else found["quote"])[:_MOST_TEXT],
            version=found.get("version", ""),
            identifier=clean(found.get("identifier", "")),
            read_from_picture=found.get("read_from_picture"),
            uri=SourceLink(found["collection"], found["document"], found["section"]).uri,
            **more,
        )

    @property
    def place(self) -> str:
        """The place in words."""
        return ", ".join([self.document, *places(self._source())])

    def line(self) -> str:
        """Return place and quote on one line."""
        return said_at({**self._source(), "quote": shortened(self.quote, _QUOTE_CHARS)})

    def _source(self) -> dict[str, Any]:
        return {
            **self.model_dump(
                include={"document", "page", "at", "version", "identifier", "read_from_picture"}
            ),
            "section": self.provision,
        }


class Result(BaseModel):
    """What a tool gives."""

    _text: str = ""

    def as_text(self) -> str:
        """Return the same as text."""
        return self._text or self.model_dump_json(indent=1, exclude_none=True)

    def links(self) -> Iterator[Source]:
        """Yield the sources to link to."""
        for held in vars(self).values():
            if isinstance(held, list):
                yield from (one for one in held if isinstance(one, Source))


class NumberedSource(Source):
    """A source of an answer, under the number that the answer gives it in brackets."""

    n: int


class Answer(Result):
    """An answer, what it rests on, and what it is worth."""

    answer: str
    answered: bool = Field(description="False where the documents do not answer the question.")
    passed: bool = Field(description="Whether the answer passed every check.")
    probability: float | None = Field(description="How likely it answers the question, if known.")
    verdict: str
    warning: str
    collections: list[str]
    sources: list[NumberedSource]
    near: list[Source] = Field(description="Where nothing answers: what comes nearest.")

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the answer that a record holds; its sources name their collections."""
        verdict = record["verdict"]
        made = cls(
            answer=clean(record["answer"]),
            answered=not record["abstained"],
            passed=record["passed"],
            probability=verdict["probability"],
            verdict=" ".join(verdict["words"]),
            warning=record["warning"],
            collections=record["collections"],
            sources=[NumberedSource.of(one, n=one["n"]) for one in record["citations"]],
            near=[Source.of(one) for one in record["near"]],
        )
        made._text = f"{as_text(record)}\n\nVerdict: {made.verdict}"
        return made


class Passage(Source):
    """A passage that was found; ``quote`` is its text."""

    title: str
    score: float


class Passages(Result):
    """What was found, the best first."""

    passages: list[Passage]


class PlaceFound(Source):
    """A place where exact words stand; ``quote`` is its text, ``in_document`` counts all of it."""

    title: str
    start: int = Field(description="Where the quote begins in the document, in code points.")
    end: int
    in_document: int = Field(description="How many places the whole document has.")


class WordsFound(Result):
    """What was found of what was sought; further passages of a document are not listed."""

    words: list[str]
    phrases: list[str]
    without: list[str]
    provision: str
    documents: int = Field(description="How many documents are found.")
    places: int = Field(description="How many places there are in all of them.")
    found: list[PlaceFound]
    unavailable: list[str] = Field(description="Collections that cannot be read at the moment.")

    @classmethod
    def of_found(cls, found: Found, unavailable: list[str]) -> Self:
        """Return what a search found."""
        sought = found.sought.model_dump(include={"words", "phrases", "without", "provision"})
        places = [
            PlaceFound.of(
                {**one.model_dump(), **passage.model_dump()},
                title=clean(one.title),
                start=passage.start,
                end=passage.end,
                in_document=one.places,
            )
            for one in found.documents
            for passage in one.passages
        ]
        return cls(
            **sought,
            documents=found.total,
            places=found.places,
            found=places,
            unavailable=unavailable,
        )


class Mention(BaseModel):
    """What a provision refers to, and the labels of that in the same document."""

    said: str
    labels: list[str]


class Provision(Source):
    """A provision: ``quote`` is its text, ``lead_in`` the words above that it completes."""

    heading: str
    kind: str
    above: list[str]
    lead_in: list[str]
    refers_to: list[Mention]
    cut: bool = Field(description="Whether the text goes on: then read its parts one by one.")


class Listed(BaseModel):
    """A provision in a list of contents; ``depth`` says in how many others it lies."""

    label: str
    heading: str
    kind: str
    depth: int


class Provisions(Result):
    """The provisions asked for, or, where none was named, the contents of the document."""

    collection: str
    document: str
    provisions: list[Provision]
    contents: list[Listed]
    more: int = Field(description="How many further contents are left out.")


class Document(BaseModel):
    """A document; ``uri`` can be read as a resource."""

    collection: str
    name: str
    title: str
    kind: str
    jurisdiction: str
    version: str
    pages: int
    uri: str


class Documents(Result):
    """The collections and some of their documents."""

    collections: list[str]
    unavailable: list[str] = Field(description="Collections that cannot be read at the moment.")
    total: int
    documents: list[Document]


class RelationFound(Source):
    """A statement of the documents as subject, relation and object, with the words that say it."""

    subject: str
    relation: str
    object: str


class Relations(Result):
    """The relations around an entity, and how many it has of its own."""

    entity: str
    degree: int
    relations: list[RelationFound]


class RegisterEntry(Source):
    """Who must, may or must not do what; ``when`` is by when, ``day`` what that comes to."""

    kinds: list[str]
    who: str = Field(description="Who acts, as the text names them; empty where it does not.")
    what: str
    when: str
    day: date | None
    note: str
    unless: list[str] = Field(description="Conditions and exceptions.")
    sums: list[str]


class RegisterFound(Result):
    """Entries of the register, in reading order."""

    total: int
    entries: list[RegisterEntry]


class ProfileItem(Source):
    """Something that a document says of itself; ``about`` names what."""

    about: str
    said: str


class ProfileFound(Result):
    """What a document says that it is, and questions that it was found to answer."""

    collection: str
    document: str
    title: str
    kind: str
    words: int
    provisions: int
    pages: int
    outline: list[str]
    said: list[ProfileItem]


class Changed(BaseModel):
    """What became of a provision; what is new has no ``old``, and what is gone no ``new``."""

    kinds: list[Kind]
    old: Source | None
    new: Source | None
    words: str = Field(description="Its words: [-removed-], {+added+}; long equal ones are cut.")


class StaleReference(Source):
    """A provision of the new version that still refers by the number that another had."""

    said: str
    meant: str = Field(description="The label of what it referred to in the old version.")
    now: str = Field(description="Its label now; empty where it is gone.")


class Changes(Result):
    """What changed from one version of a document to another, in the order of the new one."""

    collection: str
    old: str
    new: str
    counts: dict[Kind, int]
    changes: list[Changed]
    more: int = Field(description="How many further changes are left out.")
    stale: list[StaleReference]

    @classmethod
    def of(cls, collection: str, found: Diff, most: int) -> Self:
        """Return the first changes of a comparison of two documents of a collection."""
        return cls(
            collection=collection,
            old=clean(found.old),
            new=clean(found.new),
            counts=found.counts,
            changes=[
                Changed(
                    kinds=one.kinds,
                    old=None if one.old is None else _source(collection, one.old),
                    new=None if one.new is None else _source(collection, one.new),
                    words=clean(marked(one.parts)),
                )
                for one in found.changes[:most]
            ],
            more=max(0, len(found.changes) - most),
            stale=[
                StaleReference.of(
                    _placed(collection, one.at),
                    said=clean(one.said),
                    meant=clean(one.meant),
                    now=clean(one.now),
                )
                for one in found.stale[:most]
            ],
        )


def _source(collection: str, place: Place) -> Source:
    return Source.of(_placed(collection, place))


def _placed(collection: str, place: Place) -> dict[str, Any]:
    return {**vars(place), "collection": collection}


class TableCell(BaseModel):
    """What a document says to a question; ``deviation`` is the playbook's word."""

    question: str
    state: str = Field(description="stated, in part, not stated, refused or failed.")
    answer: str
    probability: float | None
    deviation: str
    sources: list[Source]
    reason: str

    @classmethod
    def of(cls, cell: Mapping[str, Any], question: str, collection: str) -> Self:
        """Return a cell of a collection's document."""
        return cls(
            question=clean(question),
            state=cell["state"],
            answer=clean(cell["answer"]),
            probability=cell["probability"],
            deviation=cell["deviation"],
            sources=[Source.of({"collection": collection, **one}) for one in cell["citations"]],
            reason=clean(cell["reason"]),
        )


class TableRow(BaseModel):
    """A document with its cells, in the order of the questions."""

    document: str
    cells: list[TableCell]


class Table(Result):
    """Documents by questions."""

    collection: str
    rows: list[TableRow]
    more: int = Field(description="How many further documents were not asked.")
