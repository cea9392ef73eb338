"""Fits which questions the embedded generator refuses, and ships the weights as plain JSON.

    python -m lexloop.finetune.refusal --set QUESTIONS.jsonl DIR [--set ...]
        [--asked QUESTIONS.jsonl ...] --beside QUESTIONS.jsonl [...] --out data/refusal

A set are questions and the documents that answer them; ``--asked`` are questions on other laws and
policies, ``--beside`` questions on anything else. With them go the examples of data/refusal and the
negative queries. What is shown is cross-validated by question.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import write_text
from lexloop.core.filters import Filters
from lexloop.core.settings import Settings
from lexloop.corpus.index.builder import build_collection
from lexloop.corpus.load.folder import load_documents
from lexloop.corpus.opening import tools_for
from lexloop.models.embedders import load_shipped
from lexloop.models.embedding import Vectors
from lexloop.nodes.generate.guard import order_features, subject_features

FOLDS, STRENGTH, MOST = 10, 3.0, 800
REFUSED = {"orders": 0.008, "elsewhere": 0.013}
"""The share of the questions on laws that each model may refuse."""
ASSUMED = 0.3
"""The closeness of questions whose documents are not at hand: that of everyday words."""
_COUNTS = {
    "jailbreak": 5.0,
    "nsfw": 5.0,
    "irrelevant": 4.0,
    "example": 6.0,
    "asked": 1.0,
    "beside": 1.0,
}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A question; ``closeness`` is the highest cosine with each of the folders it is asked of."""

    kind: str
    text: str
    closeness: tuple[float, ...] = ()


def main() -> None:
    """Fit, write the weights and print what they do."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("FILE", "DIR"))
    parser.add_argument("--asked", nargs="*", type=Path, default=[])
    parser.add_argument("--beside", nargs="+", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = read_rows([(Path(f), Path(d)) for f, d in options.set], options.asked, options.beside)
    orders, said = fit_orders(rows)
    elsewhere, more = fit_elsewhere(rows)
    weights = {"orders": orders, "elsewhere": elsewhere}
    options.out.mkdir(parents=True, exist_ok=True)
    write_text(options.out / "weights.json", json.dumps(weights) + "\n")
    print("\n".join(["| model | kind | questions | refused |", "|---|---|---|---|", *said, *more]))


def read_rows(
    sets: list[tuple[Path, Path]], asked: Iterable[Path], beside: Iterable[Path]
) -> list[Row]:
    """All questions, held against the documents that answer them; those beside against all."""
    data = Path(str(resources.files("lexloop.data")))
    negative = [*_lines(data / "refusal" / "examples.jsonl"), *_lines(data / "negative.jsonl")]
    rows = [
        Row("example" if line["kind"] == "asked" else line["kind"], line["query"])
        for line in negative
    ]
    rows += [Row("asked", text) for file in asked for text in _questions(file)]
    rows += [Row("beside", text) for file in beside for text in _questions(file)]
    for file, folder in sets:
        closeness = _closeness(folder)
        rows = [
            Row(row.kind, row.text, (*row.closeness, closeness(row.text)))
            if row.kind in ("irrelevant", "beside")
            else row
            for row in rows
        ]
        rows += [Row("asked", text, (closeness(text),)) for text in _questions(file)]
    return rows


def fit_orders(rows: list[Row]) -> tuple[dict[str, Any], list[str]]:
    """The model of orders to the assistant, and what it refuses."""
    told = [row for row in rows if row.kind not in ("irrelevant", "beside")]
    vectors = _vectors(told)
    signs = np.array([order_features(r.text, v) for r, v in zip(told, vectors, strict=True)])
    return _fit("orders", told, signs, np.array([r.kind in ("jailbreak", "nsfw") for r in told]))


def fit_elsewhere(rows: list[Row]) -> tuple[dict[str, Any], list[str]]:
    """The model of other subjects, and what it refuses; a row for each folder it is asked of."""
    about = ("asked", "example")
    told = [
        Row("assumed" if row.kind in about and not row.closeness else row.kind, row.text, (near,))
        for row in rows
        for near in row.closeness or (ASSUMED,)
        if row.kind in (*about, "irrelevant", "beside")
    ]
    vectors = _vectors(told)
    pairs = zip(told, vectors, strict=True)
    signs = np.array([subject_features(vector, row.closeness[0]) for row, vector in pairs])
    return _fit(
        "elsewhere", told, signs, np.array([row.kind in ("irrelevant", "beside") for row in told])
    )


def _fit(
    name: str, rows: list[Row], signs: Vectors, against: NDArray[np.bool_]
) -> tuple[dict[str, Any], list[str]]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold

    counts = np.array([_COUNTS.get(row.kind, 1.0) for row in rows])
    texts = np.unique([row.text for row in rows], return_inverse=True)[1]
    scores: Floats = np.zeros(len(rows))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(signs, against, texts):
        model = LogisticRegression(C=STRENGTH, max_iter=5000)
        model.fit(signs[train], against[train], sample_weight=counts[train])
        scores[test] = model.decision_function(signs[test])
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    model.fit(signs, against, sample_weight=counts)
    bar = float(np.quantile(scores[[row.kind == "asked" for row in rows]], 1 - REFUSED[name]))
    kinds = np.array([row.kind for row in rows])
    said = [
        f"| {name} | {kind} | {sum(kinds == kind)} | {np.mean(scores[kinds == kind] > bar):.3f} |"
        for kind in dict.fromkeys(kinds)
    ]
    weights = [round(float(value), 3) for value in model.coef_[0]]
    intercept = round(float(np.ravel(model.intercept_)[0]) - bar, 3)
    return {"intercept": intercept, "weights": weights}, said


def _closeness(folder: Path) -> Any:
    """A function from a question to the highest cosine of a window of a folder's documents."""
    collection = build_collection(load_documents(folder)[0], tools_for(Settings(), load_shipped()))
    view = collection.seen_by(Filters.of(Settings()))
    return lambda text: max((hit.score for hit in view.search_vector([text], 1)[0]), default=0.0)


def _vectors(rows: list[Row]) -> Vectors:
    texts = list(dict.fromkeys(row.text for row in rows))
    embed = load_shipped().embed
    made = np.concatenate([embed(texts[i : i + 64]) for i in range(0, len(texts), 64)])
    known = dict(zip(texts, made, strict=True))
    return np.stack([known[row.text] for row in rows])


def _questions(file: Path) -> list[str]:
    """Of a file's questions that its documents answer at most ``MOST``, evenly spread."""
    found = {
        line["question"]: None
        for line in _lines(file)
        if line.get("question_type") != "out of scope" and line.get("kind") != "not_there"
    }
    return list(found)[:: -(-len(found) // MOST) or 1]


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


if __name__ == "__main__":
    main()
