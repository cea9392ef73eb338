"""``lexloop index --cluster``, as the commands of people who have a cluster."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_openai import KEY, FakeOpenAI, Reply
from indexes import content
from ray_cluster import running

from lexloop.models.minilm import load_shipped
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import Manifest

pytest.importorskip("ray", reason="the extra ray is not installed")

Run = Callable[..., Any]
CLIENT_PORT = random.randrange(24_000, 32_000)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    os.environ["LEXLOOP_API_KEY"] = KEY  # machines of a cluster have keys of their own
    with running(client_port=CLIENT_PORT) as made:
        yield made.address
    del os.environ["LEXLOOP_API_KEY"]


@pytest.fixture
def command(cluster: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``lexloop index``, which is a driver of its own."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            _command(cluster, *arguments),
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def _command(cluster: str, *arguments: object) -> list[str]:
    module = [sys.executable, "-m", "lexloop.apps.cli", "index"]
    return [*module, *map(str, arguments), "--cluster", cluster]


def laws(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        paragraphs = (
            f"§ {number}-{part} Berths. The owner of berth {number} must pay fee {part} in time."
            for part in range(1, 30)
        )
        (folder / f"act-{number:03}.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")
    return folder


def kept_when_killed(cluster: str, folder: Path, out: Path, count: int) -> dict[Path, int]:
    """Kill a driver that has kept so many files; their times of writing."""
    asked = _command(cluster, folder, "--out", out)
    with subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as driver:
        deadline = time.monotonic() + 90
        while len([*out.glob("staging/*/*.kept")]) < count and time.monotonic() < deadline:
            assert driver.poll() is None, driver.communicate()[1].decode()
            time.sleep(0.02)
        driver.kill()
    return {path: path.stat().st_mtime_ns for path in out.glob("staging/*/*.kept")}


def test_a_killed_driver_goes_on_where_it_was(
    run: Run, cluster: str, command: Any, tmp_path: Path
) -> None:
    folder, here, there = laws(tmp_path / "laws", 40), tmp_path / "here", tmp_path / "there"
    first = kept_when_killed(cluster, folder, there, 8)
    second = kept_when_killed(cluster, folder, there, 16)
    assert 8 <= len(first) < len(second) < 40
    assert {path: second[path] for path in first} == first  # nothing is made twice
    done = command(folder, "--out", there, "--json")
    assert done.returncode == 0, done.stderr
    assert not (there / "staging").exists()
    run("index", str(folder), "--out", str(here))
    one, other = content(here, load_shipped()), content(there, load_shipped())
    assert one.pop("vectors")
    assert other.pop("vectors")  # the same within half precision, as below
    assert other == one
    opened = (closing(open_folder(index, load_shipped())) for index in (here, there))
    with next(opened) as a, next(opened) as b:
        assert np.abs(a.dense.vectors - b.dense.vectors).max() < 2e-3


def test_a_driver_that_is_no_machine_of_the_cluster(cluster: str, run: Run, tmp_path: Path) -> None:
    folder, here, there = laws(tmp_path / "laws", 3), tmp_path / "here", tmp_path / "there"
    asked = _command(f"ray://127.0.0.1:{CLIENT_PORT}", folder, "--out", there, "--json")
    made = subprocess.run(asked, capture_output=True, text=True, timeout=240, check=False)
    assert made.returncode == 0, made.stderr
    run("index", str(folder), "--out", str(here))
    assert Manifest.read(there).counts == Manifest.read(here).counts
    assert Manifest.read(there).fingerprints == Manifest.read(here).fingerprints


def test_what_it_costs_is_told_first_and_all_workers_stop_at_the_limit(
    command: Any, server: FakeOpenAI, tmp_path: Path
) -> None:
    folder, out = laws(tmp_path / "laws", 6), tmp_path / "index"
    server.otherwise = Reply('{"triplets": []}')
    by_model = ["--model", "openai:scripted", "--base-url", server.base_url]
    by_model += ["--set", "index.triplets=model", "--price-in", "0", "--price-out", "1000000"]
    known = {"LEXLOOP_API_KEY": KEY}
    told = command(folder, "--out", out, *by_model, "--dry-run", "--json", **known)
    report = json.loads(told.stdout)
    assert report["documents"] == 6
    assert report["cost_usd"] == 300 * report["model_calls"]
    assert server.requests == []
    stopped = command(folder, "--out", out, *by_model, "--max-cost", "1000", **known)
    assert stopped.returncode == 2
    assert f"asks the model {report['model_calls']} times, for about ${report['cost_usd']}" in (
        " ".join(stopped.stderr.split())
    )
    assert "above the limit of $1000.0000" in " ".join(stopped.stderr.split())
    assert 7 * len(server.requests) + 300 <= 1000  # a reply has 7 tokens, and 300 are expected


def test_a_store_needs_a_cluster_and_a_cluster_has_to_be_there(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("A note.", encoding="utf-8")
    index = ("--out", str(tmp_path / "index"))
    refused = run("index", str(tmp_path), *index, "--cluster", "127.0.0.1:9")
    assert refused.exit_code == 14
    assert "No cluster answers at 127.0.0.1:9" in refused.stderr
    refused = run("index", "memory://bucket/laws", *index)
    assert refused.exit_code == 4
    assert not (tmp_path / "index").exists()
