"""Who the parties of a document are, where a question asks for them and for nothing else."""

import re
from collections.abc import Iterator

from lexloop.core.types import ParsedQuestion, Pointed, StructureLine
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.parties import Party, parties_of
from lexloop.documents.text.tokens import term_set
from lexloop.nodes.question.pointing import KINDS, MOST_DOCUMENTS
from lexloop.store.view import View

_WHO = re.compile(
    r"(?:between\s+)?(?:who|whom|which|name|list)\b|what (?:parties|(?:is|are) the names?)\b", re.I
)
_ALL = term_set("parties")
_BESIDE = term_set(f"name named company person people list made called {' '.join(KINDS)}") | _ALL
"""Terms that ask for a party, or name the kind of document, beside what the party is called."""
_MOST_READ = 50


def parties_asked(question: ParsedQuestion, view: View) -> Pointed | None:
    """Return the parties that a question asks for, each as its document names it.

    "Who are the parties?" asks for all, "Who is the Buyer?" for one. Return None if it asks
    for anything else, or if too many documents have such parties.
    """
    terms = term_set(question["inside"])
    if len(question["parts"]) != 1 or not terms or not _WHO.match(question["parts"][0]["text"]):
        return None
    found = {name: wanted for name in _documents(terms, view) if (wanted := _of(name, terms, view))}
    if not 0 < len(found) <= MOST_DOCUMENTS:
        return None
    told = [
        line for name, parties in found.items() for line in _told(name, parties, view, len(found))
    ]
    return {"units": [], "chunks": [], "told": told, "only": True}


def _documents(terms: frozenset[str], view: View) -> list[str]:
    """Return the documents whose parties may be meant: all of a few, else those that say so."""
    if len(view.documents) <= _MOST_READ:
        return [*view.documents]
    own = sorted(terms - _BESIDE)
    return [*view.having(own)][:_MOST_READ] if own else []


def _of(name: str, terms: frozenset[str], view: View) -> list[Party]:
    """Return the parties of a document that all of a question's terms ask for."""
    parties = parties_of(view.text_of(name) or "")
    beside = _BESIDE | term_set(view.titles[name])
    if terms & _ALL and terms <= beside:
        return [*parties]
    return [one for one in parties if one.role and _is_role(one.role, terms, beside)]


def _is_role(role: str, terms: frozenset[str], beside: frozenset[str]) -> bool:
    own = term_set(role)
    return bool(own) and own <= terms and terms - own <= beside


def _told(name: str, parties: list[Party], view: View, documents: int) -> Iterator[StructureLine]:
    """Yield each party in the words in which its document names it."""
    tree, text = view.tree_of(name) or Tree(), view.text_of(name) or ""
    for one in parties:
        place = tree.at(one.start)
        label = tree.units[place].label if place >= 0 else ""
        said = " ".join(text[slice(*one.span)].split())
        line = f"In {name}: {said}" if documents > 1 else said
        yield {"line": line, "citations": [view.cited(name, *one.span, label)]}
