"""Verification of an index in an engine: beside itself, and beside the index it was pushed from."""

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import DataError
from lexloop.core.metadata import Filters
from lexloop.documents.structure.statements import statements_text
from lexloop.models.embedding import Embedder
from lexloop.store.engine.contents import EngineContents
from lexloop.store.engine.opening import open_engine
from lexloop.store.folder.store import FolderStore, open_folder
from lexloop.store.protocol import PreparedDocument, Store
from lexloop.store.view import Collection, View

_QUERIES, _TOP, _OVERLAP = 50, 10, 0.95


def verify_engine(address: str, against: Path | None, embedder: Embedder) -> dict[str, Any]:
    """Check that an engine has all of an index, as it was written.

    Args:
        address: Of the index.
        against: The index on this machine that it was pushed from; None compares the engine with
            what its manifest says alone.
        embedder: That made the vectors.

    Returns:
        The counts; beside another index the ``overlap`` of their first ten hits too.

    Raises:
        DataError: They differ, with the first difference.
        EngineError: The engine failed.
    """
    with closing(open_engine(address, embedder)) as contents:
        counts: dict[str, Any] = _counted(contents)
        expected = dict(contents.manifest.counts)
        if counts != expected:
            raise _differs(address, f"{counts} of {expected}")
        if against is not None:
            with closing(open_folder(against, embedder)) as local:
                _compare(address, contents, local)
                counts["overlap"] = round(_overlap(address, contents, local), 4)
        return counts


def _counted(contents: EngineContents) -> dict[str, int]:
    """Return the numbers of what the engine itself has."""
    by_kind = {}
    for kind, field in (("documents", "document"), ("chunks", "chunk"), ("relations", "chunk")):
        body = {"query": {"exists": {"field": field}}}
        found = contents.engine.ask("POST", f"/{contents.index(kind)}/_count", body)
        by_kind[kind] = int(found["count"])
    windows = sum(one["windows"] for one in contents.about["profiles"].values())
    return {
        "documents": by_kind["documents"],
        "chunks": by_kind["chunks"],
        "windows": windows,
        "triplets": by_kind["relations"],
    }


def _compare(address: str, contents: EngineContents, local: FolderStore) -> None:
    """Raise unless each document and all that was made of it is the same."""
    if list(contents.names) != list(local.names):
        raise _differs(address, "other documents, or in another order")
    for number, here in enumerate(map(local.made_of, local.names)):
        there = contents.made_of(here.name)
        if _hash(here) != _hash(there):
            raise _differs(address, f"document {number} is not the same")


def _hash(made: PreparedDocument) -> str:
    """Return a hash of a document and all that was made of it."""
    digest = hashlib.sha256()
    document = made.document
    said = [document.text, document.title, document.metadata.as_record(), document.tree.to_json()]
    digest.update(json.dumps([made.file, *said, document.pages, document.headings]).encode())
    digest.update(document.boxes)
    for one in made.chunks:
        told = [one.chunk, statements_text(one.statements), list(one.triplets)]
        digest.update(json.dumps(told, sort_keys=True).encode())
        for data in (one.vectors, one.marks, *one.codes):
            digest.update(np.ascontiguousarray(data).tobytes())
    return digest.hexdigest()


def _overlap(address: str, contents: EngineContents, local: FolderStore) -> float:
    """Return the share of the first ten hits that both find, over a sample of statements."""
    tags = frozenset(tag for known in local.catalogue.metadata.values() for tag in known.tags)
    stores: tuple[Store, Store] = local, contents
    here, there = (Collection(held).seen_by(Filters(allowed_tags=tags)) for held in stores)
    step = -(-len(here) // _QUERIES) or 1
    queries = [chunk["text"][:300] for chunk in here.every_chunk(step)]
    pairs = zip(_found(here, queries), _found(there, queries), strict=True)
    # of a few chunks all words may weigh nothing, and then neither finds any
    shares = [
        len(ours & theirs) / len(ours) if ours else float(not theirs) for ours, theirs in pairs
    ]
    share = float(np.mean(shares)) if shares else 1.0
    if share < _OVERLAP:
        raise _differs(address, f"only {share:.3f} of the first {_TOP} hits agree")
    return share


def _found(view: View, queries: list[str]) -> list[set[str]]:
    by_words, near = view.search(queries, _TOP)
    return [{hit.chunk_id for hit in hits} for hits in (*by_words, *near)]


def _differs(address: str, what: str) -> DataError:
    return DataError(f"The index at {address} differs: {what}.", "Push it again.")
