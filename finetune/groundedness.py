"""Fits how probable it is that evidence supports a claim, and ships the weights as plain JSON.

    python -m lexloop.finetune.groundedness --wice FILE --out data/judges

A logistic regression over the features of nodes/evaluate/judges.py: claims labelled supported
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
from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.finetune.logistic import (
    FeatureRow,
    Floats,
    Rows,
    balanced,
    cross_validated,
    evened,
    fit,
    kind_lines,
    labels_of,
    stored,
)
from lexloop.models.embedding import Embedder
from lexloop.nodes.evaluate.evidence import disagreements, evidence_of
from lexloop.nodes.evaluate.judges import ClaimFeatures, capped, read_claim_features

STRENGTH = 1.0
_DISAGREES = list(ClaimFeatures.__dataclass_fields__).index("disagrees")


class LabelledClaim(BaseModel):
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
    from lexloop.models.minilm import load_shipped

    rows = read_rows(read_wice(options.wice), load_shipped())
    options.out.mkdir(parents=True, exist_ok=True)
    weights = {"support": stored(fit(rows, STRENGTH), ClaimFeatures)}
    write_text(options.out / "groundedness.json", json.dumps(weights, indent=2) + "\n")
    print(report(rows, held_out(rows)))


def read_wice(path: Path) -> list[LabelledClaim]:
    """Return the labelled claims of a file.

    Raises:
        InputError: A line is malformed, or not both kinds of claims are there.
    """
    claims = read_jsonl(path, LabelledClaim)
    if len({claim.label == "supported" for claim in claims}) < 2:
        raise InputError(
            f"{path} has {len(claims)} claims, all supported or none.", "Give claims of both kinds."
        )
    return claims


def read_rows(claims: Sequence[LabelledClaim], embedder: Embedder) -> list[FeatureRow]:
    """Return the features of every claim; supported ones and others count the same in sum."""
    vectors = embedder.embed([one.claim for one in claims])
    rows = []
    for one, vector in zip(claims, vectors, strict=True):
        evidence = evidence_of(one.evidence_sentences, embedder.embed)
        disagrees = bool(disagreements(one.claim, evidence))
        features = astuple(read_claim_features(one.claim, vector, evidence, disagrees))
        rows.append(FeatureRow(features, one.label == "supported", one.claim, one.label))
    return evened(rows)


def held_out(rows: Rows) -> Floats:
    """Return each claim's probability by weights that never saw it, shape (seeds, rows)."""
    found = cross_validated(rows, STRENGTH)
    at_odds = np.array([row.features[_DISAGREES] > 0 for row in rows])
    return np.where(at_odds, np.vectorize(capped)(found), found)


def report(rows: Rows, found: Floats) -> str:
    """Return AUROC, mean probability by label, and the mark of best balanced accuracy."""
    from sklearn.metrics import roc_auc_score

    supported, mean = labels_of(rows) > 0, found.mean(axis=0)
    by_seed = [float(roc_auc_score(supported, one)) for one in found]
    mark, accuracy = balanced(mean, supported)
    return "\n".join(
        [
            f"AUROC, supported against the rest: {np.mean(by_seed):.3f} "
            f"({min(by_seed):.3f} to {max(by_seed):.3f} over {len(by_seed)} seeds)",
            "",
            "| score | claims | n | mean |",
            "|---|---|---|---|",
            *kind_lines(rows, mean, "groundedness"),
            "",
            f"best balanced accuracy {accuracy:.3f} at {mark:.2f}",
        ]
    )


if __name__ == "__main__":
    main()
