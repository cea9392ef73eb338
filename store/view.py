"""An open index, and the view that one asker has of it: every text that is read comes from here."""

import math
from collections.abc import Collection as Names
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache, partial

import numpy as np

from lexloop.core.folding import folded
from lexloop.core.metadata import Filters
from lexloop.core.types import Hit
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.document import SkippedSource
from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Embed, Embedder, TokenEmbedder, Vectors
from lexloop.store.access import Access
from lexloop.store.graph import KnowledgeGraph
from lexloop.store.language import Language
from lexloop.store.manifest import Recipe
from lexloop.store.naming import named_document
from lexloop.store.okapi import Okapi
from lexloop.store.protocol import Found, PreparedDocument, Store
from lexloop.store.reading import Readable

_RECENT, _VIEWS = 512, 16
_QUESTIONS = 32
"""Questions whose closeness to chunks is cached, since every step asks again."""
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
        shown = Access(self._store, access, self._skipped)
        return View(self._store, shown, self._embed, self._words_only)

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
        """The kind of vector search: flat is exact, hnsw is approximate."""
        return self._store.dense.kind

    @property
    def recall(self) -> float:
        """The share of the ten best windows that vector search finds."""
        return self._store.dense.recall

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


class View(Readable):
    """The documents that somebody may see, to be read and searched.

    Hits, their scores, counts, acronyms, the ends of versions and messages depend on these
    documents alone; only in an engine are the weights of BM25 those of the whole index, but for
    ``by_okapi``.

    Args:
        store: The whole index.
        access: What may be seen of it.
        embed: From texts to unit vectors, shape (texts, dimension).
        words_only: Whether the vectors that the index holds are left alone.
    """

    def __init__(self, store: Store, access: Access, embed: Embed, words_only: bool) -> None:
        super().__init__(store, access)
        self._embed, self._words_only = embed, words_only
        self._lexical: Okapi | None = None
        self._near_to = lru_cache(maxsize=_QUESTIONS)(lambda _: dict[str, Vectors]())

    def __len__(self) -> int:
        """Return the number of chunks."""
        return self._store.statistics((), self.access.within).chunks

    def within(self, documents: Names[str]) -> "View":
        """Return the view of these documents alone; of all, where none of them is named."""
        access = self.access.only(documents)
        if access is self.access:
            return self
        view = copy(self)
        view.access = access
        for name in ("graph", "language"):
            view.__dict__.pop(name, None)  # what was cached of all
        return view

    @cached_property
    def language(self) -> Language:
        """The languages and words of the documents."""
        return Language(self._store, self.access.within)

    def by_okapi(self) -> "View":
        """Return the same view, its words searched by rank-bm25 over these documents alone."""
        view = copy(self)
        view._lexical = self._okapi
        return view

    @cached_property
    def _okapi(self) -> Okapi:
        return Okapi(self.every_chunk())

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

        return self._store.search(by_words, vectors, limit, self.access.within, self.access.seen)

    def search_lexical(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """Return for each query the best chunks by BM25, best first, without scores of 0."""
        if self._lexical is not None:
            return self._lexical.search(queries, limit, self.access.within)
        return self._search(queries, [], limit)[0]

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """Return for each query the best chunks by cosine, best first."""
        if not queries or not len(self) or self._words_only:
            return [[] for _ in queries]
        return self._search([], queries, limit)[1]

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """The knowledge graph that these documents alone make."""
        whole, within = self._store.graph, self.access.within
        return whole if within is None else whole.view(within.__contains__)

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """Return the statements of a chunk and their vectors, shape (statements, dimension).

        Raises:
            KeyError: There is no such chunk.
        """
        found, windows = self._store.statements(*self.access.checked([chunk_id]))
        by_chunk = len(found) > 1 and self._store.manifest.recipe.windows != "statements"
        if by_chunk or self._words_only:
            return found, self.embed([folded(statement.text) for statement in found])
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
        self.access.checked(chunk_ids)
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
        chunks, (frequency,) = self._store.statistics([term], self.access.within)
        return math.log(1 + chunks / (frequency + 0.5))

    def knows(self, term: str) -> bool:
        """Return whether any chunk holds a search term (a stem, as ``tokenize`` gives it)."""
        return self._store.statistics([term], self.access.within).frequencies[0] > 0

    def having(self, words: Sequence[str]) -> Sequence[str]:
        """Return the documents that may have all of some words, in order; see ``Store.having``.

        The rarest word alone is looked up; all documents where none is given.
        """
        if not words:
            return self.documents
        count = partial(self._store.statistics, within=self.access.within)
        rarest = min(words, key=lambda word: (sum(count(tokenize(word)).frequencies), word))
        return self._store.having(rarest, self.access.within)

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
