"""Addresses of sources, for programs: ``lexloop://COLLECTION/DOCUMENT#LABEL``, percent-encoded."""

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from lexloop.core.errors import NotFoundError

SCHEME = "lexloop"
TEMPLATE = "lexloop://{collection}/{document}{#label}"
"""The form of an address as a URI template (RFC 6570)."""
_ADDRESS = re.compile(rf"{SCHEME}://([^/?#]+)/([^?#]+)(?:#(.*))?", re.IGNORECASE)


class SourceLink(NamedTuple):
    """A place in a collection; ``label`` is that of a provision, empty for the whole document."""

    collection: str
    document: str
    label: str = ""

    @property
    def uri(self) -> str:
        """The address, in which a document's slashes are encoded, too."""
        place = f"#{_encoded(self.label)}" if self.label else ""
        return f"{SCHEME}://{_encoded(self.collection)}/{_encoded(self.document)}{place}"


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
