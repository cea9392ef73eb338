"""Publishing to an engine: one writer at a time, and nothing lost."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from engines import indexes, request
from fake_engine import FakeEngine
from indexes import ANYBODY, Letters, letter_tools, sources
from scripted_engine import Said, ScriptedEngine, passed_on_to

from lexloop.core.errors import DataError, EngineUnavailable, IndexWriteError, OutdatedIndexError
from lexloop.documents.text.tokens import stemmer_name
from lexloop.store import manifest
from lexloop.store.address import Address
from lexloop.store.manifest import FORMAT
from lexloop.store.view import Collection
from lexloop.store.writer import write_index
from lexloop_engines.engine import store as reading
from lexloop_engines.engine.client import Engine, engine_at
from lexloop_engines.engine.generation import Lease, alias_of, index_of, published
from lexloop_engines.engine.moving import push_index
from lexloop_engines.engine.schema import MANIFEST_ID, key_of
from lexloop_engines.engine.store import open_engine


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The indexes of an old act and of a new one."""
    place = tmp_path_factory.mktemp("laws")
    return _index(place / "old", "old"), _index(place / "new", "new")


def _index(folder: Path, name: str) -> Path:
    (folder / "laws").mkdir(parents=True)
    text = f"The {name} act\n\nSection 1. Fee. The {name} fee is 3 dollars.\n"
    (folder / "laws" / f"{name}.txt").write_text(text)
    write_index(folder / "index", sources(folder / "laws"), letter_tools())
    return folder / "index"


@pytest.fixture
def between(engine_address: str) -> Iterator[ScriptedEngine]:
    """What stands between a writer and the engine."""
    with ScriptedEngine() as running:
        running.script(passed_on_to(_host(engine_address)))
        yield running


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0].partition(",")[0]


def _by_way_of(between: ScriptedEngine, address: str) -> str:
    product, name = address.partition("://")[0], address.rpartition("/")[2]
    return f"{product}://{between.host}/{name}"


def _documents(address: str) -> list[str]:
    with closing(open_engine(address, Letters())) as contents:
        return list(contents.catalogue.names)


def _generations(address: str) -> set[str]:
    name = address.rpartition("/")[2]
    return {one.split(".")[1] for one in indexes(address, name)} - {"meta"}


def _end_lease(address: str) -> None:
    """As a minute later."""
    _put_lease(address, "a host:1:2", time.time() - 1)


def _put_lease(address: str, who: str, until: float) -> None:
    path = f"/{alias_of(address.rpartition('/')[2], 'meta')}/_doc/lease"
    request(address, "PUT", path, {"who": who, "until": until})


class Cut:
    """Passes requests on until one to a path, and none from there on."""

    def __init__(self, host: str, path: str) -> None:
        self._pass_on, self._path, self._whole = passed_on_to(host), path, True

    def __call__(self, method: str, path: str, body: str, kind: str) -> Said:
        self._whole &= self._path not in path
        return self._pass_on(method, path, body, kind) if self._whole else Said(0)


class Lossy:
    """Passes requests on, and loses the answer to the first one that writes to a path."""

    def __init__(self, host: str, path: str) -> None:
        self._pass_on, self._path, self._whole = passed_on_to(host), path, True

    def __call__(self, method: str, path: str, body: str, kind: str) -> Said:
        said = self._pass_on(method, path, body, kind)
        if self._whole and self._path in path and method != "GET":
            self._whole = False
            return Said(0)
        return said


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("cut_at", ["/_bulk", "/_aliases"])
def test_a_network_that_is_cut_while_publishing_leaves_what_was_there(
    engine_address: str, between: ScriptedEngine, laws: tuple[Path, Path], cut_at: str
) -> None:
    old, new = laws
    push_index(old, engine_address, Letters())
    between.script(Cut(_host(engine_address), cut_at))
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        push_index(new, _by_way_of(between, engine_address), Letters())
    assert _documents(engine_address) == ["old.txt"]
    assert len(_generations(engine_address)) == 2
    with pytest.raises(IndexWriteError, match=r"is writing the index.*killed, for [456]\d s"):
        push_index(new, engine_address, Letters())
    _end_lease(engine_address)
    push_index(new, engine_address, Letters())
    assert _documents(engine_address) == ["new.txt"]
    assert len(_generations(engine_address)) == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("cut_at", ["/_bulk", "/_aliases"])
def test_an_answer_that_is_lost_does_no_harm(
    engine_address: str, between: ScriptedEngine, laws: tuple[Path, Path], cut_at: str
) -> None:
    host = _host(engine_address)
    between.script(Lossy(host, cut_at))
    told = push_index(laws[0], _by_way_of(between, engine_address), Letters())
    with closing(open_engine(engine_address, Letters())) as contents:
        assert list(contents.catalogue.names) == ["old.txt"]
        assert contents.statistics((), None).chunks == told["chunks"]
        assert len(contents.triplets) == told["triplets"]
    assert len(_generations(engine_address)) == 1


@pytest.mark.parametrize(("host", "waits"), [(socket.gethostname(), False), ("another", True)])
def test_the_right_of_a_writer_that_was_killed_here_is_free_at_once(
    engine_address: str, laws: tuple[Path, Path], host: str, waits: bool
) -> None:
    push_index(laws[0], engine_address, Letters())
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    _put_lease(engine_address, f"{host}:{ended.pid}:0", time.time() + 50)
    if waits:
        with pytest.raises(IndexWriteError, match=rf"another:{ended.pid}:0 is writing"):
            push_index(laws[1], engine_address, Letters())
    else:
        push_index(laws[1], engine_address, Letters())
        assert _documents(engine_address) == ["new.txt"]


def test_a_right_that_was_taken_while_a_clock_was_ahead_locks_nobody_out(
    engine_address: str, laws: tuple[Path, Path]
) -> None:
    push_index(laws[0], engine_address, Letters())
    _put_lease(engine_address, "another:1:0", time.time() + 10 * 365 * 86_400)
    push_index(laws[1], engine_address, Letters())
    assert _documents(engine_address) == ["new.txt"]


def test_what_a_reader_holds_stays_until_it_is_released(
    engine_address: str, laws: tuple[Path, Path]
) -> None:
    old, new = laws
    push_index(old, engine_address, Letters())
    with closing(Collection(open_engine(engine_address, Letters()))) as reader:
        push_index(new, engine_address, Letters())
        assert len(_generations(engine_address)) == 2
        (chunk,) = reader.seen_by(ANYBODY).every_chunk()
        assert "The old fee" in chunk["text"]
    push_index(new, engine_address, Letters())
    assert len(_generations(engine_address)) == 1


def test_an_index_of_another_make_is_refused(
    engine_address: str, laws: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    push_index(laws[0], engine_address, Letters())
    with pytest.raises(DataError, match=r"letters.*others|others.*letters"):
        open_engine(engine_address, Letters("others"))
    with monkeypatch.context() as patched:
        for module in (reading, manifest):
            patched.setattr(module, "stemmer_name", lambda: "another 2.0")
        with pytest.raises(OutdatedIndexError, match=rf"{stemmer_name()}, this is .*another 2\.0"):
            open_engine(engine_address, Letters())
    with monkeypatch.context() as patched:
        patched.setattr(manifest, "FORMAT", FORMAT + 1)
        with pytest.raises(DataError, match=rf"has format {FORMAT}, this is {FORMAT + 1}\."):
            open_engine(engine_address, Letters())


@pytest.mark.parametrize("damaged", [{"statistics": {"chunks": 1}}, {"manifest": {}}])
def test_an_index_whose_record_is_damaged_is_refused(
    engine_address: str, laws: tuple[Path, Path], damaged: dict[str, Any]
) -> None:
    push_index(laws[0], engine_address, Letters())
    generation = published(engine_at(engine_address))
    documents = index_of(engine_address.rpartition("/")[2], generation, "documents")
    path = f"/{documents}/_doc/{key_of(MANIFEST_ID)}?refresh=true"
    record = {**open_engine(engine_address, Letters()).about, **damaged}
    request(engine_address, "PUT", path, {"record": record})
    with pytest.raises(DataError, match=r"damaged: .* Push it again\.$|cannot be read"):
        open_engine(engine_address, Letters())


@pytest.mark.parametrize(("left", "taken"), [(-1.0, True), (50.0, False), (3e8, True)])
def test_a_lease_for_longer_than_there_are_locks_nobody_out(left: float, taken: bool) -> None:
    """One for ten years was taken by a machine whose clock was ahead."""
    held = {"who": "another:1:0", "until": time.time() + left}
    found = {"found": True, "_source": held, "_seq_no": 4, "_primary_term": 2}
    with FakeEngine() as fake:
        fake.answers |= {
            "/lexloop-laws.meta": (200, {"lexloop-laws.meta": {}}),
            "/lexloop-laws.meta/_doc/lease": (200, found),
        }
        engine = Engine(Address.parse(f"{fake.base}/laws"), {})
        if not taken:
            with pytest.raises(IndexWriteError, match="another:1:0 is writing the index"):
                Lease(engine)
            return
        Lease(engine).end()
        writes = [path for method, path, _ in fake.requests if method == "PUT"]
        assert len(writes) == 1
        assert "if_seq_no=4" in writes[0]  # a writer that lives is not overwritten unseen
