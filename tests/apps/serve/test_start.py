"""How the server begins: what it leaves unloaded, so that it listens soon, and its open files."""

import asyncio
import gc
import re
import subprocess
import sys
from pathlib import Path
from resource import RLIMIT_NOFILE, getrlimit, setrlimit

from serving import Serving

from lexloop.apps.serve.engine import Engine
from lexloop.core.settings import Connection, Settings


def test_the_server_listens_before_the_graph_and_the_protocols_of_agents_are_loaded() -> None:
    code = (
        "import sys, uvicorn\n"
        "from lexloop.apps.serve.app import create_app\n"
        "create_app()\n"
        "late = {'mcp', 'openai', 'langgraph', 'numpy', 'onnxruntime', 'torch', 'pypdfium2'}\n"
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_five_hundred_connections_do_not_use_up_the_files_of_a_usual_shell(tmp_path: Path) -> None:
    usual, most = getrlimit(RLIMIT_NOFILE)
    setrlimit(RLIMIT_NOFILE, (min(usual, 256), most))
    try:
        server = Serving(tmp_path)
        with server:
            limits = Path(f"/proc/{server.pid}/limits").read_text(encoding="ascii")
    finally:
        setrlimit(RLIMIT_NOFILE, (usual, most))
    allowed = re.search(r"Max open files\s+(\d+)", limits)
    assert allowed is not None
    assert int(allowed[1]) == min(most, 65_536)


def test_garbage_is_collected_once_the_graph_is_loaded() -> None:
    gc.disable()
    try:
        engine = Engine(Settings(), Connection())
        assert asyncio.run(engine.ready()).name == "lexloop"
        assert gc.isenabled()
    finally:
        gc.enable()


def test_who_leaves_while_the_graph_is_loaded_does_not_end_its_loading() -> None:
    async def left_and_asked_again() -> str:
        engine = Engine(Settings(), Connection())
        leaving = asyncio.create_task(engine.ready())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait({leaving})
        return (await engine.ready()).name

    assert asyncio.run(left_and_asked_again()) == "lexloop"
