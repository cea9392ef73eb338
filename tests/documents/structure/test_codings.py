"""A law in letters of full width has the provisions, statements and relations of the same law."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lexloop.core.folding import narrowed
from lexloop.core.types import Triplet
from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.chunks.statements import statements
from lexloop.documents.document import Document
from lexloop.documents.structure.lookup import mentions, named_places
from lexloop.knowledge.relations import extract_document

LAWS = Path(__file__).parents[2] / "data" / "laws"
WIDE: Mapping[int, int] = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}


def both(name: str) -> tuple[Document, Document]:
    text = (LAWS / name).read_text("utf-8")
    return Document(name, "Law", text), Document(name, "Law", text.translate(WIDE))


@pytest.mark.parametrize(
    "name",
    ["act.txt", "directive.txt", "policy.md"],
)
def test_width_changes_nothing_but_what_is_quoted(name: str) -> None:
    plain, wide = both(name)
    assert len(plain.tree) > 10
    assert wide.tree == plain.tree
    said = list(statements(wide.tree, wide.text))
    assert said == list(statements(plain.tree, plain.text))
    chunks = chunk_document(wide)
    assert [c["start"] for c in chunks] == [c["start"] for c in chunk_document(plain)]
    assert "".join(c["text"] for c in chunks) == wide.text
    assert related(wide) == related(plain)
    for place in range(len(plain.tree)):
        found = mentions(wide.tree, place, wide.text)
        assert found == mentions(plain.tree, place, plain.text)


def related(document: Document) -> list[Triplet]:
    found = extract_document(document, chunk_document(document))
    assert found
    assert all(document.text[t["start"] : t["end"]] == t["quote"] for t in found)
    return [{**triplet, "quote": narrowed(triplet["quote"])} for triplet in found]


@pytest.mark.parametrize(
    "said",
    [
        "Art\xadicle\u202f3(1)(b)",
        "\ufeffarticle 3\u200b(1)(b)",
    ],
)
def test_a_provision_is_found_however_its_name_is_coded(said: str) -> None:
    plain, _ = both("directive.txt")
    (place,) = named_places(plain.tree, said)
    assert plain.tree.units[place].label == "Article 3(1)(b)"
