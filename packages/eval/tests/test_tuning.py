"""What settings are worth, the search among them, and the questions that it never sees."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import optuna
import pytest
import records
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from optuna.distributions import CategoricalDistribution
from optuna.trial import FrozenTrial

from lexloop.core.errors import InputError
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import Linear
from lexloop.core.types import Chunk, Passage
from lexloop.nodes.classify import class_plans
from lexloop_eval.case import Case, Span
from lexloop_eval.evidence import EvidenceIndex
from lexloop_eval.score import Score, Unresolved
from lexloop_eval.tuning import (
    MOST_TOKENS,
    OBJECTIVES,
    OF_RETRIEVAL,
    Measurement,
    Objective,
    Search,
    near_duplicates,
    of_passages,
    scaled,
    split,
    suggested,
)

WORDS = ("one two three four five", "six seven eight nine ten", "red blue green grey pink")


def chunk(number: int) -> Chunk:
    place = {"document": "d", "start": 100 * number, "end": 100 * number + 100}
    return records.chunk(WORDS[number], id=f"d#{number}", **place)


CHUNKS = [chunk(number) for number in range(3)]


def worth(gold: Case, *taken: int) -> dict[Objective, float | Unresolved]:
    passages: list[Passage] = [
        {**CHUNKS[place], "score": 1.0, "signals": {}, "n": n} for n, place in enumerate(taken, 1)
    ]
    return of_passages(gold, passages, EvidenceIndex(CHUNKS))


def spans(*places: tuple[int, int]) -> Case:
    evidence = tuple(Span(document="d", start=start, end=end) for start, end in places)
    return Case(question="Q?", evidence=evidence)


def test_a_span_is_found_when_half_of_it_is() -> None:
    gold = spans((50, 150), (200, 300))
    assert worth(gold, 0)["recall"] == 0.5  # half of the first span
    assert worth(gold, 0)["span_recall"] == 0.25  # 50 of 200 characters
    assert worth(gold, 0, 1, 2)["recall"] == 1.0
    assert worth(gold)["recall"] == 0.0
    assert worth(spans((80, 200)), 0)["recall"] == 0.0  # 20 of 120 characters


def test_contexts_count_once_whatever_number_of_chunks_they_have() -> None:
    reference = f"Document 1: {WORDS[0]} {WORDS[1]}\n\nDocument 2: {WORDS[2]}"
    gold = Case(question="Q?", reference_context=reference)
    assert worth(gold, 0)["recall"] == 0.5
    assert worth(gold, 0, 1)["recall"] == 0.5
    assert worth(gold, 1, 2)["recall"] == 1.0
    assert isinstance(worth(gold, 1)["span_recall"], Unresolved)


def test_nothing_known_and_nothing_to_find() -> None:
    for gold in (
        Case(question="Q?"),
        Case(question="Q?", question_type="out of scope", reference_context=WORDS[0]),
    ):
        assert all(isinstance(worth(gold, 0)[name], Unresolved) for name in OF_RETRIEVAL)


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


def test_the_best_of_two_choices_is_found_and_the_same_each_time() -> None:
    def worth(settings: Settings) -> float:
        return (
            0.5 + 0.2 * (settings.chunking.method == "semantic") - abs(boost_of(settings) - 0.8) / 4
        )

    found = search(Known(worth), most=60).run(BASE)
    assert found.chunking.method == "semantic"
    assert boost_of(found) == pytest.approx(0.8, abs=0.1)
    assert found == search(Known(worth), most=60).run(BASE)
    few = search(Known(worth), most=2)
    few.run(BASE)
    assert few.used <= 2


def test_noise_changes_nothing() -> None:
    looking = search(Known(lambda settings: 0.5 + 0.0001 * boost_of(settings), noise=0.05))
    assert looking.run(BASE) == BASE
    assert looking.trials
    assert not any(trial.taken for trial in looking.trials)


def test_what_costs_more_context_is_not_taken() -> None:
    def worth(settings: Settings) -> float:
        return 0.5 + 0.3 * (host_of(settings) > 0.0)

    def tokens(settings: Settings) -> float:
        return 106.0 if host_of(settings) > 0.0 else 100.0

    assert search(Known(worth, tokens), most=40).run(BASE) == BASE
    assert MOST_TOKENS == 1.05


def test_longer_chunks_are_tried_with_fewer_of_them() -> None:
    def tokens(settings: Settings) -> float:
        k = class_plans(settings.plan)[1]["k"]
        return 20.0 * k * (2.0 if settings.chunking.method == "semantic" else 1.0)

    def worth(settings: Settings) -> float:
        return 0.5 + 0.3 * (settings.chunking.method == "semantic")

    found = search(Known(worth, tokens), most=60).run(BASE)
    assert found.chunking.method == "semantic"
    assert class_plans(found.plan)[1]["k"] == 2  # 80 tokens of 100; another would be 120
    assert scaled(Settings(**{"plan.k": 40}), 2.0) == {"plan.k": 50}
    halved = BASE.changed(**scaled(BASE, 0.5))
    assert [row["k"] for row in class_plans(halved.plan)] == [2, 2, 4]  # 1.5, 2.5 and 3.5, to even


def test_answers_are_not_written_for_what_brings_up_less_than_most() -> None:
    known = Known(lambda settings: 0.5 - abs(boost_of(settings) - 0.8) / 4)
    looking = search(known, "similarity", most=30)
    assert boost_of(looking.run(BASE)) == pytest.approx(0.8, abs=0.2)
    ranked = known.answered.count(False)
    assert looking.used == known.answered.count(True) <= 30
    assert ranked > looking.used * 1.2


def asked_for(base: Settings, count: int = 60) -> list[FrozenTrial]:
    """What some trials at random suggest."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=7))
    for _ in range(count):
        trial = study.ask()
        base.changed(**suggested(trial, base, True))  # allowed settings, every one
        study.tell(trial, 0.0)
    return study.trials


def test_every_weight_of_every_fusion_is_reached_within_its_bounds() -> None:
    distributions: dict[str, Any] = {}
    for trial in asked_for(Settings()):
        distributions |= trial.distributions
    bounds = {
        name: (held.low, held.high)
        for name, held in distributions.items()
        if not isinstance(held, CategoricalDistribution) and " of " not in name
    }
    assert bounds == {
        "standardised.bm25_weight": (0.0, pytest.approx(2.7)),
        "standardised.cosine_weight": (0.0, pytest.approx(1.8)),
        "standardised.token_weight": (0.0, 3.0),
        "linear.bm25_boost": (0.0, pytest.approx(1.2)),
        "linear.host_boost": (0.0, 0.4),
        "rrf.k": (30, 120),
        "rrf.lexical_weight": (0.0, 1.0),  # three times one half is no share
        "min_share": (0.02, 0.1),
    }
    assert set(distributions["linear.normalisation"].choices) == {"max", "minmax", "none"}
    assert (distributions["k of 0"].low, distributions["Q of 2"].high) == (2, 7)


def test_what_the_settings_fix_stays_fixed() -> None:
    fixed = Settings(**{"plan.k": 4, "plan.Q": 2, "retrieval.knowledge_graph": "none"})
    names = {name for trial in asked_for(fixed, 5) for name in trial.params}
    assert not {name for name in names if " of " in name or name == "plan.k"}


def test_an_objective_that_no_question_has_is_refused() -> None:
    class Nothing(Known):
        def measure(
            self, settings: Settings, questions: Sequence[Case], answered: bool
        ) -> Measurement:
            return Measurement({name: [UNKNOWN] for name in OBJECTIVES}, [1.0])

    with pytest.raises(InputError, match="scored by ndcg: no evidence"):
        search(Nothing(lambda _: 0.0), "ndcg").run(BASE)


def asked(name: str, question: str, answer: str = "", kind: str = "simple") -> Case:
    return Case(id=name, question=question, reference_answer=answer, question_type=kind)


def many(count: int) -> list[Case]:
    kinds = ("simple", "double", "vague")
    return [
        asked(f"q{n}", f"Apple{n} berry{n} cedar{n}?", f"d{n}", kinds[n % 3]) for n in range(count)
    ]


def test_alike_questions_and_alike_answers_belong_together() -> None:
    gold = [
        asked("a", "Who must pay the mooring fee?"),
        asked("b", "Who must pay the mooring fee now?"),  # 6 of 7 words
        asked("c", "What does a berth cost per year?", "Forty euros a year, at most"),
        asked("d", "What does a berth cost?", "forty euros a year at most"),  # 5 of 7 words
        asked("e", "Until when is the office open?", "Forty euros a year, at most"),  # none
    ]
    groups = near_duplicates(gold)
    assert groups["a"] == groups["b"]
    assert groups["c"] == groups["d"]
    assert len({groups[name] for name in "ace"}) == 3


def test_refusals_that_say_the_same_do_not_join_questions() -> None:
    refusal = "The documents do not say."
    one = asked("a", "What does a cat licence cost?", refusal, "out of scope")
    other = asked("b", "What does a dog leash cost?", refusal, "out of scope")
    assert len(set(near_duplicates([one, other]).values())) == 2


def parts(gold: list[Case], seed: int) -> tuple[list[Case], list[Case]]:
    return split(gold, near_duplicates(gold), seed)


@settings(max_examples=examples(25))
@given(st.integers(0, 1000), st.integers(4, 40), st.integers(1, 3))
def test_every_question_is_on_one_side_with_its_copies(seed: int, count: int, copies: int) -> None:
    gold = [
        question.model_copy(update={"id": f"{question.id}.{copy}"})
        for question in many(count)
        for copy in range(copies)
    ]
    tuning, held_out = parts(gold, seed)
    assert sorted(q.id for q in (*tuning, *held_out)) == sorted(q.id for q in gold)
    groups = near_duplicates(gold)
    assert not {groups[q.id] for q in tuning} & {groups[q.id] for q in held_out}
    assert (tuning, held_out) == parts(gold, seed)


@pytest.mark.parametrize("gold", [many(1), many(1) * 3])
def test_what_cannot_be_split_is_refused(gold: list[Case]) -> None:
    with pytest.raises(InputError, match="cannot be split"):
        parts(gold, 7)


def test_types_are_shared_out() -> None:
    tuning, held_out = parts(many(30), seed=3)
    assert (len(tuning), len(held_out)) == (18, 12)
    assert set(Counter(q.question_type for q in tuning).values()) == {6}
