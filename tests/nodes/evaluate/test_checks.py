"""What code checks of an answer: quotes, facts, foreign matter, and calculations that it marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop.core.types import Citation
from lexloop.nodes.evaluate.calculations import labelled, miscalculated
from lexloop.nodes.evaluate.checks import citation_problems, foreign_matter

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
        ("The fee is due within ten business days [1].", PAYS),
        ("It is $1500.00 from 23 December 2022. [1]", FEE),
        ("It grows by 2 percent under § 20-871(b). [1]", SHARE),
        ("Under § 10-2 it is due within 10 days. [1]", PAYS),  # the section is cited with the text
    ],
)
def test_a_faithful_answer_has_no_problems(answer: str, quote: str) -> None:
    assert citation_problems(answer, [citation(quote)], text_of) == []


@pytest.mark.parametrize(
    "changed",
    [{"quote": PAYS.replace("10", "20")}, {"quote": ""}, {"start": -5}, {"start": 30, "end": 20}],
)
def test_a_quote_that_is_not_at_its_span(changed: dict[str, object]) -> None:
    [problem] = citation_problems("The fee is due. [1]", [citation(PAYS, **changed)], text_of)
    assert problem.startswith("[1] quotes words that are not at")


@pytest.mark.parametrize(("answer", "problem"), rows("unsupported"))
def test_what_an_answer_does_not_take_from_its_sources(answer: str, problem: str) -> None:
    assert citation_problems(answer, [citation(PAYS)], text_of)[0].startswith(problem)
    elsewhere = citation(PAYS, document="other.txt")
    told = citation_problems("The fee is due. [1]", [elsewhere], text_of)
    assert told == ["[1] cites other.txt, which is not in the corpus."]


STATUTE = (
    "§ 10-4 Reports. Within 30 days after the end of May an owner must file:\n"
    "(a) a list of boats; and\n(b) the receipts under § 10-3."
)
LEAD = "Within 30 days after the end of May an owner must file:"


def point(**changed: object) -> Citation:
    lead = STATUTE.index(LEAD)
    spans = {"lead": LEAD, "lead_spans": [[lead, lead + len(LEAD)]], "section": "§ 10-4(a)"}
    words = "(a) a list of boats; and"
    at = {"start": STATUTE.index(words), "end": STATUTE.index(words) + len(words)}
    return citation(PAYS, **{**at, "quote": words, **spans, **changed})


def statute(document: str) -> str:
    return STATUTE


def test_the_words_that_lead_into_a_quote_support_as_it_does() -> None:
    answer = "Within 30 days after May an owner must file a list of boats. [1]"
    assert citation_problems(answer, [point()], statute) == []
    bare = {name: value for name, value in point().items() if not name.startswith("lead")}
    problems = citation_problems(answer, [Citation(**bare)], statute)
    assert problems == [f"30 is not in the cited text: {answer.removesuffix(' [1]')}"]


@pytest.mark.parametrize(
    "changed", [{"lead": LEAD.replace("30", "60")}, {"lead_spans": [[0, 15]]}, {"lead_spans": []}]
)
def test_a_lead_in_that_is_not_at_its_spans(changed: dict[str, object]) -> None:
    problems = citation_problems("A list of boats is filed. [1]", [point(**changed)], statute)
    assert problems == ["[1] has a lead-in that is not where it says in its document."]


@pytest.mark.parametrize(("answer", "kind"), rows("foreign"))
def test_foreign_matter(answer: str, kind: str | None) -> None:
    assert foreign_matter(answer) == ([f"The answer holds {kind}."] if kind else [])


@pytest.mark.parametrize("joint", ["or", "or [1]", "And", "and/or"])
def test_a_lone_conjunction_is_no_sentence(joint: str) -> None:
    points = f"(a) the roof leaks;\n{joint[:2]}\n(b) the slip is shut."
    text = f"The tenant may end the lease if:\n{points}"
    cited = citation("An owner", document="lease.txt", start=0, end=len(text), quote=text)
    answer = (
        f"The tenant may end the lease if: [1]\n(a) the roof leaks; [1]\n{joint}\n"
        "(b) the slip is shut. [1]"
    )
    assert citation_problems(answer, [cited], {"lease.txt": text}.get) == []


TERMS = (
    "Terms of hire (from 1 May 2025)\n\n"
    "A boat costs 40 crowns. The hirer must dry the sails. No fee is due."
)


def terms_problems(answer: str, quote: str = "A boat costs 40 crowns.") -> list[str]:
    start = TERMS.index(quote)
    found = citation(PAYS, document="terms.txt", section="", quote=quote)
    found = Citation(**{**found, "start": start, "end": start + len(quote)})
    return citation_problems(answer, [found], lambda _: TERMS, question="What did it cost in 2024?")


@pytest.mark.parametrize(
    "answer",
    [
        "Under the terms of 1 May 2025 a boat costs 40 crowns, unlike in 2024 [1].",
        "Ein Boot kostet 40 Kronen, und das ist alles, was ich weiß [1].",
        "A boat costs 40 crowns [1]. The terms do not say whether the price is for a day.",
    ],
)
def test_the_title_the_question_and_other_languages_are_heeded(answer: str) -> None:
    assert terms_problems(answer) == []


def test_a_quote_of_several_sentences_rests_on_the_marker_behind_it() -> None:
    answer = 'No. "The hirer must dry the sails. No fee is due." [1]'
    assert terms_problems(answer, "No fee is due.") == []
    assert len(terms_problems(answer.replace("dry", "wash"), "No fee is due.")) == 2


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ('They say: "The hirer must wash the sails" [1].', "The quote is not in the cited"),
        ("A boat costs 40 crowns at the Mill Lane Boatyard [1].", "“Mill Lane Boatyard” is not in"),
        ("A boat costs 40 crowns [1]. They do not say whether 9 days cost more.", "9 is not in"),
        ("Ein Boot kostet seit dem 1. Juni 40 Kronen [1].", "june is not in the cited text"),
    ],
)
def test_quotes_names_and_days_that_are_not_there(answer: str, problem: str) -> None:
    assert [told for told in terms_problems(answer) if told.startswith(problem)]


RULE = "Notice is given within ten days of the breach, and objections within three months."
FEES = "The fee is 2 % of the turnover, at least 450 euros, and 20 euros for each copy."


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("3 March plus ten days is 13 March", f"I learned of it on 3 March. {RULE}"),
        ("The last day is 2026-03-13", f"I learned of it on 2026-03-03. {RULE}"),
        ("Three months after 30 November is 28 February", f"It was 30 November. {RULE}"),
        ("Five business days after 3 June is 10 June", "within five business days; 3 June"),
        ("2 % of 500,000 is 10,000 euros", f"My turnover is 500,000. {FEES}"),
        ("450 + 3 x 20: 3 x 20 is 60, and 450 and 60 are 510", f"I need 3 copies. {FEES}"),
        ("3 times 450 are 1,350", f"I have 3 boats, and each costs 450. {FEES}"),
        ("12 months at 450 are 5,400, and half of that is 2,700", FEES),
        ("2 % of 40,000,000 is 800,000", f"My turnover is 40 million. {FEES}"),
        ("Two years from 1 May 2024 end on 30 April 2026", "two years from 1 May 2024"),
        ("48 hours before 4 May is 2 May", "It begins on 4 May; up to 48 hours before"),
        ("The first day is 3 June, so the fourth is 6 June", "From the fourth day on; 3 June"),
        ("7 Tage nach dem 4. März ist der 11. März", "4. März; innerhalb von sieben Tagen"),
    ],
)
def test_what_comes_out_is_not_told(line: str, given: str) -> None:
    assert miscalculated(line, given) == []


@pytest.mark.parametrize(
    ("line", "given", "wrong"),
    [
        ("3 March plus ten days is 14 March", f"I learned of it on 3 March. {RULE}", ["march 14"]),
        ("2 % of 500,000 is 12,000 euros", f"My turnover is 500,000. {FEES}", ["12000"]),
        ("It is due on 1 May", RULE, ["may 1"]),
        ("Two years from 1 May 2024 are over on 1 May 2027", "two years; 1 May 2024", ["may 1"]),
        ("450 plus 2 % (9) is 461", FEES, ["461"]),
        ("", RULE, []),
    ],
)
def test_what_does_not_come_out_is_told(line: str, given: str, wrong: list[str]) -> None:
    assert miscalculated(line, given) == wrong


@given(st.integers(101, 9_999), st.integers(101, 9_999), st.integers(1, 50))
def test_a_sum_comes_out_and_one_that_is_off_does_not(first: int, second: int, off: int) -> None:
    given_text = f"The fee is {first} and the deposit {second}."
    assert miscalculated(f"{first} and {second} are {first + second}", given_text) == []
    wrong = first + second + off * 10_007
    if wrong not in (first * second, first * second / 100):
        assert miscalculated(f"{first} and {second} are {wrong}", given_text) == [f"{wrong:g}"]


def test_a_figure_of_the_question_is_calculated_with_though_the_line_leaves_it_out() -> None:
    line, rule = "80 at 450 are 36,000, and 20 at 400 are 8,000", "450 each, above 80 only 400"
    assert miscalculated(line, rule, "We want 100.") == []
    assert miscalculated(line, rule) == ["20", "8000"]


def test_the_lines_of_an_answer_are_told_apart() -> None:
    answer = (
        "It is due [1].\nWorked out: 3 March plus ten days is 13 March [1].\n"
        "**Not in the passages:** who pays."
    )
    worked, silent = ["3 March plus ten days is 13 March [1]."], ["who pays."]
    assert labelled(answer) == ("It is due [1].", worked, silent)
    assert labelled("It is worked out: by hand [1].") == ("It is worked out: by hand [1].", [], [])
