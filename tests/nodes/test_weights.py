"""Logistic regressions as they are kept: by hand, and what is refused."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from lexloop.core.errors import DataError
from lexloop.nodes import weights
from lexloop.nodes.weights import Weights, load_weights


@dataclass(frozen=True)
class Two:
    """Two features."""

    near: float
    far: float


EVEN = {"near": 1.0, "far": -2.0}


@pytest.fixture
def judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the weights are looked up for one test."""
    (tmp_path / "judges").mkdir()
    monkeypatch.setattr(weights.resources, "files", lambda _: tmp_path)
    load_weights.cache_clear()
    return tmp_path / "judges"


@pytest.mark.parametrize(
    "content",
    [
        None,
        b'{"part": {"intercept": 1, "weights": {"near": 1}}}',
        json.dumps({"part": {"intercept": 1, "weights": {**EVEN, "far": "x"}}}).encode(),
    ],
)
def test_weights_that_cannot_be_used(judges: Path, content: bytes | None) -> None:
    if content is not None:
        (judges / "broken.json").write_bytes(content)
    with pytest.raises(DataError, match=r"broken\.json cannot be read") as raised:
        load_weights("judges/broken.json", "part", Two)
    assert raised.value.hint == "Reinstall lexloop."


def test_weights_without_names_are_counted(judges: Path) -> None:
    kept = {"part": {"intercept": 0.5, "weights": [1, -2.0, 0]}, "named": {"weights": EVEN}}
    (judges / "plain.json").write_text(json.dumps(kept), encoding="utf-8")
    plain = load_weights("judges/plain.json", "part", 3)
    assert plain == Weights(0.5, (1.0, -2.0, 0.0))
    assert plain.logit([1.0, 1.0, 9.0]) == -0.5
    for part, features in (("part", 2), ("part", Two), ("named", 2)):
        with pytest.raises(DataError, match="not for"):
            load_weights("judges/plain.json", part, features)
