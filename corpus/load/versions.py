"""Which version of a law ends when another begins."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import PurePosixPath

from lexloop.core.metadata import Metadata
from lexloop.corpus.load.document import Skipped

_SECOND_DAY = date.min + timedelta(days=1)


def end_superseded(
    documents: Mapping[str, Metadata],
) -> tuple[dict[str, Metadata], list[Skipped]]:
    """End each superseded document on the day before the one that replaces it begins.

    A document that says itself when it ends keeps its day; of several that replace one, the
    first counts. Give the metadata as they were loaded, never what this function gave for an
    earlier set: a version whose replacement is removed holds again.

    Args:
        documents: The metadata of the whole set by name.

    Returns:
        The same names with the days filled in, and each ``supersedes`` that cannot be followed,
        under the name of the document that says it, which is in force whatever it supersedes.
    """
    ended = dict(documents)
    troubles: list[Skipped] = []
    for name, metadata in documents.items():
        if not metadata.supersedes:
            continue
        older = _resolved(metadata.supersedes, name, documents)
        why = _trouble(name, metadata, older, documents)
        if why is not None:
            troubles.append(Skipped(name, why, indexed=True))
        elif older is not None and documents[older].in_force_to is None:
            assert metadata.in_force_from is not None
            last = max(metadata.in_force_from, _SECOND_DAY) - timedelta(days=1)
            known = ended[older].in_force_to
            ended[older] = replace(ended[older], in_force_to=min(known or last, last))
    return ended, troubles


def _resolved(target: str, name: str, documents: Mapping[str, Metadata]) -> str | None:
    """The document meant: by its name beside the one that says it, or by its whole name."""
    beside = (PurePosixPath(name).parent / target).as_posix()
    return next((found for found in (beside, target) if found in documents), None)


def _trouble(
    name: str, metadata: Metadata, older: str | None, documents: Mapping[str, Metadata]
) -> str | None:
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
