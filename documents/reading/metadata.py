"""Metadata read from fields as users write them; a doubt about access is an error."""

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata

FIELDS = tuple(field.name for field in fields(Metadata))
NO_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_MEANT_AS_TAGS = frozenset({"tag", "access", "access_tag", "access_tags", "allowed_tags"})


@lru_cache(maxsize=1024)
def field_name(name: str) -> str:
    """Return a field's name as the metadata spells it: lower case, with underscores."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def read_fields(given: Mapping[str, Any]) -> Metadata:
    """Return the metadata in ``given``; fields that are none of it are ignored.

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
    metadata = Metadata.from_record(record)
    for name, value in metadata.as_record().items():
        if NO_TEXT.search(value if isinstance(value, str) else "".join(value)):
            raise CorpusError(f"{name} is {value!r}, which is no text.", "Write it on one line.")
    tags = record.get("tags")
    if tags not in (None, "", [], ()) and not metadata.tags:
        raise CorpusError(f"tags are {tags!r}, which names none.", "Write the tags or leave none.")
    host_of(metadata.url)
    return metadata


def host_of(url: str) -> str:
    """Return the host name of a web address; "" where it has none.

    Raises:
        CorpusError: It is no web address.
    """
    try:
        return urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError as error:
        raise CorpusError(f"url is {url!r}: {error}.", "Write it as in a browser.") from error
