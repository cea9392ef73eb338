"""The embedded rewriter: sub-queries and keywords."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import runtime

from lexloop.core.running import waited
from lexloop.core.state import State, Update
from lexloop.core.types import ParsedQuestion, Plan, Reading, Turn
from lexloop.documents.text.tokens import words
from lexloop.nodes.question import parse
from lexloop.nodes.rewrite import NoRewriter, RuleRewriter, keywords, rewrite

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


def test_a_follow_up_is_resolved_before_it_is_split() -> None:
    history: list[Turn] = [{"role": "user", "content": "I would like to know about bias audits"}]
    alone = "What are bias audits?"
    found = {**parse(alone), "queries": [alone], "keywords": ["bias audits"]}
    assert rewritten("What is it?", history) == found


def test_what_is_quoted_or_numbered_is_a_keyword() -> None:
    assert keywords('What does "net tonnage" mean?')[0] == "net tonnage"
    assert keywords("Under Article 6, who is liable?") == ["Article 6", "liable"]


class Wording:
    """Knows one slip; keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def place_of(self, quote: str) -> tuple[str, str]:
        return ("", "")

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


def turn(asked: str, said: str, rewriter: NoRewriter, wording: Wording) -> Update:
    history: list[Turn] = [{"role": "user", "content": said}]
    state: State = {"asked": asked, "history": history, "plan": PLAN}
    return waited(rewrite(state, runtime(rewriter=rewriter, wording=wording, backend=None)))


@pytest.mark.parametrize("rewriter", [RuleRewriter(), Translating()])
def test_words_of_another_language_are_no_slips(rewriter: NoRewriter) -> None:
    wording = Wording()
    update = turn("Was ist ein birth?", "Wo ist ein birth?", rewriter, wording)
    assert wording.given == []
    assert (update["parsed"]["text"], update["read_as"]) == ("Was ist ein birth?", [])
    told = update["untranslated"]
    assert told == "" if rewriter.translates else "seems to be in German" in told


def test_slips_are_mended_in_the_question_and_before_it() -> None:
    asked = "Who inspects it and the birth?"
    update = turn(asked, "What is a birth?", RuleRewriter(), Wording())
    assert update["parsed"]["text"] == "Who inspects a berth and the berth?"
    assert update["read_as"] == [{"written": "birth", "read": "berth"}]


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
