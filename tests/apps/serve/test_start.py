"""What the server leaves unloaded until somebody needs it, so that it listens soon."""

import subprocess
import sys


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
