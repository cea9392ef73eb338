"""What the embedded prompt engineer and a model's advise, and what the node notes."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from indexes import view_of
from records import attempt, evaluation, passage

from lexloop.core.running import waited
from lexloop.core.settings_groups import Standardised
from lexloop.core.types import Advice, Attempt, Evaluation, Passage
from lexloop.documents.document import Document
from lexloop.nodes.context import UNANSWERED
from lexloop.nodes.engineer_prompt import ModelPromptEngineer, RuleEngineer
from lexloop.nodes.looking import Looking
from lexloop.nodes.question.parts import parse

ASKED = "As a boat owner, what is a berth and who must pay for a berth?"
SIMPLE = "what is a berth and who must pay for a berth?"


def tried(verdict: Evaluation, number: int = 1, abstained: bool = False) -> Attempt:
    made = attempt(number, ASKED, [], verdict)
    return {**made, "keywords": ["berth", "pay"], "abstained": abstained}


@pytest.fixture
def advise() -> Callable[..., Advice]:
    return lambda *attempts: waited(RuleEngineer().advise(parse(ASKED), list(attempts)))


@pytest.mark.parametrize(
    ("scores", "abstained", "question", "strategy"),
    [
        ((0.1, 0.5, 0.9), False, ASKED, "whole"),  # the answer is beside the question
        ((0.5, 0.1, 0.9), False, SIMPLE, "reread"),  # the passages are
        ((None, None, None), True, SIMPLE, "reread"),
    ],
)
def test_the_weakest_score_says_what_is_read_next(
    advise: Callable[..., Advice],
    scores: tuple[float | None, ...],
    abstained: bool,
    question: str,
    strategy: str,
) -> None:
    advice = advise(tried(evaluation(*scores), abstained=abstained))
    assert (advice["question"], advice["strategy"], advice["queries"]) == (question, strategy, [])


def test_a_question_that_needs_its_story_is_not_read_without_it() -> None:
    silent = tried(evaluation(None, None, None), abstained=True)
    for asked in ("My landlord wants to enter. May he?", "We lost a boat. To whom?", "?", ""):
        advice = waited(RuleEngineer().advise(parse(asked), [silent]))
        assert (advice["question"], advice["strategy"]) == (asked, "whole")


def test_a_question_is_not_read_without_the_name_that_no_document_has() -> None:
    silent = tried(evaluation(None, None, None), abstained=True)
    engineer = RuleEngineer(guides=False)
    asked = parse("We fall under Law 27. When is the berth fee due?")
    assert engineer.has_more(asked, [silent])
    assert not engineer.has_more({**asked, "absent": ["27"]}, [silent])


def test_no_strategy_is_tried_twice_and_each_has_its_sign() -> None:
    recital = {**passage(1, "Whereas boats are long."), "supporting": True}
    told: dict[str, list[Passage]] = {
        "whole": [passage(1, "An owner pays.")],
        "operative": [recital],
    }
    for sign, passages in told.items():
        attempts: list[Attempt] = []
        for number in range(1, 5):
            silent = tried(evaluation(None, None, None), number, abstained=True)
            attempts.append({**silent, "passages": passages})
            advice = waited(RuleEngineer().advise(parse(ASKED), attempts))
            attempts[-1] = {**attempts[-1], "advice": advice}
        found = [attempt["advice"]["strategy"] for attempt in attempts]
        others = ["reread", "whole", *([sign] if sign != "whole" else []), "broaden", "broaden"]
        assert found == others[:4]


def test_who_heeds_no_guidance_tries_again_only_where_another_reading_is_left() -> None:
    engineer = RuleEngineer(guides=False)
    silent = tried(evaluation(None, None, None), abstained=True)
    assert engineer.has_more(parse(ASKED), [silent])
    assert not engineer.has_more(parse(SIMPLE), [silent])  # it has no story
    assert not engineer.has_more(
        parse(ASKED), [tried(evaluation(0.1, 0.5, 0.9))]
    )  # it was not missed
    reread: Advice = {"question": SIMPLE, "queries": [], "guidance": "", "strategy": "reread"}
    assert not engineer.has_more(parse(ASKED), [{**silent, "advice": reread}, silent])
    assert RuleEngineer().has_more(parse(SIMPLE), [silent])


Converse = Callable[..., Any]
TRIED = [
    attempt(1, "What fee?", ["fee", "amount due"], evaluation(0.2, 0.9, None, "Off the point."))
]


def test_advice(server: FakeOpenAI, converse: Converse) -> None:
    said = {
        "question": "How much is the\nfiling fee?",
        "queries": ["filing fee amount", "Fee", "filing  fee amount", ""],
        "guidance": " Name the amount. ",
        "strategy": "broaden",
    }
    server.play("engineer_prompt", Reply(json.dumps(said)))
    again = [*TRIED, {**TRIED[0], "number": 2}]
    advice = converse(lambda chat: ModelPromptEngineer(chat).advise(parse("What fee?"), again))
    assert advice == {
        "question": "How much is the filing fee?",
        "queries": ["filing fee amount"],
        "guidance": "Name the amount.",
        "strategy": "broaden",
    }
    user = server.requests[0].user
    assert 'kind="asked">\nWhat fee?\n' in user
    assert 'attempt="1">\nquestion: What fee?\nqueries: fee; amount due\n' in user
    assert "answer relevance: 0.20\ncontext relevance: 0.90\ngroundedness: unknown\n" in user
    assert "note: Off the point." in user


@pytest.mark.parametrize(
    ("verdict", "found"),
    [
        (evaluation(0.2, 0.9, 0.8, "answer relevance 0.20: No amount."), "No amount."),
        (evaluation(0.9, 0.9, 0.1, "groundedness 0.10: [2] is silent."), "0.10: is silent."),
        (
            evaluation(0.9, 0.9, 0.9, "Not supported: It is due [2].", "groundedness 0.90: Good."),
            "refused. Not supported: It is due .",
        ),
        (evaluation(0.9, 0.9, 0.1, f"groundedness 0.10: {'x' * 9000}"), "x" * 500),
    ],
)
def test_what_a_judge_found_wrong_is_told_to_the_next_attempt_without_a_call(
    server: FakeOpenAI, converse: Converse, verdict: Evaluation, found: str
) -> None:
    first = attempt(1, "What fee?", ["fee"], verdict)
    advice = converse(lambda chat: ModelPromptEngineer(chat).advise(parse("What fee?"), [first]))
    assert (advice["question"], advice["queries"]) == ("What fee?", [])
    assert found in advice["guidance"]
    assert len(advice["guidance"]) < 800
    assert server.requests == []


def test_where_nobody_judged_the_first_attempt_the_model_is_asked(
    server: FakeOpenAI, converse: Converse
) -> None:
    server.play("engineer_prompt", Reply(json.dumps({"question": "How much?"})))
    silent = tried(evaluation(None, None, None), abstained=True)
    advice = converse(lambda chat: ModelPromptEngineer(chat).advise(parse(ASKED), [silent]))
    assert advice["question"] == "How much?"
    assert len(server.requests) == 1


FERRY = view_of(
    Document(
        "ferry.txt",
        "Ferry Act",
        "Section 1. Bells.\nA ferry carries a bell.\nSection 2. Fees.\nA licence costs 40 euros.\n",
    ),
    **{"chunking": "pattern", "chunking.pattern": "^Section"},
)


def looking(documents: list[str]) -> Looking:
    return Looking(FERRY.within(documents), Standardised())


def test_a_model_looks_before_a_retry_that_lacks_evidence(
    server: FakeOpenAI, converse: Converse
) -> None:
    first = {"look": [{"tool": "search", "words": "price of a licence"}]}
    then = {"look": [{"tool": "open", "words": "section 2"}]}
    last = {"passages": [], "guidance": "Name the sum.", "look": [{"tool": "outline"}]}
    server.play("engineer_prompt", *(Reply(json.dumps(said)) for said in (first, then, last)))
    verdict = evaluation(0.2, 0.9, 0.9, f"{UNANSWERED}the price")
    tried_once = attempt(1, "What is the price?", ["price"], verdict)
    advice = converse(
        lambda chat: ModelPromptEngineer(chat, looking).advise(
            parse("What is the price?"), [tried_once]
        )
    )
    assert [(one["tool"], one["words"]) for one in advice["looked"]] == [
        ("search", "price of a licence"),
        ("open", "section 2"),
    ]
    (opened,) = FERRY.candidates(advice["opened"])
    assert "40 euros" in opened["text"]
    assert advice["queries"] == ["the price", "price of a licence"]
    assert (
        advice["guidance"] == f"An earlier answer was refused. {UNANSWERED}the price Name the sum."
    )
    limits = ["At most 4 looks", "At most 4 looks", "At most 0 looks"]
    assert all(limit in one.user for limit, one in zip(limits, server.requests, strict=True))
    assert "40 euros" in server.requests[-1].user


def test_a_model_that_has_its_evidence_or_looks_no_further_is_asked_once_at_most(
    server: FakeOpenAI, converse: Converse
) -> None:
    refused = attempt(
        1, "What fee?", ["fee"], evaluation(0.9, 0.9, 0.1, "Not supported: It is 50.")
    )
    advise = lambda last: converse(  # noqa: E731
        lambda chat: ModelPromptEngineer(chat, looking).advise(parse("What fee?"), [last])
    )
    assert "looked" not in advise(refused)
    assert server.requests == []
    server.play("engineer_prompt", Reply(json.dumps({"queries": ["licence fee"]})))
    advice = advise(tried(evaluation(None, None, None), abstained=True))
    assert (advice["queries"], advice["looked"], advice["opened"]) == (["licence fee"], [], [])
    assert len(server.requests) == 1
