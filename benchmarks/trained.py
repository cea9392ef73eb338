"""How well embedders find what answers, in documents that the shipped one was not trained on.

    python benchmarks/trained.py [--data FOLDER] [--embedders minilm,embedded]

FOLDER, by default ``LEXLOOP_DATA``, holds what ``finetune/public_pairs.py`` reads. Searched for are
the texts of the pairs that it keeps from training, by their questions, as training itself does
(``finetune/retrieval_figures.py``): ``late`` is MaxSim, among the texts of the same document and
among all of the set.
"""

import argparse
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lexloop.core.settings import Connection
from lexloop.evaluation.statistics import Estimate, estimate
from lexloop.finetune.public_pairs import KEPT, divided
from lexloop.finetune.retrieval_figures import places_of
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import TokenEmbedder, Vectors, unit_rows

_TOPS = (1, 5, 10)


def main() -> None:
    """Search with each embedder and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    data = os.environ.get("LEXLOOP_DATA")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None)
    parser.add_argument("--embedders", default="minilm,embedded")
    options = parser.parse_args()
    if options.data is None or not (options.data / "reader").is_dir():
        print(f"Left out: no data in {options.data}; give --data FOLDER or set LEXLOOP_DATA.")
        return
    names = options.embedders.split(",")
    kept = divided(options.data)[1]
    report: dict[str, list[str]] = {}
    for name in names:
        embedder = load_embedder(name, Connection())
        assert isinstance(embedder, TokenEmbedder)
        for source in KEPT:
            pairs = [pair for pair in kept if pair.source == source]
            for signal, places in places_of(pairs, partial(_vectors, embedder)).items():
                for top in _TOPS:
                    hits = estimate([float(place < top) for place in places])
                    report.setdefault(f"{source}, {signal} hit@{top}", []).append(_shown(hits))
    print(f"| | {' | '.join(names)} |\n{'|---' * (1 + len(names))}|")
    for key, cells in report.items():
        print(f"| {key} | {' | '.join(cells)} |")


def _vectors(
    embedder: TokenEmbedder, texts: Sequence[str], _: int
) -> tuple[Vectors, list[Vectors]]:
    """Sentence and token vectors; the embedder knows itself how long a text may be."""
    halves, codes = embedder.encode_tokens(texts, lambda *_: None)
    return halves.astype(np.float32), [unit_rows(one) for one in codes]


def _shown(found: object) -> str:
    if not isinstance(found, Estimate):
        return "-"
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


if __name__ == "__main__":
    main()
