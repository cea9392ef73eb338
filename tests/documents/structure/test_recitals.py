"""Recitals, whatever opens them and on whatever line."""

import pytest

from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.document import Document

HEAD = "REGULATION 2031/7 OF THE COUNCIL\n\nHaving regard to the Treaty,\n"
SAID = (
    "The tides of the sound are strong.",
    "It is necessary to warn the skippers of small boats.",
    "This Regulation respects the rights of the ports.",
)
TAIL = (
    "HAS ADOPTED THIS REGULATION:\n\nArticle 1\nLamps\n\nEach port shall keep a lamp.\n\n"
    "Article 2\nFees\n\n1. The fee is 3 crowns.\n\n2. Boats of the port are free.\n"
)
OPENINGS = (
    "Whereas:\n\n",
    "WHEREAS\n\n",
    "Acting in accordance with the ordinary legislative procedure, Whereas:\n\n",
    "Acting in accordance with the ordinary legislative procedure,\nWhereas:\n",
    "Acting in accordance with the procedure,\nwhere-\nas:\n",
    "Whereas: ",
    "After consulting the ports, whereas: ",
    "Considering the following:\n\n",
    "for the reasons that are given here\n\n",
    "RECITALS\n\n",
    "Background\n",
    "",
)


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("mark", ["({})", "{}."])
def test_recitals_are_known_by_their_run_and_support(mark: str, opening: str, between: str) -> None:
    counted = between.join(f"{mark.format(n)} {said}" for n, said in enumerate(SAID, 1))
    text = f"{HEAD}\n{opening}{counted}\n\n{TAIL}"
    document = Document("d.txt", "d", text)
    units = [unit for unit in document.tree.units if unit.kind == "recital"]
    assert [unit.label for unit in units] == ["Recital 1", "Recital 2", "Recital 3"]
    for unit, said in zip(units, SAID, strict=True):
        assert said in text[unit.start : unit.end]
    supporting = {c["section"] for c in chunk_document(document) if c.get("supporting")}
    assert supporting == {"Recital 1", "Recital 2", "Recital 3"}
    labels = {unit.label for unit in document.tree.units if unit.kind == "provision"}
    assert labels == {"Article 1", "Article 2"}
