"""What words name in a document, and what is to be seen around it."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from sets import rows

from lexloop.documents.document import Document
from lexloop.documents.structure.lookup import lead_ins, mentions, missing_place, named_places
from lexloop.documents.structure.tree import Tree

LAWS = Path(__file__).parents[2] / "data" / "laws"


def read(name: str) -> tuple[Tree, str]:
    text = (LAWS / name).read_text("utf-8")
    return Document(name, name, text).tree, text


def labels(name: str, said: str) -> list[str]:
    tree, _ = read(name)
    return [tree.units[place].label for place in named_places(tree, said)]


@pytest.mark.parametrize(("name", "said", "found"), rows("named_places"))
def test_what_words_name(name: str, said: str, found: list[str]) -> None:
    assert labels(name, said) == found


def test_the_words_that_an_item_completes() -> None:
    tree, text = read("directive.txt")
    (place,) = named_places(tree, "Article 3(1)(b)(ii)")
    assert lead_ins(tree, place, text) == [
        "1. A keeper shall, in accordance with Article 2(2)(a) and paragraph 2 of this Article:",
        "(b) state, each year:",
    ]
    (place,) = named_places(tree, "Article 3")
    assert lead_ins(tree, place, text) == []
    tree, text = read("policy.md")
    (place,) = named_places(tree, "row CCTV")
    assert lead_ins(tree, place, text) == ["System | Owner | Minimum length"]


def test_what_a_provision_refers_to() -> None:
    tree, text = read("directive.txt")
    (place,) = named_places(tree, "Article 3")
    found = [
        (said, [tree.units[at].label for at in there])
        for said, there in mentions(tree, place, text).items()
    ]
    assert found == [
        ("Article 2(2)(a)", ["Article 2(2)(a)"]),
        ("paragraph 2 of this Article", ["Article 3(2)"]),
        ("Annex I, point 2", ["Annex I, point 2"]),
        ("Paragraph 1, point (c)", ["Article 3(1)(c)"]),
    ]


def test_another_acts_provisions_are_not_taken_for_its_own() -> None:
    said = "Article 2 of the Charter", "Article 2 TFEU", "Article 7", "Article 2"
    text = f"Article 1\nA\nAs in {', '.join(said)}.\nArticle 2\nB\nText.\n"
    found = mentions(Document("d", "d", text).tree, 0, text)
    assert [len(found[one]) for one in said] == [0, 0, 0, 1]


@settings(max_examples=examples(60))
@given(st.text(max_size=40) | st.text("Article §()12.aiIV -to,", max_size=40))
def test_any_words_may_be_asked_for(said: str) -> None:
    tree, text = read("directive.txt")
    for place in named_places(tree, said):
        lead_ins(tree, place, text)
        mentions(tree, place, text)
    missing_place(tree, said)
