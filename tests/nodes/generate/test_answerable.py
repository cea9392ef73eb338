"""Whether the passages answer: signs by hand, and the shipped weights."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from lexloop.core.errors import DataError
from lexloop.core.types import Passage
from lexloop.corpus.index.view import View
from lexloop.nodes.generate import answerable as module
from lexloop.nodes.generate.answerable import Signs, answerable, read_signs
from lexloop.nodes.generate.selection import gather
from lexloop.nodes.relevance import understand

Passages = Callable[..., list[Passage]]
NONE = Signs(*[0.0] * len(fields(Signs)))


@pytest.fixture
def signs(small: View, passages: Passages) -> Callable[..., Signs]:
    def read(question: str, *sections: str) -> Signs:
        asked = understand(question, small)
        scored = gather(asked, passages(*sections), small)
        assert scored is not None
        return read_signs(asked, scored, small)

    return read


def test_signs_of_a_plain_question(signs: Callable[..., Signs]) -> None:
    found = signs("When must the owner pay the mooring fee?", "§ 10-2")
    assert found.closest > 0.7
    assert found.covered == found.together == 1.0
    assert found.unknown == found.foreign == found.undefined == found.lacking == 0.0
    assert (found.vague, found.several) == (0.0, 0.0)
    assert found.length == 0.5  # must, owner, pay, moor, fee


@pytest.mark.parametrize(
    ("question", "sign", "value"),
    [
        ("What is the mooring fee in Chicago?", "foreign", 1.0),
        ("What is the mooring fee in chicago?", "foreign", 0.0),
        ("What does § 99-7 require of a boat owner?", "foreign", 1.0),
        ("What does § 10-2 require of a boat owner?", "foreign", 0.0),
        ("What does the Document say about a boat owner?", "foreign", 0.0),
        ("What is the mooring fee of a zeppelin?", "unknown", 1 / 3),
        ("Which zeppelins, dirigibles, gliders and kites pay?", "unknown", 1.0),
        ('What does "net tonnage" mean?', "undefined", 1.0),
        ("What does 'berth' mean?", "undefined", 0.0),
        ("What is the phone number of the harbour master?", "lacking", 1.0),
        ("How much is the fee?", "lacking", 0.0),
        ("What is it?", "vague", 1.0),
        ("Who pays the fee, and when is a berth free?", "several", 1.0),
    ],
)
def test_each_sign(signs: Callable[..., Signs], question: str, sign: str, value: float) -> None:
    assert getattr(signs(question), sign) == pytest.approx(value)


@pytest.mark.parametrize("question", ["?", ";", "and what", "🙂", "§", "\x00", "a" * 3000])
def test_signs_of_any_text_lie_in_their_range(signs: Callable[..., Signs], question: str) -> None:
    found = signs(question)
    for field in fields(Signs):
        assert -1.0 <= getattr(found, field.name) <= 2.0
    assert 0.0 <= answerable(found) <= 1.0


def shipped() -> dict[str, dict[str, float]]:
    path = Path(__file__).parents[3] / "data" / "answerable" / "weights.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_shipped_weights_give_a_probability() -> None:
    stored = shipped()
    assert set(stored["weights"]) == {field.name for field in fields(Signs)}
    intercept = float(stored["intercept"])
    assert answerable(NONE) == pytest.approx(1 / (1 + math.exp(-intercept)))
    by_hand = intercept + 0.5 * stored["weights"]["closest"] + stored["weights"]["several"]
    found = replace(NONE, closest=0.5, several=1.0)
    assert answerable(found) == pytest.approx(1 / (1 + math.exp(-by_hand)))


def test_what_speaks_against_an_answer_has_a_negative_weight() -> None:
    weights = shipped()["weights"]
    assert all(weights[name] < 0 for name in ("unknown", "foreign", "undefined", "lacking"))
    assert all(weights[name] > 0 for name in ("closest", "score", "covered"))


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the weights are looked up for one test."""
    (tmp_path / "answerable").mkdir()
    monkeypatch.setattr(module.resources, "files", lambda _: tmp_path)
    module._weights.cache_clear()
    yield tmp_path / "answerable" / "weights.json"
    module._weights.cache_clear()


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"intercept": 1}',
        b'{"intercept": 1, "weights": {"closest": 1}}',
        b'{"intercept": 1, "weights": 5}',
        json.dumps({"intercept": 1, "weights": dict.fromkeys(vars(NONE), "x")}).encode(),
        json.dumps({"intercept": None, "weights": dict.fromkeys(vars(NONE), 1)}).encode(),
        json.dumps({"intercept": 1, "weights": dict.fromkeys(vars(NONE), float("nan"))}).encode(),
        json.dumps({"intercept": float("inf"), "weights": dict.fromkeys(vars(NONE), 1)}).encode(),
    ],
)
def test_damaged_weights_are_refused(data_folder: Path, content: bytes | None) -> None:
    if content is not None:
        data_folder.write_bytes(content)
    with pytest.raises(DataError, match="answerability weights"):
        answerable(NONE)
