"""An index in an engine, open: what every question needs is here, the rest is asked for."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain, pairwise
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from lexloop.core.errors import DataError, OutdatedIndexError, hearing, tell_loss
from lexloop.core.folding import accented
from lexloop.core.metadata import UNKNOWN, Metadata
from lexloop.core.types import Chunk, Hit, Triplet
from lexloop.documents.chunks.statements import Statement, statements_in
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import BEGINNING, stemmer_name, tokenize
from lexloop.models.embedding import Codes, Embedder, Vectors
from lexloop.store.address import FLOAT, VectorKind
from lexloop.store.folder.lexical import K1, OkapiStatistics
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.graph import KnowledgeGraph
from lexloop.store.manifest import Manifest
from lexloop.store.protocol import (
    MARK,
    Catalogue,
    Found,
    PreparedChunk,
    PreparedDocument,
    Statistics,
    Within,
)
from lexloop_engines.engine.client import engine_at
from lexloop_engines.engine.generation import Generation, Hold, published
from lexloop_engines.engine.relations import EngineTriplets, graph_folder
from lexloop_engines.engine.schema import (
    MANIFEST_ID,
    TERMS,
    VECTOR,
    Json,
    codes_of,
    inner_product,
    key_of,
    profile_of,
    unpacked,
)

T = TypeVar("T")
_VIEWS, _DOCUMENTS, _CHUNKS, _TERMS, _LATEST = 16, 64, 4096, 1 << 15, 64
"""How many filters, documents, chunks and terms are cached, and names asked for last."""
_AT_ONCE, _WHOLE, _HOLDING, _PAGE = 2000, 200, 64, 16
"""Records of a request; chunks with everything made of them; documents named at most, at once."""
_MOST_TERMS = 60_000
"""Names that a filter may hold; the engines' own limit is 65,536."""
_ORDERS = {"chunks": ["ordinal", "start"], "documents": ["ordinal"], "relations": ["place"]}
"""By what records are in order; those of relations within their document."""
_EVERY = " "
"""Stands for a term that every chunk has."""
_HITS: Json = {
    # an engine need not unpack what it stores of each hit, its id included
    **{"_source": False, "stored_fields": "_none_", "track_total_hits": False},
    "docvalue_fields": ["document", "ordinal", "start", "supporting"],
}


class Recent(Generic[T]):
    """Values by name, filled many at a time, the least lately used forgotten first.

    Safe in several threads.

    Args:
        most: How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._kept: LRUCache[str, T] = LRUCache(most)
        self._latest: deque[str] = deque(maxlen=_LATEST)
        self._lock = Lock()

    def get(self, names: Sequence[str], fetch: Callable[[Sequence[str]], Iterable[T]]) -> list[T]:
        """Return the values of names; those that are not kept are fetched together.

        What is fetched while a loss is told is not kept: it may be less than there is.
        """
        with self._lock:
            found = {name: self._kept[name] for name in names if name in self._kept}
        new = [name for name in dict.fromkeys(names) if name not in found]
        if new:
            with hearing() as lost:
                found.update(zip(new, fetch(new), strict=True))
            for loss in lost:
                tell_loss(*loss)
            with self._lock:
                self._kept.update((name, found[name]) for name in new if not lost)
        with self._lock:
            self._latest.extend(names)  # only what is there: others are fetched beside them
        return [found[name] for name in names]

    def latest(self) -> list[str]:
        """Return the names asked for last, once each."""
        with self._lock:
            return list(dict.fromkeys(self._latest))


class _Read(NamedTuple):
    """A document, its file with the fingerprint, and where its chunks begin."""

    document: Document
    file: str
    fingerprint: str
    starts: NDArray[np.int32]


class EngineSearch(NamedTuple):
    """How an engine finds vectors."""

    kind: str
    recall: float = 1.0  # not measured: `index verify --against` compares rankings


class EngineStore:
    """One generation of an index in an engine; see ``Store``.

    Args:
        generation: It is held until ``close``.
        embedder: That made its vectors.

    ``vectors`` says how coarsely those that are searched are kept.

    Raises:
        EngineError: The engine failed.
        DataError: The index is of another make: embedder, stemmer or format.
    """

    def __init__(self, generation: Generation, embedder: Embedder) -> None:
        self.engine, self.generation, self.embedder = generation.engine, generation, embedder
        address = str(self.engine.address)
        self.about = _about_of(generation)
        try:
            self.manifest = Manifest.from_record(self.about["manifest"], address)
            _check_make(self.manifest, address, embedder)
            self._okapi = OkapiStatistics(**self.about["statistics"])
            self.vectors = VectorKind(self.about["vectors"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"What the index {address} holds of itself is damaged: {error}.", "Push it again."
            ) from error
        self._hold = Hold(self.engine, generation.name)
        self._hold.renew()
        self._documents = Recent[_Read](_DOCUMENTS)
        self._records = Recent[Json](_CHUNKS)
        self._vectors, self._codes = Recent[Vectors](_CHUNKS), Recent[Codes](_CHUNKS)
        self._counts = lru_cache(_VIEWS)(lambda _within: Recent[int](_TERMS))
        self._shape = lru_cache(_VIEWS)(self._shaped)

    def close(self) -> None:
        """See ``Store.close``."""
        self._hold.release()

    def index(self, kind: str) -> str:
        """Return the name of one of its indexes; whoever asks for it reads the generation."""
        self._hold.renew()
        return self.generation.index(kind)

    # --- what is known of the whole

    @property
    def dense(self) -> "EngineSearch":
        """See ``Store.dense``."""
        return EngineSearch(f"{self.vectors}_hnsw" if self._coarse else "hnsw")

    @property
    def _coarse(self) -> bool:
        return self.vectors != FLOAT

    @property
    def catalogue(self) -> Catalogue:
        """See ``Store.catalogue``; read once."""
        return self._listed[0]

    @cached_property
    def _listed(self) -> tuple[Catalogue, dict[str, int]]:
        """The catalogue, and the number of each document's triplets."""
        titles, metadata, files, triplets = {}, {}, {}, {}
        wanted = ["record.title", "record.metadata", "record.file", "document", "triplets"]
        for hit in self._each("documents", [{"exists": {"field": "document"}}], wanted):
            source = hit["_source"]
            name, record = source["document"], source["record"]
            titles[name], files[name] = record["title"], record["file"]
            triplets[name] = source["triplets"]
            if record["metadata"]:
                metadata[name] = Metadata.from_record(record["metadata"])
        skipped = [SkippedSource(name, reason) for _, name, reason in self.about["skipped"]]
        return Catalogue(titles, metadata, files, skipped), triplets

    @cached_property
    def triplets(self) -> EngineTriplets:
        """The triplets, which are fetched a few at a time."""
        return EngineTriplets(self.engine, partial(self.index, "relations"), self._listed[1])

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """See ``Store.graph``."""
        index = partial(self.index, "relations")
        folder = graph_folder(self.engine, self.generation.name, index, self.about["graph"])
        return KnowledgeGraph.load(folder, self.triplets)

    # --- filters

    def _shaped(self, within: Within) -> tuple[list[str], list[str]]:
        """Return the profiles of which all documents count, and the names of the others that do.

        Documents alike in all that filters read are mostly admitted together, so a filter need not
        name every document.
        """
        whole, single = list[str](), list[str]()
        for profile, names in self._profiles.items():
            shown = [name for name in names if within is None or name in within]
            if len(shown) == len(names):
                whole.append(profile)
            else:
                single += shown
        return whole, single

    @cached_property
    def _profiles(self) -> Mapping[str, Sequence[str]]:
        """The documents of each profile, in order."""
        found, bare = defaultdict[str, list[str]](list), profile_of()
        for name in self.catalogue.names:
            held = self.catalogue.metadata.get(name, UNKNOWN)
            found[bare if held is UNKNOWN else profile_of(held)].append(name)
        return found

    def _admitting(self, within: Within) -> list[Json]:
        """Return what searches are filtered by: nothing for all, which is a third quicker."""
        if within is None:
            return []
        profiles, single = self._shape(within)
        should = [{"terms": {"profile": profiles}}, *self._named(single)]
        return [{"bool": {"should": should, "minimum_should_match": 1}}]

    def _named(self, documents: Sequence[str]) -> Iterator[Json]:
        for first in range(0, len(documents), _MOST_TERMS):
            yield {"terms": {"document": documents[first : first + _MOST_TERMS]}}

    def _chunks_within(self, within: Within) -> list[Json]:
        return [{"term": {"chunk": True}}, *self._admitting(within)]

    # --- search

    def search(
        self,
        queries: Sequence[str],
        embed: Callable[[], Vectors],
        limit: int,
        within: Within,
        seen: Within,
    ) -> Found:
        """See ``Store.search``; one request, and one for the counts of unknown terms.

        An engine counts its whole index, so what words weigh does not follow ``seen``.
        """
        words, vectors = self._words(queries, limit, within), embed()
        near = [self._near(vector, limit, within) for vector in vectors if limit > 0]
        bodies = [body for body in (*words, *near) if body]
        answers = iter(self.engine.searches(self.index("chunks"), bodies))
        by_words = [
            _ranked(next(answers), lambda hit: hit["_score"], 0.0) if body else [] for body in words
        ]
        return by_words, [
            _ranked(next(answers), partial(self._cosine, vector), -2.0)
            for vector, _ in zip(vectors, near, strict=False)
        ]

    def _words(self, queries: Sequence[str], limit: int, within: Within) -> list[Json]:
        """Return a search for each query, empty where none of its terms is known.

        Its weights make the engine's BM25 that of rank-bm25, but for lengths of chunks, which the
        engine rounds.
        """
        asked = [Counter(tokenize(query)) for query in queries if limit > 0]
        terms = [*dict.fromkeys(chain.from_iterable(asked))]
        known = dict(zip(terms, self.statistics(terms, None).frequencies, strict=True))
        bodies: list[Json] = [{} for _ in queries]
        for place, counts in enumerate(asked):
            held = {term: times for term, times in counts.items() if known[term]}
            should = [
                {"term": {TERMS: {"value": term, "boost": self._boost(known[term]) * times}}}
                for term, times in held.items()
            ]
            if should:
                chosen = {"should": should, "minimum_should_match": 1}
                bodies[place] = {
                    "size": limit,
                    "query": {"bool": {"filter": self._admitting(within), **chosen}},
                    "sort": ["_score", {"ordinal": "asc"}, {"start": "asc"}],
                    **_HITS,
                }
        return bodies

    def _boost(self, frequency: int) -> float:
        theirs = np.log1p((self._okapi.chunks - frequency + 0.5) / (frequency + 0.5))
        theirs *= self.engine.dialect.factor(self.engine.major)
        return max(0.0, float(self._okapi.idf(frequency) * (K1 + 1) / theirs))

    def _near(self, vector: Vectors, limit: int, within: Within) -> Json:
        admitted = {"bool": {"filter": self._chunks_within(within)}} if within is not None else None
        near = self.engine.dialect.near(VECTOR, vector.tolist(), limit, admitted)
        columns = [*_HITS["docvalue_fields"], *["vectors"] * self._coarse]
        return {"size": limit, **near, **_HITS, "docvalue_fields": columns}

    def _cosine(self, vector: Vectors, hit: Json) -> float:
        if not self._coarse:
            return inner_product(hit["_score"])
        # the engine may have taken another window for the nearest
        windows = self._halves(unpacked(hit["fields"]["vectors"][0])).astype(np.float32)
        return float((windows @ vector).max())

    def statistics(self, terms: Sequence[str], within: Within) -> Statistics:
        """See ``Store.statistics``; many are cached."""
        counts = self._counts(within)
        chunks, *found = counts.get([_EVERY, *terms], partial(self._counted, within))
        return Statistics(chunks, found)

    def _counted(self, within: Within, terms: Sequence[str]) -> list[int]:
        asked: dict[str, Json] = {
            str(place): {"match_all": {}} if term == _EVERY else {"term": {TERMS: term}}
            for place, term in enumerate(terms)
        }
        body = {
            "size": 0,
            "track_total_hits": False,
            "query": {"bool": {"filter": self._chunks_within(within)}},
            "aggs": {"terms": {"filters": {"filters": asked}}},
        }
        (answer,) = self.engine.searches(self.index("chunks"), [body])
        buckets = answer["aggregations"]["terms"]["buckets"]
        return [buckets[place]["doc_count"] for place in asked]

    def closeness(self, question: Codes, chunk_ids: Sequence[str]) -> Vectors:
        """See ``Store.closeness``."""
        if not self.manifest.recipe.tokens:
            raise ValueError("no token vectors are stored")
        held = self._codes.get(
            chunk_ids, lambda wanted: map(codes_of, self._column("codes", wanted))
        )
        spans = [(place, place + 1) for place in range(len(held))]
        return TokenIndex.of(held).closeness(question, spans)

    # --- chunks

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See ``Store.chunks``; many are cached."""
        found = self._records.get(chunk_ids, partial(self._stored, "chunks"))
        return [record["chunk"].copy() for record in found]

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """See ``Store.statements``; vectors of other chunks that were read come with them."""
        (record,) = self._records.get([chunk_id], partial(self._stored, "chunks"))
        beside = [name for name in self._records.latest() if name != chunk_id]

        def fetched(wanted: Sequence[str]) -> Iterable[Vectors]:
            for data in self._column("vectors", wanted):
                yield self._halves(data).astype(np.float32)

        windows = self._vectors.get([chunk_id, *beside], fetched)[0]
        return statements_in(record["statements"]), windows

    def _halves(self, data: bytes) -> NDArray[np.float16]:
        return np.frombuffer(data, dtype=np.float16).reshape(-1, self.embedder.dimension)

    def _stored(self, kind: str, names: Sequence[str]) -> Iterator[Json]:
        """Yield the record of each of some chunks or documents; KeyError where there is none."""
        found = self.engine.records(self.index(kind), [*map(key_of, names)])
        for name, record in zip(names, found, strict=True):
            if record is None:
                raise KeyError(name)
            yield record

    def _column(self, column: str, chunk_ids: Sequence[str]) -> list[bytes]:
        """Return the bytes of a column of each chunk; KeyError where there is no such chunk."""
        keys = [key_of(name) for name in chunk_ids]
        body = {
            "size": len(keys),
            "query": {"ids": {"values": keys}},
            "_source": False,
            "docvalue_fields": [column],
        }
        hits = self.engine.search(self.index("chunks"), body) if keys else []
        found = {hit["_id"]: hit.get("fields", {}) for hit in hits}
        for name, key in zip(chunk_ids, keys, strict=True):
            if key not in found:
                raise KeyError(name)
        return [unpacked(found[key].get(column, [""])[0]) for key in keys]

    def every_chunk(self, step: int, within: Within) -> Iterator[Chunk]:
        """See ``Store.every_chunk``; of many chunks those are read that a lot draws."""
        admitted = self._chunks_within(within)
        left = -(-self.statistics((), within).chunks // step)
        order = _ORDERS["chunks"] if step <= 1 else ["lot", *_ORDERS["chunks"]]
        for hit in self._each("chunks", admitted, ["record.chunk"], order=order, most=left):
            yield hit["_source"]["record"]["chunk"]

    def _each(
        self,
        kind: str,
        filters: Sequence[Json],
        source: Sequence[str],
        columns: Sequence[str] = (),
        *,
        order: Sequence[str] = (),
        most: float = np.inf,
        at_once: int = _AT_ONCE,
    ) -> Iterator[Any]:
        """Yield what filters admit, in order, read in batches."""
        body: dict[str, Any] = {
            "size": int(min(most, at_once)),
            "query": {"bool": {"filter": [*filters]}},
            "sort": [{key: "asc"} for key in order or _ORDERS[kind]],
            "_source": list(source),
            "docvalue_fields": list(columns),
        }
        while most > 0 and (hits := self.engine.search(self.index(kind), body)):
            yield from hits[: int(min(most, len(hits)))]
            most -= len(hits)
            body["search_after"] = hits[-1]["sort"]

    # --- documents

    def document(self, name: str) -> Document:
        """See ``Store.document``."""
        return self._read([name])[0].document

    def texts_of(self, names: Sequence[str]) -> Iterator[str]:
        """See ``Store.texts_of``."""
        for first in range(0, len(names), _HOLDING):
            for record in self._stored("documents", names[first : first + _HOLDING]):
                yield record["text"]

    def having(self, word: str, within: Within) -> list[str]:
        """See ``Store.having``."""
        begins = "".join(f"[{letter}{accented(letter)}]" for letter in word[:BEGINNING])
        if len(word) == 1:  # of a script without blanks it is in pairs alone
            begins = f".*{begins}"
        should: list[Json] = [{"terms": {TERMS: tokenize(word)}}]
        should.append({"regexp": {TERMS: {"value": f"({begins}.*)&(.*[^ -~].*)"}}})
        held: Json = {"bool": {"should": should, "minimum_should_match": 1}}
        filters = [*self._chunks_within(within), held]
        hits = self._each("chunks", filters, [], ["document"])
        return list(dict.fromkeys(hit["fields"]["document"][0] for hit in hits))

    def starts(self, name: str) -> NDArray[np.int32]:
        """See ``Store.starts``."""
        return self._read([name])[0].starts

    def _read(self, names: Sequence[str]) -> list[_Read]:
        return self._documents.get(names, self._documents_of)

    def _documents_of(self, names: Sequence[str]) -> Iterator[_Read]:
        records = self._stored("documents", names)
        for name, record in zip(names, records, strict=True):
            document = Document(
                name,
                record["title"],
                record["text"],
                Metadata.from_record(record["metadata"]),
                tuple(record["pages"]),
                tuple((at, level) for at, level in record["headings"]),
                unpacked(record["places"]),
            ).with_tree(Tree.from_json(record["tree"]))
            starts = np.array(record["starts"], dtype=np.int32)
            yield _Read(document, record["file"], record["fingerprint"], starts)

    def provisions(self, keys: Sequence[str], within: Within) -> list[tuple[str, int]]:
        """See ``Store.provisions``; of very many documents the first."""
        named: Json = {"terms": {"provisions": list(keys)}}
        found: list[tuple[str, int]] = []
        for name, tree in self._trees(named, within, _HOLDING) if keys else ():
            found += sorted((name, tree.keys[key]) for key in keys if key in tree.keys)
        return found

    def defining(self, within: Within) -> Iterator[tuple[str, int]]:
        """See ``Store.defining``."""
        for name, tree in self._trees({"range": {"defines": {"gt": 0}}}, within, np.inf):
            places = {at for key, at in tree.keys.items() if key.startswith('{"defines"')}
            yield from ((name, place) for place in sorted(places))

    def _trees(self, wanted: Json, within: Within, most: float) -> Iterator[tuple[str, Tree]]:
        filters = [*self._admitting(within), wanted]
        at_once = int(min(most, _PAGE))
        hits = self._each("documents", filters, ["document"], most=most, at_once=at_once)
        names = (hit["_source"]["document"] for hit in hits)
        while some := [name for _, name in zip(range(at_once), names, strict=False)]:
            for one in self._read(some):
                yield one.document.name, one.document.tree

    def made_of(self, name: str) -> PreparedDocument:
        """See ``Store.made_of``."""
        document, file, fingerprint, _ = self._read([name])[0]
        return PreparedDocument(file, fingerprint, document, [*self._made_chunks(name)])

    def _made_chunks(self, name: str) -> Iterator[PreparedChunk]:
        admitted, stated = [{"term": {"document": name}}], defaultdict[str, list[Triplet]](list)
        for hit in self._each("relations", admitted, ["chunk", "record"]):
            source = hit["_source"]
            stated[source["chunk"]].append(cast("Triplet", {**source["record"], "document": name}))
        columns = ["vectors", "codes"]
        for hit in self._each("chunks", admitted, ["record"], columns, at_once=_WHOLE):
            record, fields = hit["_source"]["record"], hit["fields"]
            chunk: Chunk = record["chunk"]
            codes = codes_of(unpacked(fields.get("codes", [""])[0]))
            yield PreparedChunk(
                chunk,
                statements_in(record["statements"]),
                stated[chunk["id"]],
                self._halves(unpacked(fields["vectors"][0])),
                np.frombuffer(unpacked(record["marks"]), dtype=MARK).reshape(-1, 2),
                [codes[first:end] for first, end in pairwise([0, *record["ends"]])],
            )

    def verify(self) -> dict[str, int]:
        """See ``Store.verify``: whether the engine has as much as the manifest says."""
        counts, expected = self._numbers(), dict(self.manifest.counts)
        if counts != expected:
            raise DataError(
                f"The index at {self.engine.address} differs: {counts} of {expected}.",
                "Push it again.",
            )
        return counts

    def _numbers(self) -> dict[str, int]:
        """Return the numbers of what the engine itself has."""
        counts = {}
        for kind, field in (("documents", "document"), ("chunks", "chunk"), ("relations", "chunk")):
            body: dict[str, Any] = {"size": 0, "query": {"exists": {"field": field}}}
            body["track_total_hits"] = True
            if kind == "chunks":
                body["aggs"] = {"windows": {"nested": {"path": "windows"}}}
            (told,) = self.engine.searches(self.index(kind), [body], whole=True)
            counts[kind] = int(told["hits"]["total"]["value"])
            if kind == "chunks":
                counts["windows"] = int(told["aggregations"]["windows"]["doc_count"])
        counts["triplets"] = counts.pop("relations")
        return counts


def _ranked(answer: Json, score_of: Callable[[Json], float], floor: float) -> list[Hit]:
    """Return hits above a score, best first, equal ones in the order of the index."""
    found = []
    for hit in answer["hits"]["hits"]:
        score, fields = score_of(hit), hit["fields"]
        if score > floor:
            document, start = fields["document"][0], fields["start"][0]
            made = Hit(f"{document}#{start}", document, score, fields["supporting"][0])
            found.append((-score, fields["ordinal"][0], start, made))
    return [made for *_, made in sorted(found)]


# --- opening


def open_engine(address: str, embedder: Embedder) -> EngineStore:
    """Open the generation that counts of an index in an engine.

    Args:
        address: Of the index.
        embedder: For the questions; it must have made the vectors.

    Raises:
        EngineError: The engine failed, refused, or is another than the address says.
        CorpusError: There is no such index.
        DataError: It is of another make: embedder, stemmer, mapping or format.
    """
    store = EngineStore(_published(address), embedder)
    store.catalogue  # noqa: B018 - read now, where no question waits for another's reading
    return store


def manifest_of(address: str) -> Manifest:
    """Return the manifest of an index in an engine; the errors are those of ``open_engine``."""
    return Manifest.from_record(_about_of(_published(address))["manifest"], address)


def stamp_of(address: str) -> str:
    """Return a mark that changes with what an index in an engine holds."""
    return f"{address}|{published(engine_at(address))}"


def _published(address: str) -> Generation:
    engine = engine_at(address)
    engine.check()
    return Generation(engine, published(engine))


def _about_of(generation: Generation) -> Json:
    """Return what the writer of a generation stored of the whole."""
    path = f"/{generation.index('documents')}/_doc/{key_of(MANIFEST_ID)}"
    record: Json = generation.engine.ask("GET", path)["_source"]["record"]
    return record


def _check_make(manifest: Manifest, address: str, embedder: Embedder) -> None:
    """Check that an index's terms and vectors are made as questions' are.

    Raises:
        DataError: They are not.
    """
    manifest.check_embedder(address, embedder.name, embedder.dimension)
    if not manifest.current:
        raise OutdatedIndexError(
            f"The terms of the index {address} are by {manifest.stemmer}, this is "
            f"{stemmer_name()}.",
            "Update the index it was pushed from by `lexloop index update`, and push it again.",
        )
