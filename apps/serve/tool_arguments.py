"""What the tools of MCP take: the schemas that a model fills in, and the addresses of sources.

An address is ``lexloop://COLLECTION/DOCUMENT#LABEL``, every part percent-encoded.
"""

import re
from typing import Annotated, NamedTuple
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.errors import NotFoundError

TEMPLATE = "lexloop://{collection}/{document}{#label}"
"""The form of an address as a URI template (RFC 6570)."""
_ADDRESS = re.compile(r"lexloop://([^/?#]+)/([^?#]+)(?:#(.*))?", re.IGNORECASE)
_MOST_CHARS, _MOST_NAMED = 20_000, 100

Text = Annotated[str, Field(min_length=1, max_length=_MOST_CHARS)]
Names = Annotated[list[Text], Field(max_length=_MOST_NAMED)]
_AS_OF = (
    "Answer from the law in force on this day (YYYY-MM-DD), 'today', or 'any' for every version. "
    "Leave it out for today."
)
_COLLECTIONS = "Names of collections, as list_documents gives them. Leave it out for all."
_COLLECTION = "The collection of the document. Needed only where several have one of that name."


class Arguments(BaseModel):
    """The arguments of a tool; none names a folder, an address or a model."""

    model_config = ConfigDict(extra="forbid")


class AskArguments(Arguments):
    """The arguments of ``ask``."""

    question: Text = Field(description="One whole question that can be understood by itself.")
    collections: Names | None = Field(default=None, description=_COLLECTIONS)
    as_of: Text | None = Field(default=None, description=_AS_OF)


class SearchArguments(Arguments):
    """The arguments of ``search``."""

    query: Text = Field(description="A question or words, in the language of the documents.")
    collections: Names | None = Field(default=None, description=_COLLECTIONS)
    limit: int = Field(default=8, ge=1, le=50, description="The most passages.")
    as_of: Text | None = Field(default=None, description=_AS_OF)


class ReadArguments(Arguments):
    """The arguments of ``read_provision``."""

    document: Text = Field(description="The document's name, or the end of it.")
    provision: Text | None = Field(
        default=None,
        description="Its label, number or heading, e.g. 'Article 5(1)(a)', '§ 5-303' or 'Annex "
        "III'. Leave it out for the list of the document's provisions.",
    )
    collection: Text | None = Field(default=None, description=_COLLECTION)


class ListArguments(Arguments):
    """The arguments of ``list_documents``."""

    collections: Names | None = Field(default=None, description=_COLLECTIONS)
    containing: Text | None = Field(
        default=None, description="Only documents with these words in their name or title."
    )
    limit: int = Field(default=100, ge=1, le=500, description="The most documents.")
    offset: int = Field(default=0, ge=0, description="How many to leave out first.")


class RelatedArguments(Arguments):
    """The arguments of ``related``."""

    entity: Text = Field(
        description="A term, an acronym or a provision, e.g. 'bias audit' or '§ 5-301'."
    )
    depth: int = Field(default=1, ge=1, le=2, description="How many entities away to look.")
    limit: int = Field(default=20, ge=1, le=100, description="The most relations.")
    collections: Names | None = Field(default=None, description=_COLLECTIONS)


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


def link_of(uri: str) -> SourceLink:
    """Return the place that an address names; there need not be one.

    Raises:
        NotFoundError: It is no address of a source.
    """
    found = _ADDRESS.fullmatch(uri)
    if found is None:
        raise NotFoundError(f"{uri[:200]!r} is no source.", f"Write {TEMPLATE}.")
    return SourceLink(*(unquote(part or "") for part in found.groups()))


def _encoded(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")
