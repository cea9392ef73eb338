"""How well embedders find what answers, in documents that the shipped one was not trained on.

    python benchmarks/trained.py [--data FOLDER] [--embedders minilm,embedded]

FOLDER, by default ``LEXLOOP_DATA``, holds what ``finetune/public_pairs.py`` reads. Searched for are
the texts of the pairs that it keeps from training, by their questions, as training itself does
(``finetune/retrieval_figures.py``): ``late`` is MaxSim, among the texts of the same document and
among all of the set.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from _shared import DATA, options, shown, silent, table

from lexloop.core.settings import Connection
from lexloop.finetune.public_pairs import KEPT, divided
from lexloop.finetune.retrieval_figures import places_of
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import TokenEmbedder, Vectors, unit_rows


def main() -> None:
    """Search with each embedder and print a table."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--embedders", default="minilm,embedded")
    given = parser.parse_args()
    if given.data is None or not (given.data / "reader").is_dir():
        sys.exit(f"There is no data in {given.data}; give --data FOLDER or set LEXLOOP_DATA.")
    names, kept = given.embedders.split(","), divided(given.data)[1]
    cells: dict[str, list[str]] = defaultdict(list)
    for name in names:
        embedder = load_embedder(name, Connection())
        assert isinstance(embedder, TokenEmbedder)
        for source in KEPT:
            pairs = [pair for pair in kept if pair.source == source]
            for signal, places in places_of(pairs, partial(_vectors, embedder)).items():
                for top in (1, 5, 10):
                    hits = [float(place < top) for place in places]
                    cells[f"{source}, {signal} hit@{top}"].append(shown(hits))
    print(table(["", *names], ([key, *found] for key, found in cells.items())))


def _vectors(
    embedder: TokenEmbedder, texts: Sequence[str], _: int
) -> tuple[Vectors, list[Vectors]]:
    """Sentence and token vectors; the embedder knows itself how long a text may be."""
    halves, codes = embedder.encode_tokens(texts, silent)
    return halves.astype(np.float32), [unit_rows(one) for one in codes]


if __name__ == "__main__":
    main()
