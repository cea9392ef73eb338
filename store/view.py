"""An open index, and the view that one asker has of it: every text that is read comes from here."""

import math
from collections.abc import Collection as Names
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain, islice

import numpy as np

from lexloop.core.folding import folded, narrowed
from lexloop.core.metadata import UNKNOWN, Filters, Metadata
from lexloop.core.running import heed_deadline
from lexloop.core.types import MOST_POINTED, At, Chunk, Citation, Hit, PointedUnit, Reading
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.document import (
    Box,
    Document,
    SkippedSource,
    boxes_of,
    in_part,
    span_in_file,
    sure_of,
    versions,
)
from lexloop.documents.structure.place import at_of
from lexloop.documents.structure.references import Reference
from lexloop.documents.structure.tree import Tree, key_of, key_of_heading, keys_of_term
from lexloop.documents.text.languages import languages_of, other_language, words_of
from lexloop.documents.text.slips import Slips, small_words
from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Embed, Embedder, TokenEmbedder, Vectors
from lexloop.models.minilm import is_usual_word
from lexloop.store.graph import KnowledgeGraph
from lexloop.store.manifest import Recipe
from lexloop.store.naming import named_document
from lexloop.store.okapi import Okapi
from lexloop.store.protocol import Found, PreparedDocument, Store, Within

_RECENT, _VIEWS = 512, 16
_TREES = 50
_QUESTIONS = 32
"""Questions whose closeness to chunks is cached, since every step asks again."""
_CHUNKS_READ, _TERMS_READ, _CHUNKS_OF_LANGUAGES = 20_000, 2_000, 200
"""The most chunks and definitions whose words slips are read as, and chunks that tell languages."""
_NO_VECTORS: Vectors = np.zeros((0, 0), dtype=np.float32)


class Collection:
    """An open index that is read through ``seen_by`` alone.

    Args:
        store: The whole index.
        skipped: The sources that could not be read; None where nobody asks for them.
        embedder: Embeds questions; None for the one that made the vectors.
        words_only: Whether the vectors that the index holds are left alone: those of two models
            cannot be compared, so statements that the words bring up are embedded anew.
    """

    def __init__(
        self,
        store: Store,
        skipped: Sequence[SkippedSource] | None = None,
        embedder: Embedder | None = None,
        words_only: bool = False,
    ) -> None:
        self.embedder = embedder or store.embedder
        self._store, self._skipped, self._words_only = store, skipped, words_only
        self._recent: dict[str, Vectors] = {}
        self._views = lru_cache(maxsize=_VIEWS)(self._view)

    def seen_by(self, access: Filters) -> "View":
        """Return the view of somebody with this access, cached by access.

        Raises:
            InputError: They see no document that is meant in ``access.only``, or several.
        """
        return self._views(access)

    def _view(self, access: Filters) -> "View":
        if access.only:
            view = self._views(replace(access, only=()))
            return view.within([named_document(view.documents, name) for name in access.only])
        return View(self._store, access, self._embed, self._skipped, self._words_only)

    def embedded_by(self, embedder: Embedder, words_only: bool = False) -> "Collection":
        """Return the same index with another embedder for what is asked.

        Args:
            embedder: Makes the same vectors as the index's own, unless the words alone are used.
            words_only: As for the collection.
        """
        return Collection(self._store, self._skipped, embedder, words_only)

    def forget(self) -> None:
        """Clear the cache of embedded texts."""
        self._recent.clear()

    def close(self) -> None:
        """Close the files; the collection cannot be searched afterwards."""
        self._store.close()

    @property
    def dense_kind(self) -> str:
        """The kind of vector search: flat is exact, hnsw and ivf are approximate."""
        return self._store.dense_kind

    @property
    def recall(self) -> float:
        """The share of the ten best windows that vector search finds."""
        return self._store.recall

    def _embed(self, texts: list[str]) -> Vectors:
        # other threads fill and clear the recent ones too, so nothing is read from them twice
        found = {text: self._recent.get(text) for text in texts}
        missing = [text for text, vector in found.items() if vector is None]
        if missing:
            made = dict(zip(missing, self.embedder.embed(missing), strict=True))
            found.update(made)
            if len(self._recent) + len(made) > _RECENT:
                self._recent.clear()
            self._recent.update(made)
        vectors = np.zeros((len(texts), self.embedder.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = found[text]
        return vectors


class View:
    """The documents that an access admits; any other is as if the index did not hold it.

    So hits, their scores, counts, acronyms, the ends of versions and messages depend on these
    documents alone; only in an engine are the weights of BM25 those of the whole index, but for
    ``by_okapi``.

    Args:
        store: The whole index.
        access: The asker's access, and filters.
        embed: From texts to unit vectors, shape (texts, dimension).
        skipped: The sources that could not be read; None where nobody asks for them.
        words_only: Whether the vectors that the index holds are left alone.

    ``documents`` are the names of the documents in order; ``all_public`` says whether no document
    of the index has access tags.
    """

    def __init__(
        self,
        store: Store,
        access: Filters,
        embed: Embed,
        skipped: Sequence[SkippedSource] | None,
        words_only: bool = False,
    ) -> None:
        self._store, self._embed, self._words_only = store, embed, words_only
        names, known, bare = store.catalogue.names, store.catalogue.metadata, access.admits(UNKNOWN)
        if access.without:
            files = store.catalogue.files
            names = [name for name in names if files[name] not in access.without]
            known = {name: known[name] for name in names if name in known}
        granted, self._troubles = versions(names, known, access.grants)
        self._skipped = skipped
        self.all_public = not any(metadata.tags for metadata in known.values())
        self.documents: Sequence[str] = [
            name
            for name in names
            if (bare if name not in known else name in granted and access.admits(granted[name]))
        ]
        self._names = frozenset(self.documents)
        whole = len(self.documents) == len(store.catalogue.names)
        self._seen: Within = None if whole else self._names
        self._within = self._seen
        self._metadata = {name: found for name, found in granted.items() if self._shows(name)}
        self._lexical: Okapi | None = None
        self._near_to = lru_cache(maxsize=_QUESTIONS)(lambda _: dict[str, Vectors]())

    def __len__(self) -> int:
        """Return the number of chunks."""
        return self._size

    @cached_property
    def _size(self) -> int:
        return self._store.statistics((), self._within).chunks

    def within(self, documents: Names[str]) -> "View":
        """Return the view of these documents alone; of all, where none of them is named."""
        kept = [name for name in documents if self._shows(name)]
        if not kept:
            return self
        view = copy(self)
        view.documents = kept
        view._names = view._within = frozenset(kept)
        for name in ("_size", "_titles", "_languages", "_slips"):
            view.__dict__.pop(name, None)  # what was cached of all
        return view

    def by_okapi(self) -> "View":
        """Return the same view, its words searched by rank-bm25 over these documents alone."""
        view = copy(self)
        view._lexical = self._okapi
        return view

    @cached_property
    def _okapi(self) -> Okapi:
        return Okapi(self.every_chunk())

    def _shows(self, document: str) -> bool:
        return document in self._names

    def _checked(self, chunk_ids: Sequence[str]) -> Sequence[str]:
        """Return ids of chunks, all of which the asker may see; raise a KeyError otherwise."""
        if self._within is not None:
            for name in chunk_ids:
                if name.rpartition("#")[0] not in self._names:
                    raise KeyError(name)
        return chunk_ids

    def _document(self, name: str) -> Document | None:
        return self._store.document(name) if self._shows(name) else None

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for.

        Raises:
            KeyError: There is no such chunk.
        """
        return [self._dated(chunk) for chunk in self._store.chunks(self._checked(chunk_ids))]

    def every_chunk(self, step: int = 1) -> Iterator[Chunk]:
        """Yield every ``step``-th chunk in order, read in batches."""
        return map(self._dated, self._store.every_chunk(step, self._within))

    def _dated(self, chunk: Chunk) -> Chunk:
        held = self._metadata.get(chunk["document"])
        if held is not None and held.version:
            chunk["version"] = held.version
        if held is not None and held.identifier:
            chunk["identifier"] = held.identifier
        if held is not None and held.kind:
            chunk["kind"] = held.kind
        if held is not None and held.jurisdiction:
            chunk["jurisdiction"] = held.jurisdiction
        return chunk

    def text_of(self, document: str) -> str | None:
        """Return the whole text of a document; None if it is not in this view."""
        found = self._document(document)
        return found.text if found else None

    @property
    def titles(self) -> Mapping[str, str]:
        """The documents' titles by their names, in order."""
        return self._titles

    @cached_property
    def _titles(self) -> dict[str, str]:
        return {name: t for name, t in self._store.catalogue.titles.items() if self._shows(name)}

    def holding(self, references: Sequence[Reference], named: Sequence[str]) -> Sequence[str]:
        """Return the documents in which references may lead somewhere, those named first.

        They are few: each tree is read.
        """
        others: Sequence[str] = self.documents
        if len(others) > _TREES:
            paths = (reference.steps[:n] for reference in references for n in range(1, 9))
            keys = list(dict.fromkeys(key_of(path) for path in paths if path))
            others = [name for name, _ in self._store.provisions(keys, self._within)]
        return list(dict.fromkeys([*named, *others]))[:_TREES]

    def headed(self, headings: Sequence[str]) -> list[tuple[str, int]]:
        """Return document and place of each unit with one of the headings, in order."""
        keys = [*dict.fromkeys(filter(None, map(key_of_heading, headings)))]
        return self._store.provisions(keys, self._within)[:MOST_POINTED]

    def cited(self, document: str, start: int, end: int, section: str) -> Citation:
        """Return the citation of a span of a document, its number 0.

        Raises:
            KeyError: There is no such document.
        """
        found = self._document(document)
        if found is None:
            raise KeyError(document)
        citation: Citation = {
            "n": 0,
            "document": document,
            "section": section,
            "page": found.page_at(start),
            "start": start,
            "end": end,
            "quote": found.text[start:end],
        }
        if at := at_of(found, start, end):
            citation["at"] = at
        held = self._metadata.get(document)
        if held is not None and held.version:
            citation["version"] = held.version
        if held is not None and held.identifier:
            citation["identifier"] = held.identifier
        return citation

    def defining(self, terms: Sequence[str]) -> list[str]:
        """Return the ids of the chunks in which the definitions of terms begin, in order."""
        keys = [key for term in terms for key in keys_of_term(term)[:1]]
        found: list[str] = []
        for name, place in self._store.provisions(keys, self._within):
            start = self._store.document(name).tree.units[place].start
            starts = self._store.starts(name)
            at = int(np.searchsorted(starts, start, side="right"))
            if len(starts):  # every chunk of a document may have been taken out
                found.append(f"{name}#{starts[max(0, at - 1)]}")
        return list(dict.fromkeys(found))[:MOST_POINTED]

    def chunks_over(self, unit: PointedUnit) -> Iterator[str]:
        """Yield the ids of the chunks that hold a unit's words, in order."""
        name = unit["document"]
        starts = self._store.starts(name)
        begin = max(0, int(np.searchsorted(starts, unit["start"], side="right")) - 1)
        for start in starts[begin : int(np.searchsorted(starts, unit["end"]))].tolist():
            yield f"{name}#{start}"

    def whole(self, document: str) -> Document | None:
        """Return a document; None if it is not in this view."""
        return self._document(document)

    def tree_of(self, document: str) -> Tree | None:
        """Return the tree of a document's provisions; None if it is not in this view."""
        found = self._document(document)
        return found.tree if found else None

    def pages_of(self, document: str) -> tuple[int, ...]:
        """Return where each page of a document begins; empty without pages or document."""
        found = self._document(document)
        return found.pages if found else ()

    def boxes(self, document: str, start: int, end: int) -> list[Box]:
        """Return the places of a span on a document's pages; none where it has no pages."""
        found = self._document(document)
        return boxes_of(found, start, end) if found else []

    def at(self, document: str, start: int, end: int) -> At:
        """Return where a person finds a span in the file itself; see ``at_of``."""
        found = self._document(document)
        return at_of(found, start, end) if found else {}

    def in_file(self, document: str, start: int, end: int) -> tuple[int, int] | None:
        """Return where a span of a document's text stands in its file; see ``span_in_file``."""
        found = self._document(document)
        return span_in_file(found, start, end) if found else None

    def read_from_picture(self, document: str, start: int, end: int) -> float | None:
        """Return how surely a span was recognised on a picture; see ``sure_of``."""
        found = self._document(document)
        return sure_of(found, start, end) if found else None

    def source_of(self, document: str) -> tuple[str, str] | None:
        """Return a document's source file and its fingerprint; None without such a document."""
        if not self._shows(document):
            return None
        file = self._store.catalogue.files[document]
        return file, self._store.manifest.fingerprints.get(file, "")

    def metadata(self, documents: Names[str]) -> dict[str, Metadata]:
        """Return each document's metadata; a superseded one ends where the next begins."""
        return {name: self._metadata.get(name, UNKNOWN) for name in documents}

    def skipped(self, stored: bool = False) -> list[SkippedSource]:
        """Return what could not be read, and each ``supersedes`` that cannot be followed.

        ``stored`` asks an index for it that was opened as it is.
        """
        if self._skipped is None and not stored:
            return []
        troubles = (trouble for trouble in self._troubles if self._shows(trouble.name))
        return [*self.unread(), *troubles]

    def unread(self) -> list[SkippedSource]:
        """Return what could not be read; ``indexed`` where only a part of it is missing.

        Who may see what could not be read is unknown, so where documents have access tags nobody
        who asks is told of it, nor how much there is: ``skipped_count`` is for who keeps the index.
        """
        if not self.all_public:
            return []
        return in_part(self._unread, self._store.catalogue.names)

    @property
    def skipped_count(self) -> int:
        """How many sources could not be read, whoever may see them."""
        return len(self._unread)

    @property
    def _unread(self) -> Sequence[SkippedSource]:
        return self._store.catalogue.skipped if self._skipped is None else self._skipped

    def search(self, queries: list[str], limit: int) -> Found:
        """Return for each query the best chunks by BM25, without scores of 0, and by cosine."""
        if not queries or not len(self):
            return [[] for _ in queries], [[] for _ in queries]
        if self._words_only or self._lexical is not None:
            return self.search_lexical(queries, limit), self.search_vector(queries, limit)
        return self._search(queries, queries, limit)

    def _search(self, by_words: list[str], by_vectors: list[str], limit: int) -> Found:
        def vectors() -> Vectors:
            return self.embed(by_vectors) if by_vectors else _NO_VECTORS

        return self._store.search(by_words, vectors, limit, self._within, self._seen)

    def search_lexical(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """Return for each query the best chunks by BM25, best first, without scores of 0."""
        if self._lexical is not None:
            return self._lexical.search(queries, limit, self._within)
        return self._search(queries, [], limit)[0]

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """Return for each query the best chunks by cosine, best first."""
        if not queries or not len(self) or self._words_only:
            return [[] for _ in queries]
        return self._search([], queries, limit)[1]

    def graph(self) -> KnowledgeGraph:
        """Return the knowledge graph that these documents alone make."""
        return self._store.relations(self._within)

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """Return the statements of a chunk and their vectors, shape (statements, dimension).

        Raises:
            KeyError: There is no such chunk.
        """
        found = self._store.statements(*self._checked([chunk_id]))
        by_chunk = len(found) > 1 and self._store.manifest.recipe.windows != "statements"
        if by_chunk or self._words_only:
            return found, self.embed([folded(statement.text) for statement in found])
        windows = self._store.windows(chunk_id)
        if len(windows) == 1:  # that of the whole, or of a long table's head
            return found, np.repeat(windows, len(found), axis=0)
        return found, windows[-len(found) :] if len(found) > 1 else windows[: len(found)]

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """Return each question token's best cosine in each chunk, shape (tokens, chunks).

        MaxSim is the mean over the tokens. None without token vectors.

        Raises:
            KeyError: There is no such chunk.
        """
        embedder, kept = self._store.embedder, self._store.manifest.recipe.tokens
        if not kept or self._words_only or not isinstance(embedder, TokenEmbedder):
            return None
        self._checked(chunk_ids)
        known = self._near_to(question)
        new = [name for name in dict.fromkeys(chunk_ids) if name not in known]
        found = self._store.closeness(embedder.token_codes(question), new)
        known.update(zip(new, found.T, strict=True))
        columns = [known[name] for name in chunk_ids]
        return np.stack(columns, axis=1) if columns else found

    def embed(self, texts: list[str]) -> Vectors:
        """Return vectors of questions and answers, shape (len(texts), dimension), cached."""
        return self._embed(texts)

    def idf(self, term: str) -> float:
        """Inverse document frequency of a search term: ln(1 + chunks / (df + 0.5))."""
        chunks, (frequency,) = self._store.statistics([term], self._within)
        return math.log(1 + chunks / (frequency + 0.5))

    def knows(self, term: str) -> bool:
        """Return whether any chunk holds a search term (a stem, as ``tokenize`` gives it)."""
        return self._store.statistics([term], self._within).frequencies[0] > 0

    def having(self, words: Sequence[str]) -> Sequence[str]:
        """Return the documents that may have all of some words, in order; see ``Store.having``.

        The rarest word alone is looked up; all documents where none is given.
        """
        if not words:
            return self.documents
        frequencies = (sum(self._frequencies(tokenize(word))) for word in words)
        rarest = min(zip(frequencies, words, strict=True))[1]
        return self._store.having(rarest, self._within)

    def _frequencies(self, terms: Sequence[str]) -> list[int]:
        return self._store.statistics(terms, self._within).frequencies

    def texts_of(self, documents: Sequence[str]) -> Iterator[str]:
        """Yield the whole texts of documents, read in batches.

        Raises:
            KeyError: There is no such document.
        """
        self._checked([f"{name}#" for name in documents])
        return self._store.texts_of(documents)

    def placed(self, references: Sequence[Reference]) -> dict[str, list[int]]:
        """Return the places of the units that references name, by their documents, in order."""
        keys = [key_of(reference.steps) for reference in references]
        found: dict[str, list[int]] = {}
        for name, place in self._store.provisions(keys, self._within):
            found.setdefault(name, []).append(place)
        return found

    def place_of(self, quote: str) -> tuple[str, str]:
        """Return heading and label of the provision that a quote is from; "" where it has none."""
        hits = self.search_lexical([quote], 1)[0]
        for chunk in self.chunks([hit.chunk_id for hit in hits]):
            tree = self.tree_of(chunk["document"]) or Tree()
            within = max(0, narrowed(chunk["text"]).find(folded(quote)))
            # a chunk may begin with a title that stands before its provision
            for place in map(tree.at, (chunk["start"] + within, chunk["end"] - 1)):
                above = (place, *tree.above(place)) if place >= 0 else ()
                for unit in (tree.units[p] for p in above):
                    if unit.kind == "provision":
                        return unit.heading, unit.label
        return "", ""

    def read(self, text: str) -> tuple[str, list[Reading]]:
        """Return the text with slips read as the documents' words, and the readings."""
        return self._slips.read(text, self._held(small_words(text)))

    def languages(self) -> list[str]:
        """Return these documents' languages, the most used first; none where unknown."""
        return self._languages

    @cached_property
    def _languages(self) -> list[str]:
        chunks = self.every_chunk(-(-len(self) // _CHUNKS_OF_LANGUAGES) or 1)
        return languages_of(chunk["text"] for chunk in chunks)

    def other_language(self, question: str) -> str:
        """Return the language of a question if it is none of the documents'; else ""."""
        return other_language(question, self.languages(), self._held(words_of(question)))

    def _held(self, words: Iterable[str]) -> frozenset[str]:
        """Return those of some words that the documents have, by one request for all."""
        stems = {word: tokenize(word) for word in dict.fromkeys(words)}
        terms = [*dict.fromkeys(chain.from_iterable(stems.values()))]
        frequencies = self._store.statistics(terms, self._within).frequencies
        known = {term for term, count in zip(terms, frequencies, strict=True) if count}
        return frozenset(word for word, found in stems.items() if known.issuperset(found))

    @cached_property
    def _slips(self) -> Slips:
        return Slips(
            is_usual=is_usual_word,
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
        for name, place in islice(self._store.defining(self._within), _TERMS_READ):
            yield self._store.document(name).tree.units[place].heading

    @property
    def recipe(self) -> Recipe:
        """The choices that shaped the index."""
        return self._store.manifest.recipe

    @property
    def made_by(self) -> Embedder:
        """The embedder that made the vectors of the index."""
        return self._store.embedder

    def made(self) -> Iterator[PreparedDocument]:
        """Yield these documents with all that was made of them, in order."""
        for name, metadata in self.metadata(self.documents).items():
            one = self._store.made_of(name)
            document = replace(one.document, metadata=metadata).with_tree(one.document.tree)
            yield replace(one, document=document)
