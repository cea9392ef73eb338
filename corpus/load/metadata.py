"""Fields as users write them -> metadata, where a doubt about access is an error."""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata

FIELDS = tuple(field.name for field in fields(Metadata))
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_MEANT_AS_TAGS = frozenset({"tag", "access", "access_tag", "access_tags", "allowed_tags"})


@lru_cache(maxsize=1024)
def field_name(name: str) -> str:
    """A field as the metadata calls it: small letters, underscores between the words."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def read_fields(given: Mapping[str, Any]) -> Metadata:
    """The metadata fields among ``given``, checked; others are left out.

    Raises:
        CorpusError: A field cannot be read, or access tags are given in a way that leaves open
            who may see the document.
    """
    record: dict[str, Any] = {}
    for name, value in given.items():
        field = field_name(name)
        if field in _MEANT_AS_TAGS:
            raise CorpusError(f"{name} is no field.", "Name the access tags `tags`.")
        if field not in FIELDS:
            continue
        if field in record:
            raise CorpusError(f"{field} is given twice.", "Keep one of them.")
        record[field] = value
    if not record:
        return Metadata()
    metadata = Metadata.from_record(record)
    _check_texts(metadata)
    tags = record.get("tags")
    if tags not in (None, "", [], ()) and not metadata.tags:
        raise CorpusError(f"tags are {tags!r}, which names none.", "Write the tags or leave none.")
    host_of(metadata.url)
    return metadata


def _check_texts(metadata: Metadata) -> None:
    for name, value in metadata.as_record().items():
        if _NO_TEXT.search(value if isinstance(value, str) else "".join(value)):
            raise CorpusError(f"{name} is {value!r}, which is no text.", "Write it on one line.")


def host_of(url: str) -> str:
    """The host name of a web address; empty where it has none.

    Raises:
        CorpusError: It is no web address.
    """
    if not url:
        return ""
    try:
        return urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError as error:
        raise CorpusError(f"url is {url!r}: {error}.", "Write it as in a browser.") from error


def complete(metadata: Metadata) -> Metadata:
    """With the host of the address, where no host is given."""
    if metadata.host or not metadata.url:
        return metadata
    return replace(metadata, host=host_of(metadata.url))
