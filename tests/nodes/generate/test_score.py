"""The scores of statements as answers."""

import pytest
from indexes import passages_of, view_of
from records import query

from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.score import score_quotables

LAW = """§ 1 Boats
A boat may be held by one of the following:
(a) a rope that two people tie;
(b) a chain with papers.
"""


@pytest.mark.parametrize(
    ("asked", "alike"),
    [("In which cases may a boat be held?", True), ("May a chain hold a boat?", False)],
)
def test_a_list_is_read_as_well_as_its_best_point_if_several_things_are_asked_for(
    asked: str, alike: bool
) -> None:
    view = view_of(Document("d.txt", "Boats Act", LAW), embedder=load_minilm())
    scored = score_quotables(query(asked, view), passages_of(view), view)
    assert scored is not None
    [whole] = [n for n, item in enumerate(scored.quotables) if item.statement.points]
    points = [n for n, item in enumerate(scored.quotables) if item.statement.leads]
    assert len(points) == 2
    read = scored.read[0]
    assert (read[whole] >= read[points].max()) == alike
