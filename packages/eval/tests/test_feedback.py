"""Opinions in a file: replaced, ordered, refused when damaged; and what is made of them."""

import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lexloop.apps.feedback import FeedbackStore, Opinion
from lexloop.core.errors import DataError
from lexloop.core.types import ABSTENTION, Citation
from lexloop_eval.case import Case
from lexloop_eval.opinions import as_calibration, as_gold, as_preferences

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def opinion(answer_id: str = "a", **changes: Any) -> Opinion:
    fields: dict[str, Any] = {
        "answer_id": answer_id,
        "vote": "up",
        "question": "And when?",
        "standalone": "When is the fee due?",
        "history": [{"role": "user", "content": "What is the fee?"}],
        "answer": "By 31 March [1]. Not later [2].",
        "abstained": False,
        "citations": [cited(5, 9, "ab"), cited(5, 9, "ab"), cited(20, 30, "cd")],
        "contexts": ["The fee is due by 31 March."],
        "scores": {"groundedness": 0.75, "answer_relevance": None},
        "variant": "pa",
        "corpus": "laws",
        "model": None,
        "at": NOON,
    }
    return Opinion(**{**fields, **changes})


def cited(start: int, end: int, quote: str) -> Citation:
    return {"n": 1, "document": "law.txt", "section": "§ 1", "page": None, "start": start,
            "end": end, "quote": quote}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> FeedbackStore:
    return FeedbackStore(tmp_path / "own" / "feedback.sqlite")


def test_what_is_kept_comes_back_in_order_of_time(store: FeedbackStore) -> None:
    late, early = opinion("a", at=NOON + timedelta(days=1)), opinion("b", comment="ünïcode\x00")
    assert not store.keep(late)
    assert not store.keep(early)
    assert store.all() == [early, late]
    assert store.keep(early.model_copy(update={"vote": "down"}))
    assert [kept.vote for kept in store.all()] == ["down", "up"]


def test_two_at_once(store: FeedbackStore) -> None:
    threads = [threading.Thread(target=store.keep, args=(opinion(str(i)),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {kept.answer_id for kept in store.all()} == set("01234567")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA user_version = 2", "of version 2"),
        ("PRAGMA application_id = 1", "not a file of feedback"),
        ("UPDATE opinions SET opinion = '{}'", "not an opinion"),
        ("UPDATE opinions SET opinion = x'00ff'", "not an opinion"),
        ("DROP TABLE opinions", "no such table"),
    ],
)
def test_damage_is_said(store: FeedbackStore, statement: str, message: str) -> None:
    store.keep(opinion())
    with closing(sqlite3.connect(store.file)) as database, database:
        database.execute(statement)
    with pytest.raises(DataError, match=message):
        store.all()


def test_gold() -> None:
    up, down = as_gold([opinion(), opinion("b", vote="down", comment="Wrong day.")])
    assert up["question"] == "And when?"
    assert up["question_type"] == "conversational"
    assert up["reference_answer"] == "By 31 March. Not later."
    assert up["reference_context"] == "ab\n\ncd"
    assert [(span["start"], span["end"]) for span in up["evidence"]] == [(5, 9), (20, 30)]
    assert down["needs_review"]
    assert down["comment"] == "Wrong day."
    assert "reference_answer" not in down
    assert up["rated"] == [{"answer": "By 31 March. Not later.", "score": 1.0}]
    assert down["rated"][0]["score"] == 0.0
    assert [Case.model_validate(row).rated[0].score for row in (up, down)] == [1.0, 0.0]


def test_calibration() -> None:
    (row,) = as_calibration([opinion(vote="down", model="openai:x")])
    assert (row["question"], row["human"]) == ("When is the fee due?", 0.0)
    assert (row["judge_groundedness"], row["judge_answer_relevance"]) == (0.75, None)
    assert (row["contexts"], row["system"]) == (["The fee is due by 31 March."], "openai:x")


def test_gold_of_an_abstention_and_of_an_answer_without_citations() -> None:
    silent, alone = as_gold(
        [opinion(answer=ABSTENTION, abstained=True, citations=[]), opinion(citations=[])]
    )
    assert (silent["question_type"], silent["reference_answer"]) == ("out of scope", ABSTENTION)
    assert "evidence" not in alone
    assert alone["reference_answer"]
    assert as_gold([]) == as_calibration([]) == []


def test_thumbs_on_one_question_are_preferences() -> None:
    down = opinion("b", vote="down", standalone="when is the FEE due?", answer="In June [1].")
    other = opinion("c", vote="down", answer="In May [1].", contexts=["Another passage."])
    alone = opinion("d", vote="down", standalone="Who pays it?")
    same = opinion("e", vote="down", answer="By 31 March. Not later.")
    assert as_preferences([opinion(), down, other, alone, same]) == [
        {
            "question": "When is the fee due?",
            "passages": ["The fee is due by 31 March."],
            "chosen": "By 31 March [1]. Not later [2].",
            "rejected": "In June [1].",
        },
        {
            "question": "When is the fee due?",
            "context": "The fee is due by 31 March.",
            "chosen": "By 31 March. Not later.",
            "rejected": "In May.",
        },
    ]
