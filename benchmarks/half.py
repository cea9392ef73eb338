"""Training pairs of half of the documents, so that an embedder can be measured on the others.

    python benchmarks/half.py --passages PASSAGES.jsonl --questions QUESTIONS.jsonl --out FOLDER

FOLDER gets ``pairs.jsonl``, and of a tenth of its documents ``pairs.kept.jsonl``, by which
``lexloop finetune embedder`` stops. Documents are divided by the SHA-256 of their names, and
questions whose passages lie in both halves are left out. ``retrieval.py --unseen FOLDER/pairs.jsonl
--unseen FOLDER/pairs.kept.jsonl`` then asks the questions that lie in no document of these.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from _pipeline import Row, read_rows

from lexloop.finetune.pairs import TrainingPair, deduplicated, split, write_pairs


def main() -> None:
    """Divide, write, and print how many pairs there are of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--passages", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    passages = {row["id"]: row for row in read_rows(options.passages)}
    every = [pair for row in read_rows(options.questions) for pair in _pairs(row, passages)]
    half, _ = split(deduplicated(every), 0.5)
    documents = {pair.document for pair in half}
    across = {pair.question for pair in every if pair.document not in documents}
    training, kept = split([pair for pair in half if pair.question not in across], 0.1)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, pairs in (("pairs", training), ("pairs.kept", kept)):
        write_pairs(options.out / f"{name}.jsonl", pairs)
        print(f"{name}: {len(pairs)} of {len({pair.document for pair in pairs})} documents")


def _pairs(row: Row, passages: Mapping[str, Row]) -> list[TrainingPair]:
    """A question with each of its passages that is not blank."""
    found = (passages[name] for name in row["relevant_ids"])
    return [
        TrainingPair(row["question"], one["text"], "", str(one["document_id"]))
        for one in found
        if one["text"].strip()
    ]


if __name__ == "__main__":
    main()
