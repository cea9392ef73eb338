"""Memory given back."""

import ctypes
import os
from pathlib import Path

import pytest

from lexloop.apps.serve.app import give_back

_BLOCK, _BLOCKS = 64 << 10, 1000
_C = ctypes.CDLL(None)


def resident_bytes() -> int:
    """The resident memory of this process."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not hasattr(_C, "malloc_trim"), reason="another C library, which keeps nothing")
def test_what_was_freed_below_what_is_used_goes_back() -> None:
    _C.malloc.restype, _C.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [_C.malloc(_BLOCK) for _ in range(_BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, _BLOCK)
    for block in blocks[:-1]:  # the last keeps the heap from shrinking by itself
        _C.free(block)
    before = resident_bytes()
    assert give_back()
    given = before - resident_bytes()
    _C.free(blocks[-1])
    assert given > _BLOCK * _BLOCKS / 2
