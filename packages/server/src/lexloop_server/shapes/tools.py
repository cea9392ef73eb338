"""Results of the MCP tools: typed, and as text for clients that do not read types.

As the protocol asks, the text repeats the result as JSON. An answer's text is prose with its
sources.

The address of a source is ``lexloop://COLLECTION/DOCUMENT#LABEL``, every part percent-encoded.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import quote, unquote

from pydantic import BaseModel, Field

from lexloop.apps.shapes.text import as_text, clean, places, said_at, shortened
from lexloop.core.errors import NotFoundError
from lexloop.core.types import At

TEMPLATE = "lexloop://{collection}/{document}{#label}"
"""The form of an address as a URI template (RFC 6570)."""
_ADDRESS = re.compile(r"lexloop://([^/?#]+)/([^?#]+)(?:#(.*))?", re.IGNORECASE)
_QUOTE_CHARS = 400
_MOST_TEXT = 4_000


class SourceLink(NamedTuple):
    """A place in a collection; ``label`` names a provision, or is empty for the whole document."""

    collection: str
    document: str
    label: str = ""

    @property
    def uri(self) -> str:
        """The address. Slashes in a document's name are encoded as well."""
        place = f"#{_encoded(self.label)}" if self.label else ""
        return f"lexloop://{_encoded(self.collection)}/{_encoded(self.document)}{place}"

    @classmethod
    def of(cls, uri: str) -> Self:
        """Return the place that an address names, whether or not it exists.

        Raises:
            NotFoundError: It is not the address of a source.
        """
        match = _ADDRESS.fullmatch(uri)
        if match is None:
            raise NotFoundError(f"{uri[:200]!r} is not a source.", f"Write {TEMPLATE}.")
        return cls(*(unquote(part or "") for part in match.groups()))


def _encoded(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")


class Source(BaseModel):
    """A place in a document, readable as a resource by its ``uri``."""

    collection: str
    document: str
    provision: str
    page: int | None
    at: At = Field(default=At(), description="Place in a file without pages.")
    quote: str
    version: str = Field(description="When the document is in force, if it says so.")
    identifier: str = Field(description="Identifier of the law, such as an ELI or a CELEX number.")
    uri: str
    read_from_picture: float | None = Field(
        default=None,
        description="Confidence that the quote was read correctly from a picture, from 0 to 1.",
    )

    @classmethod
    def of(cls, found: Mapping[str, Any], **more: Any) -> Self:
        """Return the source of a citation, passage or triplet that names its collection."""
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
    """The result of a tool."""

    _text: str = ""

    def as_text(self) -> str:
        """Return the result as text."""
        return self._text or self.model_dump_json(indent=1, exclude_none=True)

    def links(self) -> Iterator[Source]:
        """Yield the sources to link to."""
        for value in vars(self).values():
            if isinstance(value, list):
                yield from (item for item in value if isinstance(item, Source))


class NumberedSource(Source):
    """A source of an answer, with the number that the answer cites it by."""

    n: int


class Answer(Result):
    """An answer with its sources and its verdict."""

    answer: str
    answered: bool = Field(description="False if the documents do not answer the question.")
    passed: bool = Field(description="Whether the answer passed every check.")
    probability: float | None = Field(
        description="Probability that it answers the question, if known."
    )
    verdict: str
    warning: str
    collections: list[str]
    sources: list[NumberedSource]
    near: list[Source] = Field(description="If nothing answers, the nearest passages.")

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the answer of a record whose sources name their collections."""
        verdict = record["verdict"]
        answer = cls(
            answer=clean(record["answer"]),
            answered=not record["abstained"],
            passed=record["passed"],
            probability=verdict["probability"],
            verdict=" ".join(verdict["words"]),
            warning=record["warning"],
            collections=record["collections"],
            sources=[
                NumberedSource.of(citation, n=citation["n"]) for citation in record["citations"]
            ],
            near=[Source.of(passage) for passage in record["near"]],
        )
        answer._text = f"{as_text(record)}\n\nVerdict: {answer.verdict}"
        return answer


class Passage(Source):
    """A passage, with its text in ``quote``."""

    title: str
    score: float


class Passages(Result):
    """Passages, best first."""

    passages: list[Passage]


class Mention(BaseModel):
    """Words that refer to something, and its labels in the same document."""

    said: str
    labels: list[str]


class Provision(Source):
    """A provision. ``quote`` is its text, ``lead_in`` the words above that it completes."""

    heading: str
    kind: str
    above: list[str]
    lead_in: list[str]
    refers_to: list[Mention]
    cut: bool = Field(description="Whether the text is cut. If so, read its parts one by one.")


class Listed(BaseModel):
    """A provision in a list of contents; ``depth`` is the number of provisions around it."""

    label: str
    heading: str
    kind: str
    depth: int


class Provisions(Result):
    """The requested provisions, or the contents of the document if none was requested."""

    collection: str
    document: str
    provisions: list[Provision]
    contents: list[Listed]
    more: int = Field(description="Number of further contents that are not listed.")


class Document(BaseModel):
    """A document, readable as a resource by its ``uri``."""

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
    """A statement of a document as subject, relation and object, with the words that make it."""

    subject: str
    relation: str
    object: str


class Relations(Result):
    """Relations around an entity. ``degree`` counts the entity's own."""

    entity: str
    degree: int
    relations: list[RelationFound]
