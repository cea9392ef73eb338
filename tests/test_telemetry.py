"""Libraries that report usage are told not to before they are loaded, however Lexloop is used."""

import os
import subprocess
import sys

import pytest

QUIET = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DISABLE_SAFETENSORS_CONVERSION")
ENTRIES = ("lexloop.apps.cli.main", "lexloop.core.workers")


def told(module: str, **environ: str) -> list[str]:
    """What the variables are once a module of Lexloop is imported, in a process of its own."""
    code = f"import os, {module}; print(*(os.environ.get(n) for n in {QUIET}))"
    kept = {name: value for name, value in os.environ.items() if name not in QUIET}
    environment = {**kept, **environ}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("module", ENTRIES)
def test_every_entry_tells_them(module: str) -> None:
    assert told(module) == ["1", "1", "1"]


def test_who_has_decided_keeps_it() -> None:
    assert told("lexloop", ORT_DISABLE_TELEMETRY="0") == ["0", "1", "1"]
