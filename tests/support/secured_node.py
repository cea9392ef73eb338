"""A node of Elasticsearch that lets nobody in without credentials.

``LEXLOOP_ENGINE_FILE`` names the script that starts it, as for the tests of ``engines``. The small
distribution has security, but not the analysis that its index of users and keys is made with:
``secured/Analysis.java`` stands in for that, so the plugin is put there before the node starts.
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from engines import FILE, engine_file, free_port

_SOURCE = Path(__file__).parent / "secured" / "Analysis.java"
_USER, _PASSWORD = "admin", "correct horse battery"
_TIMEOUT_S = 120


@dataclass(frozen=True)
class SecuredNode:
    """The node.

    Args:
        host: Its host and port.
    """

    host: str

    def key(self, cluster: Sequence[str], indexes: Mapping[str, Sequence[str]]) -> str:
        """An API key, as the engine encodes it.

        Args:
            cluster: What it may do beyond indexes.
            indexes: What it may do in the indexes of a name.
        """
        named = [{"names": [name], "privileges": [*may]} for name, may in indexes.items()]
        role = {"cluster": [*cluster], "indices": named}
        made = self.ask(
            "POST", "/_security/api_key", {"name": "k", "role_descriptors": {"r": role}}
        )
        return str(made["encoded"])

    def user(self, name: str, password: str) -> None:
        """A person who may do everything."""
        who = {"password": password, "roles": ["superuser"]}
        self.ask("POST", f"/_security/user/{name}", who)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What the node answers to whoever may do everything."""
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"http://{self.host}{path}", data, method=method)
        asked.add_header("Content-Type", "application/json")
        told = base64.b64encode(f"{_USER}:{_PASSWORD}".encode()).decode()
        asked.add_header("Authorization", f"Basic {told}")
        with urllib.request.urlopen(asked, timeout=_TIMEOUT_S) as reply:
            return json.load(reply)


@contextmanager
def secured_node() -> Iterator[SecuredNode]:
    """A node that ends with the block, and everything of it."""
    if not os.environ.get(FILE):
        pytest.skip(f"no node with security: {FILE} is not set")
    # beside it lies a distribution of its own, with the plugin
    place = Path(tempfile.gettempdir()) / f"lexloop-secured-{os.getpid()}"
    folder, port = place / "node", free_port()
    start = ("start", "elasticsearch", str(folder), "--port", str(port))
    try:
        engine_file(*start, "--nodes", "0")
        plan = json.loads((folder / "plan.json").read_text())
        _prepare(Path(plan["dist"]), Path(plan["java"]) / "bin" / "javac", place)
        # the script asks for the node's health without credentials
        role = "xpack.security.authc.anonymous.roles=remote_monitoring_collector"
        secured = ("--set", "xpack.security.enabled=true", "--set", role)
        engine_file(*start, "--nodes", "1", *secured)
        yield SecuredNode(f"127.0.0.1:{port + 1}")
    finally:
        engine_file("stop", str(folder))
        shutil.rmtree(place)


def _prepare(distribution: Path, javac: Path, work: Path) -> None:
    """Give a distribution the plugin, and somebody who may do everything."""
    (distribution / "config" / "users").write_text(f"{_USER}:{_PASSWORD}\n")
    (distribution / "config" / "users_roles").write_text(f"superuser:{_USER}\n")
    classes, plugin = work / "classes", distribution / "plugins" / "analysis"
    plugin.mkdir()
    subprocess.run(
        [javac, "-cp", distribution / "lib" / "*", "-d", classes, _SOURCE],
        check=True,
        timeout=_TIMEOUT_S,
    )
    with zipfile.ZipFile(plugin / "analysis.jar", "w") as jar:
        for file in classes.iterdir():
            jar.write(file, file.name)
    version = distribution.name.rpartition("-")[2]
    described = {
        "name": "analysis",
        "description": "for tests",
        "version": "1",
        "classname": "Analysis",
        "java.version": "21",
        "elasticsearch.version": version,
    }
    lines = (f"{name}={value}\n" for name, value in described.items())
    (plugin / "plugin-descriptor.properties").write_text("".join(lines))
