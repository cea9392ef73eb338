"""Writing of documents into a generation; ids are made of what is written, so twice is once."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_random_exponential

from lexloop.core.errors import EngineError, EngineUnavailable, LexloopError
from lexloop.core.metadata import Metadata
from lexloop.corpus.engine.columns import bag_of, key_of, packed
from lexloop.corpus.engine.failure import refused, status_of
from lexloop.corpus.engine.generation import NewGeneration
from lexloop.corpus.engine.schema import KINDS, MANIFEST_ID, bodies, facets_of, profile_of
from lexloop.corpus.index.lexical import OkapiStatistics, searched_text
from lexloop.corpus.index.manifest import Manifest
from lexloop.corpus.index.prepared import PreparedChunk, PreparedDocument
from lexloop.corpus.structure.statements import statements_text
from lexloop.corpus.text.tokens import tokenize
from lexloop.models.embedding import Vectors

_ACTIONS, _BYTES = 300, 8 << 20
_ATTEMPTS, _WAIT, _REQUEST_S = 8, wait_random_exponential(multiplier=0.5, max=10), 120.0
_COPIED_S, _LATER = 60, 408
_TOLD = {"filter_path": "items.*.status,items.*.error"}
_GRAPH_PART = 1 << 20
_LOTS = (1 << 31) - 1
Action = dict[str, Any]


@dataclass
class Profile:
    """What documents with the same filtered metadata hold together."""

    chunks: int = 0
    windows: int = 0
    total: Vectors = field(default_factory=lambda: np.zeros(0, dtype=np.float32))


class Writer:
    """A writer of one new generation.

    Args:
        generation: It has no indexes yet; they are created.
        dimension: Of the vectors.
        shards: Of each index.
    """

    def __init__(self, generation: NewGeneration, dimension: int, shards: int = 1) -> None:
        self._generation, self._engine = generation, generation.engine
        self._dimension = dimension
        self._frequencies, self._lengths = Counter[str](), list[int]()
        self._profiles = defaultdict[str, Profile](Profile)
        self._counts: dict[str, int] = dict.fromkeys(
            ("documents", "chunks", "windows", "triplets"), 0
        )
        for kind, body in bodies(self._engine.dialect, dimension, shards).items():
            path = f"/{generation.index(kind)}"
            self._engine.ask("PUT", path, body, seconds=_REQUEST_S, patient=True)

    def add(self, ordinal: int, made: PreparedDocument) -> None:
        """Write a document; ``ordinal`` is its place among all, which may have gaps.

        Raises:
            EngineError: It was not taken after every allowed attempt.
        """
        self._send(self._actions(ordinal, made))

    def _send(self, actions: Iterator[Action]) -> None:
        lines: list[str] = []
        size, dumps = 0, self._engine.client.transport.serializer.dumps
        for action in actions:
            fields = {key: value for key, value in action.items() if key[0] != "_"}
            target = {"_index": action["_index"], "_id": action["_id"]}
            line = f"{dumps({'index': target})}\n{dumps(fields)}\n"
            if lines and (len(lines) == _ACTIONS or size + len(line) > _BYTES):
                self._write(lines)
                lines, size = [], 0
            lines.append(line)
            size += len(line)
        self._write(lines)

    def _write(self, lines: list[str]) -> None:
        """Write lines; those that a busy engine did not take are sent again, and no others."""
        left = lines

        def untaken() -> LexloopError | None:
            nonlocal left
            told = self._engine.ask(
                "POST", "/_bulk", "".join(left), _TOLD, seconds=_REQUEST_S, patient=True
            )
            results = [next(iter(item.values())) for item in told["items"]]
            failed = [
                (line, one) for line, one in zip(left, results, strict=True) if "error" in one
            ]
            errors = [refused(self._engine.address, one["status"], one) for _, one in failed]
            for error in errors:
                if not isinstance(error, EngineUnavailable):
                    raise error
            left = [line for line, _ in failed]
            return errors[0] if errors else None

        if not lines:
            return
        attempts = Retrying(
            retry=retry_if_result(bool),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=_WAIT,
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )
        if error := attempts(untaken):
            raise error

    def _actions(self, ordinal: int, made: PreparedDocument) -> Iterator[Action]:
        name, profile = made.document.name, self._profiles[profile_of(made.document.metadata)]
        places: list[int] = []
        for chunk in made.chunks:
            yield self._chunk(ordinal, made.document.metadata, chunk)
            for triplet in chunk.triplets:
                place = len(places)
                places.append(place)
                record = {key: triplet[key] for key in triplet if key != "document"}  # type: ignore[literal-required]
                yield self._action("relations", f"{name}\n{place}", {
                    "document": name, "chunk": chunk.chunk["id"], "place": place, "record": record,
                })  # fmt: skip
            total = chunk.vectors.astype(np.float32).sum(axis=0)
            profile.total = total if not profile.windows else profile.total + total
            profile.chunks += 1
            profile.windows += len(chunk.vectors)
            self._counts["windows"] += len(chunk.vectors)
        yield self._document(ordinal, made, len(places))
        self._counts["documents"] += 1
        self._counts["chunks"] += len(made.chunks)
        self._counts["triplets"] += len(places)

    def _chunk(self, ordinal: int, metadata: Metadata, made: PreparedChunk) -> Action:
        chunk, counts = made.chunk, Counter(tokenize(searched_text(made.chunk)))
        self._frequencies.update(counts.keys())
        self._lengths.append(counts.total())
        codes = [np.asarray(one) for one in made.codes]
        ends = np.cumsum([len(one) for one in codes], dtype=np.int32).tolist()
        return self._action("chunks", chunk["id"], {
            "chunk": True,
            "document": chunk["document"],
            "ordinal": ordinal,
            "start": chunk["start"],
            "lot": int(key_of(chunk["id"])[:8], 16) & _LOTS,
            "label": chunk["section"],
            "page": chunk["page"],
            "supporting": chunk.get("supporting", False),
            **facets_of(metadata),
            "terms": " ".join(counts.elements()),
            "length": counts.total(),
            "bag": packed(bag_of(counts)),
            "vectors": packed(made.vectors.astype(np.float16, copy=False).tobytes()),
            **({"codes": packed(np.concatenate(codes).tobytes())} if codes else {}),
            "windows": [{"vector": row} for row in made.vectors.astype(np.float32)],
            "record": {
                "chunk": chunk,
                "statements": statements_text(made.statements),
                "marks": packed(made.marks.tobytes()),
                "ends": ends,
            },
        })  # fmt: skip

    def _document(self, ordinal: int, made: PreparedDocument, triplets: int) -> Action:
        document, tree = made.document, made.document.tree
        chunks = [one.chunk for one in made.chunks]
        vectors = [one.vectors.astype(np.float32).sum(axis=0) for one in made.chunks]
        total = np.sum(vectors, axis=0, dtype=np.float32) if vectors else np.zeros(self._dimension)
        return self._action("documents", document.name, {
            "document": document.name,
            "ordinal": ordinal,
            "file": made.file,
            **facets_of(document.metadata),
            "provisions": list(tree.keys),
            "defines": sum(key.startswith('{"defines"') for key in tree.keys),
            "triplets": triplets,
            "record": {
                "title": document.title,
                "metadata": document.metadata.as_record(),
                "fingerprint": made.fingerprint,
                "text": document.text,
                "tree": tree.to_json(),
                "pages": document.pages,
                "headings": document.headings,
                "boxes": packed(document.boxes),
                "starts": [chunk["start"] for chunk in chunks],
                "total": packed(total.astype(np.float32).tobytes()),
                "windows": sum(len(one.vectors) for one in made.chunks),
            },
        })  # fmt: skip

    def _action(self, kind: str, name: str, fields: Action) -> Action:
        filled = {key: value for key, value in fields.items() if value is not None}
        return {"_index": self._generation.index(kind), "_id": key_of(name), **filled}

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of documents, chunks, windows and triplets."""
        return dict(self._counts)

    def finish(self, manifest: Manifest, graph: Path, rest: dict[str, Any]) -> None:
        """Write what holds of the whole, then make everything visible to searches.

        Args:
            manifest: Of the index.
            graph: The folder with the files of its knowledge graph.
            rest: Further facts for ``EngineContents``.

        Raises:
            EngineError: The engine failed, or has not all that was written.
        """
        statistics = OkapiStatistics.of(self._frequencies, np.array(self._lengths, dtype=float))
        profiles = {
            name: {"chunks": one.chunks, "windows": one.windows,
                   "total": packed(one.total.astype(np.float32).tobytes())}
            for name, one in self._profiles.items()
        }  # fmt: skip
        files = sorted(graph.iterdir())
        self._send(action for file in files for action in self._parts(file))
        about = {
            **rest,
            "manifest": manifest.as_record(),
            "statistics": asdict(statistics),
            "profiles": profiles,
            "graph": {file.name: file.stat().st_size for file in files},
        }
        self._send(iter([self._action("documents", MANIFEST_ID, {"record": about})]))
        self._settle()

    def _parts(self, file: Path) -> Iterator[Action]:
        with file.open("rb") as opened:
            for part, data in enumerate(iter(lambda: opened.read(_GRAPH_PART), b"")):
                yield self._action("relations", f"graph\n{file.name}\n{part}", {
                    "graph": file.name, "part": part, "record": {"data": packed(data)},
                })  # fmt: skip

    def _settle(self) -> None:
        """Refresh the indexes and check their counts."""
        names = ",".join(self._generation.index(kind) for kind in KINDS)
        self._engine.ask("POST", f"/{names}/_refresh", patient=True)
        self._await_copies(names)
        expected = {"chunks": self._counts["chunks"], "documents": self._counts["documents"] + 1}
        for kind, count in expected.items():
            found = self._engine.ask("GET", f"/{self._generation.index(kind)}/_count")
            if (found["count"], found["_shards"]["failed"]) != (count, 0):
                raise EngineError(
                    f"{self._engine.address} has {found['count']} {kind} of {count} written.",
                    "Nothing was published. Check that its shards are whole, and run it again.",
                )
        # nothing is added to a generation, and one graph of vectors is searched twice as fast
        merged = {"max_num_segments": "1", "wait_for_completion": "false"}
        path = f"/{self._generation.index('chunks')}/_forcemerge"
        with suppress(EngineError):  # one that cannot do so aside answers all the same
            self._engine.ask("POST", path, params=merged)

    def _await_copies(self, names: str) -> None:
        """Wait a while for every shard to have its copy: what is published outlasts a node."""
        asked = {"wait_for_status": "green", "timeout": f"{_COPIED_S}s"}
        try:
            self._engine.ask("GET", f"/_cluster/health/{names}", params=asked, seconds=_REQUEST_S)
        except EngineError as error:
            if status_of(error.__cause__) != _LATER:  # the copies come when there is room
                raise
