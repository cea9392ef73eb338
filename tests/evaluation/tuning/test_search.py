"""The candidates, and the search on settings whose worth is known beforehand."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from lexloop.core.errors import InputError
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import Linear
from lexloop.evaluation.case import Case
from lexloop.evaluation.score import Score, Unresolved
from lexloop.evaluation.tuning.measure import OBJECTIVES, Measurement, Objective
from lexloop.evaluation.tuning.search import MOST_TOKENS, Search, coordinates, scaled, thinned
from lexloop.nodes.classify import class_plans


@pytest.mark.parametrize("classes", [2, 3])
def test_every_candidate_is_valid_and_changes_a_class_at_most(classes: int) -> None:
    base = Settings(**{"plan.classes": classes})
    for name, candidates in coordinates(base, chunking=True).items():
        for changes in candidates:
            settings = base.changed(**changes)
            assert settings.plan.classes == classes or len(settings.plan.classes) == classes
            if name in ("Q", "K and S"):
                differing = [
                    a != b
                    for a, b in zip(class_plans(settings.plan), class_plans(base.plan), strict=True)
                ]
                assert sum(differing) == 1


def test_k_is_scaled_with_the_length_of_chunks() -> None:
    assert [row["k"] for row in scaled(Settings(), 2.0)["plan.classes"]] == [6, 10, 14]
    assert [row["k"] for row in scaled(Settings(), 0.01)["plan.classes"]] == [1, 1, 1]
    assert scaled(Settings(**{"plan.k": 40}), 2.0) == {"plan.k": 50}
    assert scaled(Settings(variant="fixed"), 0.6) == {"plan.k": 3}


def test_thinned_is_bounded_and_repeatable() -> None:
    all_of_it = coordinates(Settings(), chunking=True)
    few = thinned(all_of_it, 20, seed=1)
    assert sum(map(len, few.values())) <= 20
    assert few == thinned(all_of_it, 20, seed=1)
    assert few != thinned(all_of_it, 20, seed=2)
    assert thinned(all_of_it, 1000, seed=1) == all_of_it
    assert len(thinned({"a": [{"k": 1}, {"k": 2}]}, 1, seed=1)["a"]) == 1


QUESTIONS = [Case(id=str(n), question=f"Q{n}?") for n in range(40)]
BASE = Settings(fusion="linear")
UNKNOWN = Unresolved("no evidence")
Worth = Callable[[Settings], float]


def boost_of(settings: Settings) -> float:
    return settings.fusion.bm25_boost if isinstance(settings.fusion, Linear) else 0.4


def host_of(settings: Settings) -> float:
    return settings.fusion.host_boost if isinstance(settings.fusion, Linear) else 0.0


class Known:
    """Gives every question the same score, but for a little that differs by question."""

    def __init__(self, worth: Worth, tokens: Worth = lambda _: 100.0, noise: float = 0.01) -> None:
        self._worth, self._tokens, self._noise = worth, tokens, noise
        self.answered: list[bool] = []

    def measure(self, settings: Settings, questions: Sequence[Case], answered: bool) -> Measurement:
        self.answered.append(answered)
        spread = (len(settings.fusion.method) + round(10 * boost_of(settings))) % 7
        scores: list[Score] = [
            self._worth(settings) + self._noise * ((n * 5 + spread) % 7 - 3)
            for n in range(len(questions))
        ]
        unasked: list[Score] = [UNKNOWN] * len(questions)
        of_answers = scores if answered else unasked
        by_name: dict[Objective, list[Score]] = dict.fromkeys(OBJECTIVES, scores)
        by_name |= {"similarity": of_answers, "correctness": of_answers}
        return Measurement(by_name, [self._tokens(settings)] * len(questions))


def search(known: Known, objective: Objective = "recall", **changes: Any) -> Search:
    fields: dict[str, Any] = {
        "groups": list(range(len(QUESTIONS))),
        "most": 200,
        "seed": 7,
        "chunking": True,
        "out_of_time": lambda: False,
        "progress": lambda *_: None,
    }
    return Search(known.measure, QUESTIONS, objective=objective, **{**fields, **changes})


def test_each_coordinate_takes_its_best() -> None:
    def worth(settings: Settings) -> float:
        return (
            0.5 + 0.2 * (settings.chunking.method == "semantic") - abs(boost_of(settings) - 0.8) / 4
        )

    found = search(Known(worth)).run(BASE)
    assert found == BASE.changed(**{"chunking.method": "semantic", "fusion.bm25_boost": 0.8})


def test_noise_changes_nothing() -> None:
    looking = search(Known(lambda settings: 0.5 + 0.0001 * boost_of(settings), noise=0.05))
    assert looking.run(BASE) == BASE
    assert looking.trials
    assert not any(trial.taken for trial in looking.trials)


def test_what_costs_more_context_is_not_taken() -> None:
    def worth(settings: Settings) -> float:
        return 0.5 + 0.3 * (host_of(settings) > 0.0)

    def tokens(settings: Settings) -> float:
        return 100.0 + 200.0 * host_of(settings)

    found = search(Known(worth, tokens)).run(BASE)
    assert found == BASE  # the smallest host boost costs 110, more than 105
    assert MOST_TOKENS == 1.05


def test_longer_chunks_are_tried_with_fewer_of_them() -> None:
    def tokens(settings: Settings) -> float:
        k = class_plans(settings.plan)[1]["k"]
        return 20.0 * k * (2.0 if settings.chunking.method == "semantic" else 1.0)

    def worth(settings: Settings) -> float:
        return 0.5 + 0.3 * (settings.chunking.method == "semantic")

    found = search(Known(worth, tokens)).run(BASE)
    assert found.chunking.method == "semantic"
    assert [row["k"] for row in class_plans(found.plan)] == [2, 2, 4]  # 1.5, 2.5 and 3.5, to even


def test_answers_are_written_for_few_of_the_candidates() -> None:
    known = Known(lambda settings: 0.5 + 0.2 * (boost_of(settings) == 0.8))
    looking = search(known, "similarity")
    assert looking.run(BASE) == BASE.changed(**{"fusion.bm25_boost": 0.8})
    assert looking.used == sum(known.answered) < len(known.answered) / 2
    assert len([trial for trial in looking.trials if trial.coordinate == "bm25_boost"]) == 3


@pytest.mark.parametrize("most", [2, 5, 20])
def test_no_more_trials_than_allowed(most: int) -> None:
    looking = search(Known(lambda _: 0.5), most=most)
    looking.run(BASE)
    assert looking.used <= most


def test_an_objective_that_no_question_has_is_refused() -> None:
    class Nothing(Known):
        def measure(
            self, settings: Settings, questions: Sequence[Case], answered: bool
        ) -> Measurement:
            return Measurement({name: [UNKNOWN] for name in OBJECTIVES}, [1.0])

    with pytest.raises(InputError, match="scored by ndcg: no evidence"):
        search(Nothing(lambda _: 0.0), "ndcg").run(BASE)
