import records

from lexloop.documents.chunks.statements import statements_in_text
from lexloop.models.minilm import load_minilm
from lexloop.store.preparing import window_texts


def windows_of(text: str, kind: str = "statements", **context: str) -> list[str]:
    said = statements_in_text(text)
    return window_texts(records.chunk(text, **context), said, load_minilm(), kind)


def test_windows_are_the_whole_and_then_its_statements() -> None:
    text = " The owner must pay the fee in time. The guest may not moor at night. "
    assert windows_of(text) == [
        text.strip(),
        "The owner must pay the fee in time.",
        "The guest may not moor at night.",
    ]


def test_a_long_chunk_is_cut_between_sentences_into_windows_that_fit() -> None:
    model = load_minilm()
    sentences = [
        f"The owner of berth {n} must pay the fee of that berth in time." for n in range(60)
    ]
    texts = windows_of(" ".join(sentences))
    wholes = texts[: -len(sentences)]
    assert len(wholes) > 2
    assert " ".join(wholes) == " ".join(sentences)
    assert texts[len(wholes) :] == sentences
    assert all(model.count_tokens(text) + 2 <= model.window for text in texts)


def test_a_word_beyond_the_window_is_cut_between_characters_and_a_context_takes_half_of_it() -> (
    None
):
    model = load_minilm()
    text, sentences = "§1.2" * 2000, "The owner of a berth must pay the fee of that berth. " * 30
    pieces = windows_of(text, "whole")
    assert "".join(pieces) == text
    wholes = windows_of(sentences.strip(), "whole", context="harbour " * 400)
    fronts, texts = zip(*(whole.split("\n") for whole in wholes), strict=True)
    assert len(set(fronts)) == 1
    assert " ".join(texts) == sentences.strip()
    for window in (*pieces, *wholes):
        assert model.count_tokens(window) + 2 <= model.window


def test_what_places_a_chunk_stands_in_front_of_its_whole_and_of_no_statement() -> None:
    text = "The owner must pay the fee in time. The guest may not moor at night."
    whole, first, second = windows_of(text, context="Harbour dues\nThe rules are:")
    assert whole == f"Harbour dues\nThe rules are:\n{text}"
    assert f"{first} {second}" == text
