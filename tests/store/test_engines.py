"""Without lexloop-engines an address and a cluster say what to install."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexloop.core import packages
from lexloop.core.errors import InputError
from lexloop.store.engines import clusters, engines_for
from lexloop.store.opening import corpus_stamp, sources_of

ADDRESS = "opensearch+tls://127.0.0.1:9/laws"
BOTH_WAYS = ('pip install "lexloop[engines]"', "pip install ./packages/engines")


@pytest.fixture(autouse=True)
def _nothing_is_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "brought", lambda group: {})


@pytest.mark.parametrize("asks", [engines_for, corpus_stamp, sources_of, lambda _: clusters()])
def test_what_to_install_is_said(asks: Callable[[str], object]) -> None:
    with pytest.raises(InputError) as caught:
        asks(ADDRESS)
    assert all(way in caught.value.hint for way in BOTH_WAYS)


def test_commands_say_it_too(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "laws").mkdir()
    (tmp_path / "laws" / "law.txt").write_text("Dogs must wear a collar.", "utf-8")
    folder, index = str(tmp_path / "laws"), str(tmp_path / "index")
    for command in (
        ("ask", "Why?", "--corpus", ADDRESS),
        ("index", folder, "--out", ADDRESS),
        ("index", folder, "--out", index, "--cluster", "auto"),
        ("index", "pull", ADDRESS, index),
        ("index", "verify", ADDRESS),
    ):
        told = run(*command)
        assert told.exit_code == 2, command
        assert "lexloop[engines]" in told.stderr, command
