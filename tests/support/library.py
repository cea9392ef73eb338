"""Documents in memory with their structure, for what is asked of it."""

from collections.abc import Sequence
from pathlib import Path

from lexloop.core.types import Citation
from lexloop.documents.document import Document
from lexloop.documents.structure.references import Reference
from lexloop.documents.structure.tree import Tree

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

    def tree_of(self, document: str) -> Tree | None:
        found = self._documents.get(document)
        return found.tree if found else None

    def text_of(self, document: str) -> str | None:
        found = self._documents.get(document)
        return found.text if found else None

    def holding(self, references: Sequence[Reference], named: Sequence[str]) -> Sequence[str]:
        return list(dict.fromkeys([*named, *self._documents]))

    def cited(self, document: str, start: int, end: int, section: str) -> Citation:
        quote = self._documents[document].text[start:end]
        place = {"page": None, "start": start, "end": end}
        return {"n": 0, "document": document, "section": section, "quote": quote, **place}


def shelf(*names: str) -> Shelf:
    """Some of the laws of tests/data/laws; all where none is named."""
    chosen = names or TITLES
    return Shelf({name: (LAWS / name).read_text(encoding="utf-8") for name in chosen})
