"""Everything that an index in an engine holds, as far as every question needs it in memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from threading import Lock
from typing import Any

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk
from lexloop.documents.document import SkippedSource
from lexloop.documents.structure.statements import Statement
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Codes, Embedder, Vectors
from lexloop.store.engine.client import Engine
from lexloop.store.engine.columns import floats_of, key_of, unpacked
from lexloop.store.engine.dialect import FLOAT, VectorKind
from lexloop.store.engine.generation import Hold, index_of
from lexloop.store.engine.part import EnginePart
from lexloop.store.engine.reading import document_of, prepared_of
from lexloop.store.engine.recent import Recent
from lexloop.store.engine.relations import EngineTriplets, graph_folder
from lexloop.store.engine.schema import MANIFEST_ID, profile_of
from lexloop.store.folder.lexical import OkapiStatistics
from lexloop.store.manifest import Manifest
from lexloop.store.protocol import Catalogue, Found, PreparedDocument, Statistics, Within

_GRAPHS, _RECORDS, _AT_ONCE, _COUNTED = 16, 64, 2000, 1 << 16
_ORDERS = {"chunks": ["ordinal", "start"], "documents": ["ordinal"], "relations": ["place"]}
"""By what records are in order; those of relations within their document."""
_LISTED = ["record.title", "record.metadata", "document", "triplets", "file"]


@dataclass(frozen=True)
class Listed:
    """What is known of every document.

    Args:
        titles: By the documents' names, in order.
        metadata: Of each that has some.
        triplets: The number of each.
        files: The source file of each.
    """

    titles: Mapping[str, str]
    metadata: Mapping[str, Metadata]
    triplets: Mapping[str, int]
    files: Mapping[str, str]


class EngineContents:
    """One generation of an index in an engine; see ``Store``.

    Args:
        engine: Where it lies.
        generation: Its name; it is held until ``close``.
        about: What the writer stored of the whole.
        embedder: That made its vectors.
    """

    def __init__(
        self, engine: Engine, generation: str, about: Mapping[str, Any], embedder: Embedder
    ) -> None:
        self.engine, self.generation, self.embedder = engine, generation, embedder
        self.manifest = Manifest.from_record(about["manifest"], str(engine.address))
        self.okapi = OkapiStatistics(**about["statistics"])
        self.about = about
        self.tokens = bool(self.manifest.recipe.tokens)
        self._hold = Hold(engine, generation)
        self._hold.renew()
        told = about["vocabulary"]
        self._common = dict(zip(told["terms"], told["counts"], strict=True))
        self._all_common, self._rare = bool(told["whole"]), Recent[int](_COUNTED)
        self._same: Any = self  # a checker that reads this file under two names sees two classes

    def close(self) -> None:
        """See ``Store.close``."""
        self._hold.release()

    def index(self, kind: str) -> str:
        """Return the name of one of its indexes; whoever asks for it reads the generation."""
        self._hold.renew()
        return index_of(self.engine.address.name, self.generation, kind)

    @property
    def names(self) -> Sequence[str]:
        """The documents' names, in order."""
        return list(self.listed.titles)

    @property
    def catalogue(self) -> Catalogue:
        """See ``Store.catalogue``."""
        return self._catalogue

    @cached_property
    def _catalogue(self) -> Catalogue:
        held = self.listed
        return Catalogue(held.titles, held.metadata, held.files, self.skipped())

    @property
    def dense_kind(self) -> str:
        """See ``Store.dense_kind``."""
        return f"{self.vectors}_hnsw" if self.coarse else "hnsw"

    @property
    def vectors(self) -> VectorKind:
        """How coarsely the vectors that are searched are kept."""
        return VectorKind(self.about.get("vectors", FLOAT))

    @property
    def coarse(self) -> bool:
        """True where the vectors that are searched are not those that are stored."""
        return self.vectors != FLOAT

    @property
    def recall(self) -> float:
        """See ``Store.recall``; not measured: `index verify --against` compares rankings."""
        return 1.0

    @cached_property
    def listed(self) -> Listed:
        """What is known of every document; read once."""
        titles, metadata, triplets, files = {}, {}, {}, {}
        for hit in self.every("documents", {"exists": {"field": "document"}}, _LISTED):
            source = hit["_source"]
            name, record = source["document"], source["record"]
            titles[name], files[name] = record["title"], source["file"]
            triplets[name] = source["triplets"]
            if record["metadata"]:
                metadata[name] = Metadata.from_record(record["metadata"])
        return Listed(titles, metadata, triplets, files)

    def every(
        self,
        kind: str,
        admitted: Mapping[str, Any],
        source: Sequence[str],
        columns: Sequence[str] = (),
        at_once: int = _AT_ONCE,
    ) -> Iterator[Any]:
        """Yield what a filter admits, in order, read in batches."""
        keys = _ORDERS[kind]
        body: dict[str, Any] = {
            "size": at_once,
            "query": {"bool": {"filter": [admitted]}},
            "sort": [{key: "asc"} for key in keys],
            "_source": list(source),
            "docvalue_fields": list(columns),
        }
        while hits := self.engine.search(self.index(kind), body):
            yield from hits
            body["search_after"] = hits[-1]["sort"]

    def record_of(self, document: str, *names: str) -> Mapping[str, Any]:
        """Return some fields of what is stored of a document.

        Raises:
            KeyError: There is no such document.
        """
        asked = ",".join(f"record.{name}" for name in names)
        found = self.engine.ask(
            "GET",
            f"/{self.index('documents')}/_doc/{key_of(document)}",
            params={"_source_includes": f"file,{asked}"},
            missing={},
        )
        if not found:
            raise KeyError(document)
        source: Mapping[str, Any] = found["_source"]
        return {**source["record"], "file": source.get("file", "")}

    @cached_property
    def place_of(self) -> Any:
        """A cached function from a document to what says where its parts begin."""
        needed = ("tree", "starts")
        return _cached(_RECORDS, lambda name: self.record_of(name, *needed))

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Return how many of all chunks have each term; asked for are rare ones, once."""
        counts = {term: self._common.get(term, 0) for term in terms}
        rare = [term for term in terms if not counts[term] and not self._all_common]
        counts.update(zip(rare, self._rare.get(rare, self.count), strict=True))
        return counts

    def count(self, terms: Sequence[str], admitted: Sequence[Mapping[str, Any]] = ()) -> list[int]:
        """Return how many of the admitted chunks have each term."""
        asked = {str(i): {"term": {"terms": term}} for i, term in enumerate(terms)}
        body = {
            "size": 0,
            "track_total_hits": False,
            "query": {"bool": {"filter": [{"term": {"chunk": True}}, *admitted]}},
            "aggs": {"terms": {"filters": {"filters": asked}}},
        }
        (answer,) = self.engine.searches(self.index("chunks"), [body])
        buckets = answer["aggregations"]["terms"]["buckets"]
        return [buckets[str(i)]["doc_count"] for i in range(len(terms))]

    @cached_property
    def _part(self) -> Callable[[Within], EnginePart]:
        return lru_cache(maxsize=_GRAPHS)(lambda within: EnginePart(self._same, within))

    def search(
        self, queries: Sequence[str], embed: Callable[[], Vectors], limit: int, within: Within
    ) -> Found:
        """See ``Store.search``."""
        return self._part(within).search(queries, embed, limit)

    def closeness(self, question: Codes, chunk_ids: Sequence[str]) -> Vectors:
        """See ``Store.closeness``."""
        return self._part(None).closeness(question, chunk_ids)

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See ``Store.chunks``."""
        return self._part(None).chunks(chunk_ids)

    def statements(self, chunk_id: str) -> list[Statement]:
        """See ``Store.statements``."""
        return self._part(None).statements_of(chunk_id)

    def windows(self, chunk_id: str) -> Vectors:
        """See ``Store.windows``."""
        return self._part(None).windows_of(chunk_id)

    @cached_property
    def document(self) -> Any:
        """A cached function from a document's name to the document as it was loaded."""
        return _cached(_RECORDS, lambda name: document_of(self._same, name))

    def starts(self, name: str) -> NDArray[np.int32]:
        """See ``Store.starts``."""
        return self._part(None).starts_of(name)

    def made_of(self, name: str) -> PreparedDocument:
        """See ``Store.made_of``."""
        return prepared_of(self._same, name)

    def every_chunk(self, step: int, within: Within) -> Iterator[Chunk]:
        """See ``Store.every_chunk``."""
        return self._part(within).every_chunk(step)

    def provisions(self, keys: Sequence[str], within: Within) -> list[tuple[str, int]]:
        """See ``Store.provisions``."""
        return self._part(within).provisions(keys)

    def defining(self, within: Within) -> Iterator[tuple[str, int]]:
        """See ``Store.defining``."""
        return self._part(within).defining()

    def statistics(self, terms: Sequence[str], within: Within) -> Statistics:
        """See ``Store.statistics``."""
        part = self._part(within)
        return Statistics(len(part), part.frequencies(terms))

    def centroid(self, within: Within) -> Vectors:
        """See ``Store.centroid``."""
        return self._part(within).centroid()

    def relations(self, within: Within) -> KnowledgeGraph:
        """See ``Store.relations``."""
        return self._part(within).graph()

    def direction(self, profiles: Sequence[str], documents: Sequence[str]) -> Vectors:
        """Return the mean direction of the windows of documents, shape (dimension,).

        Args:
            profiles: Those of documents of which all count.
            documents: The names of the others.
        """
        told = [self.about["profiles"][name]["total"] for name in profiles]
        told += [self.record_of(name, "total")["total"] for name in documents]
        sums = (floats_of(unpacked(one)) for one in told if one)  # none of what has no chunk
        total = np.zeros(self.embedder.dimension, dtype=np.float64)
        for one in sums:
            total += one
        return (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32)

    def skipped(self) -> list[SkippedSource]:
        """Return what could not be read of the whole index."""
        return [SkippedSource(name, reason) for _, name, reason in self.about["skipped"]]

    @cached_property
    def graph_of(self) -> Any:
        """A cached function from documents, None for all, to their knowledge graph."""

        @lru_cache(maxsize=_GRAPHS)
        def view(documents: frozenset[str] | None) -> KnowledgeGraph:
            return self._graph if documents is None else self._graph.view(documents.__contains__)

        return view

    @cached_property
    def _graph(self) -> KnowledgeGraph:
        return KnowledgeGraph.load(graph_folder(self._same), self.triplets)

    @cached_property
    def triplets(self) -> EngineTriplets:
        """The triplets, which are fetched a few at a time."""
        index = partial(self.index, "relations")
        return EngineTriplets(self.engine, index, self.listed.triplets)

    @cached_property
    def profiles(self) -> Mapping[str, Sequence[str]]:
        """The documents of each profile, in order."""
        found: dict[str, list[str]] = {}
        empty = profile_of()
        for name in self.names:
            held = self.listed.metadata.get(name)
            found.setdefault(profile_of(held) if held else empty, []).append(name)
        return found


def _cached(most: int, read: Callable[[str], Any]) -> Any:
    cache: LRUCache[Any, Any] = LRUCache(most)
    return cached(cache, lock=Lock())(read)


def read_about(engine: Engine, generation: str) -> Mapping[str, Any]:
    """Return what the writer of a generation stored of the whole."""
    index = index_of(engine.address.name, generation, "documents")
    found: Mapping[str, Any] = engine.ask("GET", f"/{index}/_doc/{key_of(MANIFEST_ID)}")
    record: Mapping[str, Any] = found["_source"]["record"]
    return record
