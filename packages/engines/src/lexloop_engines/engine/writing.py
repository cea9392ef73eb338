"""Writing of a generation: documents in bulk, what holds of all together, and the check at the end.

Ids are made of what is written, so that writing twice is writing once; whoever writes some of the
documents adds up their part, and the tallies are merged.
"""

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_random_exponential

from lexloop.core.errors import CorpusError, EngineError, EngineUnavailable, LexloopError
from lexloop.core.metadata import Metadata
from lexloop.documents.chunks.statements import statements_text
from lexloop.documents.text.tokens import tokenize
from lexloop.store.address import VectorKind
from lexloop.store.folder.lexical import OkapiStatistics, searched_text
from lexloop.store.manifest import Manifest
from lexloop.store.protocol import PreparedChunk, PreparedDocument
from lexloop_engines.engine.client import Engine, refused, status_of
from lexloop_engines.engine.generation import Generation
from lexloop_engines.engine.schema import (
    MANIFEST_ID,
    key_of,
    packed,
    profile_of,
)

_ACTIONS, _BYTES, _AT_ONCE = 300, 8 << 20, 3
"""Records and bytes of a request, and requests at once."""
_ATTEMPTS, _WAIT = 8, wait_random_exponential(multiplier=0.5, max=10)
_REQUEST_S, _COPIED_S, _LATER = 120.0, 60, 408
_TOLD = {"filter_path": "items.*.status,items.*.error"}
_LOTS = (1 << 31) - 1
_PART, _FOUND = 1 << 20, 1000
_GRAPH = 250_000
"""Vectors for each segment that is left: of 10^6 with near copies, one graph joined of all finds
0.76 of the ten best in Elasticsearch, four find 0.96."""
Action = dict[str, Any]
"""A record's fields, and beside them its ``_index`` and ``_id``."""


class Counted(NamedTuple):
    """A document: its place among all, which may have gaps, the numbers of its parts, metadata."""

    ordinal: int
    chunks: int
    windows: int
    triplets: int
    metadata: Mapping[str, Any]


@dataclass
class Tally:
    """What an index has to know of all its documents together.

    Args:
        documents: By name.
        frequencies: How many chunks have each term.
        length: Of all chunks, in terms.
    """

    documents: dict[str, Counted] = field(default_factory=dict)
    frequencies: Counter[str] = field(default_factory=Counter)
    length: int = 0

    def add(self, ordinal: int, made: PreparedDocument, terms: Sequence[Counter[str]]) -> None:
        """Add a document; ``terms`` are those of each of its chunks.

        Raises:
            CorpusError: There is one of the same name.
        """
        windows, triplets = (
            sum(len(getattr(one, name)) for one in made.chunks) for name in ("vectors", "triplets")
        )
        metadata = made.document.metadata
        counted = Counted(ordinal, len(made.chunks), windows, triplets, metadata.as_record())
        frequencies = Counter(term for counts in terms for term in counts)
        length = sum(counts.total() for counts in terms)
        self.merge(Tally({made.name: counted}, frequencies, length))

    def merge(self, other: "Tally") -> None:
        """Add what another has added up.

        Raises:
            CorpusError: Both have a document of the same name.
        """
        if twice := self.documents.keys() & other.documents.keys():
            raise CorpusError(
                f"Two documents of the sources would have the same name ({min(twice)}).",
                "Give one of the sources another --prefix.",
            )
        self.documents.update(other.documents)
        self.frequencies.update(other.frequencies)
        self.length += other.length

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of documents, chunks, windows and triplets."""
        parts = ("chunks", "windows", "triplets")
        held = self.documents.values()
        sums = {part: sum(getattr(one, part) for one in held) for part in parts}
        return {"documents": len(self.documents), **sums}

    @property
    def metadata(self) -> dict[str, Metadata]:
        """The metadata of each document that has some."""
        held = self.documents.items()
        return {name: Metadata.from_record(one.metadata) for name, one in held if one.metadata}

    @property
    def triplets(self) -> dict[str, int]:
        """The number of each document's triplets, in the documents' order."""
        ordered = sorted(self.documents.items(), key=lambda pair: pair[1].ordinal)
        return {name: one.triplets for name, one in ordered}

    def statistics(self) -> OkapiStatistics:
        """Return what BM25 reads of all chunks."""
        held = np.array([*self.frequencies.values()], dtype=np.int64)
        return OkapiStatistics.of(held, self.counts["chunks"], self.length)

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON."""
        return dict(vars(self))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Tally":
        """Return what ``as_record`` made a record of."""
        return cls(
            {name: Counted(*one) for name, one in record["documents"].items()},
            Counter(record["frequencies"]),
            record["length"],
        )


class Writer:
    """A writer of a generation, among others of the same; use it as a context manager.

    Records go many in a request and several requests at once; at the end of the context all are
    written, or the first error is raised. ``tally`` adds up the documents.

    Args:
        generation: Its indexes are there.
    """

    def __init__(self, generation: Generation) -> None:
        self._generation, self._engine, self.tally = generation, generation.engine, Tally()
        self._dumps = self._engine.client.transport.serializer.dumps
        self._pool = ThreadPoolExecutor(_AT_ONCE, "bulk")
        self._under_way = deque[Future[None]]()
        self._lines, self._size = list[str](), 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self._pool.shutdown(cancel_futures=True)

    def add(self, ordinal: int, made: PreparedDocument) -> None:
        """Write a document; ``ordinal`` is its place among all, which may have gaps.

        Raises:
            CorpusError: There is one of the same name.
            EngineError: What was sent before was not taken after every allowed attempt.
        """
        terms = [Counter(tokenize(searched_text(one.chunk))) for one in made.chunks]
        self.tally.add(ordinal, made, terms)
        self.write(_records(self._generation, ordinal, made, terms))

    def write(self, actions: Iterable[Action]) -> None:
        """Write records; those that are there already are replaced.

        Raises:
            EngineError: Earlier ones were not all taken after every allowed attempt.
        """
        for action in actions:
            fields = {key: value for key, value in action.items() if key[0] != "_"}
            target = {"_index": action["_index"], "_id": action["_id"]}
            self._add(f"{self._dumps({'index': target})}\n{self._dumps(fields)}\n")

    def delete(self, index: str, ids: Iterable[str]) -> None:
        """Delete records, those that are there; raises as ``write``."""
        for one in ids:
            self._add(f"{self._dumps({'delete': {'_index': index, '_id': one}})}\n")

    def flush(self) -> None:
        """Wait until everything is written; raises as ``write``."""
        self._submit()
        while self._under_way:
            self._under_way.popleft().result()

    def _add(self, line: str) -> None:
        if self._lines and (len(self._lines) == _ACTIONS or self._size + len(line) > _BYTES):
            self._submit()
        self._lines.append(line)
        self._size += len(line)

    def _submit(self) -> None:
        if len(self._under_way) >= _AT_ONCE:
            self._under_way.popleft().result()
        if self._lines:
            self._under_way.append(self._pool.submit(_send, self._engine, self._lines))
        self._lines, self._size = [], 0


def _send(engine: Engine, lines: list[str]) -> None:
    """Send lines; those that a busy engine did not take are sent again, and no others."""
    left = lines

    def untaken() -> LexloopError | None:
        nonlocal left
        told = engine.ask("POST", "/_bulk", "".join(left), _TOLD, seconds=_REQUEST_S, patient=True)
        results = [next(iter(item.values())) for item in told["items"]]
        failed = [(line, one) for line, one in zip(left, results, strict=True) if "error" in one]
        errors = [refused(engine.address, one["status"], one) for _, one in failed]
        for error in errors:
            if not isinstance(error, EngineUnavailable):
                raise error
        left = [line for line, _ in failed]
        return errors[0] if errors else None

    attempts = Retrying(
        retry=retry_if_result(bool),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=_WAIT,
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )
    if error := attempts(untaken):
        raise error


# --- the records of a document


def _records(
    generation: Generation, ordinal: int, made: PreparedDocument, terms: Sequence[Counter[str]]
) -> Iterator[Action]:
    document, places = made.document, count()
    common = {
        "document": made.name,
        "profile": profile_of(document.metadata),
        "ordinal": ordinal,
    }
    for chunk, counts in zip(made.chunks, terms, strict=True):
        held = common | _chunk(chunk, counts)
        yield _action(generation, "chunks", chunk.chunk["id"], held)
        for triplet, place in zip(chunk.triplets, places, strict=False):
            yield _action(generation, "relations", f"{made.name}\n{place}", {
                "document": made.name, "ordinal": ordinal, "chunk": chunk.chunk["id"],
                "place": place,
                "record": {key: value for key, value in triplet.items() if key != "document"},
            })  # fmt: skip
    yield _action(generation, "documents", made.name, common | _document(made))


def _action(generation: Generation, kind: str, name: str, fields: Action) -> Action:
    return {"_index": generation.index(kind), "_id": key_of(name), **fields}


def _chunk(made: PreparedChunk, counts: Counter[str]) -> Action:
    chunk = made.chunk
    codes = [np.asarray(one) for one in made.codes]
    return {
        "chunk": True,
        "start": chunk["start"],
        "lot": int(key_of(chunk["id"])[:8], 16) & _LOTS,
        "supporting": chunk.get("supporting", False),
        "terms": " ".join(counts.elements()),
        "vectors": packed(made.vectors.astype(np.float16, copy=False).tobytes()),
        **({"codes": packed(np.concatenate(codes).tobytes())} if codes else {}),
        "windows": [{"vector": row} for row in made.vectors.astype(np.float32)],
        "record": {
            "chunk": chunk,
            "statements": statements_text(made.statements),
            "marks": packed(made.marks.tobytes()),
            "ends": np.cumsum([len(one) for one in codes], dtype=np.int32).tolist(),
        },
    }


def _document(made: PreparedDocument) -> Action:
    document, tree = made.document, made.document.tree
    return {
        "provisions": list(tree.keys),
        "defines": sum(key.startswith('{"defines"') for key in tree.keys),
        "triplets": sum(len(one.triplets) for one in made.chunks),
        "record": {
            "title": document.title,
            "metadata": document.metadata.as_record(),
            "file": made.file,
            "fingerprint": made.fingerprint,
            "text": document.text,
            "tree": tree.to_json(),
            "pages": document.pages,
            "headings": document.headings,
            "places": packed(document.places),
            "starts": [one.chunk["start"] for one in made.chunks],
        },
    }


# --- the end of a generation


def finish(
    generation: Generation,
    tally: Tally,
    manifest: Manifest,
    graph: Path,
    *,
    vectors: VectorKind,
    skipped: Sequence[tuple[str, str, str, str]],
) -> None:
    """Write what holds of the whole, then make everything visible to searches.

    Args:
        generation: All its documents are written.
        tally: Of them.
        manifest: Of the index.
        graph: The folder with the files of its knowledge graph.
        vectors: How coarsely those that are searched are kept.
        skipped: What could not be read: its file, its name, the reason and the missing package.

    Raises:
        EngineError: The engine failed, or has not all that was written.
    """
    files = sorted(graph.iterdir())
    about = {
        "manifest": manifest.as_record(),
        "statistics": asdict(tally.statistics()),
        "graph": {file.name: file.stat().st_size for file in files},
        "vectors": vectors,
        "skipped": skipped,
    }
    with Writer(generation) as writer:
        for file in files:
            writer.write(_parts(generation, file))
        writer.write([_action(generation, "documents", MANIFEST_ID, {"record": about})])
    counts = tally.counts
    expected = {
        "chunks": counts["chunks"],
        "documents": counts["documents"] + 1,
        "relations": counts["triplets"] + sum(-(-file.stat().st_size // _PART) for file in files),
    }
    shards = _settle(generation, expected)
    _merge(generation, counts["windows"] / shards)


def _parts(generation: Generation, file: Path) -> Iterator[Action]:
    """Yield the records of a file of the graph."""
    with file.open("rb") as opened:
        for part in count():
            if not (data := opened.read(_PART)):
                return
            fields = {"graph": file.name, "part": part, "record": {"data": packed(data)}}
            yield _action(generation, "relations", f"graph\n{file.name}\n{part}", fields)


def _settle(generation: Generation, expected: Mapping[str, int]) -> int:
    """Refresh the indexes and check their counts; return how many shards the chunks have."""
    engine, shards = generation.engine, dict[str, int]()
    engine.ask("POST", f"/{generation.all_indexes}/_refresh", patient=True)
    _await_copies(generation)
    for kind, number in expected.items():
        found = engine.ask("GET", f"/{generation.index(kind)}/_count")
        shards[kind] = int(found["_shards"]["total"])
        if (found["count"], found["_shards"]["failed"]) != (number, 0):
            raise EngineError(
                f"{engine.address} has {found['count']} {kind} of {number} written.",
                "Nothing was published. Check that its shards are whole, and run it again.",
            )
    return shards["chunks"]


def _await_copies(generation: Generation) -> None:
    """Wait a while for every shard to have its copy: what is published outlasts a node."""
    asked = {"wait_for_status": "green", "timeout": f"{_COPIED_S}s"}
    path = f"/_cluster/health/{generation.all_indexes}"
    try:
        generation.engine.ask("GET", path, params=asked, seconds=_REQUEST_S)
    except EngineError as error:
        if status_of(error.__cause__) != _LATER:  # the copies come when there is room
            raise


def _merge(generation: Generation, vectors: float) -> None:
    """Have the chunks merged into few segments; ``vectors`` are those of a shard."""
    # nothing is added to a generation, and one graph of vectors is searched twice as fast
    segments = max(1, math.ceil(vectors / _GRAPH))
    merged = {"max_num_segments": str(segments), "wait_for_completion": "false"}
    with suppress(EngineError):  # one that cannot do so aside answers all the same
        generation.engine.ask("POST", f"/{generation.index('chunks')}/_forcemerge", params=merged)


def remove(generation: Generation, first: int, end: int) -> None:
    """Remove what was written of the documents from one place to another, the end not included.

    Raises:
        EngineError: The engine failed.
    """
    engine = generation.engine
    body = {
        "size": _FOUND,
        "query": {"range": {"ordinal": {"gte": first, "lt": end}}},
        "_source": False,
    }
    engine.ask("POST", f"/{generation.all_indexes}/_refresh", patient=True)
    for index in generation.all_indexes.split(","):
        while hits := engine.search(index, body):
            with Writer(generation) as writer:
                writer.delete(index, [hit["_id"] for hit in hits])
            engine.ask("POST", f"/{index}/_refresh", patient=True)
