"""A question that asks who the parties are is answered by the clause that names them."""

from pathlib import Path

import pytest

from lexloop.graph.app import graph

_KEEPING = """KEEPING OF GOATS

between Alder Mills Ltd (the "Owner") and Kozí Farma s.r.o. (the "Keeper")

Section 1 Feed
The Keeper feeds the goats. The Owner pays 40 euros a week.
"""
_SHED = """LEASE OF A SHED

This lease is made between Ada Alder ("the Landlord") and Sam Sorrel ("the Tenant").

Section 1 Rent
The Tenant pays 90 euros a month.
"""
_OWNER, _KEEPER = 'Alder Mills Ltd (the "Owner")', 'Kozí Farma s.r.o. (the "Keeper")'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("parties")
    (made / "goats.txt").write_text(_KEEPING, encoding="utf-8")
    (made / "shed.txt").write_text(_SHED, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is the Keeper?", f"{_KEEPER} [1]"),
        ("who is the owner of the goats?", f"{_OWNER} [1]"),
        ("Which company is the Owner?", f"{_OWNER} [1]"),
        ("Who is the Tenant under the lease?", 'Sam Sorrel ("the Tenant") [1]'),
        ("Who are the parties to the keeping?", f"{_OWNER} [1]\n{_KEEPER} [2]"),
    ],
)
def test_a_party_is_told_in_the_words_that_name_it(
    folder: Path, question: str, answer: str
) -> None:
    done = graph.invoke({"question": question}, context={"corpus": str(folder)})
    assert (done["answer"], done["evaluation"]["passed"]) == (answer, True)
    for citation in done["citations"]:
        text = (folder / citation["document"]).read_text(encoding="utf-8")
        assert text[citation["start"] : citation["end"]] == citation["quote"]


def test_of_two_documents_each_party_is_told_with_its_document(folder: Path) -> None:
    done = graph.invoke({"question": "Who are the parties?"}, context={"corpus": str(folder)})
    assert done["answer"].splitlines() == [
        f"In goats.txt: {_OWNER} [1]",
        f"In goats.txt: {_KEEPER} [2]",
        'In shed.txt: Ada Alder ("the Landlord") [3]',
        'In shed.txt: Sam Sorrel ("the Tenant") [4]',
    ]


@pytest.mark.parametrize("question", ["What does the Keeper feed?", "Who pays the Keeper?"])
def test_what_a_party_does_is_no_question_for_its_name(folder: Path, question: str) -> None:
    done = graph.invoke({"question": question}, context={"corpus": str(folder)})
    assert _KEEPER not in done["answer"]
