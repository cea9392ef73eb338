"""Writing of prepared files into an engine, done on the machines of a cluster."""

import json
from contextlib import closing
from dataclasses import astuple
from typing import NamedTuple

from lexloop.core.errors import DataError
from lexloop.documents.document import SkippedSource
from lexloop.store.cluster.packing import unpack
from lexloop.store.cluster.worker import Job, Orders, tools_of
from lexloop.store.engine.client import engine_at
from lexloop.store.engine.generation import Generation
from lexloop.store.engine.opening import contents_of
from lexloop.store.engine.reading import prepared_of
from lexloop.store.engine.tally import Tally
from lexloop.store.engine.writer import Writer


class Target(NamedTuple):
    """What tasks write; each machine signs in as its own environment says.

    Args:
        address: Of the index in an engine.
        generation: The one that is being written.
        before: The one that readers see, empty where there is none.
    """

    address: str
    generation: str
    before: str


class Written(NamedTuple):
    """What came of a file.

    Args:
        tally: Of its documents.
        skipped: What of it could not be read.
    """

    tally: Tally
    skipped: tuple[SkippedSource, ...]


def store(packed: bytes, ordinal: int, target: Target) -> bytes:
    """Write a prepared file, and return what came of it, packed.

    Raises:
        EngineError: The engine failed.
    """
    made = unpack(packed)
    with _writer(target) as writer:
        for place, document in enumerate(made.documents, ordinal):
            writer.add(place, document)
    return pack_written(Written(writer.tally, made.skipped))


def copy(job: Job, orders: Orders, target: Target) -> bytes:
    """Write the documents of a file as the generation before has them; return as ``store``.

    Raises:
        EngineError: The engine failed.
    """
    before = Generation(engine_at(target.address), target.before)
    opened = closing(contents_of(before, tools_of(orders).embedder))
    with opened as contents, _writer(target) as writer:
        for place, name in enumerate(job.held, job.ordinal):
            writer.add(place, prepared_of(contents, name))
    return pack_written(Written(writer.tally, ()))


def _writer(target: Target) -> Writer:
    return Writer(Generation(engine_at(target.address), target.generation))


def pack_written(written: Written) -> bytes:
    """Return what came of a file as bytes."""
    skipped = [astuple(one) for one in written.skipped]
    return json.dumps([written.tally.as_record(), skipped]).encode()


def unpack_written(data: bytes) -> Written:
    """Return what ``pack_written`` was given.

    Raises:
        DataError: The bytes are cut off or damaged.
    """
    try:
        tally, skipped = json.loads(data)
        return Written(Tally.from_record(tally), tuple(SkippedSource(*one) for one in skipped))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"What came of a file, {len(data)} bytes, cannot be read: {error}.",
            "Run the command again.",
        ) from error
