from lexloop.documents.chunks.chunkers import (
    TOPIC_CHARS,
    chunk_by_characters,
    chunk_by_meaning,
    chunk_by_sentences,
)
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm


def count_words(text: str) -> int:
    return len(text.split())


def by_tokens(text: str, tokens: int, overlap: int) -> list[str]:
    cut = chunk_by_sentences(Document("d.txt", "A law", text), tokens, overlap, count_words)
    return [chunk["text"] for chunk in cut]


WORDS = "One two three. Four five. Six seven eight. Nine ten. "


def test_whole_sentences_fill_a_chunk_up_to_its_tokens() -> None:
    # sentences of 3, 2, 3 and 2 words
    assert by_tokens(WORDS, 5, 0) == ["One two three. Four five. ", "Six seven eight. Nine ten. "]
    assert by_tokens(WORDS, 10, 0) == [WORDS]


def test_neighbours_share_the_sentences_that_fit_the_overlap() -> None:
    assert by_tokens(WORDS, 5, 2) == [
        "One two three. Four five. ",
        "Four five. Six seven eight. ",
        "Nine ten. ",  # "Six seven eight." has three words, more than may be shared
    ]
    assert by_tokens(WORDS, 8, 3) == [
        "One two three. Four five. Six seven eight. ",
        "Six seven eight. Nine ten. ",
    ]


BOATS = ["The boat is moored in the harbour.", "The ship lies at the quay of the port."]
BREAD = ["Bread is baked from flour and yeast.", "The baker kneads the dough for the loaf."]
TEXT = " ".join(BOATS + BREAD)


def by_meaning(text: str, dissimilarity: float, buffer: int) -> list[str]:
    source = Document("d.txt", "A text", text)
    cut = chunk_by_meaning(source, dissimilarity, buffer, load_minilm())
    return [chunk["text"].strip() for chunk in cut]


def test_the_text_is_cut_where_the_topic_changes() -> None:
    # three distances; the quantile 0.5 is the middle one, and only the greatest lies above it
    assert by_meaning(TEXT, 0.5, 0) == [" ".join(BOATS), " ".join(BREAD)]


def test_equal_sentences_stay_together_up_to_the_maximum() -> None:
    found = by_meaning("The fee is due on the first day of May. " * 100, 0.0, 0)
    assert max(map(len, found)) <= TOPIC_CHARS
    assert len(found) == 2  # 4,000 characters


def by_characters(text: str, chars: int, overlap: int) -> list[str]:
    cut = chunk_by_characters(Document("d.txt", "A law", text), chars, overlap)
    return [chunk["text"] for chunk in cut]


def test_a_chunk_ends_with_the_last_sentence_of_its_second_half() -> None:
    first, second = "The fee is due. ", "The owner pays it at once. "  # 16 and 27 characters
    assert by_characters((first + second) * 2, 50, 0) == [first + second, first + second]
    # within 40 characters the first sentence ends in the first half, so the last word ends it
    assert by_characters(first + second, 40, 0) == [
        "The fee is due. The owner pays it at ",
        "once. ",
    ]
