"""Fits which questions the embedded generator refuses, and ships the weights as plain JSON.

    python -m training.refusal --set QUESTIONS.jsonl DIR [--set ...]
        [--asked QUESTIONS.jsonl ...] --beside QUESTIONS.jsonl [...] --out data/refusal

A set are questions and the documents that answer them; ``--asked`` are questions on other laws and
policies, ``--beside`` questions on anything else. With them go the examples of data/refusal and the
negative queries. What is shown is cross-validated by question.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_shipped
from lexloop.nodes.generate.node import order_features, subject_features
from lexloop_eval.graph_runs import indexed
from lexloop_eval.report.tables import markdown_table
from lexloop_train import logistic
from lexloop_train.logistic import FeatureRow, Rows

PENALTY, MOST = 1 / 3, 800
REFUSED = {"orders": 0.008, "elsewhere": 0.013}
"""The share of the questions on laws that each model may refuse."""
ASSUMED = 0.3
"""The closeness of questions whose documents are not at hand: that of everyday words."""
_COUNTS = {"jailbreak": 5.0, "nsfw": 5.0, "irrelevant": 4.0, "example": 6.0}
"""The weight of a question of each kind, where it is not 1."""
_ELSEWHERE = ("irrelevant", "beside")
Fitted = tuple[dict[str, Any], list[list[object]]]


@dataclass(frozen=True)
class AskedText:
    """A question, and the highest cosine with each of the folders that it is asked of."""

    kind: str
    text: str
    closeness: tuple[float, ...] = ()


def main() -> None:
    """Fit, write the weights and print what they do."""
    parser = logistic.options(__doc__)
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("FILE", "DIR"))
    parser.add_argument("--asked", nargs="*", type=Path, default=[])
    parser.add_argument("--beside", nargs="+", type=Path, required=True)
    given = parser.parse_args()
    texts = read_texts([(Path(f), Path(d)) for f, d in given.set], given.asked, given.beside)
    orders, said = fit_orders(texts)
    elsewhere, more = fit_elsewhere(texts)
    weights = {"orders": orders, "elsewhere": elsewhere}
    logistic.ship(given.out / "weights.json", weights, indent=None)
    print("\n".join(markdown_table(("model", "kind", "questions", "refused"), [*said, *more])))


def read_texts(
    sets: list[tuple[Path, Path]], asked: Iterable[Path], beside: Iterable[Path]
) -> list[AskedText]:
    """Return all questions, held against the documents that answer them or, beside, all."""
    data = Path(str(resources.files("lexloop.data")))
    negative = [*_lines(data / "refusal" / "examples.jsonl"), *_lines(data / "negative.jsonl")]
    found = [
        AskedText("example" if line["kind"] == "asked" else line["kind"], line["query"])
        for line in negative
    ]
    found += [AskedText("asked", text) for file in asked for text in _questions(file)]
    found += [AskedText("beside", text) for file in beside for text in _questions(file)]
    for file, folder in sets:
        view = indexed(folder, Settings()).seen_by(Filters.of(Settings()))

        def closest(text: str, search: Any = view.search_vector) -> float:
            return max((hit.score for hit in search([text], 1)[0]), default=0.0)

        found = [
            replace(one, closeness=(*one.closeness, closest(one.text)))
            if one.kind in _ELSEWHERE
            else one
            for one in found
        ]
        found += [AskedText("asked", text, (closest(text),)) for text in _questions(file)]
    return found


def fit_orders(texts: Sequence[AskedText]) -> Fitted:
    """Return the model of orders to the assistant, and rows on what it refuses."""
    told = [one for one in texts if one.kind not in _ELSEWHERE]
    features = [
        order_features(one.text, vector) for one, vector in zip(told, _vectors(told), strict=True)
    ]
    return _fit("orders", told, features, ("jailbreak", "nsfw"))


def fit_elsewhere(texts: Sequence[AskedText]) -> Fitted:
    """Return the model of other subjects, and rows on what it refuses.

    A question is a row for each folder that it is asked of.
    """
    about = ("asked", "example")
    told = [
        AskedText(
            "assumed" if one.kind in about and not one.closeness else one.kind, one.text, (near,)
        )
        for one in texts
        for near in one.closeness or (ASSUMED,)
        if one.kind in (*about, *_ELSEWHERE)
    ]
    pairs = zip(told, _vectors(told), strict=True)
    features = [subject_features(vector, one.closeness[0]) for one, vector in pairs]
    return _fit("elsewhere", told, features, _ELSEWHERE)


def _fit(
    name: str, texts: Sequence[AskedText], features: Sequence[Any], against: Sequence[str]
) -> Fitted:
    rows = [
        FeatureRow(
            tuple(values), one.kind in against, one.text, one.kind, _COUNTS.get(one.kind, 1.0)
        )
        for one, values in zip(texts, features, strict=True)
    ]
    scores = logistic.out_of_fold(rows, _learn, logistic.stratified_folds(rows, 0))
    kinds = dict(logistic.kinds_of(rows))
    bar = float(np.quantile(scores[kinds["asked"]], 1 - REFUSED[name]))
    said: list[list[object]] = [
        [name, kind, of.sum(), f"{np.mean(scores[of] > bar):.3f}"] for kind, of in kinds.items()
    ]
    found = logistic.fit(rows, PENALTY)
    weights = [round(value, 3) for value in found.weights]
    return {"intercept": round(found.intercept - bar, 3), "weights": weights}, said


def _learn(rows: Rows) -> Any:
    return partial(logistic.log_odds, logistic.fit(rows, PENALTY))


def _vectors(texts: Sequence[AskedText]) -> Vectors:
    distinct = list(dict.fromkeys(one.text for one in texts))
    embed = load_shipped().embed
    made = [vector for i in range(0, len(distinct), 64) for vector in embed(distinct[i : i + 64])]
    known = dict(zip(distinct, made, strict=True))
    return np.stack([known[one.text] for one in texts])


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
