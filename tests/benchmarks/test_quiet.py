"""Nothing leaves this machine: what C libraries try is seen as well as what Python does.

Processes are watched until a second after they are done; ``benchmarks/promises.py`` watches them
for thirty, as some libraries wait before they call their makers.
"""

import shutil
import sys
from pathlib import Path

import pytest
from _promise_quiet import Traced, attempts, tracer

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None,
    reason="tracing needs Linux and a C compiler (cc)",
)
_REACHING = """
import ctypes, socket, subprocess, sys
for name in ("c.example", "localhost", "127.0.0.1"):
    ctypes.CDLL(None).getaddrinfo(name.encode(), None, None, ctypes.byref(ctypes.c_void_p()))
for address in (("192.0.2.1", 80), ("127.0.0.1", 9)):
    try: socket.create_connection(address, 1)
    except OSError: pass
try: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.53", 53))
except OSError: pass
child = "import socket\\ntry: socket.gethostbyname('child.example')\\nexcept OSError: pass"
subprocess.run([sys.executable, "-c", child], check=True)
"""


def test_what_c_python_and_a_child_reach_for_is_seen_and_refused(tmp_path: Path) -> None:
    process = Traced(tracer(tmp_path), tmp_path / "one", _REACHING, [])
    assert process.attempts() == [
        "getaddrinfo c.example",
        "connect 192.0.2.1",
        "sendto 192.0.2.53",
        "getaddrinfo child.example",
    ]


def test_nothing_leaves_this_machine(tmp_path: Path) -> None:
    tried = attempts(tmp_path, seconds=1.0)
    assert {"ask", "chat", "index", "eval", "graph.invoke"} < tried.keys()
    assert not any(tried.values()), tried
