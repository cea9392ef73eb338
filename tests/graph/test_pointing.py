"""Questions that point, from the question to the answer, embedded and with the scripted model."""

from collections.abc import Callable

import pytest
from asked import Modelled
from fake_openai import FakeOpenAI, Reply
from library import LAWS

from lexloop.core.settings import Connection, Settings
from lexloop.core.types import ABSTENTION
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

MISSING = (
    "There is no Article 9 in directive.txt: its articles run from Article 1 to Article 4. [1][2]"
)
ARTICLE_4 = (
    "In directive.txt: Article 4 — Entry into force:\n"
    "This Directive shall enter into force on the day after its publication. [1]"
)


@pytest.fixture(scope="module")
def laws() -> Lexloop:
    return build_graph(Resources(Connection(), Settings(corpus=str(LAWS))))


def rewritten(question: str) -> Reply:
    return Reply(f'{{"standalone": "{question}", "queries": [], "keywords": []}}')


def test_a_provision_is_quoted_whole_and_passes(laws: Lexloop) -> None:
    result = laws.invoke({"question": "What does Article 4 say?"})
    assert result["answer"] == ARTICLE_4
    assert [(c["n"], c["section"]) for c in result["citations"]] == [(1, "Article 4")]
    assert result["evaluation"]["passed"]
    assert result["warning"] == ""
    assert result["passages"][0]["signals"]["pointed"] == 1.0
    assert len(result["attempts"]) == 1


def test_no_model_is_asked_for_a_missing_number(server: FakeOpenAI, modelled: Modelled) -> None:
    server.play("rewrite", rewritten("What does Article 9 say?"))
    result = modelled(corpus=str(LAWS)).invoke({"question": "What does Article 9 say?"})
    assert server.roles_asked() == ["rewrite"]
    assert result["answer"] == MISSING
    assert result["evaluation"]["passed"]


@pytest.mark.parametrize("abstains", [False, True])
def test_what_is_not_there_is_told_beside_the_models_answer(
    server: FakeOpenAI, modelled: Modelled, scores: Callable[..., Reply], abstains: bool
) -> None:
    question = "When does it enter into force under Articles 4 and 9?"
    said = "This Directive shall enter into force on the day after its publication [1]."
    server.play("rewrite", rewritten(question))
    server.play("generate", Reply(ABSTENTION if abstains else said))
    server.play("evaluate", scores(0.9, 0.9, 0.9))
    result = modelled(corpus=str(LAWS)).invoke({"question": question})
    answered = result["answer"].split("\n")
    assert answered[0].startswith(MISSING[:60] if abstains else said)
    assert answered[-1].startswith("There is no Article 9 in directive.txt")
    assert result["evaluation"]["citations_verified"]
    assert not result["abstained"]


def test_a_model_cannot_claim_that_it_read_the_structure(
    server: FakeOpenAI, modelled: Modelled, scores: Callable[..., Reply]
) -> None:
    server.play("rewrite", rewritten("How is the boat moored in summer?"))
    server.play("generate", Reply("directive.txt has 40 articles: Article 1 to Article 40. [1]"))
    server.play("evaluate", scores(1.0, 1.0, 1.0))
    once = modelled(corpus=str(LAWS), **{"loop.max_retries": 0, "answer.generator": "model"})
    result = once.invoke({"question": "How is the boat moored in summer?"})
    assert not result["evaluation"]["citations_verified"]
    assert result["warning"]
