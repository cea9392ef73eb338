"""The shipped classifier and its features."""

import csv
import dataclasses
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import DataError
from lexloop.nodes.classify import (
    BUCKETS,
    FAMILIES,
    FILE_NAME,
    LinearClassifier,
    bags,
    bucket,
    measures,
)

# Any code points, lone surrogates too: a terminal can hand them over.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


def test_bucket_is_the_low_half_of_the_published_crc_32() -> None:
    # The check value of CRC-32 for "123456789" is CBF43926.
    assert bucket("123456789") == 0x3926
    assert bucket("") == 0


@given(ANY_TEXT)
def test_every_text_has_finite_features(text: str) -> None:
    found = bags(text)
    assert tuple(found) == FAMILIES
    for buckets, counts in found.values():
        assert (np.diff(buckets) > 0).all()
        assert ((buckets >= 0) & (buckets < BUCKETS)).all()
        assert (counts >= 1.0).all()
    assert np.isfinite(measures(text)).all()


SHIPPED = Path(str(files("lexloop.data"))) / "classifier"


@pytest.fixture(scope="module")
def shipped() -> LinearClassifier:
    return LinearClassifier.load(SHIPPED)


def test_saved_is_loaded_again(shipped: LinearClassifier, tmp_path: Path) -> None:
    shipped.save(tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").iterdir()] == [FILE_NAME]
    again = LinearClassifier.load(tmp_path / "new")
    for field in dataclasses.fields(again):
        assert (getattr(again, field.name) == getattr(shipped, field.name)).all()
    assert again.probabilities("who?", 3) == shipped.probabilities("who?", 3)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(DataError, match="cannot be read"):
        LinearClassifier.load(tmp_path)


def test_a_pickled_array_is_refused(tmp_path: Path) -> None:
    with np.load(SHIPPED / FILE_NAME) as stored:
        arrays = dict(stored)
    arrays["bias"] = np.array([{"not": "numbers"}], dtype=object)
    np.savez(tmp_path / FILE_NAME, allow_pickle=True, **arrays)
    with pytest.raises(DataError, match="cannot be read"):
        LinearClassifier.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("bias", np.zeros((3, 2)), r"bias of shape \(3, 2\); \(2, 3\) is needed"),
        ("bias", np.full((2, 3), np.nan), "no finite numbers"),
        ("format", np.array([99]), "format 99; this version reads 1"),
    ],
)
def test_wrong_content_is_refused(
    tmp_path: Path, name: str, value: np.ndarray, message: str
) -> None:
    with np.load(SHIPPED / FILE_NAME) as stored:
        arrays = dict(stored)
    np.savez(tmp_path / FILE_NAME, allow_pickle=False, **(arrays | {name: value}))
    with pytest.raises(DataError, match=message):
        LinearClassifier.load(tmp_path)


@given(ANY_TEXT)
def test_shares_sum_to_one_and_are_repeatable(text: str) -> None:
    classifier = _loaded()
    for classes in (2, 3):
        shares = classifier.probabilities(text, classes)
        assert sum(shares) == pytest.approx(1.0)
        assert shares == classifier.probabilities(text, classes)


_CACHE: list[LinearClassifier] = []


def _loaded() -> LinearClassifier:
    # hypothesis does not take function-scoped fixtures, and loading each time would be slow.
    if not _CACHE:
        _CACHE.append(LinearClassifier.load(SHIPPED))
    return _CACHE[0]


def test_classifying_loads_no_heavy_library() -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from lexloop.nodes.classify import LinearClassifier as C;"
        f"C.load(Path({str(SHIPPED)!r})).probabilities('who?', 3);"
        "print([m for m in ('sklearn', 'scipy', 'torch', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(("column", "floor"), [("question", 0.84), ("question_clean", 0.86)])
def test_shipped_classifier_on_validation(
    shipped: LinearClassifier, column: str, floor: float
) -> None:
    root = os.environ.get("LEXLOOP_DATA")
    path = Path(root or ".") / "complexity" / "validation.csv"
    if not root or not path.is_file():
        pytest.skip("LEXLOOP_DATA names no folder that holds complexity/validation.csv")
    from sklearn.metrics import f1_score

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    predicted = [int(np.argmax(shipped.probabilities(row[column], 3))) for row in rows]
    assert f1_score([int(row["label"]) for row in rows], predicted, average="macro") > floor
