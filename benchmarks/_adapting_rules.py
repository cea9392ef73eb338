"""Ways to choose k for every question: the paper's, the oracle's, and by the scores."""

from collections.abc import Callable, Sequence

import numpy as np
from _adapting_lists import Ranking
from numpy.typing import NDArray

from lexloop.core.settings import Settings
from lexloop.core.settings_groups import ByScores
from lexloop.finetune.classifier import LabelledQuestions
from lexloop.finetune.depth import classes_of, depth, out_of_fold
from lexloop.nodes.classify import TABLES, chosen_class
from lexloop.nodes.rerank import adaptive_k

MOST = 20
"""The most passages a rule may take, and the highest fixed k."""
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
}
