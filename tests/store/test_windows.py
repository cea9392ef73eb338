from lexloop.core.types import Chunk
from lexloop.documents.chunks.statements import statements_in_text
from lexloop.models.minilm import load_minilm
from lexloop.store.preparing import window_texts


def chunk_of(text: str) -> Chunk:
    return {
        "id": "d#0",
        "document": "d",
        "title": "t",
        "section": "",
        "page": None,
        "start": 0,
        "end": len(text),
        "text": text,
    }


def windows_of(text: str, kind: str = "statements", context: str = "") -> list[str]:
    chunk = chunk_of(text)
    if context:
        chunk["context"] = context
    return window_texts(chunk, statements_in_text(text), load_minilm(), kind)


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


def test_a_word_beyond_the_window_is_cut_between_characters() -> None:
    model = load_minilm()
    text = "§1.2" * 2000
    texts = windows_of(text, "whole")
    assert "".join(texts) == text
    assert len(texts) > 2
    assert all(model.count_tokens(piece) + 2 <= model.window for piece in texts)


def test_what_places_a_chunk_stands_in_front_of_its_whole_and_of_no_statement() -> None:
    text = "The owner must pay the fee in time. The guest may not moor at night."
    whole, first, second = windows_of(text, context="Harbour dues\nThe rules are:")
    assert whole == f"Harbour dues\nThe rules are:\n{text}"
    assert f"{first} {second}" == text


def test_a_long_context_leaves_the_text_half_of_the_window() -> None:
    model = load_minilm()
    sentences = [f"The owner of berth {n} must pay the fee of that berth." for n in range(30)]
    wholes = windows_of(" ".join(sentences), "whole", context="harbour " * 400)
    assert all(model.count_tokens(text) + 2 <= model.window for text in wholes)
    fronts, texts = zip(*(whole.split("\n") for whole in wholes), strict=True)
    assert len(set(fronts)) == 1
    assert " ".join(texts) == " ".join(sentences)
