"""``lexloop serve`` as a process of its own, on a free port of this machine."""

import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")
_DEADLINE_S = 30.0


class Serving:
    """A server with a data folder of its own; use it as a context manager.

    Args:
        folder: Where it keeps what it is given.
        options: Of ``lexloop serve``.
        settings: The text of its settings file; None for none.
        environ: Further variables.
    """

    def __init__(
        self,
        folder: Path,
        *options: str,
        settings: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.data = folder / "data"
        self._log = folder / "server.log"
        self._command = [sys.executable, "-m", "lexloop.apps.cli", "serve", "--port", "0", *options]
        if settings is not None:
            (folder / "server.toml").write_text(settings, "utf-8")
            self._command += ["--config", str(folder / "server.toml")]
        self._environ = {
            **os.environ,
            "LEXLOOP_DATA_DIR": str(self.data),
            "XDG_CONFIG_HOME": str(folder / "config"),
            **(environ or {}),
        }
        self.address = ""

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=log, env=self._environ, text=True
            )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := _ADDRESS.search(line):
                self.address = found[0]
                return self
        self.__exit__(None, None, None)
        raise AssertionError(f"The server did not start: {self.log}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def log(self) -> str:
        """What it wrote to standard error."""
        return self._log.read_text("utf-8", "replace")

    def get(self, path: str, key: str = "") -> Any:
        """Return what it answers to a GET, read as JSON."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        request = urllib.request.Request(f"{self.address}api/{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=_DEADLINE_S) as reply:
            return json.load(reply)


def person(name: str, key: str, **more: Any) -> str:
    """Return a person's table in a settings file."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    fields = {"name": name, "key_sha256": digest, **more}
    said = "\n".join(f"{field} = {json.dumps(value)}" for field, value in fields.items())
    return f"[[people]]\n{said}\n"
