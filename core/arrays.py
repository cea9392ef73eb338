"""Arrays on disk, mapped into memory, and the libraries that search in arrays.

scipy's and FAISS's own types describe neither the columns of a matrix nor what FAISS takes from
Python, so both are handed out untyped.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import replacing

_HEADERS = threading.Lock()
"""NumPy parses the header of a file as Python, and CPython 3.11 fails now and then with a
SystemError when two threads parse at once."""

Sparse = Any
"""A ``scipy.sparse`` array: ``data``, ``indices``, ``indptr``, ``shape``."""


def scipy_sparse() -> Any:
    """Return the module ``scipy.sparse``, imported on first use."""
    import scipy.sparse

    return scipy.sparse


def add_columns(matrix: Sparse, times: Mapping[int, int], total: NDArray[np.float32]) -> None:
    """Add each column of a ``csc_array`` of float32, so many times, to ``total``, shape (rows,)."""
    # what `@` calls in the end; a product would visit every column, and a matrix of some columns
    # alone copies them, which takes as long as the adding
    from scipy.sparse._sparsetools import csc_matvec

    rows, indices, data = matrix.shape[0], matrix.indices, matrix.data
    starts, often = matrix.indptr, np.array([*times.values()], dtype=np.float32)
    for place, column in enumerate(times):
        bounds = starts[column : column + 2]
        csc_matvec(rows, 1, bounds, indices, data, often[place : place + 1], total)


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
