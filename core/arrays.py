"""Arrays on disk, mapped into memory, and the libraries that search in arrays.

scipy's and FAISS's own types describe neither the columns of a matrix nor what FAISS takes from
Python, so both are handed out untyped.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import replacing

_HEADERS = threading.Lock()
"""NumPy parses the header of a file as Python, and CPython 3.11 fails now and then with a
SystemError when two threads parse at once."""

_FEW = 20_000
"""Values up to which NumPy adds columns in a fraction of a millisecond."""

Sparse = Any
"""A ``scipy.sparse`` array: ``data``, ``indices``, ``indptr``, ``shape``."""


def scipy_sparse() -> Any:
    """Return the module ``scipy.sparse``, imported on first use."""
    import scipy.sparse

    return scipy.sparse


class Columns(NamedTuple):
    """A sparse matrix by its columns, as a ``scipy.sparse.csc_array`` has them.

    Args:
        data: The values, column by column.
        indices: The row of each value; a row comes once in a column.
        indptr: Where each column begins in these, and the end of the last one.
        shape: Numbers of rows and columns.
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]


def add_columns(matrix: Columns, times: Mapping[int, int], total: NDArray[np.float32]) -> None:
    """Add each column of float32, so many times, to ``total``, shape (rows,)."""
    starts, often = matrix.indptr, np.array([*times.values()], dtype=np.float32)
    bounds = [starts[column : column + 2] for column in times]
    if sum(int(end - first) for first, end in bounds) <= _FEW:  # importing scipy takes longer
        for (first, end), times_float in zip(bounds, often, strict=True):
            total[matrix.indices[first:end]] += matrix.data[first:end] * times_float
        return
    # what `@` calls in the end; a product would visit every column, and a matrix of some columns
    # alone copies them, which takes as long as the adding
    from scipy.sparse._sparsetools import csc_matvec

    rows, indices, data = matrix.shape[0], matrix.indices, matrix.data
    for place, bound in enumerate(bounds):
        csc_matvec(rows, 1, bound, indices, data, often[place : place + 1], total)


def faiss_library() -> Any:
    """Return the module ``faiss``, imported on first use."""
    import faiss

    return faiss


def load_array(path: Path, *kinds: type[np.generic], dimensions: int = 1) -> NDArray[Any]:
    """Map a .npy file read-only; it is released with the last array that shows it.

    Raises:
        OSError, ValueError: It is missing, damaged, or holds something else.
    """
    # np.load would also try zip archives and pickles
    with _HEADERS:
        stored: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    if stored.ndim != dimensions:
        raise ValueError(f"{path.name} holds no array of {dimensions} dimensions")
    if stored.dtype.type not in kinds:
        raise ValueError(f"{path.name} holds {stored.dtype}")
    # the same memory under a plain array: every slice of a memmap costs microseconds more
    return stored.view(np.ndarray)


def save_array(path: Path, array: NDArray[Any]) -> str:
    """Write a .npy file atomically, and return the SHA-256 of its bytes.

    Raises:
        OSError: The disk is full or the folder cannot be written.
    """
    # np.save would give a file to C, which loses the error of the bytes written last
    with replacing(path) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)
    return file.sha256


def save_arrays(folder: Path, arrays: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    """Write .npy files by their names as ``save_array`` does, and return the SHA-256 of each."""
    return {name: save_array(folder / name, array) for name, array in arrays.items()}
