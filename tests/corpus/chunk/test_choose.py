import pytest

from lexloop.core.errors import SettingsError
from lexloop.core.settings_index import IndexSettings
from lexloop.corpus.chunk.choose import chunker_for, chunker_name
from lexloop.corpus.chunk.provisions import chunk_document, is_divided
from lexloop.corpus.load.document import Document
from lexloop.models.minilm import load_minilm

OTHER = {
    "chunk_tokens": 300,
    "chunk_overlap": 50,
    "chunk_chars": 900,
    "chunk_chars_overlap": 90,
    "chunk_pattern": "^Article",
    "chunk_dissimilarity": 0.8,
    "chunk_buffer": 2,
    "embedder": "openai:x",
    "windows": "whole",
}
READS = {
    "auto": {"chunk_tokens", "chunk_overlap"},
    "provisions": set(),
    "sentence": {"chunk_tokens", "chunk_overlap"},
    "semantic": {"chunk_dissimilarity", "chunk_buffer"},
    "pattern": {"chunk_pattern"},
    "characters": {"chunk_chars", "chunk_chars_overlap"},
}


def made(**values: object) -> IndexSettings:
    return IndexSettings.model_validate(values)


@pytest.mark.parametrize("chunker", READS)
def test_a_chunkers_name_changes_with_what_it_reads_and_with_nothing_else(chunker: str) -> None:
    plain = chunker_name(made(chunker=chunker))
    changed = {
        name
        for name, value in OTHER.items()
        if chunker_name(made(chunker=chunker, **{name: value})) != plain
    }
    assert changed == READS[chunker]


def test_every_chunker_has_a_name_of_its_own() -> None:
    assert len({chunker_name(made(chunker=chunker)) for chunker in READS}) == len(READS)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"chunker": "sentence", "chunk_tokens": 128}, "chunk_overlap is 200"),
        ({"chunker": "auto", "chunk_tokens": 200}, "chunk_tokens is 200"),
        ({"chunker": "characters", "chunk_chars": 100}, "chunk_chars_overlap is 100"),
        ({"chunker": "pattern", "chunk_pattern": "("}, r"chunk_pattern is '\('"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_any_document(
    values: dict[str, object], what: str
) -> None:
    with pytest.raises(SettingsError, match=what):
        chunker_for(made(**values), load_minilm())


@pytest.mark.parametrize(
    ("text", "headings", "divided"),
    [
        ("§ 1 Fees\nDue.\n§ 2 Appeals\nNone.", (), True),
        ("# Law\n## Fees\nDue.", (), True),
        ("Fees\nDue.\nAppeals\nNone.", ((0, 1), (10, 1)), True),
        ("# Only a title\nThe fee is due.", (), False),
        ("The fee is due. Section 5 applies to owners.", (), False),
        ("# One\n" + "Text. " * 10_000 + "\n# Two\n", (), False),
        ("", (), False),
    ],
)
def test_auto_takes_provisions_where_a_document_is_divided(
    text: str, headings: tuple[tuple[int, int], ...], divided: bool
) -> None:
    document = Document("d.txt", "A law", text, headings=headings)
    assert is_divided(document) is divided
    auto = chunker_for(IndexSettings(), load_minilm())(document)
    sentence = chunker_for(IndexSettings(chunker="sentence"), load_minilm())(document)
    assert auto == (chunk_document(document) if divided else sentence)
