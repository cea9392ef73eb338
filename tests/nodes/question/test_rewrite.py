"""Rewriting by rules and by a model, and follow-ups that are made to stand alone."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest
from fake_openai import FakeOpenAI, Reply
from hypothesis import given
from hypothesis import strategies as st
from running import runtime

from lexloop.core.errors import hearing
from lexloop.core.running import waited
from lexloop.core.state import State, Update
from lexloop.core.types import Chunk, Hit, ParsedQuestion, Plan, Reading, Turn
from lexloop.documents.text.tokens import words
from lexloop.models.minilm import load_minilm
from lexloop.nodes.question.rewrite import ModelRewriter, NoRewriter, RuleRewriter, rewrite
from lexloop.store.protocol import Found

PLAN: Plan = {"k": 5, "Q": 5, "K": 4, "S": 2}


def rewritten(
    question: str, history: list[Turn] | None = None, plan: Plan = PLAN
) -> ParsedQuestion:
    return waited(RuleRewriter().rewrite(question, history or [], plan, None))


def test_each_thing_that_is_asked_is_a_query() -> None:
    asked = "As an owner of a boat, what is a mooring fee and who must pay it?"
    assert rewritten(asked)["queries"] == [
        "what is a mooring fee",
        "who must pay a mooring fee?",
        "what is a mooring fee and who must pay it?",
        asked,
    ]
    assert rewritten("?")["queries"] == []


class Wording:
    """A view of no documents that knows one slip and keeps what it was given."""

    documents: Sequence[str] = ()
    titles: Mapping[str, str] = {}
    names: Sequence[str] = ["English"]

    def __init__(self) -> None:
        self.given: list[str] = []
        self.language = self

    def __len__(self) -> int:
        return 0

    def search(self, queries: Sequence[str], limit: int) -> Found:
        return [[] for _ in queries], [[] for _ in queries]

    def search_lexical(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return self.search(queries, limit)[0]

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        return []

    def read(self, text: str) -> tuple[str, list[Reading]]:
        self.given.append(text)
        told: list[Reading] = [{"written": "birth", "read": "berth"}]
        return text.replace("birth", "berth"), told if "birth" in text else []

    def other(self, question: str) -> str:
        return "German" if "ist" in question else ""


class Translating(NoRewriter):
    """A rewriter that puts questions into the documents' language."""

    translates = True


def turn(asked: str, said: str, rewriter: NoRewriter, wording: Wording) -> Update:
    history: list[Turn] = [{"role": "user", "content": said}]
    state: State = {"asked": asked, "turn": {}, "history": history, "plan": PLAN}
    return waited(rewrite(state, runtime(rewriter=rewriter, view=wording)))


@pytest.mark.parametrize("rewriter", [RuleRewriter(), Translating()])
def test_words_of_another_language_are_no_slips(rewriter: NoRewriter) -> None:
    wording = Wording()
    update = turn("Was ist ein birth?", "Wo ist ein birth?", rewriter, wording)
    assert wording.given == []
    assert (update["parsed"]["text"], update["read_as"]) == ("Was ist ein birth?", [])
    told = update.get("turn", {}).get("untranslated", "")
    assert ("seems to be in German" in told) is not rewriter.translates


def test_slips_are_mended_in_the_question_and_before_it() -> None:
    asked = "Who inspects it and the birth?"
    update = turn(asked, "What is a birth?", RuleRewriter(), Wording())
    assert update["parsed"]["text"] == "Who inspects a berth and the berth?"
    assert update["read_as"] == [{"written": "birth", "read": "berth"}]


def test_words_of_an_earlier_question_are_known_as_such() -> None:
    update = turn("And who inspects it?", "What is a birth?", RuleRewriter(), Wording())
    [part] = update["parsed"]["parts"]
    assert part["text"] == "And who inspects a berth?"
    assert part["earlier"] == ["a", "berth"]


FRAGMENTS = st.sampled_from(
    "what is|who| and |; |? |. |between|it|its|§ 5-2|the|'|\"|tell me about|as a tenant, |fee|Is"
    "|(a)|\n|so|—|  |définition".split("|")
)
ASKED = st.one_of(st.text(max_size=120), st.lists(FRAGMENTS, max_size=14).map(" ".join))
TURNS = st.builds(
    lambda role, content: Turn(role=role, content=content),
    st.sampled_from(["user", "assistant"]),
    ASKED,
)


@given(ASKED, st.lists(TURNS, max_size=3), st.integers(0, 7), st.integers(0, 5))
def test_any_text_is_rewritten_within_the_plan(
    question: str, history: list[Turn], Q: int, K: int
) -> None:
    rewriting = rewritten(question, history, {"k": 3, "Q": Q, "K": K, "S": 1})
    assert len(rewriting["queries"]) <= Q
    assert len(rewriting["keywords"]) <= K
    for found in (rewriting["queries"], rewriting["keywords"]):
        spoken = [tuple(words(text)) for text in found]
        assert len(set(spoken)) == len(spoken)
        assert all(spoken)
    assert bool(rewriting["text"].strip()) or not question.strip()


def user(*contents: str) -> list[Turn]:
    return [{"role": "user", "content": content} for content in contents]


SMALL_PLAN: Plan = {"k": 5, "Q": 3, "K": 2, "S": 1}
ASKED_FIRST = user("I would like to know about bias audits")


class English(Wording):
    """Documents in English, which know German by one word."""

    def other(self, question: str) -> str:
        return "German" if "Gebühr" in question else ""


Rewrite = Callable[..., ParsedQuestion]


@pytest.fixture
def by_model(converse: Callable[..., Any]) -> Rewrite:
    """``by_model("What is it?", history)``: the reading by the scripted server."""

    def run(question: str, history: list[Turn] | None = None, plan: Plan = SMALL_PLAN) -> Any:
        def asks(chat: Any) -> Any:
            rewriter = ModelRewriter(chat, cast("Any", English()), load_minilm().embed)
            return rewriter.rewrite(question, history or [], plan, None)

        return converse(asks)

    return run


def says(**fields: object) -> Reply:
    return Reply(json.dumps(fields))


def test_all_three_in_one_call(server: FakeOpenAI, by_model: Rewrite) -> None:
    server.play(
        "rewrite",
        says(
            standalone="What is a bias audit?",
            queries=["bias audit definition", "who performs a bias audit"],
            keywords=["bias audit"],
        ),
    )
    rewriting = by_model("What is it?", ASKED_FIRST)
    assert rewriting["text"] == "What is a bias audit?"
    assert rewriting["queries"] == ["bias audit definition", "who performs a bias audit"]
    assert rewriting["keywords"] == ["bias audit"]
    [request] = server.requests
    assert request.role == "rewrite"
    assert 'kind="user">\nI would like to know about bias audits\n</data-' in request.user
    assert 'kind="question">\nWhat is it?\n</data-' in request.user
    assert "At most 3 short" in request.user
    assert "At most 2 terms" in request.user


def test_limits_and_duplicates_are_kept_by_code(server: FakeOpenAI, by_model: Rewrite) -> None:
    server.otherwise = says(
        standalone="  ",
        queries=["Bias  audit", "bias audit", "", "a fee", "a fine", "a date"],
        keywords=["Fee", "fee", "fine", "date"],
    )
    rewriting = by_model("What fee?")
    assert rewriting["text"] == "What fee?"
    assert rewriting["queries"] == ["Bias audit", "a fee", "a fine"]
    assert rewriting["keywords"] == ["Fee", "fine"]


def test_a_question_in_another_language_is_to_be_translated(
    server: FakeOpenAI, by_model: Rewrite
) -> None:
    server.otherwise = says(standalone="How high is the fee?", queries=["amount of the fee"])
    rewriting = by_model("Wie hoch ist die Gebühr?", plan={"k": 5, "Q": 0, "K": 0, "S": 0})
    assert rewriting["text"] == "How high is the fee?"
    [request] = server.requests
    assert 'kind="language">\nEnglish\n</data-' in request.user
    assert "translate the question" in request.user


def test_another_question_is_not_asked(server: FakeOpenAI, by_model: Rewrite) -> None:
    server.otherwise = says(standalone="What is the penalty for a violation?", queries=["penalty"])
    with hearing() as told:
        rewriting = by_model("What is it?", ASKED_FIRST)
    assert rewriting["text"] == "What are bias audits?"
    assert rewriting["queries"] == ["penalty"]  # they are searched for
    [loss] = told
    assert loss.used == "the rules' reading"
    assert "another question" in loss.reason
