"""The view that one asker has of an index: every text that is read comes from here."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from lexloop.core.deadline import heed_deadline
from lexloop.core.metadata import UNKNOWN, Filters, Metadata
from lexloop.core.types import MOST_POINTED, Chunk, Citation, Hit, Pointed, PointedUnit, Reading
from lexloop.documents.document import Box, SkippedSource, boxes_of, versions
from lexloop.documents.structure.asking import point
from lexloop.documents.structure.references import Reference
from lexloop.documents.structure.statements import Statement
from lexloop.documents.structure.tree import Tree, key_of, keys_of_term
from lexloop.documents.text.languages import languages_of, other_language
from lexloop.documents.text.slips import Slips, small_words
from lexloop.documents.text.tokens import tokenize
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedders import load_shipped
from lexloop.models.embedding import TokenEmbedder, Vectors
from lexloop.store.part import Contents, Found

if TYPE_CHECKING:
    from lexloop.store.collection import Collection

_AT_ONCE, _TREES = 1000, 50
_QUESTIONS = 32
"""Questions whose closeness to chunks is cached, since every step asks again."""
_CHUNKS_READ, _TERMS_READ, _CHUNKS_OF_LANGUAGES = 20_000, 2_000, 200
"""The most chunks and definitions whose words slips are read as, and chunks that tell languages."""
_UNNAMED = "They could not be read; `lexloop index` names them when it reads them."
_NO_VECTORS: Vectors = np.zeros((0, 0), dtype=np.float32)
Embed = Callable[[list[str]], Vectors]


class View:
    """The documents that an access admits; any other is as if the index did not hold it.

    So hits, counts, acronyms, the ends of versions and messages depend on these documents alone;
    only the weights of BM25 are those of the whole index.

    Args:
        contents: The whole index.
        access: The asker's access, and filters.
        embed: From texts to unit vectors, shape (texts, dimension).
        skipped: The sources that could not be read; None where nobody asks for them.

    ``documents`` are the names of the documents in order; ``all_public`` says whether no document
    of the index has access tags.
    """

    def __init__(
        self,
        contents: Contents,
        access: Filters,
        embed: Embed,
        skipped: Sequence[SkippedSource] | None,
    ) -> None:
        self._contents, self._embed = contents, embed
        known, bare = contents.metadata, access.admits(UNKNOWN)
        granted, self._troubles = versions(contents.names, known, access.grants)
        self._skipped = skipped
        self.all_public = not any(metadata.tags for metadata in known.values())
        self.documents: Sequence[str] = [
            name
            for name in contents.names
            if (bare if name not in known else name in granted and access.admits(granted[name]))
        ]
        self._names = frozenset(self.documents)
        whole = len(self.documents) == len(contents.names)
        self._part = contents.part(None if whole else self._names)
        self._metadata = {name: found for name, found in granted.items() if self._shows(name)}
        self._near_to = lru_cache(maxsize=_QUESTIONS)(lambda _: dict[str, Vectors]())

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self._part)

    def _shows(self, document: str) -> bool:
        return document in self._names

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for.

        Raises:
            KeyError: There is no such chunk.
        """
        return [self._dated(chunk) for chunk in self._part.chunks(chunk_ids)]

    def every_chunk(self, step: int = 1) -> Iterator[Chunk]:
        """Yield every ``step``-th chunk in order, read in batches."""
        return map(self._dated, self._part.every_chunk(step))

    def _dated(self, chunk: Chunk) -> Chunk:
        held = self._metadata.get(chunk["document"])
        if held is not None and held.version:
            chunk["version"] = held.version
        return chunk

    def text_of(self, document: str) -> str | None:
        """Return the whole text of a document; None where there is no such document."""
        return self._part.text_of(document) if self._shows(document) else None

    @property
    def titles(self) -> Mapping[str, str]:
        """The documents' titles by their names, in order."""
        return self._titles

    @cached_property
    def _titles(self) -> dict[str, str]:
        return {name: t for name, t in self._contents.titles.items() if self._shows(name)}

    def holding(self, references: Sequence[Reference], named: Sequence[str]) -> Sequence[str]:
        """Return the documents in which references may lead somewhere, those named first.

        They are few: each tree is read.
        """
        others: Sequence[str] = self.documents
        if len(others) > _TREES:
            paths = (reference.steps[:n] for reference in references for n in range(1, 9))
            keys = list(dict.fromkeys(key_of(path) for path in paths if path))
            others = [name for name, _ in self._part.provisions(keys)]
        return list(dict.fromkeys([*named, *others]))[:_TREES]

    def cited(self, document: str, start: int, end: int, section: str) -> Citation:
        """Return the citation of a span of a document, its number 0.

        Raises:
            KeyError: There is no such document.
        """
        text = self.text_of(document)
        if text is None:
            raise KeyError(document)
        pages = self._part.pages_of(document)
        citation: Citation = {
            "n": 0,
            "document": document,
            "section": section,
            "page": bisect_right(pages, start) or None,
            "start": start,
            "end": end,
            "quote": text[start:end],
        }
        held = self._metadata.get(document)
        if held is not None and held.version:
            citation["version"] = held.version
        return citation

    def pointed(self, question: str) -> Pointed:
        """Return the provisions that a question names, and what the structure itself says."""
        found = point(question, self)
        chunks = (id for unit in found["units"] for id in self.chunks_over(unit))
        first = list(dict.fromkeys(islice(chunks, MOST_POINTED)))
        return {**found, "chunks": first}

    def defining(self, terms: Sequence[str]) -> list[str]:
        """Return the ids of the chunks in which the definitions of terms begin, in order."""
        keys = [key for term in terms for key in keys_of_term(term)[:1]]
        found: list[str] = []
        for name, place in self._part.provisions(keys):
            start = self._part.tree_of(name).units[place].start
            starts = self._part.starts_of(name)
            at = int(np.searchsorted(starts, start, side="right"))
            found.append(f"{name}#{starts[max(0, at - 1)]}")
        return list(dict.fromkeys(found))[:MOST_POINTED]

    def chunks_over(self, unit: PointedUnit) -> Iterator[str]:
        """Yield the ids of the chunks that hold a unit's words, in order."""
        name = unit["document"]
        starts = self._part.starts_of(name)
        begin = max(0, int(np.searchsorted(starts, unit["start"], side="right")) - 1)
        for start in starts[begin : int(np.searchsorted(starts, unit["end"]))].tolist():
            yield f"{name}#{start}"

    def tree_of(self, document: str) -> Tree | None:
        """Return the tree of a document's provisions; None where there is no such document."""
        return self._part.tree_of(document) if self._shows(document) else None

    def pages_of(self, document: str) -> tuple[int, ...]:
        """Return where each page of a document begins; empty without pages or document."""
        return tuple(self._part.pages_of(document)) if self._shows(document) else ()

    def boxes(self, document: str, start: int, end: int) -> list[Box]:
        """Return the places of a span on a document's pages; none where it has no pages."""
        if not self._shows(document):
            return []
        return boxes_of(self._part.document(document), start, end)

    def source_of(self, document: str) -> tuple[str, str] | None:
        """Return a document's source file and its fingerprint; None without such a document."""
        return self._part.source_of(document) if self._shows(document) else None

    def metadata(self, documents: Names[str]) -> dict[str, Metadata]:
        """Return each document's metadata; a superseded one ends where the next begins."""
        return {name: self._metadata.get(name, UNKNOWN) for name in documents}

    def skipped(self, stored: bool = False) -> list[SkippedSource]:
        """Return what could not be read, and each ``supersedes`` that cannot be followed.

        Who may see what could not be read is unknown, so where documents have access tags its
        names are told to nobody. ``stored`` asks an index for it that was opened as it is.
        """
        if self._skipped is None and not stored:
            return []
        found = self._part.skipped() if self._skipped is None else self._skipped
        told = [*found]
        if told and not self.all_public:
            told = [SkippedSource(f"{len(told)} of the sources", _UNNAMED)]
        return [*told, *(trouble for trouble in self._troubles if self._shows(trouble.name))]

    def search(self, queries: list[str], limit: int) -> Found:
        """Return for each query the best chunks by BM25, without scores of 0, and by cosine."""
        if not queries or not len(self._part):
            return [[] for _ in queries], [[] for _ in queries]
        return self._part.search(queries, lambda: self.embed(queries), limit)

    def search_lexical(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """Return for each query the best chunks by BM25, best first, without scores of 0."""
        return self._part.search(queries, lambda: _NO_VECTORS, limit)[0]

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """Return for each query the best chunks by cosine, best first."""
        if not queries or not len(self._part):
            return [[] for _ in queries]
        return self._part.search([], lambda: self.embed(queries), limit)[1]

    def graph(self) -> KnowledgeGraph:
        """Return the knowledge graph that these documents alone make."""
        return self._part.graph()

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """Return the statements of a chunk and their vectors, shape (statements, dimension).

        Raises:
            KeyError: There is no such chunk.
        """
        found = self._said_in(chunk_id)
        if len(found) > 1 and self._contents.windows != "statements":
            return found, self.embed([statement.text for statement in found])
        windows = self._part.windows_of(chunk_id)
        return found, windows[-len(found) :] if len(found) > 1 else windows[: len(found)]

    def _said_in(self, chunk_id: str) -> list[Statement]:
        return self._part.statements_of(chunk_id)

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """Return each question token's best cosine in each chunk, shape (tokens, chunks).

        MaxSim is the mean over the tokens. None without token vectors.

        Raises:
            KeyError: There is no such chunk.
        """
        embedder = self._contents.embedder
        if not self._part.tokens or not isinstance(embedder, TokenEmbedder):
            return None
        known = self._near_to(question)
        new = [name for name in dict.fromkeys(chunk_ids) if name not in known]
        found = self._part.closeness(embedder.token_codes(question), new)
        known.update(zip(new, found.T, strict=True))
        columns = [known[name] for name in chunk_ids]
        return np.stack(columns, axis=1) if columns else found

    def embed(self, texts: list[str]) -> Vectors:
        """Return vectors of questions and answers, shape (len(texts), dimension), cached."""
        return self._embed(texts)

    def idf(self, term: str) -> float:
        """Inverse document frequency of a search term: ln(1 + chunks / (df + 0.5))."""
        return math.log(1 + len(self._part) / (self._part.frequencies([term])[0] + 0.5))

    def knows(self, term: str) -> bool:
        """Return whether any chunk holds a search term (a stem, as ``tokenize`` gives it)."""
        return self._part.frequencies([term])[0] > 0

    def place_of(self, quote: str) -> tuple[str, str]:
        """Return heading and label of the provision that a quote is from; "" where it has none."""
        hits = self.search_lexical([quote], 1)[0]
        for chunk in self.chunks([hit.chunk_id for hit in hits]):
            tree = self.tree_of(chunk["document"]) or Tree()
            within = max(0, chunk["text"].find(quote))
            # a chunk may begin with a title that stands before its provision
            for place in map(tree.at, (chunk["start"] + within, chunk["end"] - 1)):
                above = (place, *tree.above(place)) if place >= 0 else ()
                for unit in (tree.units[p] for p in above):
                    if unit.kind == "provision":
                        return unit.heading, unit.label
        return "", ""

    def read(self, text: str) -> tuple[str, list[Reading]]:
        """Return the text with slips read as the documents' words, and the readings."""
        self._part.frequencies(tokenize(text))  # all at once, where each would be a request
        return self._slips.read(text)

    def languages(self) -> list[str]:
        """Return these documents' languages, the most used first; none where unknown."""
        return self._languages

    @cached_property
    def _languages(self) -> list[str]:
        chunks = self.every_chunk(-(-len(self) // _CHUNKS_OF_LANGUAGES) or 1)
        return languages_of(chunk["text"] for chunk in chunks)

    def other_language(self, question: str) -> str:
        """Return the language of a question if it is none of the documents'; else ""."""
        return other_language(question, self.languages(), self._has)

    def _has(self, word: str) -> bool:
        return all(map(self.knows, tokenize(word)))

    @cached_property
    def _slips(self) -> Slips:
        return Slips(
            has=self._has,
            is_usual=lambda word: load_shipped().is_word(word),
            words=self._words,
            terms=self._terms,
        )

    def _words(self) -> Iterator[str]:
        """Yield the words of the chunks and their headings; of many chunks some, evenly spread."""
        step = -(-len(self) // _CHUNKS_READ) or 1
        for chunk in self.every_chunk(step):
            heed_deadline("while the documents' words were read")
            yield from small_words(f"{chunk.get('context', '')} {chunk['text']}")

    def _terms(self) -> Iterator[str]:
        """Yield the defined terms; of very many the first."""
        for name, place in islice(self._part.defining(), _TERMS_READ):
            yield self._part.tree_of(name).units[place].heading

    def centroid(self) -> Vectors:
        """The mean direction of all windows, shape (dimension,): what the documents are about."""
        return self._centroid

    @cached_property
    def _centroid(self) -> Vectors:
        return self._part.centroid()

    def without(self, chunk_ids: Names[str]) -> "Collection":
        """Return these documents without some of their chunks, indexed in memory."""
        kept = {chunk["id"] for chunk in self.every_chunk()}.difference(chunk_ids)
        return self._part.rebuilt(self.metadata(self.documents), kept)
