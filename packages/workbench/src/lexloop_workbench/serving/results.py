"""Results of the workbench's MCP tools."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Self

from pydantic import BaseModel, Field

from lexloop.apps.shapes.text import clean
from lexloop_server.shapes.tools import Result, Source
from lexloop_workbench.diff import Diff, Kind, Place
from lexloop_workbench.search import Found
from lexloop_workbench.shapes.changes import marked


class PlaceFound(Source):
    """A place where exact words occur, with its text in ``quote``."""

    title: str
    start: int = Field(description="Start of the quote in the document, in code points.")
    end: int
    in_document: int = Field(description="Number of places in the whole document.")


class WordsFound(Result):
    """Places of exact words. Not every passage of a document is listed."""

    words: list[str]
    phrases: list[str]
    without: list[str]
    provision: str
    documents: int = Field(description="Number of matching documents.")
    places: int = Field(description="Number of places in all of them.")
    found: list[PlaceFound]
    unavailable: list[str] = Field(description="Collections that cannot be read at the moment.")

    @classmethod
    def of_found(cls, found: Found, unavailable: list[str]) -> Self:
        """Return the result of a search."""
        sought = found.sought.model_dump(include={"words", "phrases", "without", "provision"})
        places = [
            PlaceFound.of(
                {**document.model_dump(), **passage.model_dump()},
                title=clean(document.title),
                start=passage.start,
                end=passage.end,
                in_document=document.places,
            )
            for document in found.documents
            for passage in document.passages
        ]
        return cls(
            **sought,
            documents=found.total,
            places=found.places,
            found=places,
            unavailable=unavailable,
        )


class RegisterEntry(Source):
    """Who must, may or must not do what; ``when`` is the deadline, ``day`` its date."""

    kinds: list[str]
    who: str = Field(description="Who acts, in the words of the text. Empty if it does not say.")
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
    """Something that a document says about itself, of the kind in ``about``."""

    about: str
    said: str


class ProfileFound(Result):
    """A description of a document, from its own words, and questions that it answers."""

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
    """A changed provision. ``old`` is null for new ones and ``new`` for removed ones."""

    kinds: list[Kind]
    old: Source | None
    new: Source | None
    words: str = Field(
        description="The words, with [-removed-] and {+added+}. Long unchanged parts are cut."
    )


class StaleReference(Source):
    """A provision of the new version that still refers by an old number."""

    said: str
    meant: str = Field(description="Label of the provision it referred to in the old version.")
    now: str = Field(description="Its label now, or empty if it was removed.")


class Changes(Result):
    """Changes from one version of a document to another, in the order of the new one."""

    collection: str
    old: str
    new: str
    counts: dict[Kind, int]
    changes: list[Changed]
    more: int = Field(description="Number of further changes that are not listed.")
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
                    kinds=change.kinds,
                    old=None if change.old is None else _source(collection, change.old),
                    new=None if change.new is None else _source(collection, change.new),
                    words=clean(marked(change.parts)),
                )
                for change in found.changes[:most]
            ],
            more=max(0, len(found.changes) - most),
            stale=[
                StaleReference.of(
                    _placed(collection, reference.at),
                    said=clean(reference.said),
                    meant=clean(reference.meant),
                    now=clean(reference.now),
                )
                for reference in found.stale[:most]
            ],
        )


def _source(collection: str, place: Place) -> Source:
    return Source.of(_placed(collection, place))


def _placed(collection: str, place: Place) -> dict[str, Any]:
    return {**vars(place), "collection": collection}


class TableCell(BaseModel):
    """A document's answer to a question. ``deviation`` is the playbook's assessment."""

    question: str
    state: str = Field(description="stated, in part, not stated, refused or failed.")
    answer: str
    probability: float | None
    deviation: str
    sources: list[Source]
    reason: str

    @classmethod
    def of(cls, cell: Mapping[str, Any], question: str, collection: str) -> Self:
        """Return the cell of a document in a collection."""
        return cls(
            question=clean(question),
            state=cell["state"],
            answer=clean(cell["answer"]),
            probability=cell["probability"],
            deviation=cell["deviation"],
            sources=[
                Source.of({"collection": collection, **citation}) for citation in cell["citations"]
            ],
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
    more: int = Field(description="Number of further documents that were not asked.")
