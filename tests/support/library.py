"""Documents in memory with their structure, for what is asked of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lexloop.core.types import Citation, Pointed, PointedUnit
from lexloop.documents.document import Document
from lexloop.documents.structure.references import Reference
from lexloop.documents.structure.tree import Tree, key_of_heading
from lexloop.nodes.question.pointing import read_pointing
from lexloop.nodes.question.provisions import point

LAWS = Path(__file__).parents[1] / "data" / "laws"
TITLES = {
    "act.txt": "Allotment Gardens (Management) Act 2019",
    "contract.txt": "Cleaning Services Agreement",
    "directive.txt": "Directive on the keeping of river boats",
    "policy.md": "Access and passwords",
    "regulations.txt": "The Beekeeping (Registration) Regulations 2020",
    "standard.txt": "Playgrounds",
}


class Shelf:
    """Documents by name."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._documents = {
            name: Document(name, TITLES.get(name, name), text) for name, text in texts.items()
        }
        self.titles = {name: document.title for name, document in self._documents.items()}

    def document(self, name: str) -> Document:
        return self._documents[name]

    def tree_of(self, document: str) -> Tree | None:
        found = self._documents.get(document)
        return found.tree if found else None

    def text_of(self, document: str) -> str | None:
        found = self._documents.get(document)
        return found.text if found else None

    def chunks_over(self, unit: PointedUnit) -> Iterator[str]:
        return iter(())

    def holding(self, references: Sequence[Reference], named: Sequence[str]) -> Sequence[str]:
        return list(dict.fromkeys([*named, *self._documents]))

    def headed(self, headings: Sequence[str]) -> list[tuple[str, int]]:
        keys = [*dict.fromkeys(map(key_of_heading, headings))]
        trees = ((name, document.tree) for name, document in self._documents.items())
        return [(name, tree.keys[key]) for name, tree in trees for key in keys if key in tree.keys]

    def cited(self, document: str, start: int, end: int, section: str) -> Citation:
        quote = self._documents[document].text[start:end]
        place = {"page": None, "start": start, "end": end}
        return {"n": 0, "document": document, "section": section, "quote": quote, **place}


def pointed_in(question: str, library: Any) -> Pointed:
    """What a question points to in documents."""
    return point(read_pointing(question, library.titles), library)


def shelf(*names: str) -> Shelf:
    """Some of the laws of tests/data/laws; all where none is named."""
    chosen = names or TITLES
    return Shelf({name: (LAWS / name).read_text(encoding="utf-8") for name in chosen})
