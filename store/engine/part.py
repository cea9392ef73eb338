"""The part of an index in an engine that one asker may see."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Chunk
from lexloop.documents.structure.statements import Statement, statements_in
from lexloop.documents.structure.tree import Tree
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Codes, Vectors
from lexloop.store.engine.columns import (
    codes_of,
    halves_of,
    key_of,
    unpacked,
)
from lexloop.store.engine.recent import Recent
from lexloop.store.engine.searching import search
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.protocol import Found

if TYPE_CHECKING:
    from lexloop.store.engine.contents import EngineContents

_TREES, _TERMS, _CHUNKS, _CODES, _HOLDING, _PAGE = 64, 1 << 14, 4096, 4096, 64, 16
_MOST_TERMS = 60_000
"""Names that a filter may hold; the engines' own limit is 65,536."""


class EnginePart:
    """A part of one generation of an index in an engine.

    Args:
        contents: The whole index.
        documents: The names of the documents; None for all.
    """

    def __init__(self, contents: "EngineContents", documents: frozenset[str] | None) -> None:
        self._contents, self._names = contents, documents
        self._read = Recent[Mapping[str, Any]](_CHUNKS)
        self._vectors, self._codes = Recent[Vectors](_CHUNKS), Recent[Codes](_CODES)
        self._trees, self._counted = Recent[Tree](_TREES), Recent[int](_TERMS)

    @property
    def tokens(self) -> bool:
        """Whether the vectors of every token are stored."""
        return self._contents.tokens

    def __len__(self) -> int:
        profiles, single = self._shape
        held = sum(int(self._contents.about["profiles"][name]["chunks"]) for name in profiles)
        return held + sum(len(self.starts_of(name)) for name in single)

    @cached_property
    def _shape(self) -> tuple[list[str], list[str]]:
        """The profiles of which all documents are in the part, and the names of the others in it.

        Documents alike in all that filters read are mostly admitted together, so a filter need not
        name every document.
        """
        whole, single = list[str](), list[str]()
        for profile, names in self._contents.profiles.items():
            shown = [n for n in names if self._names is None or n in self._names]
            if len(shown) == len(names):
                whole.append(profile)
            else:
                single += shown
        return whole, single

    @cached_property
    def _filters(self) -> list[Mapping[str, Any]]:
        """What admits the part of the documents; the first admits whatever is a document."""
        held: Mapping[str, Any] = {"exists": {"field": "document"}}
        if self._names is None:
            return [held]
        profiles, single = self._shape
        should: list[Any] = [{"terms": {"profile": profiles}}]
        for first in range(0, len(single), _MOST_TERMS):
            should.append({"terms": {"document": single[first : first + _MOST_TERMS]}})
        return [held, {"bool": {"should": should, "minimum_should_match": 1}}]

    @property
    def _of_chunks(self) -> list[Mapping[str, Any]]:
        # OpenSearch's vector search needs something that nested documents lack
        return [{"term": {"chunk": True}}, *self._filters[1:]]

    @property
    def _admitting(self) -> list[Mapping[str, Any]]:
        """What searches are filtered by: nothing where all is admitted, which is a third quicker.

        Only chunks have terms and vectors.
        """
        return self._of_chunks if self._names is not None else []

    def _check(self, document: str) -> str:
        if self._names is not None and document not in self._names:
            raise KeyError(document)
        return document

    # --- chunks

    def _check_chunks(self, chunk_ids: Sequence[str]) -> None:
        for name in chunk_ids:
            if self._names is not None and name.rpartition("#")[0] not in self._names:
                raise KeyError(name)

    def _records(self, chunk_ids: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return what is stored of chunks; KeyError where one is not in the part."""
        self._check_chunks(chunk_ids)
        return self._read.get(chunk_ids, self._fetched)

    def _fetched(self, chunk_ids: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        contents = self._contents
        ids = [key_of(name) for name in chunk_ids]
        found = contents.engine.records(contents.index("chunks"), ids)
        for name, record in zip(chunk_ids, found, strict=True):
            if record is None:
                raise KeyError(name)
            yield record

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See ``Store.chunks``; many are cached."""
        return [record["chunk"].copy() for record in self._records(chunk_ids)]

    def every_chunk(self, step: int) -> Iterator[Chunk]:
        """See ``Store.every_chunk``; of many chunks those are read that a lot draws."""
        admitted = {"bool": {"filter": self._of_chunks}}
        if step <= 1:
            for hit in self._contents.every("chunks", admitted, ["record.chunk"]):
                yield hit["_source"]["record"]["chunk"]
            return
        body: dict[str, Any] = {
            "size": min(1000, -(-len(self) // step)),
            "query": admitted,
            "sort": [{"lot": "asc"}, {"ordinal": "asc"}, {"start": "asc"}],
            "_source": ["record.chunk"],
        }
        left = -(-len(self) // step)
        while left > 0 and (hits := self._search("chunks", body)):
            yield from (hit["_source"]["record"]["chunk"] for hit in hits[:left])
            left -= len(hits)
            body["search_after"] = hits[-1]["sort"]

    def _search(self, kind: str, body: Mapping[str, Any]) -> list[Any]:
        return self._contents.engine.search(self._contents.index(kind), body)

    def statements_of(self, chunk_id: str) -> list[Statement]:
        """See ``Store.statements_of``."""
        return statements_in(self._records([chunk_id])[0]["statements"])

    def windows_of(self, chunk_id: str) -> Vectors:
        """See ``Store.windows_of``; those of other chunks that were read come with them."""
        self._check_chunks([chunk_id])
        beside = [name for name in self._read.latest() if name != chunk_id]
        dimension = self._contents.embedder.dimension

        def fetched(wanted: Sequence[str]) -> Iterable[Vectors]:
            for data in self._column("vectors", wanted):
                yield halves_of(data, dimension).astype(np.float32)

        return self._vectors.get([chunk_id, *beside], fetched)[0]

    def closeness(self, question: Codes, chunk_ids: Sequence[str]) -> Vectors:
        """See ``Store.closeness``."""
        self._check_chunks(chunk_ids)
        if not self.tokens:
            raise ValueError("no token vectors are stored")
        held = self._codes.get(
            chunk_ids, lambda wanted: map(codes_of, self._column("codes", wanted))
        )
        spans = [(place, place + 1) for place in range(len(held))]
        return TokenIndex.of(held).closeness(question, spans)

    def _column(self, column: str, chunk_ids: Sequence[str]) -> list[bytes]:
        """Return the bytes of a column of each chunk; KeyError where there is no such chunk."""
        body = {
            "size": len(chunk_ids),
            "query": {"ids": {"values": [key_of(name) for name in chunk_ids]}},
            "_source": False,
            "docvalue_fields": [column],
        }
        found = {hit["_id"]: hit.get("fields", {}) for hit in self._search("chunks", body)}
        for name in chunk_ids:
            if key_of(name) not in found:
                raise KeyError(name)
        values = (found[key_of(name)].get(column, [""])[0] for name in chunk_ids)
        return [unpacked(value) for value in values]

    # --- documents

    def starts_of(self, document: str) -> NDArray[np.int32]:
        """See ``Store.starts_of``."""
        return np.array(self._place(document)["starts"], dtype=np.int32)

    def _place(self, document: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._contents.place_of(self._check(document))
        return found

    def tree_of(self, document: str) -> Tree:
        """See ``Store.tree_of``; some are cached."""
        record = self._place(document)
        return self._trees.get([document], lambda _: [Tree.from_json(record["tree"])])[0]

    def provisions(self, keys: Sequence[str]) -> list[tuple[str, int]]:
        """See ``Store.provisions``; of very many documents the first."""
        if not keys:
            return []
        named = [*self._filters, {"terms": {"provisions": list(keys)}}]
        found: list[tuple[str, int]] = []
        for name in self._documents(named, _HOLDING):
            places = self.tree_of(name).keys
            found += sorted((name, places[key]) for key in keys if key in places)
        return found

    def defining(self) -> Iterator[tuple[str, int]]:
        """See ``Store.defining``."""
        named = [*self._filters, {"range": {"defines": {"gt": 0}}}]
        for name in self._documents(named, None):
            places = self.tree_of(name).keys
            defined = {place for key, place in places.items() if key.startswith('{"defines"')}
            yield from ((name, place) for place in sorted(defined))

    def _documents(self, filters: Sequence[Any], most: int | None) -> Iterator[str]:
        admitted = {"bool": {"filter": list(filters)}}
        found = self._contents.every("documents", admitted, ["document"], at_once=most or _PAGE)
        for number, hit in enumerate(found):
            if number == most:
                return
            yield hit["_source"]["document"]

    # --- search

    def search(self, queries: Sequence[str], embed: Callable[[], Vectors], limit: int) -> Found:
        """See ``Store.search``; one request, filtered before the cut, and one for unknown terms."""
        return search(self._contents, self._admitting, queries, embed, limit)

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """See ``Store.frequencies``."""
        if self._names is None:
            found = self._contents.frequencies(terms)
            return [found[term] for term in terms]
        count = self._contents.count
        return self._counted.get(terms, lambda new: count(new, self._filters[1:]))

    # --- the whole part

    def centroid(self) -> Vectors:
        """See ``Store.centroid``."""
        return self._contents.direction(*self._shape)

    def graph(self) -> KnowledgeGraph:
        """See ``Store.graph``; some are cached."""
        graph: KnowledgeGraph = self._contents.graph_of(self._names)
        return graph
