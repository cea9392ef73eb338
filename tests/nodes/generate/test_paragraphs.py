"""The unit of quoting."""

import pytest
from indexes import passages_of, view_of
from records import query
from sets import rows

from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.paragraphs import paragraph_of
from lexloop.nodes.generate.score import score_quotables


@pytest.mark.parametrize(("text", "begins", "quoted"), rows("quoted_with"))
def test_what_is_quoted_with_a_statement(text: str, begins: str, quoted: list[str]) -> None:
    """A short paragraph whole, of a longer one what refers to it, and what it points back to."""
    view = view_of(Document("d.txt", "Terms", text), embedder=load_minilm())
    scored = score_quotables(query("What is due?", view), passages_of(view), view)
    assert scored is not None
    [item] = [one for one in scored.quotables if one.said.own.startswith(begins)]
    assert [said.own for said in paragraph_of(item, view)] == quoted
