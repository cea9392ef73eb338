"""Arrays as files: those of NumPy, byte by byte, with every error seen."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lexloop.core import arrays as own
from lexloop.core.arrays import Columns, add_columns, load_array, save_array
from lexloop.core.files import sha256_of

SHAPES = arrays.array_shapes(min_dims=1, max_dims=2, min_side=0)
KINDS = st.sampled_from(["<i4", "<i8", "<f2", "<f4", "|u1"])


def as_numpy_writes(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


@given(arrays.arrays(KINDS, SHAPES), st.booleans())
def test_the_file_is_the_one_that_numpy_writes(
    tmp_path_factory: pytest.TempPathFactory, array: Any, turned: bool
) -> None:
    path = tmp_path_factory.mktemp("arrays") / "a.npy"
    given = array.T if turned else array
    assert save_array(path, given) == sha256_of(path)
    assert path.read_bytes() == as_numpy_writes(given)
    if given.size:
        loaded = load_array(path, given.dtype.type, dimensions=given.ndim)
        np.testing.assert_array_equal(loaded, given)


@given(arrays.arrays(np.float32, (6, 4), elements=st.integers(0, 9)), st.data())
def test_columns_are_added_alike_whether_few_or_many(dense: Any, data: st.DataObject) -> None:
    held = np.argwhere(dense.T)
    starts = np.concatenate(([0], np.cumsum(np.count_nonzero(dense, axis=0)))).astype(np.int32)
    rows = held[:, 1].astype(np.int32)
    matrix = Columns(dense.T[dense.T != 0], rows, starts, dense.shape)
    times = data.draw(st.dictionaries(st.integers(0, 3), st.integers(1, 3)))
    expected = sum((dense[:, column] * often for column, often in times.items()), np.zeros(6))
    for few in (0, 100):  # by scipy, by NumPy
        total = np.zeros(6, dtype=np.float32)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(own, "_FEW", few)
            add_columns(matrix, times, total)
        np.testing.assert_array_equal(total, expected)


def test_an_array_longer_than_what_is_written_at_once(tmp_path: Path) -> None:
    array = np.arange(5_000_000, dtype=np.int64)
    save_array(tmp_path / "a.npy", array)
    assert (tmp_path / "a.npy").read_bytes() == as_numpy_writes(array)


def test_what_is_mapped_stays_what_it_was_and_nothing_is_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    save_array(path, np.arange(9, dtype=np.int32))
    mapped = load_array(path, np.int32)
    save_array(path, np.zeros(3, dtype=np.int32))
    np.testing.assert_array_equal(mapped, np.arange(9))
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="objects"):
        load_array(path, np.int32)
