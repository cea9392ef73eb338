"""The embedded rewriter: sub-queries and keywords."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import runtime

from lexloop.core.running import waited
from lexloop.core.state import State
from lexloop.core.types import Advice, ParsedQuestion, Plan, Reading, Turn
from lexloop.documents.text.tokens import words
from lexloop.nodes.question import parse
from lexloop.nodes.rewrite import NoRewriter, RuleRewriter, keywords, rewrite

PLAN: Plan = {"k": 5, "Q": 5, "K": 4, "S": 2}


def rewritten(
    question: str,
    history: list[Turn] | None = None,
    plan: Plan = PLAN,
    advice: Advice | None = None,
) -> ParsedQuestion:
    return waited(RuleRewriter().rewrite(question, history or [], plan, advice))


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        (
            "What is a mooring fee and who must pay it?",
            [
                "What is a mooring fee",
                "who must pay a mooring fee?",
                "What is a mooring fee and who must pay it?",
            ],
        ),
        (
            "As a boat owner with two boats, how long does notice of a fee take?",
            [
                "how long does notice of a fee take?",
                "As a boat owner with two boats, how long does notice of a fee take?",
            ],
        ),
        ("?", []),
    ],
)
def test_each_thing_that_is_asked_is_a_query(question: str, queries: list[str]) -> None:
    assert rewritten(question)["queries"] == queries


def test_a_follow_up_is_resolved_before_it_is_split() -> None:
    history: list[Turn] = [{"role": "user", "content": "I would like to know about bias audits"}]
    rewriting = rewritten("What is it?", history)
    alone = "What are bias audits?"
    assert rewriting == {**parse(alone), "queries": [alone], "keywords": ["bias audits"]}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ('What does "net tonnage" mean?', ["net tonnage"]),
        ("Under Article 6, who is liable?", ["Article 6", "liable"]),
        ("What is it?", []),
    ],
)
def test_keywords(question: str, expected: list[str]) -> None:
    assert keywords(question)[: len(expected)] == expected


class Wording:
    """Knows one slip and one heading; keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.looked_up: list[str] = []

    def place_of(self, quote: str) -> tuple[str, str]:
        self.looked_up.append(quote)
        return ("Winter storage", "Article 9") if "leave" in quote else ("", "")

    def read(self, text: str) -> tuple[str, list[Reading]]:
        self.given.append(text)
        told: list[Reading] = [{"written": "birth", "read": "berth"}]
        return text.replace("birth", "berth"), told if "birth" in text else []

    def languages(self) -> list[str]:
        return ["English"]

    def other_language(self, question: str) -> str:
        return "German" if "ist" in question else ""


class Translating(NoRewriter):
    """A rewriter that puts questions into the documents' language."""

    translates = True


@pytest.mark.parametrize("rewriter", [RuleRewriter(), Translating()])
def test_words_of_another_language_are_no_slips(rewriter: NoRewriter) -> None:
    wording = Wording()
    history: list[Turn] = [{"role": "user", "content": "Wo ist ein birth?"}]
    state: State = {"asked": "Was ist ein birth?", "history": history, "plan": PLAN}
    update = waited(rewrite(state, runtime(rewriter=rewriter, wording=wording, backend=None)))
    assert wording.given == []
    assert (update["parsed"]["text"], update["read_as"]) == ("Was ist ein birth?", [])
    said = (
        "The question seems to be in German, and the documents are in English. It was not "
        "translated, and so not answered: ask it in their language, or set a model, which "
        "translates it."
    )
    assert update["untranslated"] == ("" if rewriter.translates else said)


def test_slips_are_mended_in_the_question_and_before_it() -> None:
    state: State = {
        "asked": "Who inspects it and the birth?",
        "history": [
            {"role": "user", "content": "What is a birth?"},
            {"role": "assistant", "content": "A birth is a place."},
        ],
        "plan": PLAN,
    }
    update = waited(
        rewrite(state, runtime(rewriter=RuleRewriter(), wording=Wording(), backend=None))
    )
    assert update["parsed"]["text"] == "Who inspects a berth and the berth?"
    assert update["read_as"] == [{"written": "birth", "read": "berth"}]
    assert all(
        "birth" not in text
        for text in [*update["parsed"]["queries"], *update["parsed"]["keywords"]]
    )


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
