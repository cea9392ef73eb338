import pytest

from lexloop.corpus.chunk.characters import chunk_by_characters
from lexloop.corpus.load.document import Document


def chunks(text: str, chars: int, overlap: int) -> list[str]:
    cut = chunk_by_characters(Document("d.txt", "A law", text), chars, overlap)
    return [chunk["text"] for chunk in cut]


def test_a_chunk_ends_with_the_last_sentence_of_its_second_half() -> None:
    first, second = "The fee is due. ", "The owner pays it at once. "  # 16 and 27 characters
    assert chunks((first + second) * 2, 50, 0) == [first + second, first + second]
    # within 40 characters the first sentence ends in the first half, so the last word ends it
    assert chunks(first + second, 40, 0) == ["The fee is due. The owner pays it at ", "once. "]


def test_a_chunk_begins_with_a_word_of_the_one_before_it() -> None:
    text = "The fee is due now. The owner pays it. The guest rests."
    # the second sentence ends at 38; eleven back lies within "owner", so "pays" is the next word
    assert chunks(text, 38, 11) == [
        "The fee is due now. The owner pays it. ",
        "pays it. The guest rests.",
    ]


def test_text_without_words_is_cut_after_so_many_characters() -> None:
    assert [len(piece) for piece in chunks("x" * 130, 50, 20)] == [50, 50, 30]


@pytest.mark.parametrize("overlap", [0, 49])
def test_blanks_alone_are_no_chunk(overlap: int) -> None:
    text = f"{' ' * 200}One.{chr(10) * 500}Two.{' ' * 200}"
    assert [piece.strip() for piece in chunks(text, 50, overlap)] == ["One.", "Two."]
    assert chunks(" " * 200, 50, overlap) == []


def test_a_text_that_fits_is_one_chunk() -> None:
    assert chunks(" The fee. ", 50, 10) == [" The fee. "]
