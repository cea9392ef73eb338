import pytest

from lexloop.corpus.chunk.semantic import MAX_CHARS, chunk_by_meaning
from lexloop.corpus.load.document import Document
from lexloop.models.minilm import load_minilm

BOATS = ["The boat is moored in the harbour.", "The ship lies at the quay of the port."]
BREAD = ["Bread is baked from flour and yeast.", "The baker kneads the dough for the loaf."]
TEXT = " ".join(BOATS + BREAD)


def chunks(text: str, dissimilarity: float, buffer: int) -> list[str]:
    source = Document("d.txt", "A text", text)
    cut = chunk_by_meaning(source, dissimilarity, buffer, load_minilm())
    return [chunk["text"].strip() for chunk in cut]


def test_the_text_is_cut_where_the_topic_changes() -> None:
    # three distances; the quantile 0.5 is the middle one, and only the greatest lies above it
    assert chunks(TEXT, 0.5, 0) == [" ".join(BOATS), " ".join(BREAD)]


def test_the_setting_is_the_share_of_distances_at_which_nothing_is_cut() -> None:
    assert len(chunks(TEXT, 1.0, 0)) == 1
    assert len(chunks(TEXT, 0.0, 0)) == 3  # all but the least distance
    assert len(chunks(TEXT, 0.0, 1)) == 3


def test_equal_sentences_stay_together_up_to_the_maximum() -> None:
    found = chunks("The fee is due on the first day of May. " * 200, 0.0, 0)
    assert max(map(len, found)) <= MAX_CHARS
    assert len(found) == 3  # 8,000 characters


@pytest.mark.parametrize(("text", "count"), [("", 0), (" \n", 0), ("One.", 1), ("x" * 7000, 4)])
def test_few_sentences_or_one_without_end(text: str, count: int) -> None:
    assert len(chunks(text, 1.0, 1)) == count
