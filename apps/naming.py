"""What a caller is told who names what is not there: what is spelled like it."""

import difflib
from collections.abc import Mapping, Sequence

NEAR = 5
"""The most names that an error lists."""


def similar(wanted: str, known: Mapping[str, str], most: int = NEAR) -> list[str]:
    """Return texts that are spelled like the wanted one or hold it, as ``known`` shows them."""
    # only those of about its length, since comparing with very many takes seconds
    alike = [text for text in known if abs(len(text) - len(wanted)) <= most]
    close = difflib.get_close_matches(wanted, alike, most)
    holding = [text for text in known if wanted in text]
    return list(dict.fromkeys(known[text] for text in (*close, *holding)))[:most]


def one_of(lead: str, names: Sequence[str]) -> str:
    """Return a sentence that lists names, some first where there are many."""
    more = f", and {len(names) - NEAR} more" if len(names) > NEAR else ""
    return f"{lead}: {'; '.join(names[:NEAR])}{more}."
