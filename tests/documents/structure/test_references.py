"""What a reference names, and where it leads in the laws of tests/data/laws."""

from pathlib import Path

import pytest

from lexloop.documents.document import Document
from lexloop.documents.structure.references import find_references, loose_numbers, steps_of
from lexloop.documents.structure.tree import is_beyond

LAWS = Path(__file__).parents[2] / "data" / "laws"


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


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("art. 5(1)(f)", ["provision:5/1/f"]),
        ("§ 5-303 and § 312.5(c)(2)", ["provision:5-303", "provision:312.5/c/2"]),
        ("paragraph (b)(2)(vi) of § 312.5", ["provision:312.5/b/2/vi"]),
        ("§§ 312.5(c)(3) to (c)(5)", ["provision:312.5/c/3 - provision:312.5/c/5"]),
        ("recital 26", ["recital:26"]),
        ("Annex III point 4", ["annex:iii/4"]),
        ("Articles 15 to 22 and 34", ["provision:15 - provision:22", "provision:34"]),
        ("Articles 13 and 14", ["provision:13", "provision:14"]),
        ("points (a) to (c) of Article 6(1)", ["provision:6/1/a - provision:6/1/c"]),
        ("paragraph 1 of this Article", ["1"]),
        ("Section 102.1, Exception 2", ["provision:102.1/exception:2"]),
        ("one of the items is a rule", []),
        ("", []),
    ],
)
def test_a_reference_is_read_step_by_step(text: str, steps: list[str]) -> None:
    assert path_of(text) == steps


def test_a_number_without_a_word_is_a_reference_only_if_it_is_no_amount() -> None:
    text = "What does 404.2.3 say about 2.5 % of $4.20 and clause 3.1?"
    assert [text[r.start : r.end] for r in loose_numbers(text)] == ["404.2.3"]


def test_a_label_is_a_reference_to_itself() -> None:
    assert steps_of("Article 5(1)(f)") == find_references("Article 5(1)(f)")[0].steps
    assert steps_of('§ 312.2 "Child"') == ()
    assert steps_of("Responsibilities") == ()


def test_a_kind_of_provision_that_a_document_does_not_have_is_not_missing_from_it() -> None:
    tree = Document("d", "d", (LAWS / "policy.md").read_text(encoding="utf-8")).tree
    assert tree.missing(find_references("Annex IV")[0]) is None


@pytest.mark.parametrize(
    ("wanted", "numbers", "beyond"),
    [
        ("7", ["1", "2", "3"], True),
        ("7", ["1", "3"], False),
        ("XIV", ["I", "II", "III"], True),
        ("d", ["a", "b", "c"], True),
        ("j", [*"abcdefghi"], True),
        ("4.9", ["4.1", "4.2"], True),
        ("14", ["312.1", "312.2"], True),
        ("9", ["1", "2", "2a", "3"], True),
        ("1", [], False),
    ],
)
def test_a_number_is_beyond_a_whole_numbering_alone(
    wanted: str, numbers: list[str], beyond: bool
) -> None:
    assert is_beyond(wanted, numbers) is beyond
