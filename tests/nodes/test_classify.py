"""Classifying: whose question it is, what it may retrieve, and the three classifiers."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from running import runtime, update_of
from tiny_bert import build

from lexloop.core.errors import DataError, QuestionError, SettingsError
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import ClassCount
from lexloop.core.state import State, Update, merged
from lexloop.core.types import Degradation
from lexloop.nodes.classify import (
    FILE_NAME,
    LinearClassifier,
    TransformerClassifier,
    ZeroShotClassifier,
    bucket,
    chosen_class,
    classify,
    finer,
    plan_for,
)
from lexloop.nodes.context import Corpus

Opened = Callable[..., Update]


class Fixed:
    """Gives the same probabilities for every question."""

    def probabilities(self, question: str, classes: ClassCount) -> list[float]:
        return [0.1, 0.2, 0.7]


@pytest.fixture
def opened() -> Opened:
    def run(state: State, degraded: Sequence[Degradation] = (), **settings: object) -> Update:
        parts = {"classifier": Fixed(), "view": None, "corpus": Corpus(degraded=degraded)}
        return update_of(classify, state, runtime(settings=Settings(**settings), **parts))

    return run


def test_the_last_human_message_asks_and_those_before_it_are_history(opened: Opened) -> None:
    messages = [
        SystemMessage("Be brief."),
        HumanMessage("What is a berth?"),
        AIMessage("A place at a quay."),
        HumanMessage("Who pays for it?", id="m4"),
        AIMessage("I hand this over.", tool_calls=[{"name": "law", "args": {}, "id": "t1"}]),
        ToolMessage("Handed over.", tool_call_id="t1"),
    ]
    update = opened({"messages": messages})
    assert (update["asked"], update["turn"]["id"]) == ("Who pays for it?", "m4")
    assert update["messages"] == [messages[3]]
    assert update["history"] == [
        {"role": "user", "content": "What is a berth?"},
        {"role": "assistant", "content": "A place at a quay."},
    ]


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({}, "There is no question"),
        ({"messages": [AIMessage("A place.")]}, "one of the user's"),
        ({"messages": [HumanMessage(content=[{"type": "image_url"}])]}, "1 to 20 characters"),
    ],
)
def test_what_is_no_question_is_refused(opened: Opened, state: State, says: str) -> None:
    with pytest.raises(QuestionError, match=says):
        opened(state, max_question_chars=20)


def test_class_and_settings_give_the_plan_and_nothing_of_the_last_turn_stays(
    opened: Opened,
) -> None:
    lost: Degradation = {"node": "index", "wanted": "a", "used": "b", "reason": "c"}
    last: State = {
        "question": "  What is a berth? ",
        "answer": "Old.",
        "warning": "Old.",
        "abstained": True,
        "attempts": [{}],
        "turn": {"untranslated": "Old.", "edited": True},
        "usage": {"model_calls": 9, "tokens_in": 9, "tokens_out": 9, "seconds": 9.0},
        "degraded": [lost, lost],
    }
    update = opened(last, degraded=[lost], **{"plan.k": 4})
    [message] = update["messages"]
    assert message.content == update["asked"] == "What is a berth?"
    assert update["history"] == []
    assert (update["complexity"], update["turn"]["probabilities"]) == (2, [0.1, 0.2, 0.7])
    assert update["plan"] == {"k": 4, "Q": 7, "K": 5, "S": 3}
    assert update["attempts"] == update["citations"] == update["passages"] == []
    assert (update["answer"], update["warning"], update["abstained"]) == ("", "", False)
    turn = merged({**last["turn"], "id": "m0"}, update["turn"])
    assert not turn.keys() & last["turn"].keys()
    assert merged(turn, {"typed": "What?"}) == {**turn, "typed": "What?"}
    for wrong in ({"seconds_left": "x"}, "turn", {"nosuch": 1}):
        with pytest.raises(SettingsError, match="The turn is"):
            merged(turn, cast("Any", wrong))
    assert update["degraded"] == [lost]
    assert not any(update["usage"].values())
    assert opened({"question": "What?"}, **{"plan.min_class_probability": 0.8})["complexity"] == 1


@pytest.mark.parametrize(
    ("settings", "printed"),
    [
        ({"plan.classes": 2}, [(5, 3, 4, 2), (10, 5, 5, 3)]),
        ({"plan.classes": 3}, [(3, 3, 3, 1), (5, 5, 4, 2), (7, 7, 5, 3)]),
        ({"plan.classes": 4}, [(3, 3, 3, 1), (4, 4, 4, 2), (6, 6, 4, 2), (7, 7, 5, 3)]),
        ({"variant": "pa"}, [(3, 3, 0, 0), (5, 5, 0, 0), (7, 7, 0, 0)]),
        ({"variant": "llm_only"}, [(0, 0, 0, 0)] * 3),
    ],
)
def test_every_cell_is_the_papers(settings: dict[str, Any], printed: list[tuple[int, ...]]) -> None:
    chosen = Settings(**settings)
    plans = [plan_for(complexity, chosen) for complexity in range(len(printed))]
    assert [(plan["k"], plan["Q"], plan["K"], plan["S"]) for plan in plans] == printed


def test_plans_of_ones_own_replace_the_tables() -> None:
    rows = [{"k": k, "Q": k + 1, "K": k + 2, "S": k + 3} for k in (1, 2)]
    settings = Settings(**{"plan.classes": rows})
    assert [plan_for(label, settings) for label in (0, 1)] == rows
    assert plan_for(1, settings.changed(**{"plan.k": 9})) == {**rows[1], "k": 9}
    assert plan_for(1, settings.changed(variant="pa")) == {**rows[1], "K": 0, "S": 0}


@pytest.mark.parametrize(
    ("probabilities", "least", "label"),
    [
        ([0.1, 0.2, 0.7], 0.5, 2),
        ([0.5, 0.3, 0.2], 0.5, 0),  # reaching the bar is enough
        ([0.6, 0.4], 0.7, 1),  # of two classes the one that retrieves more
    ],
)
def test_a_low_probability_takes_the_middle_class(
    probabilities: list[float], least: float, label: int
) -> None:
    assert chosen_class(probabilities, least) == label


# Any code points, lone surrogates too: a terminal can hand them over.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


def test_bucket_is_the_low_half_of_the_published_crc_32() -> None:
    # The check value of CRC-32 for "123456789" is CBF43926.
    assert bucket("123456789") == 0x3926
    assert bucket("") == 0


SHIPPED = Path(str(files("lexloop.data"))) / "classifier"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (None, "cannot be read"),
        ({"bias": np.array([{"not": "numbers"}], dtype=object)}, "cannot be read"),
        ({"bias": np.full((2, 3), np.nan)}, "no finite numbers"),
        ({"format": np.array([99])}, "format 99; this version reads 1"),
    ],
)
def test_damaged_or_pickled_weights_are_refused(
    tmp_path: Path, changed: dict[str, np.ndarray] | None, message: str
) -> None:
    if changed is None:
        (tmp_path / FILE_NAME).write_bytes(b"PK\x03\x04")
    else:
        with np.load(SHIPPED / FILE_NAME) as stored:
            np.savez(tmp_path / FILE_NAME, allow_pickle=True, **(dict(stored) | changed))
    with pytest.raises(DataError, match=message):
        LinearClassifier.load(tmp_path)


@lru_cache
def shipped() -> LinearClassifier:
    return LinearClassifier.load(SHIPPED)


@given(ANY_TEXT)
def test_shares_sum_to_one_and_are_repeatable(text: str) -> None:
    for classes in get_args(ClassCount):
        shares = shipped().probabilities(text, classes)
        assert len(shares) == classes
        assert sum(shares) == pytest.approx(1.0)
        assert shares == shipped().probabilities(text, classes)


@pytest.mark.parametrize(
    ("shares", "classes", "expected"),
    [
        ([1.0, 0.0, 0.0], 5, [1, 0, 0, 0, 0]),
        ([0.0, 0.0, 1.0], 4, [0, 0, 0, 1]),
        ([0.5, 0.25, 0.25], 5, [0, 0.5, 0.5, 0, 0]),  # class 0.75 of 2 is 1.5 of 4
        ([0.0, 1.0, 0.0], 4, [0, 0.5, 0.5, 0]),
    ],
)
def test_four_and_five_classes_lie_between_three(
    shares: list[float], classes: int, expected: list[float]
) -> None:
    assert finer(shares, classes) == pytest.approx(expected)


QUESTION = "what must an employer do and who checks it ?"
WORDS = f"{QUESTION} simple complex"


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("three"), WORDS, ["one", "two", "more"])


@pytest.mark.parametrize("question", [QUESTION, QUESTION * 500])
def test_transformer_gives_one_share_a_label(three: str, question: str) -> None:
    shares = TransformerClassifier(three).probabilities(question, 3)
    assert len(shares) == 3
    assert all(type(share) is float and 0.0 <= share <= 1.0 for share in shares)
    assert sum(shares) == pytest.approx(1.0)
    assert shares == TransformerClassifier(three).probabilities(question, 3)


def test_another_number_of_labels_and_other_labels_are_refused(three: str) -> None:
    with pytest.raises(SettingsError, match="has 3 labels, not 2"):
        TransformerClassifier(three).probabilities(QUESTION, 2)
    with pytest.raises(SettingsError, match="no entailment"):
        ZeroShotClassifier(three)


def test_zero_shot_gives_the_shares_in_the_order_of_the_classes(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    nli = build(tmp_path, WORDS, ["contradiction", "neutral", "entailment"])
    model = AutoModelForSequenceClassification.from_pretrained(nli).eval()
    tokenizer = AutoTokenizer.from_pretrained(nli)
    entailed = [
        model(**tokenizer(QUESTION, f"This example is {d}.", return_tensors="pt")).logits[0, 2]
        for d in ("simple question", "complex question", "overview question")
    ]
    expected = torch.softmax(torch.stack(entailed), dim=0).tolist()
    shares = ZeroShotClassifier(nli).probabilities(QUESTION, 3)
    assert shares == pytest.approx(expected, abs=1e-5)
    assert all(type(share) is float for share in shares)


def test_pickled_weights_and_a_model_without_a_trained_head_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pickled").mkdir()
    with pytest.raises(SettingsError, match="cannot be loaded"):
        TransformerClassifier(build(tmp_path / "pickled", WORDS, list("abc"), safe=False))
    with pytest.raises(SettingsError, match=r"lacks trained weights: classifier\.bias"):
        TransformerClassifier(build(tmp_path, WORDS, list("abc"), head=False))
