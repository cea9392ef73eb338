"""What another document amends, repeals or replaces is quoted with what changed it."""

import pytest

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.changes import changes
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

_ACT = (
    "Goats Act 2009",
    "GOATS ACT 2009\n\nSection 1 Fee\nThe fee for a goat is 4 marks. It is paid in May.\n\n"
    "Section 2 Kids\nThe Council pays 1 mark for each kid.\n",
)
_LEASE = (
    "Lease of the Barn",
    "LEASE OF THE BARN\n\n1. Term\nIt ends on 1 May 2030.\n\n2. Rent\nThe rent is 80 euros.\n",
)
_OTHER = (
    "Lease of the Mill",
    "LEASE OF THE MILL\n\n1. Term\nIt ends on 1 June 2031.\n\n2. Rent\nThe rent is 30 euros.\n",
)
_REPEALED = "Section 2 of the Goats Act 2009 is repealed."


def _view(**texts: tuple[str, str]) -> View:
    documents = [Document(f"{name}.txt", title, text) for name, (title, text) in texts.items()]
    return build_collection(documents, tools_for(Settings(), load_minilm())).seen_by(Filters())


def _found(view: View) -> list[tuple[str, str, set[str], str]]:
    """Each change: its document and the beginning of the provision, its words, and what does it."""
    return [
        (
            one.document,
            (view.text_of(one.document) or "")[one.start : one.end].split("\n")[0],
            set(one.quoted),
            " ".join(one.by["quote"].split()),
        )
        for one in changes(view)
    ]


@pytest.mark.parametrize(
    ("said", "unit", "words"),
    [
        (
            'In section 1 of the Goats Act 2009, for "4 marks" substitute "6 marks".',
            "Section 1 Fee",
            {"4 marks"},
        ),
        (
            'The words "4 marks" in section 1 of the Goats Act 2009 are replaced by "6 marks".',
            "Section 1 Fee",
            {"4 marks"},
        ),
        ('In the Goats Act 2009, in section 1, omit "in May".', "Section 1 Fee", {"in may"}),
        (_REPEALED, "Section 2 Kids", set()),
        ("Section 2 of the Act is deleted.", "Section 2 Kids", set()),
        (
            'Section 2 of the Goats Act 2009 shall read: "The Council pays 3 marks."',
            "Section 2 Kids",
            set(),
        ),
    ],
)
def test_a_provision_of_an_act_is_changed_by_another_act(
    said: str, unit: str, words: set[str]
) -> None:
    title = "Goats (Amendment) Act 2020"
    view = _view(act=_ACT, lease=_LEASE, note=(title, f"{title.upper()}\n\nSection 1\n{said}\n"))
    assert _found(view) == [("act.txt", unit, words, said)]


@pytest.mark.parametrize(
    ("said", "unit"),
    [
        ("1. Clause 2 of the Lease is deleted.", "2. Rent"),
        ("2. In clause 2, for “80 euros” substitute “90 euros”.", "2. Rent"),
        ("1. Clause 1 shall be replaced by the following:\n“1. It ends in 2040.”", "1. Term"),
    ],
)
def test_of_two_leases_that_one_is_changed_whose_title_the_amendment_has(
    said: str, unit: str
) -> None:
    text = f"AMENDMENT No. 1 TO THE LEASE OF THE BARN\n\n{said}\n"
    view = _view(barn=_LEASE, mill=_OTHER, zz=("Amendment No. 1 to the Lease of the Barn", text))
    [(document, begins, words, by)] = _found(view)
    assert (document, begins) == ("barn.txt", unit)
    assert words == ({"80 euros"} if "80" in said else set())
    assert by == " ".join(said.split())


@pytest.mark.parametrize(
    "said",
    [
        "Data kept under section 1 of the Goats Act 2009 are deleted each year.",
        "What is kept under section 2 and section 1 of the Goats Act 2009 is deleted each year.",
        "Section 1 of the Sheep Act 1990 is repealed.",
        "Section 1 of the Goats Act 2009 applies to kids.",
    ],
)
def test_what_only_refers_or_is_of_another_act_changes_nothing(said: str) -> None:
    view = _view(act=_ACT, note=("Rules on herds", f"RULES ON HERDS\n\nRule 1 Herds\n{said}\n"))
    assert _found(view) == []
