"""Kills nodes of an engine while many ask and one writes, and counts what went wrong.

    python benchmarks/scale_faults.py opensearch --engine-file FILE --folder FOLDER [--port 9480]
        [--times 20] [--clients 32] [--deadline 10] [--json OUT]

FILE starts, kills and restarts nodes: ``start PRODUCT FOLDER --nodes 3 --port P``, ``kill FOLDER
N``, ``again FOLDER N``, ``stop FOLDER``. Two states of a folder of laws are pushed in turn under
one name; the clients search and read chunks within a deadline, each time through a view of its
own, and what comes is compared with what came of that state before anything was killed. Each kill
is a SIGKILL of one node, in turn, in the middle of both; the node is started again, and the next
is killed once every shard has its copy.

``partial`` are answers of which a loss was told; they are not compared. ``wrong`` are whole answers
that differ, ``late`` those beyond the deadline and half a second, ``outside`` errors that are not
of our tree; ``lost`` are pushes that were reported as done and are not there, ``doubled`` those in
which a chunk is missing or twice. The exit code is 1 where one of these five is not 0.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import LexloopError, hearing
from lexloop.core.metadata import Filters
from lexloop.core.running import Deadline, within
from lexloop.core.settings import Settings
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import MiniLM, load_minilm
from lexloop.store.engine.address import Storage
from lexloop.store.engine.client import engine_at
from lexloop.store.engine.moving import push_index
from lexloop.store.engine.store import EngineStore, open_engine
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.protocol import Store
from lexloop.store.view import Collection
from lexloop.store.writer import write_index

_LAWS, _SECTIONS, _LIMIT, _NODES, _SHARDS, _SHOWN = 24, 6, 10, 3, 2, 3
_SLACK_S, _THINK_S, _RUN_S, _DOWN_S, _HEALED_S = 0.5, 0.3, 3.0, 4.0, 180.0
_SUBJECTS = ("dog", "boat", "well", "market", "bridge", "school", "mill", "ferry")
_FAULTS = ("wrong", "late", "outside", "lost", "doubled")
QUESTIONS = [f"What is the {what} of a {of} licence?" for of in _SUBJECTS
             for what in ("fee", "penalty", "term")]  # fmt: skip
Answer = list[tuple[str, float, str]]


def main() -> None:
    """Kill, count and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("product", choices=("elasticsearch", "opensearch"))
    parser.add_argument("--engine-file", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, default=9480)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--deadline", type=float, default=10.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    nodes = Nodes(options.engine_file, options.folder)
    try:
        hosts = nodes.start(options.product, options.port)
        with tempfile.TemporaryDirectory() as place:
            faults = Faults(f"{options.product}://{hosts}/faults", Path(place), options.deadline)
            counts = faults.run(nodes, options.times, options.clients)
    finally:
        nodes("stop")
    print(json.dumps(counts, indent=2))
    if options.json:
        options.json.write_text(json.dumps(counts), encoding="utf-8")
    sys.exit(any(counts[name] for name in _FAULTS))


class Nodes:
    """The nodes, by the file that starts and kills them."""

    def __init__(self, file: Path, folder: Path) -> None:
        self._command, self._folder = [sys.executable, str(file)], str(folder)

    def __call__(self, verb: str, *arguments: str) -> str:
        """Return what a command printed."""
        command = [*self._command, verb, self._folder, *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def start(self, product: str, port: int) -> str:
        """Start them and return their hosts and ports, as an address has them."""
        sizes = ["--nodes", str(_NODES), "--port", str(port)]
        command = [*self._command, "start", product, self._folder, *sizes]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return ",".join(line.partition("://")[2] for line in told.split())


class Known:
    """An embedder of texts whose vectors are made before: the nodes need the processor."""

    def __init__(self, model: MiniLM, texts: list[str]) -> None:
        self.name, self.dimension, self.window = model.name, model.dimension, model.window
        self.encode, self.count_tokens = model.encode, model.count_tokens
        self.count_tokens_many = model.count_tokens_many
        self._made = dict(zip(texts, model.embed(texts), strict=True))

    def embed(self, texts: list[str]) -> Vectors:
        """Return the vectors of some of the texts, shape (texts, dimension)."""
        return np.stack([self._made[text] for text in texts])


class Faults:
    """One index, those who ask it, and who writes it.

    Args:
        address: Of the index.
        place: An empty folder.
        deadline_s: Of each question.
    """

    def __init__(self, address: str, place: Path, deadline_s: float) -> None:
        self._address, self._deadline_s = address, deadline_s
        self._model = load_minilm()
        self._known = Known(self._model, QUESTIONS)
        self._indexes = [_index(place / str(state), state, self._model) for state in range(2)]
        self._chunks = [self._chunks_in(open_folder(one, self._model)) for one in self._indexes]
        self.counts, self._errors, self._unpublished = (
            Counter[str](),
            Counter[str](),
            Counter[str](),
        )
        self._expected: list[list[Answer]] = []
        self._readers: list[tuple[int, EngineStore]] = []
        self._over = threading.Event()

    def run(self, nodes: Nodes, times: int, clients: int) -> dict[str, Any]:
        """Return the counts."""
        for state in range(2):
            self._push(state)
            contents = self._readers[-1][1]
            self._expected.append([self._answer(contents, question) for question in QUESTIONS])
        threads = [threading.Thread(target=self._ask, args=(n,)) for n in range(clients)]
        threads.append(threading.Thread(target=self._write))
        for thread in threads:
            thread.start()
        kills, longest = 0, 0.0
        try:
            for kill in range(times):
                self._over.wait(_RUN_S)
                nodes("kill", str(kill % _NODES + 1))
                kills, began = kills + 1, time.monotonic()
                self._over.wait(_DOWN_S)
                nodes("again", str(kill % _NODES + 1))
                self._healed()
                longest = max(longest, time.monotonic() - began)
                print(kills, dict(self.counts), dict(self._errors), file=sys.stderr, flush=True)
        finally:
            self._over.set()
            for thread in threads:
                thread.join()
        return {
            "kills": kills,
            **{
                name: self.counts[name]
                for name in ("asked", "whole", "partial", "refused", *_FAULTS)
            },
            "errors": dict(self._errors),
            "published": self.counts["published"],
            "not_published": dict(self._unpublished),
            "longest_s": round(longest, 1),
        }

    def _healed(self) -> None:
        """Wait until every shard has its copy again."""
        end = time.monotonic() + _HEALED_S
        path = "/_cluster/health"
        while time.monotonic() < end:
            try:
                if engine_at(self._address).ask("GET", path)["status"] == "green":
                    return
            except LexloopError:
                pass
            self._over.wait(_THINK_S)
        raise TimeoutError(f"{self._address} is not whole after {_HEALED_S:.0f} s")

    def _answer(self, contents: EngineStore, question: str) -> Answer:
        view = Collection(contents, embedder=self._known).seen_by(Filters())
        words, vectors = view.search([question], _LIMIT)
        hits = [*words[0], *vectors[0]]
        chunks = view.chunks([hit.chunk_id for hit in hits])
        return [(hit.chunk_id, round(hit.score, 3), chunk["text"])
                for hit, chunk in zip(hits, chunks, strict=True)]  # fmt: skip

    def _ask(self, client: int) -> None:
        number = client
        while not self._over.wait(_THINK_S):
            number = (number + 7) % len(QUESTIONS)
            state, contents = self._readers[-1]
            began, limit = time.monotonic(), self._deadline_s
            outcome = "outside"
            try:
                with hearing() as told, within(Deadline(began + limit, limit)):
                    answer = self._answer(contents, QUESTIONS[number])
                right = answer == self._expected[state][number]
                outcome = "partial" if told else "whole" if right else "wrong"
            except LexloopError as error:
                outcome = "refused"
                self._count(self._errors, error)
            finally:
                self.counts["asked"] += 1
                self.counts[outcome] += 1
                self.counts["late"] += time.monotonic() - began > limit + _SLACK_S

    @staticmethod
    def _count(errors: Counter[str], error: LexloopError) -> None:
        name = type(error).__name__
        errors[name] += 1
        if errors[name] <= _SHOWN:
            print(f"{name}: {error}", file=sys.stderr, flush=True)

    def _write(self) -> None:
        state = 0
        while not self._over.wait(_THINK_S):
            try:
                self._push(state)
            except LexloopError as error:
                self._count(self._unpublished, error)
                continue
            state = 1 - state

    def _push(self, state: int) -> None:
        """Push a state, look whether it is there, and let the clients ask it."""
        push_index(
            self._indexes[state], self._address, self._model, storage=Storage(shards=_SHARDS)
        )
        self.counts["published"] += 1
        contents, found = self._read_back()
        expected = self._chunks[state]
        self.counts["lost"] += found.keys() != expected.keys()
        self.counts["doubled"] += found.total() != expected.total()
        self._readers.append((state, contents))
        if len(self._readers) > 3:  # the clients have long finished what they asked of it
            self._readers.pop(0)[1].close()

    def _read_back(self) -> tuple[EngineStore, Counter[tuple[str, str]]]:
        """Return what is published by now; asked for until it can be read."""
        end = time.monotonic() + _HEALED_S
        while True:
            try:
                contents = open_engine(self._address, self._model)
                return contents, self._chunks_in(contents)
            except LexloopError:
                if time.monotonic() > end:
                    raise
                self._over.wait(_THINK_S)

    def _chunks_in(self, contents: Store) -> Counter[tuple[str, str]]:
        """Return the chunks of an index with their texts."""
        view = Collection(contents, embedder=self._known).seen_by(Filters())
        return Counter((chunk["id"], chunk["text"]) for chunk in view.every_chunk())


def _index(folder: Path, state: int, model: MiniLM) -> Path:
    """Make the index of one of the two states and return its folder."""
    (folder / "laws").mkdir(parents=True)
    for law in range(_LAWS):
        of = _SUBJECTS[law % len(_SUBJECTS)]
        text = f"{of.title()} Licence Act {law}\n"
        for number in range(1, _SECTIONS + 1):
            fee = 100 * state + 10 * law + number
            what = ("fee", "penalty", "term")[number % 3]
            text += f"\nSection {number}. The {what} of a {of} licence is {fee} of {law}.\n"
        (folder / "laws" / f"{law}.txt").write_text(text, encoding="utf-8")
    write_index(folder / "index", [IndexSource(str(folder / "laws"))], tools_for(Settings(), model))
    return folder / "index"


if __name__ == "__main__":
    main()
