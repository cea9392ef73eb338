"""References in words, read step by step, and what they name."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from sets import rows

from lexloop.documents.document import Document
from lexloop.documents.structure.lookup import lead_ins, mentions, missing_place, named_places
from lexloop.documents.structure.references import find_references, loose_numbers
from lexloop.documents.structure.tree import Tree, is_beyond


def path_of(text: str) -> list[str]:
    """Each reference as keyword:number/number, a range with its end."""
    found = []
    for reference in find_references(text):
        steps = ["/".join(f"{s.key}:{s.number}" if s.key else s.number for s in reference.steps)]
        if reference.last:
            steps.append(
                "/".join(f"{s.key}:{s.number}" if s.key else s.number for s in reference.last)
            )
        found.append(" - ".join(steps))
    return found


@pytest.mark.parametrize(("text", "steps"), rows("references"))
def test_a_reference_is_read_step_by_step(text: str, steps: list[str]) -> None:
    assert path_of(text) == steps


def test_a_number_without_a_word_is_a_reference_only_if_it_is_no_amount() -> None:
    text = "What does 404.2.3 say about 2.5 % of $4.20 and clause 3.1?"
    assert [text[r.start : r.end] for r in loose_numbers(text)] == ["404.2.3"]


@pytest.mark.parametrize(
    ("wanted", "numbers", "beyond"),
    [("XIV", ["I", "II", "III"], True), ("14", ["312.1", "312.2"], True)],
)
def test_a_number_is_beyond_a_whole_numbering_alone(
    wanted: str, numbers: list[str], beyond: bool
) -> None:
    assert is_beyond(wanted, numbers) is beyond


@given(st.integers(2, 60), st.integers(1, 60), st.integers(1, 60))
def test_only_behind_whole_numbers_is_a_number_beyond(
    last: int, left_out: int, wanted: int
) -> None:
    numbers = [str(n) for n in range(1, last + 1)]
    assert is_beyond(str(wanted), numbers) is (wanted > last)
    gapped = [number for number in numbers if number != str(min(left_out, last - 1))]
    assert not is_beyond(str(wanted), gapped)


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
