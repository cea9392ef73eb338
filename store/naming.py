"""Which document a name means, and what is similar if there is none."""

import difflib
from collections.abc import Mapping, Sequence

from lexloop.core.errors import InputError, NotFoundError
from lexloop.core.folding import folded

NEAR = 5
"""The most names that an error lists."""


def named_document(documents: Sequence[str], phrase: str) -> str:
    """Return the document meant: by its name or the end of its path, with or without suffix.

    Raises:
        NotFoundError: There is no such document.
        InputError: Several are meant.
    """
    if phrase in documents:
        return phrase
    wanted = folded(phrase).casefold()
    matching = [name for name in documents if wanted in _endings(name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InputError(
            f"{len(matching)} documents end in {phrase!r}.", one_of("Name one:", matching)
        )
    alike = similar(wanted, {folded(name).casefold(): name for name in reversed(documents)})
    raise NotFoundError(
        f"There is no document {phrase!r}.",
        one_of("Near it are:" if alike else "There are:", alike or documents),
    )


def _endings(name: str) -> set[str]:
    """Return every end of a name, by whole parts of its path, with and without suffix."""
    parts = folded(name).casefold().split("/")
    ends = {"/".join(parts[first:]) for first in range(len(parts))}
    return ends | {end.rpartition(".")[0] for end in ends}


def similar(wanted: str, known: Mapping[str, str], most: int = NEAR) -> list[str]:
    """Return texts that are spelled like ``wanted`` or contain it.

    Args:
        wanted: Text as the caller wrote it, in lower case if ``known`` is.
        known: Texts to compare with, each with the form that is shown.
        most: Largest number of results.
    """
    # only those of a similar length, since comparing with very many takes seconds
    alike = [text for text in known if abs(len(text) - len(wanted)) <= most]
    close = difflib.get_close_matches(wanted, alike, most)
    holding = [text for text in known if wanted in text]
    return list(dict.fromkeys(known[text] for text in (*close, *holding)))[:most]


def one_of(lead: str, names: Sequence[str]) -> str:
    """Return a sentence that lists names, some first if there are many."""
    some = "; ".join(names[:NEAR])
    if len(names) > NEAR:
        return f"{lead} {some}, and {len(names) - NEAR} more."
    return f"{lead} {some}."


def documents_named(
    known: Mapping[str, Sequence[str]], phrases: Sequence[str]
) -> dict[str, list[str]]:
    """Return the documents meant in each collection that has some.

    Args:
        known: The documents of each.
        phrases: Names of documents; one name may be found in several collections.

    Raises:
        InputError: A name is in no collection, or matches several documents of one.
    """
    by_phrase: dict[str, list[str]] = {}
    for phrase in phrases:
        missing: NotFoundError | None = None
        matched = False
        for name, documents in known.items():
            try:
                document = named_document(documents, phrase)
            except NotFoundError as error:
                missing = error
                continue
            matched = True
            if document not in (named := by_phrase.setdefault(name, [])):
                named.append(document)
        if missing is not None and not matched:
            raise missing
    return by_phrase
