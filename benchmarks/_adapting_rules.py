"""Ways to choose k for every question: the paper's, the oracle's, and by other signals."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from _adapting_lists import Item, Ranking
from numpy.typing import NDArray

from lexloop.core.settings import Settings
from lexloop.core.settings_groups import ByScores
from lexloop.finetune.classifier import LabelledQuestions
from lexloop.finetune.depth import classes_of, depth, out_of_fold
from lexloop.nodes.classify import TABLES, chosen_class
from lexloop.nodes.rerank import adaptive_k

MOST = 20
"""The most passages a rule may take, and the highest fixed k."""
_TERCILES = (3, 5, 7)
_NEAR = 0.85
_AGREEING = 5
_MEAN_K = 4.0
_FOLDS = 5
Ks = NDArray[np.int64]
Rule = Callable[[Sequence[Ranking]], Ks]


def _each(choose: Callable[[Ranking], float]) -> Rule:
    def rule(rankings: Sequence[Ranking]) -> Ks:
        chosen = np.array([choose(ranking) for ranking in rankings])
        return np.clip(chosen, 1, MOST).astype(np.int64)

    return rule


def _of_class(classes: int) -> Rule:
    least = Settings().plan.min_class_probability

    def choose(ranking: Ranking) -> float:
        shares = ranking["two_classes"] if classes == 2 else ranking["three_classes"]
        return TABLES[2 if classes == 2 else 3][chosen_class(shares, least)]["k"]

    return _each(choose)


def _terciles(signal: Callable[[Ranking], float]) -> Rule:
    """3, 5 or 7 passages, the plan's own, by thirds of the questions; more for a higher signal."""

    def rule(rankings: Sequence[Ranking]) -> Ks:
        values = np.array([signal(ranking) for ranking in rankings])
        # equal values share a third: the middle of their ranks decides
        ranks = np.array([(values < v).mean() + (values == v).mean() / 2 for v in values])
        return np.array(_TERCILES)[np.minimum((3 * ranks).astype(int), 2)]

    return rule


def scores_of(ranking: Ranking) -> list[float]:
    """Of the reranked candidates, in order."""
    return [item["score"] for item in ranking["items"]]


def by_scores(temperature: float | None = None, share: float | None = None) -> Rule:
    """The setting plan.k=scores; None is the default of each."""
    known = ByScores()
    least = known.min_share if share is None else share
    more = {} if temperature is None else {"temperature": temperature}
    return _each(lambda ranking: adaptive_k(scores_of(ranking), least, known.most, **more))


def _last_relevant(ranking: Ranking) -> float:
    """As many as it takes to have all that the first 20 hold; one where they hold nothing."""
    places = [n for n, item in enumerate(ranking["items"][:MOST], 1) if item["relevant"]]
    return max(places, default=1)


def _near_best(ranking: Ranking) -> float:
    scores = scores_of(ranking)
    behind = (n for n, score in enumerate(scores) if score < _NEAR * scores[0])
    return next(behind, len(scores))


def _disagreement(ranking: Ranking) -> float:
    """How few of the best five by BM25 are among the best five by vectors."""
    best = []
    for signal in ("lexical", "dense"):
        found = sorted(ranking["items"], key=lambda item: -(item[signal] or 0.0))
        best.append({item["id"] for item in found[:_AGREEING]})
    return -len(best[0] & best[1])


def _lead(ranking: Ranking) -> float:
    scores = scores_of(ranking)
    return scores[1] - scores[0] if len(scores) > 1 else -math.inf


def _in_graph(ranking: Ranking) -> float:
    return sum(item["graph"] is not None for item in ranking["items"])


def by_regression(rankings: Sequence[Ranking]) -> Ks:
    """A logistic regression on every signal of a passage, cross-validated by group.

    A passage is taken while its share of the list's probabilities reaches a bound that gives a
    mean of 4 passages on the questions that trained it.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = [_signals(ranking) for ranking in rankings]
    right = [np.array([item["relevant"] for item in r["items"][:MOST]]) for r in rankings]
    folds = fold_of(rankings)
    ks = np.ones(len(rankings), dtype=np.int64)
    for fold in range(_FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
        model.fit(
            np.concatenate([rows[i] for i in train]), np.concatenate([right[i] for i in train])
        )
        shares = [chances / chances.sum() for chances in _chances(model, rows)]
        bound = _bound([shares[i] for i in train])
        ks[test] = [_leading(shares[i], bound) for i in test]
    return ks


def by_depth(rankings: Sequence[Ranking]) -> Ks:
    """The classifier of `lexloop finetune classifier --label depth`, cross-validated by group."""
    depths = [
        depth(
            [item["id"] for item in ranking["items"][:MOST]],
            ranking["contexts"] or [[item["id"]] for item in ranking["items"] if item["relevant"]],
        )
        for ranking in rankings
    ]
    asked = [ranking["question"] for ranking in rankings]
    names = {name: n for n, name in enumerate(dict.fromkeys(r["group"] for r in rankings))}
    groups = np.array([names[ranking["group"]] for ranking in rankings])
    rows = LabelledQuestions(asked, asked, classes_of(depths, Settings()))
    ks = np.array([plan["k"] for plan in TABLES[3]])
    return ks[out_of_fold(rows, 0, groups)]


def _chances(model: Any, rows: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    every = model.predict_proba(np.concatenate(rows))[:, 1]
    return np.split(every, np.cumsum([len(row) for row in rows])[:-1])


def _leading(shares: NDArray[np.float64], bound: float) -> int:
    return max(1, int(np.argmax([*(shares < bound), True])))


def _bound(shares: Sequence[NDArray[np.float64]]) -> float:
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        more = np.mean([_leading(row, middle) for row in shares]) > _MEAN_K
        low, high = (middle, high) if more else (low, middle)
    return high


def _signals(ranking: Ranking) -> NDArray[np.float64]:
    items = ranking["items"][:MOST]
    scores, lexical, dense, graph = (
        np.array([_signal(item, name) for item in items])
        for name in ("score", "lexical", "dense", "graph")
    )
    before = np.concatenate([[0.0], scores[:-1] - scores[1:]])
    after = np.concatenate([scores[:-1] - scores[1:], [0.0]])
    whole = [*ranking["three_classes"][1:], ranking["parts"], _disagreement(ranking)]
    return np.column_stack(
        [
            np.log(np.arange(1, len(items) + 1)),
            *(scores, scores - scores[0], before, after, np.full(len(items), -_lead(ranking))),
            *(lexical / max(lexical.max(), 1e-9), dense, dense - dense.max(), graph),
            *(np.full(len(items), value) for value in whole),
        ]
    )


def _signal(item: Item, name: str) -> float:
    value = {**item}[name]
    return float(value) if isinstance(value, float) else 0.0


def fold_of(rankings: Sequence[Ranking]) -> NDArray[np.int64]:
    """One of five folds for every question, the same for a group."""
    names = sorted({ranking["group"] for ranking in rankings})
    random = np.random.default_rng(7)
    fold = dict(zip(names, random.permutation(len(names)) % _FOLDS, strict=True))
    return np.array([fold[ranking["group"]] for ranking in rankings])


RULES: dict[str, Rule] = {
    "classifier, 3 classes": _of_class(3),
    "classifier, 2 classes": _of_class(2),
    "classifier, learnt depth": by_depth,
    "oracle: number of relevant": _each(lambda ranking: ranking["relevant"]),
    "oracle: place of the last relevant": _each(_last_relevant),
    "scores": by_scores(),
    "scores, share 0.03": by_scores(share=0.03),
    "scores, share 0.08": by_scores(share=0.08),
    f"within {_NEAR} of the best score": _each(_near_best),
    "thirds: parts of the question": _terciles(lambda ranking: ranking["parts"]),
    "thirds: words of the question": _terciles(lambda ranking: len(ranking["question"].split())),
    "thirds: low best score": _terciles(lambda ranking: -scores_of(ranking)[0]),
    "thirds: small lead of the first": _terciles(_lead),
    "thirds: BM25 and vectors disagree": _terciles(_disagreement),
    "thirds: passages in the graph": _terciles(_in_graph),
    "logistic regression": by_regression,
}
