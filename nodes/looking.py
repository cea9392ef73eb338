"""Looking further: what a model searches, opens and lists in the documents before a retry.

It looks through the asker's view, so it finds nothing that the asker may not see. What it finds is
data, as passages are.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal

from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.errors import InputError
from lexloop.core.folding import folded
from lexloop.core.running import computed
from lexloop.core.settings_groups import Fusion
from lexloop.core.types import KEPT, Chosen, Looked, Passage, Place, PointedUnit, Scored
from lexloop.documents.structure.telling import outline
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import tokenize
from lexloop.nodes.fusion import fuse, searched
from lexloop.nodes.question.pointing import read_pointing
from lexloop.nodes.question.provisions import point, unit_at
from lexloop.store.naming import named_document
from lexloop.store.view import View

MOST_LOOKS = 4
"""Looks that a model may ask for at once."""
_FOUND, _DEPTH = 5, 40
"""Passages that a search shows, and hits of each signal that are fused for it."""
_OPENED, _LINES = 8, 60
"""Passages of an opened provision, and lines of an outline."""
_MOST_CHOSEN = 12
"""Passages that looks bring to the next attempt."""
_MOST_CHARS = 10_000
"""Characters that all looks of a retry show together: 2,500 tokens."""
_MOST_WORDS = 300
"""Characters of what is looked for."""


class Look(BaseModel):
    """A look that a model asks for."""

    tool: Literal["search", "find_words", "open", "outline"]
    words: str = ""


class Looking:
    """The looks of one retry. Passages are numbered from 1 in the order in which they are found.

    Args:
        view: The documents that the asker may see and asks in.
        fusion: How a search is fused.

    ``looked`` lists the looks so far, ``opened`` the ids of the chunks of opened provisions, and
    ``shown`` what the model is shown of all.
    """

    def __init__(self, view: View, fusion: Fusion) -> None:
        self._view, self._fusion = view, fusion
        self._numbers: dict[str, int] = {}
        self._seen: set[str] = set()
        self._left = _MOST_CHARS
        self.looked: list[Looked] = []
        self.opened: list[str] = []
        self.shown: list[prompts.Data] = []

    async def begin(self, passages: Sequence[Chosen]) -> None:
        """Show where the passages of the last attempt stand, and the headings of the document."""
        self._show(await computed(self._beginning, [passage["id"] for passage in passages]))

    async def look(self, looks: Sequence[Look]) -> None:
        """Look, each as a step of its own in traces, and add what is found to ``shown``."""
        for one in looks[:MOST_LOOKS]:
            step = RunnableLambda(self._look, name=one.tool)
            await step.ainvoke({"tool": one.tool, "words": one.words[:_MOST_WORDS]})

    def chosen(self, numbers: Iterable[int]) -> list[Scored]:
        """Return the passages with these numbers, or all that were opened."""
        by_number = {number: name for name, number in self._numbers.items()}
        chosen = [by_number[number] for number in dict.fromkeys(numbers) if number in by_number]
        return _scored((chosen or self.opened)[:_MOST_CHOSEN])

    async def _look(self, asked: dict[str, str]) -> Looked:
        """Look once. The record has places; the model is told the numbers of passages."""
        tool, words = asked["tool"], asked["words"]
        if tool == "outline":
            documents, lines = await computed(self._outline, words)
            pieces = [prompts.Data("outline", "\n".join(lines))] if lines else []
            told = documents
            found: list[Place] = [{"document": name, "section": ""} for name in documents]
        else:
            passages = await computed(self._passages, tool, words)
            new = [one for one in passages if one["id"] not in self._seen]
            self._seen |= {one["id"] for one in new}
            pieces = prompts.numbered(new)
            told = [f"passage {one['n']}" for one in passages]
            found = [{"document": p["document"], "section": p["section"]} for p in passages]
        self._show([prompts.Data("look", f"{tool} {words!r}: {', '.join(told) or 'nothing'}")])
        self._show(pieces)
        self.looked.append({"tool": tool, "words": words, "found": found})
        return self.looked[-1]

    def _show(self, pieces: Iterable[prompts.Data]) -> None:
        for piece in pieces:
            if len(piece.text) <= self._left:
                self._left -= len(piece.text)
                self.shown.append(piece)

    def _beginning(self, ids: Sequence[str]) -> list[prompts.Data]:
        # an answer may have quoted other documents than those that are asked
        known = [name for name in ids if self._view.access.shows(name.rpartition("#")[0])]
        read = dict.fromkeys(
            " | ".join(filter(None, [chunk["title"] or chunk["document"], chunk["section"]]))
            for chunk in self._view.chunks(known)
        )
        _, lines = self._outline("")
        return [
            prompts.Data(kind, "\n".join(said))
            for kind, said in (("read", read), ("outline", lines))
            if said
        ]

    def _passages(self, tool: str, words: str) -> list[Passage]:
        """Return what a look finds, numbered."""
        if tool == "open":
            ids = [*islice(self._open(words), _OPENED)]
            self.opened += [name for name in ids if name not in self.opened]
        else:
            sought = self._search if tool == "search" else self._find
            ids = [*islice(sought(words), _FOUND)]
        for name in ids:
            self._numbers.setdefault(name, len(self._numbers) + 1)
        candidates = self._view.candidates(_scored(ids))
        return [{**one, "n": self._numbers[one["id"]]} for one in candidates]

    def _search(self, words: str) -> Iterator[str]:
        """Yield the chunks nearest to a query, best first."""
        fused = fuse(searched(self._view, [words], self._fusion, _DEPTH), self._fusion, {})
        yield from sorted(fused, key=lambda name: (-fused[name], name))

    def _find(self, words: str) -> Iterator[str]:
        """Yield the chunks that contain exact words, or at least all of their terms, best first."""
        hits = self._view.search_lexical([words], _DEPTH)[0]
        chunks = self._view.chunks([hit.chunk_id for hit in hits])
        exact, terms = folded(words).casefold().strip(" \"'“”"), {*tokenize(words)}
        texts = {chunk["id"]: f"{chunk.get('context', '')} {chunk['text']}" for chunk in chunks}
        having = [name for name, text in texts.items() if exact in folded(text).casefold()]
        yield from having or (n for n, text in texts.items() if terms <= {*tokenize(text)})

    def _open(self, words: str) -> Iterator[str]:
        """Yield the chunks of the provisions with a number, a label or a heading."""
        units = point(read_pointing(words, self._view.titles), self._view)["units"]
        for unit in units or self._headed(words):
            yield from self._view.chunks_over(unit)

    def _headed(self, words: str) -> Iterator[PointedUnit]:
        for document, place in self._view.headed([words]):
            yield unit_at(document, self._view.tree_of(document) or Tree(), place)

    def _outline(self, words: str) -> tuple[list[str], list[str]]:
        """Return the documents meant, and the headings of the one; of several only their names."""
        documents = self._view.documents
        try:
            name = documents[0] if len(documents) == 1 else named_document(documents, words)
        except InputError:
            titles = self._view.titles
            return [], [f"{name}: {titles[name]}" for name in documents[:_LINES]]
        lines = outline(self._view.tree_of(name) or Tree(), -1)
        return [name], [line.text for line in islice(lines, _LINES)]


def _scored(ids: Iterable[str]) -> list[Scored]:
    return [{"id": name, "score": 1.0, "signals": {KEPT: 1.0}} for name in ids]
