"""Collections by their names: as people type them, and what tells one from the others."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from lexloop.core.errors import CorpusError, SettingsError
from lexloop.core.settings import SAMPLE_CORPUS
from lexloop.documents.text.tokens import term_set
from lexloop.store.engine.address import is_address

if TYPE_CHECKING:
    from lexloop.store.view import View

_HINT = "Write names and paths, as in `sample,lease=contracts/lease.txt,laws`."
_MOST_NAME_CHARS = 60
_MOST_COLLECTIONS = 100
_RESERVED = frozenset(":|=,/\\[]`")
"""Have a meaning in lists of collections, in answers, or in the names of LangGraph's nodes."""
_MOST_TITLES, _TITLE_CHARS = 5, 100
_MOST_PHRASES, _PHRASE_WORDS = 10, 8
_MOST_TREES, _MOST_UNITS = 50, 3000


def named_collections(text: str) -> dict[str, str]:
    """Return the collections that a list such as ``sample,lease=contracts/lease.txt`` names.

    Args:
        text: Paths of documents or addresses of indexes, or ``name=path``, with commas between; the
            name of a path is its last part.

    Returns:
        The corpus of each by its name, in the order of the list.

    Raises:
        SettingsError: A name is missing, cannot be used, or is there twice.
        CorpusError: There is nothing at a path; what lies in an engine is not looked for.
    """
    found: dict[str, str] = {}
    for item in _items(text):
        name, given, corpus = (part.strip() for part in item.rpartition("="))
        if not corpus or (given and not name):
            said = f"{item.strip()!r} in {text!r}" if text.strip() else "An empty list"
            raise SettingsError(f"{said} names no collection.", _HINT)
        if not given:
            name = corpus if corpus == SAMPLE_CORPUS else _last_part(corpus)
        check_name(name)
        if name in found:
            raise SettingsError(
                f"The collection {name!r} is named twice: {found[name]} and {corpus}.",
                "Give one of them another name: `name=path`.",
            )
        if corpus != SAMPLE_CORPUS and not is_address(corpus) and not _exists(corpus):
            raise CorpusError(
                f"There is nothing at {corpus}, the documents of the collection {name!r}.",
                "Name a folder, a file, an index, or `sample`.",
            )
        found[name] = corpus
    if len(found) > _MOST_COLLECTIONS:
        raise SettingsError(
            f"{len(found)} collections are named; the limit is {_MOST_COLLECTIONS}.",
            "Put documents that belong together into one.",
        )
    return found


def _items(text: str) -> Iterator[str]:
    """Yield what stands between commas, those between the hosts of one address left alone."""
    held = ""
    for part in text.split(","):
        held = f"{held},{part}" if held else part
        _, engine, rest = held.partition("://")
        if not engine or "/" in rest:
            yield held
            held = ""
    if held:
        yield held


def check_name(name: str) -> None:
    """Check that a collection can be called so.

    Raises:
        SettingsError: It cannot.
    """
    controls = [c for c in name if unicodedata.category(c)[0] in "CZ" and c != " "]
    if not name.strip() or name != name.strip() or len(name) > _MOST_NAME_CHARS:
        problem = f"A collection cannot be called {name[:80]!r}."
    elif unusable := sorted(_RESERVED.intersection(name) | set(controls)):
        problem = f"The name {name!r} of a collection holds {unusable[0]!r}."
    elif not any(character.isalnum() for character in name):
        problem = f"The name {name!r} of a collection holds no letter."
    else:
        return
    raise SettingsError(problem, f"Give it a name of 1 to {_MOST_NAME_CHARS} letters: `name=path`.")


def _last_part(corpus: str) -> str:
    return Path(corpus).expanduser().name or Path(corpus).expanduser().resolve().name


def _exists(corpus: str) -> bool:
    try:
        return Path(corpus).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False


def described(name: str, views: "Mapping[str, View]") -> str:
    """Describe a collection for who chooses among several: what is in it and not in the others.

    Only documents that the asker may see are told of.

    Args:
        name: Of the collection.
        views: What the asker sees of each, by its name.
    """
    told = contents_of(name, views)
    lines = [f"{head}: {'; '.join(said)}." for head, said in told.items() if said]
    opening = f"Answer a question from the collection {name!r}, with citations."
    return "\n".join([opening, *lines])


def contents_of(name: str, views: "Mapping[str, View]") -> dict[str, list[str]]:
    """Return what is in a collection and not in the others: titles, kinds, places and headings.

    Args:
        name: Of the collection.
        views: What the asker sees of each, by its name.
    """
    view = views[name]
    others = [other for key, other in views.items() if key != name]
    known = view.metadata(view.documents)
    titles = [title or document for document, title in view.titles.items()]
    headings = _headings(view, "provision", "annex")
    provisions = (heading for heading in headings if heading not in titles)
    more = [f"{len(titles) - _MOST_TITLES} more"] if len(titles) > _MOST_TITLES else []
    kinds = sorted({held.kind for held in known.values() if held.kind})
    places = sorted({held.jurisdiction for held in known.values() if held.jurisdiction})
    return {
        "Documents": [*(_line(title) for title in titles[:_MOST_TITLES]), *more],
        "Kinds": [_line(kind) for kind in kinds],
        "Jurisdictions": [_line(place) for place in places],
        "Defines": _typical(_headings(view, "definition"), view, others),
        "About": _typical(provisions, view, others),
    }


def _headings(view: "View", *kinds: str) -> Iterator[str]:
    """Yield the headings of units of some kinds, of the first documents."""
    trees = (view.tree_of(document) for document in view.documents[:_MOST_TREES])
    units = (unit for tree in trees if tree is not None for unit in tree.units)
    for unit in islice(units, _MOST_UNITS):
        if unit.kind in kinds and unit.heading:
            yield unit.heading


def _typical(phrases: Iterable[str], view: "View", others: "list[View]") -> list[str]:
    """Return the phrases whose words are least to be found in the other collections, in order."""
    scored: dict[str, float] = {}
    for phrase in dict.fromkeys(map(_line, phrases)):
        terms = term_set(phrase)
        if terms and len(phrase.split()) <= _PHRASE_WORDS:
            rare = (sum(o.idf(t) for o in others) - len(others) * view.idf(t) for t in terms)
            scored[phrase] = sum(rare) / len(terms)
    kept = set(sorted(scored, key=scored.__getitem__, reverse=True)[:_MOST_PHRASES])
    return [phrase for phrase in scored if phrase in kept]


def _line(text: str) -> str:
    """Return a document's words on one line, without what could close it."""
    return re.sub(r"\s+", " ", text).strip(" .;")[:_TITLE_CHARS]
