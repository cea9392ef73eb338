"""Fits how probable it is that evidence supports a claim, and ships the weights as plain JSON.

    python -m lexloop.finetune.groundedness --wice FILE --out data/judges

A logistic regression over the signs of nodes/evaluate/support.py: claims labelled supported
against the rest. Prints what it is worth, cross-validated by claim, and the pass mark of
min_groundedness.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.finetune.logistic import Floats, balanced, evened, logistic, out_of_fold, stored
from lexloop.models.embedding import Embedder, Vectors
from lexloop.nodes.evaluate.disagreements import disagreements
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.support import ClaimFeatures, capped, read_claim_features
from lexloop.nodes.weights import Weights

STRENGTH = 1.0
_DISAGREES = list(ClaimFeatures.__dataclass_fields__).index("disagrees")


class Labelled(BaseModel):
    """A claim with its evidence and whether people found it supported (WiCE)."""

    model_config = ConfigDict(frozen=True)

    id: str
    claim: str = Field(min_length=1)
    evidence_sentences: list[str] = Field(min_length=1)
    label: Literal["supported", "partially_supported", "not_supported"]


def main() -> None:
    """Fit, write the weights and print what they are worth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--wice", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    from lexloop.models.embedders import load_shipped

    rows = read_wice(options.wice)
    signs = read_all(rows, load_shipped())
    options.out.mkdir(parents=True, exist_ok=True)
    weights = {"support": stored(fit(rows, signs), ClaimFeatures)}
    write_text(options.out / "groundedness.json", json.dumps(weights, indent=2) + "\n")
    print(report(rows, cross_validated(rows, signs)))


def read_wice(path: Path) -> list[Labelled]:
    """The labelled claims of a file.

    Raises:
        InputError: A line is malformed, or not both kinds of claims are there.
    """
    rows = read_jsonl(path, Labelled)
    if len(set(truth(rows).tolist())) < 2:
        raise InputError(
            f"{path} has {len(rows)} claims, all supported or none.", "Give claims of both kinds."
        )
    return rows


def truth(rows: Sequence[Labelled]) -> NDArray[np.bool_]:
    """Which claims are supported, shape (rows,)."""
    return np.array([row.label == "supported" for row in rows])


def read_all(rows: Sequence[Labelled], embedder: Embedder) -> Floats:
    """The signs of every claim, shape (rows, signs)."""
    claims = dict(zip((row.claim for row in rows), embedded(rows, embedder), strict=True))
    found = []
    for row in rows:
        evidence = evidence_of(row.evidence_sentences, embedder.embed)
        disagrees = bool(disagreements(row.claim, evidence))
        found.append(
            astuple(read_claim_features(row.claim, claims[row.claim], evidence, disagrees))
        )
    return np.array(found, dtype=np.float64)


def embedded(rows: Sequence[Labelled], embedder: Embedder) -> Vectors:
    """The vectors of the claims, shape (rows, dimension)."""
    return embedder.embed([row.claim for row in rows])


def fit(rows: Sequence[Labelled], signs: Floats) -> Weights:
    """The weights for these claims."""
    return logistic(signs, truth(rows), STRENGTH, evened(truth(rows)))


def cross_validated(rows: Sequence[Labelled], signs: Floats) -> Floats:
    """Each claim's probability by weights that never saw it, shape (seeds, rows)."""
    found = out_of_fold(
        signs, truth(rows), STRENGTH, groups=[row.claim for row in rows], counts=evened(truth(rows))
    )
    at_odds = signs[:, _DISAGREES] > 0
    return np.where(at_odds, np.vectorize(capped)(found), found)


def report(rows: Sequence[Labelled], found: Floats) -> str:
    """AUROC, mean probability by label, and the mark of best balanced accuracy."""
    from sklearn.metrics import roc_auc_score

    supported = truth(rows)
    by_seed = [float(roc_auc_score(supported, one)) for one in found]
    lines = [
        f"AUROC, supported against the rest: {np.mean(by_seed):.3f} "
        f"({min(by_seed):.3f} to {max(by_seed):.3f} over {len(by_seed)} seeds)"
    ]
    mean = found.mean(axis=0)
    for label in ("supported", "partially_supported", "not_supported"):
        picked = np.array([row.label == label for row in rows])
        if picked.any():
            lines.append(f"{label}: {picked.sum()} claims, mean {mean[picked].mean():.2f}")
    mark, accuracy = balanced(mean, supported)
    lines.append(f"best balanced accuracy {accuracy:.3f} at {mark:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
