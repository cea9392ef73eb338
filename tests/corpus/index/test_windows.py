from lexloop.core.types import Chunk
from lexloop.corpus.index.windows import window_texts
from lexloop.models.minilm import load_minilm


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


def test_windows_are_the_whole_and_then_its_statements() -> None:
    text = " The owner must pay the fee in time. The guest may not moor at night. "
    assert window_texts(chunk_of(text), load_minilm()) == [
        text.strip(),
        "The owner must pay the fee in time.",
        "The guest may not moor at night.",
    ]


def test_the_whole_alone_where_that_is_asked_for() -> None:
    text = "The owner must pay the fee in time. The guest may not moor at night."
    assert window_texts(chunk_of(text), load_minilm(), "whole") == [text]


def test_a_chunk_of_one_statement_is_one_window() -> None:
    text = "The owner must pay the fee in time."
    assert window_texts(chunk_of(text), load_minilm()) == [text]
    assert window_texts(chunk_of(" \n"), load_minilm()) == [""]


def test_a_long_chunk_is_cut_between_sentences_into_windows_that_fit() -> None:
    model = load_minilm()
    sentences = [
        f"The owner of berth {n} must pay the fee of that berth in time." for n in range(60)
    ]
    texts = window_texts(chunk_of(" ".join(sentences)), model)
    wholes = texts[: -len(sentences)]
    assert len(wholes) > 2
    assert " ".join(wholes) == " ".join(sentences)
    assert texts[len(wholes) :] == sentences
    assert all(model.count_tokens(text) + 2 <= model.window for text in texts)


def test_a_sentence_beyond_the_window_is_cut_between_words_into_pieces_that_fit() -> None:
    model = load_minilm()
    short = "The guest may not moor at night."
    clauses = ", ".join(f"the keeper of berth {n} in harbour {n * 7}" for n in range(90))
    long = f"The owner must inform {clauses}."
    assert model.count_tokens(long) > 2 * model.window
    texts = window_texts(chunk_of(f"{short} {long}"), model)
    wholes, single = texts[:-2], texts[-2:]
    assert " ".join(wholes) == f"{short} {long}"
    assert all(model.count_tokens(text) + 2 <= model.window for text in texts)
    filled = [model.count_tokens(piece) for piece in wholes[1:-1]]
    assert min(filled) > 0.9 * model.window
    # one window a statement; the pieces of the whole carry the rest of the long one
    assert single[0] == short
    assert long.startswith(single[1])
    assert len(single[1]) > 500


def test_a_word_beyond_the_window_is_cut_between_characters() -> None:
    model = load_minilm()
    text = "§1.2" * 2000
    texts = window_texts(chunk_of(text), model, "whole")
    assert "".join(texts) == text
    assert len(texts) > 2
    assert all(model.count_tokens(piece) + 2 <= model.window for piece in texts)
