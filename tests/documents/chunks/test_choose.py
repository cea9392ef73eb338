import pytest

from lexloop.core.settings_groups import (
    ByCharacters,
    ByMeaning,
    ByPattern,
    ByProvisions,
    BySentences,
    Chunking,
)
from lexloop.documents.chunks.chunkers import chunk_document, chunker_for, chunker_name, is_divided
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm

# indexes on users' disks are told apart by these names: they may not change
NAMES: dict[str, Chunking] = {
    "auto(tokens=300, overlap=50)": BySentences(tokens=300, overlap=50),
    "provisions()": ByProvisions(),
    "semantic(dissimilarity=0.8, buffer=2)": ByMeaning(dissimilarity=0.8, buffer=2),
    "pattern(pattern='^Article')": ByPattern(pattern="^Article"),
    "characters(chars=900, chars_overlap=90)": ByCharacters(chars=900, chars_overlap=90),
}


def test_a_chunkers_name_holds_what_it_reads() -> None:
    assert [chunker_name(chosen) for chosen in NAMES.values()] == list(NAMES)


@pytest.mark.parametrize(
    ("text", "headings", "divided"),
    [
        ("§ 1 Fees\nDue.\n§ 2 Appeals\nNone.", (), True),
        ("Fees\nDue.\nAppeals\nNone.", ((0, 1), (10, 1)), True),
        ("The fee is due. Section 5 applies to owners.", (), False),
        ("# One\n" + "Text. " * 10_000 + "\n# Two\n", (), False),
    ],
)
def test_auto_takes_provisions_where_a_document_is_divided(
    text: str, headings: tuple[tuple[int, int], ...], divided: bool
) -> None:
    document = Document("d.txt", "A law", text, headings=headings)
    assert is_divided(document) is divided
    auto = chunker_for(BySentences(), load_minilm())(document)
    sentence = chunker_for(BySentences(method="sentence"), load_minilm())(document)
    assert auto == (chunk_document(document) if divided else sentence)
