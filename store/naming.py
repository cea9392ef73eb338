"""Which document somebody means by a name, and what is near it where there is none."""

import difflib
from collections.abc import Mapping, Sequence

from lexloop.core.errors import InputError, NotFoundError
from lexloop.core.folding import folded

NEAR = 5
"""The most names that an error lists."""


def named_document(documents: Sequence[str], said: str) -> str:
    """Return the document meant: by its name or the end of its path, with or without suffix.

    Raises:
        NotFoundError: There is none.
        InputError: Several are meant.
    """
    if said in documents:
        return said
    wanted = folded(said).casefold()
    found = [name for name in documents if wanted in _endings(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{len(found)} documents end in {said!r}.", one_of("Name one:", found))
    alike = similar(wanted, {folded(name).casefold(): name for name in reversed(documents)})
    raise NotFoundError(
        f"There is no document {said!r}.",
        one_of("Near it are:" if alike else "There are:", alike or documents),
    )


def _endings(name: str) -> set[str]:
    """Return every end of a name, by whole parts of its path, with and without suffix."""
    parts = folded(name).casefold().split("/")
    ends = {"/".join(parts[first:]) for first in range(len(parts))}
    return ends | {end.rpartition(".")[0] for end in ends}


def similar(wanted: str, known: Mapping[str, str], most: int = NEAR) -> list[str]:
    """Return texts that are spelled like the wanted one or hold it.

    Args:
        wanted: As somebody wrote it, in lower case where ``known`` is.
        known: The texts to look among, each with how it is shown.
        most: The most of them.
    """
    # only those of about its length, since comparing with very many takes seconds
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
    known: Mapping[str, Sequence[str]], said: Sequence[str]
) -> dict[str, list[str]]:
    """Return the documents meant in each collection that has some.

    Args:
        known: The documents of each.
        said: A name may be one in several.

    Raises:
        InputError: There is none of a name in any collection, or several in one.
    """
    found: dict[str, list[str]] = {}
    for one in said:
        missing: NotFoundError | None = None
        held = False
        for name, documents in known.items():
            try:
                document = named_document(documents, one)
            except NotFoundError as error:
                missing = error
                continue
            held = True
            if document not in (named := found.setdefault(name, [])):
                named.append(document)
        if missing is not None and not held:
            raise missing
    return found
