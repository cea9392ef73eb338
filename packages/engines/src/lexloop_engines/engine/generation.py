"""Generations of an index in an engine: one writer makes the next, readers keep theirs.

``lexloop-NAME.GENERATION.KIND`` are the indexes of a generation, and the aliases
``lexloop-NAME.KIND`` name the one that counts; they move in one request, so that nobody sees half.
``lexloop-NAME.meta`` holds the writer's lease and the readers' holds, each with an end: a process
that is killed blocks nobody for longer.
"""

import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from lexloop.core.errors import CorpusError, DataError, EngineError, IndexWriteError, LexloopError
from lexloop.store.address import Storage
from lexloop_engines.engine.client import Engine, status_of
from lexloop_engines.engine.schema import KINDS, bodies

LEASE_S, HOLD_S = 60.0, 600.0
"""Seconds after which a writer's lease and a reader's hold end unless they are renewed."""
_PUBLISHING_S = 90.0
"""Seconds for the one request that counts; nodes that choose a leader take up to 30."""
_CREATING_S = 120.0
_HOLDING_S, _TRIED_AGAIN_S = 1.0, 30.0
"""Seconds that a question waits for a hold, and after which it is asked for again."""
_META = {
    "settings": {"number_of_shards": 1, "auto_expand_replicas": "0-1"},
    "mappings": {"properties": {"until": {"type": "double"}, "generation": {"type": "keyword"}},
                 "dynamic": False},
}  # fmt: skip


def alias_of(name: str, kind: str) -> str:
    """Return the alias of one of the indexes of the generation that counts."""
    return f"lexloop-{name}.{kind}"


def index_of(name: str, generation: str, kind: str) -> str:
    """Return the name of one of a generation's indexes."""
    return f"lexloop-{name}.{generation}.{kind}"


def published(engine: Engine) -> str:
    """Return the generation that counts.

    Raises:
        CorpusError: There is none.
        DataError: Its indexes are not of one generation, or not as they are made here.
        EngineError: What answers is no such engine.
    """
    address = engine.address
    found = engine.ask("GET", f"/_alias/{alias_of(address.name, '*')}", missing={})
    generations = {m[1] for index in found if (m := _pattern(address.name).fullmatch(index))}
    if not generations:
        engine.check()  # anything may say 404
        raise CorpusError(
            f"There is no index at {address}.",
            f"Make one with `lexloop index push INDEX {address}`.",
        )
    if len(generations) > 1 or len(found) != len(KINDS):
        raise DataError(f"The index at {address} is torn: {sorted(found)}.", "Push it again.")
    (generation,) = generations
    return generation


class Hold:
    """A hold on a generation, so that no writer removes it.

    Args:
        engine: Where it lies.
        generation: Its name.
        seconds: For which it is held; ``renew`` holds it for as long again.
        who: Tells this hold from others; empty for one of its own.
    """

    def __init__(
        self, engine: Engine, generation: str, seconds: float = HOLD_S, who: str = ""
    ) -> None:
        self._engine, self._generation, self._seconds = engine, generation, seconds
        self._id, self._lock = f"hold-{who or secrets.token_hex(8)}", threading.Lock()
        self._renewed = -seconds

    def renew(self) -> None:
        """Hold it for a while longer, if half of the time is over; a key may forbid it."""
        with self._lock:
            if time.monotonic() - self._renewed < self._seconds / 2:
                return
            self._renewed = time.monotonic()
        record = {"generation": self._generation, "until": time.time() + self._seconds}
        try:
            path = _meta(self._engine, f"_doc/{self._id}")
            self._engine.ask("PUT", path, record, seconds=_HOLDING_S)
        except (EngineError, CorpusError):  # what may only be read is read without a hold
            self._renewed += _TRIED_AGAIN_S - self._seconds / 2

    def release(self) -> None:
        """Let it go."""
        try:
            self._engine.ask("DELETE", _meta(self._engine, f"_doc/{self._id}"), missing={})
        except LexloopError:  # it ends by itself
            return


class Generation:
    """A set of indexes in an engine, seen by readers or not yet.

    Args:
        engine: Where it lies.
        name: Of the generation.
        lease: The right to write it; None where it is read, or written by order of who has it.
    """

    def __init__(self, engine: Engine, name: str, lease: "Lease | None" = None) -> None:
        self.engine, self.name, self._lease = engine, name, lease

    def index(self, kind: str) -> str:
        """Return the name of one of its indexes."""
        return index_of(self.engine.address.name, self.name, kind)

    @property
    def all_indexes(self) -> str:
        """The names of its indexes, as a request names several."""
        return ",".join(map(self.index, KINDS))

    @property
    def begun(self) -> bool:
        """True where its indexes are there."""
        told = self.engine.ask("GET", f"/{self.all_indexes}/_mapping", missing={})
        return len(told) == len(KINDS)

    def create(self, dimension: int, storage: Storage) -> None:
        """Create its indexes, for vectors of a dimension.

        Raises:
            EngineError: The engine did not do it.
        """
        for kind, body in bodies(self.engine.dialect, dimension, storage).items():
            _create(self.engine, self.index(kind), body)

    def publish(self) -> None:
        """Let readers see it from now on, all of it at once.

        Raises:
            IndexWriteError: Another writes by now.
            EngineError: The engine did not do it; readers see the one before.
        """
        if self._lease:
            self._lease.renew()
        name, actions = self.engine.address.name, list[dict[str, Any]]()
        for kind in KINDS:
            alias, old = alias_of(name, kind), index_of(name, "*", kind)
            actions += [
                {"remove": {"index": old, "alias": alias, "must_exist": False}},
                {"add": {"index": self.index(kind), "alias": alias}},
            ]
        body = {"actions": actions}
        self.engine.ask("POST", "/_aliases", body, seconds=_PUBLISHING_S, patient=True)


class Lease:
    """The right to write an index, renewed in the background until ``end``."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._path = engine, _meta(engine, "_doc/lease")
        self._who = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._mark: dict[str, str] = {}
        meta = alias_of(engine.address.name, "meta")
        if not engine.ask("GET", f"/{meta}", missing={}):
            _create(engine, meta, _META)
        self._take()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        held = self._engine.ask("GET", self._path, missing={"found": False})
        if held.get("found"):
            said = held["_source"]  # what names no end has ended
            left, who = float(said.get("until", 0)) - time.time(), str(said.get("who", "another"))
            # one for longer was taken while that machine's clock was ahead; a writer that lives
            # still sees, before it publishes, that it has it no more
            if 0 < left <= LEASE_S and not _is_gone(who):
                raise self._taken(who, left)
            self._mark = _mark(held)
        self._write()

    def _write(self) -> None:
        record = {"who": self._who, "until": time.time() + LEASE_S}
        params = self._mark or {"op_type": "create"}
        try:
            told = self._engine.ask("PUT", self._path, record, params, patient=True)
            self._mark = _mark(told)
        except EngineError as error:
            if status_of(error.__cause__) != 409:
                raise
            held = self._engine.ask("GET", self._path, missing={})
            who = held.get("_source", {}).get("who", "another")
            if who != self._who:  # else it was done, and the answer was lost on its way
                raise self._taken(who, LEASE_S) from error
            self._mark = _mark(held)

    def _taken(self, who: str, left: float) -> IndexWriteError:
        return IndexWriteError(
            f"{who} is writing the index at {self._engine.address}.",
            f"Wait until it is done; if it was killed, for {max(1, round(left))} s.",
        )

    def renew(self) -> None:
        """Keep the lease for as long again.

        Raises:
            IndexWriteError: Another has it.
        """
        with self._lock:
            self._write()

    def _keep(self) -> None:
        while not self._ended.wait(LEASE_S / 3):
            try:
                self.renew()
            except LexloopError:  # publishing asks again, and says what is wrong
                continue

    def end(self) -> None:
        """Give the right back."""
        self._ended.set()
        self._thread.join()
        with self._lock:
            try:
                self._engine.ask("DELETE", self._path, params=self._mark, missing={})
            except LexloopError:  # it ends by itself
                return


@contextmanager
def writing(engine: Engine, name: str = "") -> Iterator[Generation]:
    """Make a generation inside; one that is not published is removed, as are those nobody holds.

    Args:
        engine: Where.
        name: Of one that was begun before; empty for a new one.

    Raises:
        IndexWriteError: Another writes.
    """
    lease = Lease(engine)
    try:
        try:
            yield Generation(engine, name or _fresh_name(), lease)
        finally:
            _sweep(engine)
    finally:
        lease.end()


def _is_gone(who: str) -> bool:
    """Return whether a writer was a process of this machine that has ended."""
    said = re.fullmatch(rf"{re.escape(socket.gethostname())}:(\d{{1,9}}):\w+", who)
    if said is None:
        return False
    try:
        os.kill(int(said[1]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _fresh_name() -> str:
    return f"{datetime.now(UTC).strftime('%Y%m%dt%H%M%S')}-{secrets.token_hex(4)}"


def _sweep(engine: Engine) -> None:
    """Remove the generations that no alias names and nobody holds; the caller has the lease."""
    name = engine.address.name
    try:
        found = engine.ask("GET", f"/{index_of(name, '*', '*')}/_alias", missing={})
        meta = alias_of(name, "meta")
        engine.ask("POST", f"/{meta}/_refresh")
        held = engine.search(
            meta, {"size": 1000, "query": {"range": {"until": {"gt": time.time()}}}}
        )
        kept = {hit["_source"].get("generation") for hit in held}
        pattern = _pattern(name)
        for index, told in found.items():
            match = pattern.fullmatch(index)
            if match and not told["aliases"] and match[1] not in kept:
                engine.ask("DELETE", f"/{index}", missing={})
    except LexloopError:  # what is left is swept by the next writer
        return


def _create(engine: Engine, index: str, body: Any) -> None:
    try:
        engine.ask("PUT", f"/{index}", body, seconds=_CREATING_S, patient=True)
    except EngineError:
        if not engine.ask("GET", f"/{index}", missing={}):
            raise  # else it was done, and the answer was lost on its way, or another made it


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"lexloop-{re.escape(name)}\.(\d{{8}}t\d{{6}}-[0-9a-f]{{8}})\.\w+")


def _meta(engine: Engine, rest: str) -> str:
    return f"/{alias_of(engine.address.name, 'meta')}/{rest}"


def _mark(answer: dict[str, Any]) -> dict[str, str]:
    return {
        "if_seq_no": str(answer["_seq_no"]),
        "if_primary_term": str(answer["_primary_term"]),
    }
