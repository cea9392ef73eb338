"""Two judges of one answer, and the claims that what they cite does not bear out."""

import pytest
from records import passage

from lexloop.core.running import waited
from lexloop.core.types import ParsedQuestion, Passage
from lexloop.documents.text.tokens import tokenize
from lexloop.models.minilm import load_minilm
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.evidence import Evidence, disagreements, evidence_of, left_out
from lexloop.nodes.evaluate.judges import WithClaimsChecked
from lexloop.nodes.question import parse


class Says:
    """A judge with one judgement."""

    def __init__(self, *scores: float | None, unsupported: tuple[str, ...] = ()) -> None:
        self._judgement = Judgement(*scores, [f"{scores[0]}"], unsupported=[*unsupported])

    async def judge(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Judgement:
        return self._judgement


def together(model: Says, claims: Says) -> Judgement:
    judge = WithClaimsChecked(model, claims)
    return waited(judge.judge(parse("What fee?"), [passage(1, "The fee is $50.")], "$50."))


def test_the_lower_groundedness_counts_and_what_claims_lack_is_refused() -> None:
    model, claims = Says(0.95, 0.3, 0.95), Says(0.2, 0.9, 0.4, unsupported=("Not there: x",))
    found = together(model, claims)
    scores = (found.answer_relevance, found.context_relevance, found.groundedness)
    assert scores == (0.95, 0.3, 0.4)
    assert found.reasons == ["0.2", "0.95"]
    assert found.unsupported == ["Not there: x"]
    assert together(Says(0.9, 0.9, 0.1), Says(0.2, 0.2, 0.8)).groundedness == 0.1


def evidence(text: str) -> Evidence:
    return evidence_of([text], load_minilm().embed)


def disagree(claim: str, text: str) -> list[str]:
    return disagreements(claim, evidence(text))


NOTIFIES = "The employer must notify the candidate that a tool will be used in assessing them."


@pytest.mark.parametrize(
    ("claim", "text", "reason"),
    [
        (
            "The candidate must notify the employer that a tool will be used in assessing them.",
            NOTIFIES,
            "it says of “the candidate” what is said of “the employer”",
        ),
        ("A keeper is exempt from the fee.", "A keeper must pay the fee.", "it exempts"),
        ("Twelve keepers may share a berth.", "Keepers may share a berth.", "12 is not there"),
    ],
)
def test_what_is_said_otherwise(claim: str, text: str, reason: str) -> None:
    assert any(found.startswith(reason) for found in disagree(claim, text)), disagree(claim, text)


LICENCE = "The authority may refuse a licence only if the craft is not seaworthy."


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ("", ["only if the craft is not seaworthy"]),
        ("May an unseaworthy craft, one not seaworthy, be refused?", []),
    ],
)
def test_a_condition_left_out(said: str, missing: list[str]) -> None:
    claim = "The authority may refuse a licence."
    assert left_out(claim, frozenset(tokenize(said)), evidence(LICENCE)) == missing
