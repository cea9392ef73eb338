"""The questions for the router are well-formed: sixty and sixty, each with one right set."""

from collections import Counter

import pytest
from routed import routing_collections, routing_questions

FILES = ("questions", "blind")
NEEDLESS = {"greeting", "thanks", "farewell", "capability", "small talk", "arithmetic", "off topic"}


@pytest.mark.parametrize("name", FILES)
def test_sixty_are_asked_of_one_of_several_and_of_no_collection(name: str) -> None:
    asked = routing_questions(name)
    assert len(asked) == 60
    assert Counter(min(len(one.collections), 2) for one in asked) == {0: 10, 1: 40, 2: 10}
    alone = Counter(one.collections[0] for one in asked if len(one.collections) == 1)
    assert alone == dict.fromkeys(routing_collections(), 10)


@pytest.mark.parametrize("name", FILES)
def test_the_kind_says_how_many_collections_are_needed(name: str) -> None:
    for one in routing_questions(name):
        assert (one.kind in NEEDLESS) == (not one.collections), one.question
        assert (one.kind == "several") == (len(one.collections) > 1), one.question
        assert (one.kind == "conversational") == bool(one.history), one.question


@pytest.mark.parametrize("name", FILES)
def test_collections_are_known_and_named_once(name: str) -> None:
    for one in routing_questions(name):
        assert set(one.collections) <= set(routing_collections())
        assert len(set(one.collections)) == len(one.collections)


@pytest.mark.parametrize("name", FILES)
def test_a_history_is_of_whole_exchanges(name: str) -> None:
    for one in routing_questions(name):
        roles = [turn["role"] for turn in one.history]
        assert roles == ["user", "assistant"] * (len(roles) // 2)


def test_no_question_is_asked_twice() -> None:
    asked = [one.question for name in FILES for one in routing_questions(name) if not one.history]
    assert len(set(asked)) == len(asked)


def test_every_written_collection_has_several_documents() -> None:
    for folder in routing_collections().values():
        texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.txt")]
        assert 2 <= len(texts) <= 4
        assert sum(len(text.split()) for text in texts) >= 1_400
