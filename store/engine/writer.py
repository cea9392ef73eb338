"""Writing of documents into a generation; ids are made of what is written, so twice is once."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from lexloop.core.metadata import Metadata
from lexloop.documents.structure.statements import statements_text
from lexloop.documents.text.tokens import tokenize
from lexloop.store.engine.bulk import Action, Bulk
from lexloop.store.engine.columns import bag_of, key_of, packed
from lexloop.store.engine.generation import Generation
from lexloop.store.engine.schema import facets_of
from lexloop.store.engine.tally import Tally, total_of
from lexloop.store.folder.lexical import searched_text
from lexloop.store.protocol import PreparedChunk, PreparedDocument

_LOTS = (1 << 31) - 1


class Writer(Bulk):
    """A writer of one generation, among others of the same.

    Args:
        generation: Its indexes are there.

    ``tally`` adds up what it was given.
    """

    def __init__(self, generation: Generation) -> None:
        super().__init__(generation.engine)
        self._generation, self.tally = generation, Tally()

    def add(self, ordinal: int, made: PreparedDocument) -> None:
        """Write a document; ``ordinal`` is its place among all, which may have gaps.

        Raises:
            CorpusError: There is one of the same name.
            EngineError: What was sent before was not taken after every allowed attempt.
        """
        terms = [Counter(tokenize(searched_text(one.chunk))) for one in made.chunks]
        self.tally.add(ordinal, made, terms)
        self.write(self._actions(ordinal, made, terms))

    def _actions(
        self, ordinal: int, made: PreparedDocument, terms: Sequence[Counter[str]]
    ) -> Iterator[Action]:
        name, places = made.document.name, count()
        for chunk, counts in zip(made.chunks, terms, strict=True):
            yield self._chunk(ordinal, made.document.metadata, chunk, counts)
            for triplet, place in zip(chunk.triplets, places, strict=False):
                record = {key: triplet[key] for key in triplet if key != "document"}  # type: ignore[literal-required]
                yield self._action("relations", f"{name}\n{place}", {
                    "document": name, "ordinal": ordinal, "chunk": chunk.chunk["id"],
                    "place": place, "record": record,
                })  # fmt: skip
        yield self._document(ordinal, made)

    def _chunk(
        self, ordinal: int, metadata: Metadata, made: PreparedChunk, counts: Counter[str]
    ) -> Action:
        chunk = made.chunk
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

    def _document(self, ordinal: int, made: PreparedDocument) -> Action:
        document, tree = made.document, made.document.tree
        chunks = [one.chunk for one in made.chunks]
        return self._action("documents", document.name, {
            "document": document.name,
            "ordinal": ordinal,
            "file": made.file,
            **facets_of(document.metadata),
            "provisions": list(tree.keys),
            "defines": sum(key.startswith('{"defines"') for key in tree.keys),
            "triplets": sum(len(one.triplets) for one in made.chunks),
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
                "total": packed(total_of(made).tobytes()),
                "windows": sum(len(one.vectors) for one in made.chunks),
            },
        })  # fmt: skip

    def _action(self, kind: str, name: str, fields: Action) -> Action:
        filled = {key: value for key, value in fields.items() if value is not None}
        return {"_index": self._generation.index(kind), "_id": key_of(name), **filled}
