"""Real nodes of Elasticsearch and OpenSearch, for the tests that are marked ``engines``.

``LEXLOOP_ENGINES`` names nodes that run: for each product an address without a name, apart by
blanks, ``elasticsearch://127.0.0.1:9261,127.0.0.1:9262 opensearch://127.0.0.1:9301``. Otherwise
``LEXLOOP_ENGINE_FILE`` names a script that starts some (``start PRODUCT FOLDER --nodes N --port P``
and ``stop FOLDER``). Without either the tests are skipped.
"""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

_ADDRESSES, FILE = "LEXLOOP_ENGINES", "LEXLOOP_ENGINE_FILE"
VARIABLES = frozenset({_ADDRESSES, FILE})
_TIMEOUT_S, _START_S = 30, 900


def _named() -> dict[str, str]:
    """The addresses that are given, by their products."""
    return {base.partition(":")[0]: base for base in os.environ.get(_ADDRESSES, "").split()}


PRODUCTS = tuple(_named()) or ("elasticsearch", "opensearch")
"""What the tests are run on: the products that are named, so that none of the others is skipped."""
ON_ENGINES = tuple(pytest.param(product, marks=pytest.mark.engines) for product in PRODUCTS)
"""Parameters for fixtures that are there once a product."""


class Clusters:
    """A cluster of each product, started when first asked for; use it as a context manager."""

    def __init__(self) -> None:
        self._bases = _named()
        self._started: list[Path] = []

    def __enter__(self) -> "Clusters":
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._started:
            engine_file("stop", str(folder))
            shutil.rmtree(folder)

    @contextmanager
    def fresh(self, product: str) -> Iterator[str]:
        """An address under which nothing is stored; what is stored there is removed at the end.

        Args:
            product: ``elasticsearch`` or ``opensearch``.
        """
        base = self._base(product)
        name = f"test-{uuid4().hex}"
        try:
            yield f"{base}/{name}"
        finally:
            for index in indexes(base, name):
                request(base, "DELETE", f"/{index}")

    def _base(self, product: str) -> str:
        if product not in self._bases:
            if not os.environ.get(FILE):
                pytest.skip(f"no nodes of {product}: neither {_ADDRESSES} nor {FILE} is set")
            self._bases[product] = self._start(product)
        return self._bases[product]

    def _start(self, product: str) -> str:
        # a folder that the user whom the nodes run as can enter, and downloads that outlast it
        folder = Path(tempfile.gettempdir()) / "lexloop-engines" / f"{product}-{os.getpid()}"
        port = free_port()
        self._started.append(folder)
        engine_file("start", product, str(folder), "--nodes", "1", "--port", str(port))
        return f"{product}://127.0.0.1:{port + 1}"


def indexes(base: str, name: str) -> list[str]:
    """The indexes in an engine whose names hold a name."""
    listed = request(base, "GET", "/_cat/indices?format=json&h=index&expand_wildcards=all")
    return sorted(one["index"] for one in listed if name in one["index"])


def request(base: str, method: str, path: str, body: Any = None) -> Any:
    """What the first node of an address answers, read as JSON.

    Args:
        base: The address; a name in it is ignored.
        method: Of HTTP.
        path: With its query.
        body: Sent as JSON unless it is None.
    """
    host = base.partition("://")[2].partition("/")[0].partition(",")[0]
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(f"http://{host}{path}", data, method=method)
    asked.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(asked, timeout=_TIMEOUT_S) as reply:
        return json.load(reply)


def engine_file(*arguments: str) -> None:
    """Run the script that starts engines."""
    command = [sys.executable, os.environ[FILE], *arguments]
    done = subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_START_S,
    )
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"


def free_port() -> int:
    """A port behind which a node's two ports are free."""
    while True:
        port = random.randrange(20_000, 30_000)
        if _is_free(port + 1) and _is_free(port + 101):
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) != 0
