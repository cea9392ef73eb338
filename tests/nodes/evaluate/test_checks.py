"""What code verifies of an answer, one tampering at a time."""

import pytest

from lexloop.core.types import Citation
from lexloop.nodes.evaluate.checks import citation_problems

TEXT = (
    "§ 10-2 Duties. An owner must pay the fee within 10 business days. "
    "The fee is $1,500 from December 23, 2022. Up to 2% is added under § 20-871(b)(1)."
)


def text_of(document: str) -> str | None:
    return TEXT if document == "law.txt" else None


def citation(words: str, n: int = 1, **changed: object) -> Citation:
    start = TEXT.index(words)
    exact = {
        "n": n,
        "document": "law.txt",
        "section": "§ 10-2",
        "page": None,
        "start": start,
        "end": start + len(words),
        "quote": words,
    }
    return Citation(**{**exact, **changed})


PAYS = "An owner must pay the fee within 10 business days."
FEE = "The fee is $1,500 from December 23, 2022."
SHARE = "Up to 2% is added under § 20-871(b)(1)."


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        (f"{PAYS} [1]", PAYS),
        ("It is due within ten business days [1].", PAYS),
        ("It is $1500.00 from 23 December 2022. [1]", FEE),
        ("It grows by 2 percent under § 20-871(b). [1]", SHARE),
        ("Under § 10-2 it is due within 10 days. [1]", PAYS),  # the section is cited with the text
        ("It is due. [1] It is owed to the city. [1]", PAYS),
        ("...", PAYS),
        ("", PAYS),
    ],
)
def test_a_faithful_answer_has_no_problems(answer: str, quote: str) -> None:
    assert citation_problems(answer, [citation(quote)], text_of) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"quote": PAYS.replace("10", "20")},
        {"quote": PAYS[:-1]},
        {"quote": ""},
        {"start": 0},
        {"start": -5},
        {"end": 10_000},
        {"start": 20, "end": 20, "quote": ""},
        {"start": 30, "end": 20},
    ],
)
def test_a_quote_that_is_not_at_its_span(changed: dict[str, object]) -> None:
    [problem] = citation_problems("It is due. [1]", [citation(PAYS, **changed)], text_of)
    assert problem.startswith("[1] quotes words that are not at")


def test_an_unknown_document() -> None:
    cited = citation(PAYS, document="other.txt")
    [problem] = citation_problems("It is due. [1]", [cited], text_of)
    assert problem == "[1] cites other.txt, which is not in the corpus."


def test_a_marker_without_a_passage() -> None:
    problems = citation_problems("It is due. [1][7]", [citation(PAYS)], text_of)
    assert problems == ["[7] cites no passage."]
    assert citation_problems("It is due. [1]", [], text_of) == ["[1] cites no passage."]


def test_a_sentence_without_a_marker() -> None:
    problems = citation_problems("It is due. [1] Nobody knows why.", [citation(PAYS)], text_of)
    assert problems == ["No citation: Nobody knows why."]
    assert citation_problems("Nobody knows.", [], text_of) == ["No citation: Nobody knows."]


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ("It is due within 15 business days. [1]", "15"),
        ("It is due within fifteen business days. [1]", "15"),
        ("It is due by May 10. [1]", "may"),
        ("It costs $10.50. [1]", "10.5"),
        ("It is due under § 10-3. [1]", "10-3"),
        ("It is due under § 10-2(c). [1]", "10-2(c)"),
    ],
)
def test_a_fact_that_the_cited_text_lacks(answer: str, fact: str) -> None:
    [problem] = citation_problems(answer, [citation(PAYS)], text_of)
    assert problem.startswith(f"{fact} is not in the cited text: ")


def test_a_fact_must_stand_where_its_own_sentence_points() -> None:
    cited = [citation(PAYS, 1), citation(FEE, 2)]
    assert citation_problems("It is $1,500. [2] It is due in 10 days. [1]", cited, text_of) == []
    [problem] = citation_problems("It is $1,500. [1]", cited, text_of)
    assert problem == "1500 is not in the cited text: It is $1,500."


def test_every_problem_is_told() -> None:
    altered = citation(PAYS, quote="Nobody must pay.")
    problems = citation_problems("It is due in 3 days. [1] Uncited. See. [4]", [altered], text_of)
    assert len(problems) == 4


def test_a_long_sentence_is_shortened() -> None:
    [problem] = citation_problems("word " * 100, [], text_of)
    assert len(problem) < 100
    assert problem.endswith("…")
