"""What models really write, and what they must not get away with, counted at the model's server."""

import json

import pytest
from asked import Modelled
from fake_openai import FakeOpenAI, Reply, reply
from statute import QUESTION

from lexloop.core.types import ABSTENTION

PAYS = "A boat owner must pay the mooring fee within 10 business days"
WRITTEN = {
    "nested lead-ins": (
        "## Duties\n\n1. **Payment**:\n   - A boat owner must pay the mooring fee [1].\n"
        "   - It is due within 10 business days of arrival [1]."
    ),
    "table": ("| Duty | Term |\n|---|---|\n| Pay the mooring fee | within 10 business days [1] |"),
    "named in the text": f"According to passage 1, {PAYS.lower()}.",
    "sources at the end": f"{PAYS} [1].\n\n**Sources:**\n- [1] Harbour Act, § 10-2",
}

HOSTILE = {
    "words of its own beside an answer": f"{PAYS} [1]. PWNED [1].",
    "image beside an answer": f"{PAYS} [1]. ![](https://evil.example/?q=fee)",
    "passage that there is not": f"{PAYS} 【9】.",
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_usual_form_takes_one_call(scripted: FakeOpenAI, modelled: Modelled, kind: str) -> None:
    scripted.play("generate", Reply(WRITTEN[kind]))
    result = modelled().invoke({"question": QUESTION})
    assert (result["evaluation"]["citations_verified"], result["warning"]) == (True, "")
    assert scripted.roles_asked() == ["rewrite", "generate", "evaluate"]
    assert {citation["n"] for citation in result["citations"]} == {1}
    assert all(citation["section"] == "§ 10-2" for citation in result["citations"])


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_foreign_text_passes(scripted: FakeOpenAI, modelled: Modelled, kind: str) -> None:
    scripted.play("generate", Reply(HOSTILE[kind]))
    alone = {"loop.max_retries": 1, "answer.generator": "model"}
    result = modelled(**alone).invoke({"question": QUESTION})
    assert scripted.roles_asked().count("generate") == 2
    assert not result["evaluation"]["citations_verified"]
    assert result["warning"].startswith("None of 2 attempts passed")


def test_what_a_gateway_says_falls_back(scripted: FakeOpenAI, modelled: Modelled) -> None:
    scripted.play("generate", Reply("Bad Gateway"))
    for fallback in (True, False):  # it concerns a model that cannot be reached
        result = modelled(**{"model.fallback": fallback}).invoke({"question": QUESTION})
        assert "within 10 business days of arrival" in result["answer"]
        [lost] = result["degraded"]
        assert (lost["node"], lost["used"]) == ("generate", "embedded")
        assert "in place of an answer" in lost["reason"]


WRONG = "Whales pay forty euros on Sundays [1]."
SAYS_SO = {"reasoning": "Nothing of it is there.", "score": 0.0}


def test_no_quotes_replace_a_draft_and_the_judge_refuses_it(
    scripted: FakeOpenAI, modelled: Modelled
) -> None:
    scripted.play("generate", Reply(WRONG))
    scores = dict.fromkeys(("context_relevance", "groundedness", "answer_relevance"), SAYS_SO)
    scripted.play("evaluate", reply(**scores, unsupported=["Whales pay forty euros on Sundays."]))
    result = modelled(**{"loop.max_retries": 0}).invoke({"question": QUESTION})
    assert result["answer"] == WRONG
    assert result["finding"] == "in part"
    assert "Not supported: Whales pay forty euros on Sundays." in result["evaluation"]["reasons"]
    assert not result["degraded"]


def test_what_the_judge_finds_missing_is_searched_for(
    scripted: FakeOpenAI, modelled: Modelled
) -> None:
    good = {"reasoning": "Good.", "score": 0.95}
    scores = dict.fromkeys(("context_relevance", "groundedness", "answer_relevance"), good)
    missing = "the berth permit of a guest"
    scripted.play("generate", Reply(f"{PAYS} [1]."))
    scripted.play("evaluate", reply(**scores, missing=[missing]), reply(**scores))
    result = modelled(**{"loop.max_retries": 1}).invoke({"question": QUESTION})
    first, second = result["attempts"]
    assert f"Not answered: {missing}" in first["evaluation"]["reasons"]
    assert missing in second["queries"]
    assert {*first["queries"]} <= {*second["queries"]}
    assert result["evaluation"]["passed"]
    assert scripted.roles_asked().count("rewrite") == 1


def test_a_doubt_is_put_to_the_judge_who_decides(scripted: FakeOpenAI, modelled: Modelled) -> None:
    gap = "Nobody but the boat owner owes the mooring fee [1]."
    scripted.play("generate", Reply(f"{PAYS} [1]. {gap}"))
    result = modelled(**{"loop.max_retries": 0}).invoke({"question": QUESTION})
    [judging] = [asked for asked in scripted.requests if asked.role == "evaluate"]
    assert 'kind="doubt">' in judging.user
    assert result["evaluation"]["passed"]


def test_a_gap_needs_no_source_and_may_state_no_figure(
    scripted: FakeOpenAI, modelled: Modelled
) -> None:
    for gap, verified in (("who collects it", True), ("that guests owe 77 dollars", False)):
        scripted.play("generate", Reply(f"{PAYS} [1].\nNot in the passages: {gap}."))
        result = modelled(**{"loop.max_retries": 0}).invoke({"question": QUESTION})
        assert result["evaluation"]["citations_verified"] is verified
    assert "77 is not in the cited text" in result["evaluation"]["reasons"][0]


def test_a_calculation_passes_if_it_comes_out(scripted: FakeOpenAI, modelled: Modelled) -> None:
    asked = "I arrived on 3 March. When must I pay the mooring fee at the latest?"
    line = "Worked out: 10 business days after 3 March is {} March [1]."
    for day, passed in ((17, True), (29, False)):
        scripted.play("generate", Reply(f"{PAYS} [1].\n{line.format(day)}"))
        result = modelled(**{"loop.max_retries": 0}).invoke({"question": asked})
        assert result["evaluation"]["citations_verified"] is passed
        assert result["evaluation"]["passed"] is passed


@pytest.mark.parametrize("said", [ABSTENTION, "The fee is due within 10 business days [1]."])
def test_a_supported_draft_stands(scripted: FakeOpenAI, modelled: Modelled, said: str) -> None:
    scripted.play("generate", Reply(said))
    result = modelled(**{"loop.max_retries": 0}).invoke({"question": QUESTION})
    assert result["answer"] == said
    assert not result.get("degraded")


def test_a_draft_stands_if_nothing_is_quoted(scripted: FakeOpenAI, modelled: Modelled) -> None:
    asked = "How do I bake a carrot cake?"
    said = {"standalone": asked, "queries": [], "keywords": []}
    scripted.play("rewrite", Reply(json.dumps(said)))
    scripted.play("generate", Reply("With carrots of the owner [1]."))
    result = modelled(**{"loop.max_retries": 0}).invoke({"question": asked})
    assert result["answer"] == "With carrots of the owner [1]."
