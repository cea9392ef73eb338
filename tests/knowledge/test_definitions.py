import pytest

from lexloop.knowledge.definitions import find_aliases


@pytest.mark.parametrize(
    ("text", "acronym", "long_form"),
    [
        ('An automated weighing tool ("AWT") is', "AWT", "automated weighing tool"),
        ("“Automated weighing tool” or “AWT” means", "AWT", "automated weighing tool"),
        ("Automated weighing tools (AWTs) are", "AWT", "automated weighing tool"),
        (
            "the Department of Ports and Lakes (“DPL” or “Department”)",
            "DPL",
            "Department of Ports and Lakes",
        ),
        ("the Office of Harbour Audits (OHA)", "OHA", "Office of Harbour Audits"),
        (
            "the Ports and Markets Regulations 2015 (“PMR”)",
            "PMR",
            "Ports and Markets Regulations 2015",
        ),
    ],
)
def test_initials_spell_the_acronym(text: str, acronym: str, long_form: str) -> None:
    assert find_aliases(text) == {acronym: long_form}


@pytest.mark.parametrize(
    "text", ["", "(A)", "a ship (USA) sails", "(AWT) at the start", "see Annex (II)", '""("")']
)
def test_other_parentheses_are_none(text: str) -> None:
    assert find_aliases(text) == {}


def test_the_first_introduction_counts() -> None:
    text = 'A public lamp ("PL") shines. A private lane ("PL") is narrow.'
    assert find_aliases(text) == {"PL": "public lamp"}
