"""Fits which questions the embedded generator refuses, and ships the weights as plain JSON.

    python -m training.refusal --set QUESTIONS.jsonl DIR [--set ...]
        [--asked QUESTIONS.jsonl ...] --beside QUESTIONS.jsonl [...] --out data/refusal

A set is questions and the documents that answer them. ``--asked`` are questions on other laws and
policies, ``--beside`` questions on anything else. The examples of data/refusal and the negative
queries are added. The printed figures are cross-validated by question.
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
from lexloop.nodes.generate.guard import order_features, subject_features
from lexloop_eval.report.tables import markdown_table
from training import logistic
from training.graph_runs import indexed
from training.logistic import FeatureRow, Rows

PENALTY, MOST = 1 / 3, 800
REFUSED = {"orders": 0.008, "elsewhere": 0.013}
"""The share of the questions on laws that each model may refuse."""
ASSUMED = 0.3
"""The closeness of questions without documents at hand: that of everyday words."""
_COUNTS = {"jailbreak": 5.0, "nsfw": 5.0, "irrelevant": 4.0, "example": 6.0}
"""The weight of a question of each kind, if it is not 1."""
_ELSEWHERE = ("irrelevant", "beside")
Fitted = tuple[dict[str, Any], list[list[object]]]


@dataclass(frozen=True)
class AskedText:
    """A question, and the highest cosine with each folder that it is asked of."""

    kind: str
    text: str
    closeness: tuple[float, ...] = ()


def main() -> None:
    """Fit, write the weights and print their effect."""
    parser = logistic.options(__doc__)
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("FILE", "DIR"))
    parser.add_argument("--asked", nargs="*", type=Path, default=[])
    parser.add_argument("--beside", nargs="+", type=Path, required=True)
    arguments = parser.parse_args()
    texts = read_texts(
        [(Path(f), Path(d)) for f, d in arguments.set], arguments.asked, arguments.beside
    )
    orders, lines = fit_orders(texts)
    elsewhere, more = fit_elsewhere(texts)
    weights = {"orders": orders, "elsewhere": elsewhere}
    logistic.ship(arguments.out / "weights.json", weights, indent=None)
    print("\n".join(markdown_table(("model", "kind", "questions", "refused"), [*lines, *more])))


def read_texts(
    sets: list[tuple[Path, Path]], asked: Iterable[Path], beside: Iterable[Path]
) -> list[AskedText]:
    """Return all questions, held against the documents that answer them or, beside, all."""
    data = Path(str(resources.files("lexloop.data")))
    negative = [*_lines(data / "refusal" / "examples.jsonl"), *_lines(data / "negative.jsonl")]
    texts = [
        AskedText("example" if line["kind"] == "asked" else line["kind"], line["query"])
        for line in negative
    ]
    texts += [AskedText("asked", text) for file in asked for text in _questions(file)]
    texts += [AskedText("beside", text) for file in beside for text in _questions(file)]
    for file, folder in sets:
        view = indexed(folder, Settings()).seen_by(Filters.of(Settings()))

        def closest(text: str, search: Any = view.search_vector) -> float:
            return max((hit.score for hit in search([text], 1)[0]), default=0.0)

        texts = [
            replace(text, closeness=(*text.closeness, closest(text.text)))
            if text.kind in _ELSEWHERE
            else text
            for text in texts
        ]
        texts += [AskedText("asked", text, (closest(text),)) for text in _questions(file)]
    return texts


def fit_orders(texts: Sequence[AskedText]) -> Fitted:
    """Return the model of orders to the assistant, and table rows of its refusals."""
    used = [text for text in texts if text.kind not in _ELSEWHERE]
    features = [
        order_features(text.text, vector) for text, vector in zip(used, _vectors(used), strict=True)
    ]
    return _fit("orders", used, features, ("jailbreak", "nsfw"))


def fit_elsewhere(texts: Sequence[AskedText]) -> Fitted:
    """Return the model of other subjects, and table rows of its refusals.

    A question is a row for each folder that it is asked of.
    """
    about = ("asked", "example")
    used = [
        AskedText(
            "assumed" if text.kind in about and not text.closeness else text.kind,
            text.text,
            (near,),
        )
        for text in texts
        for near in text.closeness or (ASSUMED,)
        if text.kind in (*about, *_ELSEWHERE)
    ]
    pairs = zip(used, _vectors(used), strict=True)
    features = [subject_features(vector, text.closeness[0]) for text, vector in pairs]
    return _fit("elsewhere", used, features, _ELSEWHERE)


def _fit(
    name: str, texts: Sequence[AskedText], features: Sequence[Any], against: Sequence[str]
) -> Fitted:
    rows = [
        FeatureRow(
            tuple(values), text.kind in against, text.text, text.kind, _COUNTS.get(text.kind, 1.0)
        )
        for text, values in zip(texts, features, strict=True)
    ]
    scores = logistic.out_of_fold(rows, _learn, logistic.stratified_folds(rows, 0))
    kinds = dict(logistic.kinds_of(rows))
    bar = float(np.quantile(scores[kinds["asked"]], 1 - REFUSED[name]))
    lines: list[list[object]] = [
        [name, kind, in_kind.sum(), f"{np.mean(scores[in_kind] > bar):.3f}"]
        for kind, in_kind in kinds.items()
    ]
    fitted = logistic.fit(rows, PENALTY)
    weights = [round(value, 3) for value in fitted.weights]
    return {"intercept": round(fitted.intercept - bar, 3), "weights": weights}, lines


def _learn(rows: Rows) -> Any:
    return partial(logistic.log_odds, logistic.fit(rows, PENALTY))


def _vectors(texts: Sequence[AskedText]) -> Vectors:
    distinct = list(dict.fromkeys(text.text for text in texts))
    embed = load_shipped().embed
    vectors = [
        vector for i in range(0, len(distinct), 64) for vector in embed(distinct[i : i + 64])
    ]
    vector_of = dict(zip(distinct, vectors, strict=True))
    return np.stack([vector_of[text.text] for text in texts])


def _questions(file: Path) -> list[str]:
    """Of a file's questions that its documents answer at most ``MOST``, evenly spread."""
    questions = {
        line["question"]: None
        for line in _lines(file)
        if line.get("question_type") != "out of scope" and line.get("kind") != "not_there"
    }
    return list(questions)[:: -(-len(questions) // MOST) or 1]


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


if __name__ == "__main__":
    main()
