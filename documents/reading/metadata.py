"""Metadata read from fields as users write them; a doubt about access is an error."""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date, timedelta
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import UNKNOWN, Metadata
from lexloop.documents.reading.document import SkippedSource

FIELDS = tuple(field.name for field in fields(Metadata))
NO_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_MEANT_AS_TAGS = frozenset({"tag", "access", "access_tag", "access_tags", "allowed_tags"})
_SECOND_DAY = date.min + timedelta(days=1)


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


def versions(
    names: Sequence[str], known: Mapping[str, Metadata], granted: Callable[[Metadata], bool]
) -> tuple[dict[str, Metadata], list[SkippedSource]]:
    """Return documents' metadata, as if those not granted did not exist.

    Args:
        names: All documents, in order.
        known: The metadata of each that has some, as loaded.
        granted: Whether a document with such metadata may be known of.

    Returns:
        The metadata, where there is any, of documents that end where the next version begins; and
        each ``supersedes`` that cannot be followed.
    """
    held = {name: metadata for name, metadata in known.items() if granted(metadata)}
    if not any(metadata.supersedes for metadata in held.values()):
        return held, []
    hidden = known.keys() - held.keys()
    shown = (name for name in names if name not in hidden)
    return end_superseded({name: held.get(name, UNKNOWN) for name in shown})


def end_superseded(
    documents: Mapping[str, Metadata],
) -> tuple[dict[str, Metadata], list[SkippedSource]]:
    """End each superseded document on the day before the one that replaces it begins.

    A document that says itself when it ends keeps its day; of several that replace one, the
    first counts. Give the metadata as they were loaded, never what this function gave for an
    earlier set: a version whose replacement is removed holds again.

    Returns:
        The same names with the days filled in, and each ``supersedes`` that cannot be followed,
        under the name of the document that says it, which is in force whatever it supersedes.
    """
    ended = dict(documents)
    troubles: list[SkippedSource] = []
    for name, metadata in documents.items():
        if not metadata.supersedes:
            continue
        older = older_version(name, metadata, documents)
        why = _trouble(name, metadata, older, documents)
        if why is not None:
            troubles.append(SkippedSource(name, why, indexed=True))
        elif older is not None and documents[older].in_force_to is None:
            assert metadata.in_force_from is not None
            last = max(metadata.in_force_from, _SECOND_DAY) - timedelta(days=1)
            known = ended[older].in_force_to
            ended[older] = replace(ended[older], in_force_to=min(known or last, last))
    return ended, troubles


def older_version(name: str, metadata: Metadata, documents: Container[str]) -> str | None:
    """Return the name of the document that one supersedes; None where it is not among them.

    It is named beside the one that says it, or by its whole name.
    """
    beside = (PurePosixPath(name).parent / metadata.supersedes).as_posix()
    named = (beside, metadata.supersedes) if metadata.supersedes else ()
    return next((one for one in named if one in documents), None)


def _trouble(
    name: str, metadata: Metadata, older: str | None, documents: Mapping[str, Metadata]
) -> str | None:
    """Return why a document cannot end an older one; None where it can."""
    said = f"It supersedes {metadata.supersedes!r}"
    if older is None:
        return f"{said}, which is not among the documents; it is in force itself."
    if older == name:
        return f"{said}, which is itself."
    if metadata.in_force_from is None:
        return f"{said} but does not say from when (in_force_from)."
    began, end = documents[older].in_force_from, documents[older].in_force_to
    if end is None and began is not None and metadata.in_force_from <= began:
        return f"{said} from {metadata.in_force_from}, but that begins on {began}."
    return None
