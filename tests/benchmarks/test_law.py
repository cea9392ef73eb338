"""The scoring of ``benchmarks/law.py`` on numbers worked by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from _law_asking import chosen, quotes
from _law_files import as_format, paragraphs
from _law_scoring import (
    Law,
    Provision,
    follows,
    gold_of,
    grams_of,
    quotes_row,
    scored,
    spans_of,
    words_of,
)

from lexloop.documents.reading.folder import load_documents

DATA = Path(__file__).parents[1] / "data"
TEXT = (
    "(1) Boats should be kept well by those who use them on the river.\n"
    "Article 1\nDefinitions\n"
    "For this law: \n"
    "(1) ‘boat’ means a thing that floats on water;\n"
    "(2) ‘keeper’ means the person who uses the thing each day;\n"
    "Article 2\nDuties\n"
    "1. The keeper shall: \n"
    "(a) pay the yearly fee in the month of March;\n"
    "(b) paint the hull with the colour that the port names;\n"
    "2. The port may remit the fee in a hard case of want.\n"
)


def span(begin: str, end: str | None) -> dict[str, Any]:
    return {"start": TEXT.index(begin), "end": TEXT.index(end) if end else len(TEXT)}


STRUCTURE = [
    {
        "article": "1",
        **span("Article 1", "Article 2"),
        "paragraphs": [
            {
                "n": "",
                **span("For this law", "Article 2"),
                "points": [
                    {"p": "1", **span("(1) ‘boat", "(2) ‘keeper")},
                    {"p": "2", **span("(2) ‘keeper", "Article 2")},
                ],
            }
        ],
    },
    {
        "article": "2",
        **span("Article 2", None),
        "paragraphs": [
            {
                "n": "1",
                **span("1. The keeper", "2. The port"),
                "points": [
                    {"p": "a", **span("(a) pay", "(b) paint")},
                    {"p": "b", **span("(b) paint", "2. The port")},
                ],
            },
            {"n": "2", **span("2. The port", None), "points": []},
        ],
    },
]
LAW = Law(TEXT, STRUCTURE)


def answer(*quoted: str, said: str = "", abstained: bool = False) -> dict[str, Any]:
    citations = [{"quote": quote} for quote in quoted]
    return {"answer": said or " ".join(quoted), "abstained": abstained, "citations": citations}


def probe(kind: str, article: str = "", paragraph: str = "", point: str = "") -> dict[str, Any]:
    return {"kind": kind, "article": article, "paragraph": paragraph, "point": point}


def test_words_and_grams() -> None:
    assert words_of("The con-\ntroller’s § 5(1)(a)") == ["the", "controllers", "5", "1", "a"]
    assert words_of("con\u00adtroller") == ["controller"]
    assert grams_of("a b c d") == [("a", "b", "c"), ("b", "c", "d")]
    assert grams_of("a b") == [("a", "b")]
    assert follows("boat means", "A ‘boat’ means a thing")
    assert not follows("boat means", "A boats means")


def test_a_quote_lies_where_most_of_its_words_are() -> None:
    provision = Provision("one two three four five six seven")
    assert provision.holds("one two three four five six seven")
    # of 5 word 3-grams 3 are the provision's, .6; with a word less of its own 2 of 5
    assert provision.holds("one two three four five x y")
    assert not provision.holds("one two three four x y z")


def test_the_provision_that_holds_more_of_a_quote_has_it() -> None:
    near, nearer = Provision("a b c d e f x y"), Provision("a b c d e f g h")
    quote = "a b c d e f g h"  # 4 of 6 grams, and 6 of 6
    assert near.holds(quote)
    assert not near.holds(quote, [nearer])
    assert nearer.holds(quote, [near])


def test_a_point_may_be_quoted_with_its_lead_in() -> None:
    lead, point = "the keeper shall in each year do this", "pay the fee in march"
    both = f"{lead} {point}"  # 11 grams, of which 3 are the point's own: .27
    assert Provision(point, lead).holds(both)
    assert not Provision(point).holds(both)
    assert not Provision(point, lead).holds(lead)


def test_a_provision_is_found_by_its_numbers() -> None:
    assert LAW.provision("1", "", "2").text.startswith("(2) ‘keeper’")
    assert LAW.provision("1").text.startswith("Article 1")
    assert LAW.provision("2", "1", "b").lead == "1. The keeper shall: \n"
    assert len(LAW.provision("2", "1").points) == 2
    with pytest.raises(KeyError):
        LAW.provision("2", "3")


def test_a_definition_is_that_of_the_term_and_no_other() -> None:
    boat, keeper = (LAW.provision("1", "", point).text for point in "12")
    asked = probe("definition", "1", "", "2")
    assert scored(asked, answer(keeper), LAW) == {"right": 1.0, "found": 1.0}
    assert scored(asked, answer(boat), LAW) == {"right": 0.0, "found": 0.0}
    both = answer(boat + keeper, said=keeper)
    assert scored(asked, both, LAW) == {"right": 1.0, "found": 1.0}
    assert scored(asked, answer(keeper, said="A person."), LAW) == {"right": 0.0, "found": 1.0}
    assert scored(asked, answer(abstained=True), LAW) == {"right": 0.0, "found": 0.0}


def test_an_article_is_answered_from_itself_alone() -> None:
    duty, remit = LAW.provision("2", "1", "a").text, LAW.provision("2", "2").text
    recital = TEXT.splitlines()[0]
    asked = probe("article", "2")
    assert scored(asked, answer(duty, remit), LAW) == {"right": 1.0, "found": 1.0}
    assert scored(asked, answer(duty, recital), LAW) == {"right": 0.0, "found": 1.0}
    assert scored(asked, answer(said="Nothing."), LAW) == {"right": 0.0, "found": 0.0}


def test_a_list_is_scored_by_its_points() -> None:
    first, second = LAW.provision("2", "1").points
    asked = probe("list", "2", "1")
    assert scored(asked, answer(first, second), LAW) == {"right": 1.0, "items": 1.0}
    assert scored(asked, answer(first), LAW) == {"right": 0.0, "items": 0.5}
    # of its words longer than two letters, eight with "the" once, six are .75
    assert scored(asked, answer("paint the hull with colour that"), LAW)["items"] == 0.0
    assert scored(asked, answer(abstained=True), LAW) == {"right": 0.0, "items": 0.0}


def test_the_first_citation_decides() -> None:
    remit, duty = LAW.provision("2", "2").text, LAW.provision("2", "1", "a").text
    asked = probe("everyday", "2", "2")
    assert scored(asked, answer(remit, duty), LAW) == {"right": 1.0, "found": 1.0}
    assert scored(asked, answer(duty, remit), LAW) == {"right": 0.0, "found": 1.0}
    also = {**asked, "also": [["2", "1"]]}
    assert scored(also, answer(duty), LAW) == {"right": 1.0, "found": 1.0}


def test_what_is_not_there_is_to_be_left_unanswered() -> None:
    assert scored(probe("not_there"), answer(abstained=True), LAW) == {"right": 1.0}
    assert scored(probe("not_there"), answer("x y z"), LAW) == {"right": 0.0}


def test_a_row_is_quoted_with_key_and_value_and_little_else() -> None:
    row, cells = ("Canoe", "£52"), "Canoe £52 £8"
    assert quotes_row("Craft: Canoe; Annual fee: £52", row, cells)
    assert not quotes_row("Annual fee £52 for a Canoe", row, cells)
    assert not quotes_row("Canoe £8", row, cells)
    assert not quotes_row("Canoe £52 " + "word " * 42, row, cells)  # 44 words, 43 may be


def test_the_words_of_a_provision_stand_in_the_quote() -> None:
    row = {"words": "must keep a register"}
    assert quotes(row, "A manager must keep a register of plots.")
    assert not quotes(row, "A manager keeps a register.")


def test_the_first_of_each_kind_are_asked(tmp_path: Path) -> None:
    file = tmp_path / "probes.jsonl"
    rows = [{"kind": kind, "n": n} for n, kind in enumerate("aabba")]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert [row["n"] for row in chosen(file, None, 1)] == [0, 2]
    assert [row["n"] for row in chosen(file, "a", None)] == [0, 1, 4]


def test_headings_are_told_by_their_numbers() -> None:
    text = "CHAPTER I\nGeneral\nArticle 1\nScope\nArticle 2 applies.\n"
    assert list(paragraphs(text)) == [
        ("CHAPTER I", 1), ("General", 1), ("Article 1", 3), ("Scope", 3), ("Article 2 applies.", 0)
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["txt", "docx", "pdf"])
def test_every_format_holds_the_words_of_the_text(tmp_path: Path, kind: str) -> None:
    law = DATA / "laws" / "directive.txt"
    (document,), skipped = load_documents(as_format(law, kind, tmp_path))
    assert skipped == []
    assert words_of(document.text) == words_of(law.read_text("utf-8"))


def test_every_gold_label_is_of_words_that_stand_once_in_their_document() -> None:
    folders = DATA / "asked_laws", DATA.parents[1] / "data" / "ll144"
    texts = {path.name: path.read_text("utf-8") for folder in folders for path in folder.iterdir()}
    questions = json.loads(texts["questions.json"])
    assert len(questions) == 63
    for row in questions:
        text = texts[row["document"]]
        if "value" in row:
            lines = [line for line in text.splitlines() if quotes(row, line)]
            assert len(lines) == 1, row
        else:
            assert text.count(row["words"]) == 1, row


def test_gold_is_the_span_that_a_probe_names() -> None:
    spans = spans_of(STRUCTURE)
    article, point = STRUCTURE[0], STRUCTURE[0]["paragraphs"][0]["points"][1]
    assert gold_of(probe("article", "1"), spans) == [(article["start"], article["end"])]
    asked = probe("definition", "1", "", "2")
    assert gold_of(asked, spans) == [(point["start"], point["end"])]
    paragraph = STRUCTURE[1]["paragraphs"][1]
    also = {**probe("everyday", "1"), "also": [["2", "2"]]}
    assert gold_of(also, spans)[1] == (paragraph["start"], paragraph["end"])
    assert gold_of(probe("not_there"), spans) == []
    labelled = spans_of([{"label": "§ 3", "start": 4, "end": 9}])
    assert gold_of({"gold": ["§ 3"]}, labelled) == [(4, 9)]
