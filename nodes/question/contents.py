"""What a model is told of the documents before it rewrites a question: their own words for things.

A person asks how long one may keep a file; the law says "storage limitation". Titles, headings and
defined terms tell a model these words without the text.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest

from lexloop import prompts
from lexloop.core.types import Chunk
from lexloop.documents.structure.telling import entitled, outline
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import term_set
from lexloop.store.view import View

_HITS = 20
"""Chunks by words and by vectors whose surroundings are told."""
_TITLES_CHARS, _HEADINGS_CHARS, _TERMS_CHARS = 500, 1_500, 400
"""600 tokens in all."""


def contents_near(question: str, view: View) -> list[prompts.Data]:
    """Return the titles, headings and defined terms of the documents near a question."""
    lexical, vector = view.search([question], _HITS)
    hits = chain.from_iterable(zip_longest(vector[0], lexical[0]))
    ids = dict.fromkeys(hit.chunk_id for hit in hits if hit is not None)
    chunks = view.chunks([*ids])
    trees = {name: view.tree_of(name) or Tree() for name in {c["document"] for c in chunks}}
    titles = view.titles
    told = {
        "titles": _fitting((titles[c["document"]] or c["document"] for c in chunks), _TITLES_CHARS),
        "headings": _fitting(_headings(chunks, trees), _HEADINGS_CHARS),
        "terms": _fitting(_terms(chunks, trees), _TERMS_CHARS),
    }
    return [prompts.Data(kind, "\n".join(lines)) for kind, lines in told.items() if lines]


def _headings(chunks: list[Chunk], trees: dict[str, Tree]) -> Iterator[str]:
    """Yield the headings of the nearest chunks, then the outline of the nearest document."""
    for chunk in chunks:
        tree = trees[chunk["document"]]
        place = tree.at((chunk["start"] + chunk["end"]) // 2)  # headings may open it
        above = (tree.units[p] for p in (place, *tree.above(place))) if place >= 0 else ()
        yield from islice((entitled(unit) for unit in above if unit.heading), 1)
    if chunks:
        yield from (line.text for line in outline(trees[chunks[0]["document"]], -1))


def _terms(chunks: list[Chunk], trees: dict[str, Tree]) -> Iterator[str]:
    """Yield the defined terms that the nearest chunks use."""
    defined = {
        name: [
            (unit.heading, term_set(unit.heading))
            for unit in tree.units
            if unit.kind == "definition"
        ]
        for name, tree in trees.items()
    }
    for chunk in chunks:
        used = term_set(chunk["text"])
        yield from (term for term, words in defined[chunk["document"]] if words and words <= used)


def _fitting(lines: Iterable[str], chars: int) -> list[str]:
    """Return the first lines, each once, that have so many characters together."""
    kept: list[str] = []
    for line in dict.fromkeys(" ".join(line.split()) for line in lines):
        chars -= len(line) + 1
        if chars < 0:
            break
        kept.append(line)
    return kept
