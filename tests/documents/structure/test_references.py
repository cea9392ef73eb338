"""What a reference names, and where it leads in the laws of tests/data/laws."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("What does Article 27 say?", ["provision:27"]),
        ("art. 5(1)(f)", ["provision:5/1/f"]),
        ("§ 5-303 and § 312.5(c)(2)", ["provision:5-303", "provision:312.5/c/2"]),
        ("16 CFR 312.4(b)", ["provision:312.4/b"]),
        ("paragraph (b)(2)(vi) of § 312.5", ["provision:312.5/b/2/vi"]),
        ("§§ 312.5(c)(3) to (c)(5)", ["provision:312.5/c/3 - provision:312.5/c/5"]),
        ("§ 312.5(c)(3) through (5)", ["provision:312.5/c/3 - provision:312.5/c/5"]),
        ("recital 26", ["recital:26"]),
        ("Annex III, point 4(a)", ["annex:iii/4/a"]),
        ("Annex III point 4", ["annex:iii/4"]),
        ("paragraph 2 of Schedule 1", ["schedule:1/2"]),
        ("Articles 12 to 14", ["provision:12 - provision:14"]),
        ("Articles 15 to 22 and 34", ["provision:15 - provision:22", "provision:34"]),
        ("Articles 13 and 14", ["provision:13", "provision:14"]),
        ("section 2 of chapter III", ["chapter:iii/section:2"]),
        ("Chapter III, Section 2", ["chapter:iii/section:2"]),
        ("Part 2 of Schedule 3", ["schedule:3/part:2"]),
        ("clause 4.2", ["provision:4.2"]),
        ("Section 4.2(b)", ["provision:4.2/b"]),
        ("points (a) to (c) of Article 6(1)", ["provision:6/1/a - provision:6/1/c"]),
        ("point (e) or (f) of Article 6(1)", ["provision:6/1/e", "provision:6/1/f"]),
        ("Article 6(1), points (a) and (b)", ["provision:6/1/a", "provision:6/1/b"]),
        ("paragraph 1 of this Article", ["1"]),
        ("Section 102.1, Exception 2", ["provision:102.1/exception:2"]),
        ("Table 2, row CCTV", ["table:2"]),
        ("Title IV of the Act", ["title:iv"]),
        ("the points a controller must make in part", []),
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


def found(name: str, text: str) -> list[str]:
    tree = Document("d", "d", (LAWS / name).read_text(encoding="utf-8")).tree
    places = tree
    return [tree.units[p].label for r in find_references(text) for p in places.find(r)]


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [
        ("directive.txt", "Article 3(1)(b)(ii)", ["Article 3(1)(b)(ii)"]),
        ("directive.txt", "articles 1 to 3", ["Article 1", "Article 2", "Article 3"]),
        ("directive.txt", "Annex I point 2", ["Annex I, point 2"]),
        ("directive.txt", "recital 2", ["Recital 2"]),
        ("directive.txt", "section 1 of chapter I of title 1", ["Title I, Chapter I, Section 1"]),
        ("directive.txt", "points (a) to (c) of Article 3(1)",
         ["Article 3(1)(a)", "Article 3(1)(b)", "Article 3(1)(c)"]),
        ("directive.txt", "Article 9", []),
        ("act.txt", "s. 3(2)(c)(ii) and section 3A", ["Section 3(2)(c)(ii)", "Section 3A"]),
        ("act.txt", "paragraph 3(a) of Schedule 1", ["Schedule 1, paragraph 3(a)"]),
        ("contract.txt", "section 2.1(b)(i)", ["Clause 2.1(b)(i)"]),
        ("policy.md", "section 2.2", ["Section 2.2"]),
        ("policy.md", "table 2", ["Table 2"]),
        ("standard.txt", "102.1.1 is cited as section 102.1.1", ["Section 102.1.1"]),
    ],
)  # fmt: skip
def test_a_reference_leads_to_its_unit(name: str, text: str, labels: list[str]) -> None:
    assert found(name, text) == labels


def test_a_reference_within_a_text_starts_from_where_it_stands() -> None:
    text = (LAWS / "directive.txt").read_text(encoding="utf-8")
    tree = Document("d", "d", text).tree
    places = tree
    labels = {}
    for at, unit in enumerate(tree.units):
        own = text[unit.body : tree.own_end(at)]
        for reference in find_references(own):
            named = [tree.units[p].label for p in places.find(reference, at)]
            labels[unit.label, own[reference.start : reference.end]] = named
    assert labels == {
        ("Recital 1", "Article 7"): [],
        ("Article 3(1)", "Article 2(2)(a)"): ["Article 2(2)(a)"],
        ("Article 3(1)", "paragraph 2 of this Article"): ["Article 3(2)"],
        ("Article 3(1)(b)(iii)", "Annex I, point 2"): ["Annex I, point 2"],
        ("Article 3(2)", "Paragraph 1, point (c)"): ["Article 3(1)(c)"],
    }


@pytest.mark.parametrize(
    ("name", "text", "within", "first", "last"),
    [
        ("directive.txt", "Article 9", None, "Article 1", "Article 4"),
        ("directive.txt", "Article 3(7)", "Article 3", "Article 3(1)", "Article 3(3)"),
        ("directive.txt", "Annex IV", None, "Annex I", "Annex II"),
        ("act.txt", "section 3(2)(f)", "Section 3(2)", "Section 3(2)(a)", "Section 3(2)(c)"),
    ],
)
def test_what_is_not_there_is_told_by_what_is(
    name: str, text: str, within: str | None, first: str, last: str
) -> None:
    tree = Document("d", "d", (LAWS / name).read_text(encoding="utf-8")).tree
    missing = tree.missing(find_references(text)[0])
    assert missing is not None
    assert (tree.units[missing.within].label if missing.within >= 0 else None) == within
    assert (tree.units[missing.first].label, tree.units[missing.last].label) == (first, last)


def test_a_kind_of_provision_that_a_document_does_not_have_is_not_missing_from_it() -> None:
    tree = Document("d", "d", (LAWS / "policy.md").read_text(encoding="utf-8")).tree
    assert tree.missing(find_references("Annex IV")[0]) is None


@pytest.mark.parametrize(
    ("wanted", "numbers", "beyond"),
    [
        ("7", ["1", "2", "3"], True),
        ("7", ["2", "3"], False),
        ("7", ["1", "3"], False),
        ("7", ["1", "2", "2"], False),
        ("VII", ["II", "III"], False),
        ("XIV", ["I", "II", "III"], True),
        ("d", ["a", "b", "c"], True),
        ("j", [*"abcdefghi"], True),
        ("vi", ["i", "ii", "iii", "iv", "v"], True),
        ("4.9", ["4.1", "4.2"], True),
        ("14", ["312.1", "312.2"], True),
        ("2a", ["1", "2", "3"], False),
        ("9", ["1", "2", "2a", "3"], True),
        ("x", ["1", "2"], False),
        ("1", [], False),
    ],
)
def test_a_number_is_beyond_a_whole_numbering_alone(
    wanted: str, numbers: list[str], beyond: bool
) -> None:
    assert is_beyond(wanted, numbers) is beyond


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_a_numbering_with_a_gap_denies_nothing(
    count: int, wanted: int, data: st.DataObject
) -> None:
    numbers = [str(number) for number in range(1, count + 1)]
    assert is_beyond(str(wanted), numbers) is (wanted > count)
    numbers.remove(str(data.draw(st.integers(1, max(1, count - 1)))))
    assert not numbers or not is_beyond(str(wanted), numbers)
