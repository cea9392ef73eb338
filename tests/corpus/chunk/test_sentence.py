from lexloop.corpus.chunk.sentence import chunk_by_sentences
from lexloop.corpus.load.document import Document


def count_words(text: str) -> int:
    return len(text.split())


def chunks(text: str, tokens: int, overlap: int) -> list[str]:
    cut = chunk_by_sentences(Document("d.txt", "A law", text), tokens, overlap, count_words)
    return [chunk["text"] for chunk in cut]


TEXT = "One two three. Four five. Six seven eight. Nine ten. "


def test_whole_sentences_fill_a_chunk_up_to_its_tokens() -> None:
    # sentences of 3, 2, 3 and 2 words
    assert chunks(TEXT, 5, 0) == ["One two three. Four five. ", "Six seven eight. Nine ten. "]
    assert chunks(TEXT, 10, 0) == [TEXT]


def test_neighbours_share_the_sentences_that_fit_the_overlap() -> None:
    assert chunks(TEXT, 5, 2) == [
        "One two three. Four five. ",
        "Four five. Six seven eight. ",
        "Nine ten. ",  # "Six seven eight." has three words, more than may be shared
    ]
    assert chunks(TEXT, 8, 3) == [
        "One two three. Four five. Six seven eight. ",
        "Six seven eight. Nine ten. ",
    ]


def test_an_overlap_gives_way_to_a_sentence_that_would_not_fit_beside_it() -> None:
    text = "One two. Three four five six. Seven."
    assert chunks(text, 4, 3) == ["One two. ", "Three four five six. ", "Seven."]


def test_a_sentence_beyond_the_limit_is_cut_between_words() -> None:
    # nine words: halved to four and five at the word that spans the middle, then the five again
    pieces = chunks("Aa bb cc dd ee ff gg hh jj. Next one.", 4, 0)
    assert pieces == ["Aa bb cc dd ", "ee ff ", "gg hh jj. ", "Next one."]


def test_a_word_without_end_is_cut_after_sixteen_characters_a_token() -> None:
    pieces = chunks("x" * 1000, 16, 4)
    assert [len(piece) for piece in pieces] == [250] * 4


def test_blanks_do_not_count_and_go_to_a_neighbour() -> None:
    text = f"{chr(10) * 90}One.{' ' * 900}Two.{chr(10) * 900}"
    assert [piece.strip() for piece in chunks(text, 1, 0)] == ["One.", "Two."]
    assert chunks(" \n ", 16, 4) == []
