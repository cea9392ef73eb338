"""Windows and their vectors: they fit the model, join to the text and keep their order."""

import numpy as np
import pytest
import records
from indexes import ANYBODY, Letters, content, letter_tools

from lexloop.core.settings import Settings
from lexloop.documents.chunks.statements import statements_in_text
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.store import preparing
from lexloop.store.opening import tools_for
from lexloop.store.preparing import Window, cut_document, embedded, window_marks, windows_of
from lexloop.store.protocol import MARK, PreparedChunk, PreparedFile
from lexloop.store.writer import build_collection


def files(*texts: str) -> list[PreparedFile]:
    """A file a text, cut as a whole."""
    tools = letter_tools()
    made = []
    for number, text in enumerate(texts):
        document = Document(f"{number}.txt", "", text)
        one = cut_document(document.name, "", document, tools.chunk(document), tools)
        made.append(PreparedFile(document.name, (one,), ()))
    return made


TEXTS = ["A fee is due. It is low.", "No boat may moor.", "The hull is old. Paint it. Now."]


@pytest.mark.parametrize("slab", [1, 2, 100])
def test_windows_keep_their_order(slab: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "_SLAB", slab)
    told: list[tuple[str, int, int]] = []
    tools = letter_tools()
    found = [*embedded(files(*TEXTS), tools, progress=lambda *said: told.append(said))]
    assert [made.name for made in found] == ["0.txt", "1.txt", "2.txt"]
    for made in found:
        (held,) = made.documents[0].chunks
        windows = windows_of(held, tools)
        rows = Letters().embed([window.text for window in windows]).astype(np.float16)
        np.testing.assert_array_equal(held.vectors, rows)
        np.testing.assert_array_equal(held.marks, window_marks(windows))
    assert told[-1] == ("embedding", 8, 8)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_document_without_chunks_is_a_document() -> None:
    blank = Document("blank.txt", "Blank", "   ")
    some = Document("some.txt", "Some", "The owner must pay.")
    found = build_collection([blank, some, Document("z.txt", "Z", "")], letter_tools())
    view = found.seen_by(ANYBODY)
    assert view.documents == ["blank.txt", "some.txt", "z.txt"]
    assert {chunk["document"] for chunk in view.every_chunk()} == {"some.txt"}
    assert view.text_of("blank.txt") == "   "
    (hits,) = view.search_vector(["owner"], 3)
    assert [hit.document for hit in hits] == ["some.txt"]
    assert content(found)["documents"]["z.txt"] == ""


NO_VECTORS, NO_MARKS = np.zeros((0, 384), np.float16), np.zeros((0, 2), MARK)


def texts_of(text: str, kind: str = "statements", **context: str) -> list[str]:
    """What of a chunk has a vector: of a statement read in the whole, the words there."""
    return [
        "".join(w.text[a:b] for a, b in w.parts) or w.text for w in windows(text, kind, **context)
    ]


def windows(text: str, kind: str, **context: str) -> list[Window]:
    tools = tools_for(Settings(**{"index.windows": kind}), load_minilm())
    held = PreparedChunk(
        records.chunk(text, **context), statements_in_text(text), [], NO_VECTORS, NO_MARKS, []
    )
    return windows_of(held, tools)


def test_a_long_chunk_is_cut_between_sentences_into_windows_that_fit() -> None:
    model = load_minilm()
    sentences = [
        f"The owner of berth {n} must pay the fee of that berth in time." for n in range(60)
    ]
    texts = texts_of(" ".join(sentences))
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
    pieces = texts_of(text, "whole")
    assert "".join(pieces) == text
    wholes = texts_of(sentences.strip(), "whole", context="harbour " * 400)
    fronts, texts = zip(*(whole.split("\n") for whole in wholes), strict=True)
    assert len(set(fronts)) == 1
    assert " ".join(texts) == sentences.strip()
    for window in (*pieces, *wholes):
        assert model.count_tokens(window) + 2 <= model.window


def test_a_statement_is_read_in_the_whole_that_has_all_its_words() -> None:
    text = "The owner pays:\n(a) the fee;\n(b) the dues. A guest pays nothing."
    whole, leading, *rest = windows(text, "statements", context="Dues")
    assert (whole.text, whole.parts) == (f"Dues\n{text}", ())
    assert leading == Window("The owner pays:")
    assert all(one.text == whole.text for one in rest)
    said = [[one.text[a:b] for a, b in one.parts] for one in rest]
    lead = "The owner pays:"
    assert said == [[lead, "(a) the fee;"], [lead, "(b) the dues."], ["A guest pays nothing."]]
    marks = window_marks([whole, *rest])
    assert len({tuple(row) for row in marks.tolist()}) == 4


def test_vectors_of_statements_are_those_of_their_words_among_the_others() -> None:
    model, text = load_minilm(), "The owner must pay the fee. A guest may not pay."
    tools = tools_for(Settings(), model)
    document = Document("a.txt", "", text)
    one = cut_document("a.txt", "", document, tools.chunk(document), tools)
    (made,) = embedded([PreparedFile("a.txt", (one,), ())], tools)
    (held,) = made.documents[0].chunks
    states = model.token_states(text)
    for row, span in ((1, slice(0, 7)), (2, slice(7, 13))):
        mean = states[span].mean(axis=0)
        np.testing.assert_allclose(held.vectors[row], mean / np.linalg.norm(mean), atol=2e-3)
