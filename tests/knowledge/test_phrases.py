import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.structure.references import cited
from lexloop.knowledge.phrases import (
    alternatives,
    entity_key,
    noun_phrase,
    readable,
    singular,
    written_out,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  “the   sum\ndue”; ", "the sum due"),
        ("pay the fee to the", "pay the fee"),
        ("", ""),
        (". , ;", ""),
    ],
)
def test_readable(text: str, expected: str) -> None:
    assert readable(text) == expected


def test_long_phrases_end_at_a_word() -> None:
    assert readable("word " * 40, 22) == "word word word word"


@given(st.text(max_size=400), st.integers(10, 130))
def test_readable_is_one_short_line(text: str, limit: int) -> None:
    line = readable(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert line == line.strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Any such Relevant Person", "Relevant Person"),
        ("Every employer", "employer"),
        ("Civil penalty", "civil penalty"),
        ("The", "The"),
    ],
)
def test_noun_phrases_lose_determiners(text: str, expected: str) -> None:
    assert noun_phrase(text) == expected


def test_acronyms_are_written_out() -> None:
    aliases = {"AWT": "automated weighing tool"}
    assert written_out("an AWT and AWTs", aliases) == (
        "an automated weighing tool and automated weighing tool"
    )
    assert written_out("weighing tools (AWTs) on 6 AWT", aliases) == "weighing tools on 6 AWT"


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("agencies", "agency"),
        ("processes", "process"),
        ("boxes", "box"),
        ("fees", "fee"),
        ("bus", "bus"),
        ("basis", "basis"),
        ("gas", "gas"),
        ("loss", "loss"),
    ],
)
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one


def test_two_mentions_of_one_entity_have_one_key() -> None:
    assert entity_key("The Employment Agencies") == entity_key("an employment agency")
    assert entity_key("the") == "the"
    assert entity_key("") == ""


def test_short_coordinations_are_split_and_others_kept() -> None:
    assert alternatives("captain, mate, or pilot") == ["captain", "mate", "pilot"]
    assert alternatives("rules of the city and the state") == ["rules of the city and the state"]


@pytest.mark.parametrize(
    ("label", "kind", "number"),
    [
        ("§ 20-871(b)(1)", "section", "20-871|b|1"),
        ("paragraph 1 of subdivision b of section 20-871", "section", "20-871|b|1"),
        ("Rule 3.2", "rule", "3.2"),
        ("Articles 6", "article", "6"),
        ("Annex III, point 4", "annex", "iii|4"),
        ("29 C.F.R. § 1607.4", "section", "1607.4"),
    ],
)
def test_what_a_label_or_a_reference_names(label: str, kind: str, number: str) -> None:
    found = cited(label)
    assert found is not None
    assert (found.kind, found.number, found.start) == (kind, number, 0)


@pytest.mark.parametrize("text", ["mooring fee", "", "paragraph 2", "Directive 95/46/EC"])
def test_what_names_no_provision_by_number(text: str) -> None:
    assert cited(text) is None


def test_a_reference_says_what_act_it_is_part_of() -> None:
    named = cited("Article 3(1) of the Harbour Treaty")
    coded = cited("see 29 C.F.R. § 1607.4")
    assert named is not None
    assert coded is not None
    assert (named.act, named.code) == ("Harbour Treaty", "")
    assert (coded.act, coded.code, coded.start) == ("", "29 C.F.R.", 4)
