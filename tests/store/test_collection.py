from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import ANYBODY, Letters, everything_in, states
from laws import examples

from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.preparing import windows_of
from lexloop.store.protocol import MARK, PreparedChunk
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection, without

NOTHING: Any = (np.zeros((0, 384), np.float16), np.zeros((0, 2), MARK), [])
PAD = "The words of this sentence must stand here so that the paragraph is long enough to be cut. "
LAW = f"""§ 1 Fees
The owner must pay the berth fee in time. The guest may not moor at night. {PAD}
The harbour master must publish the fee in the gazette. {PAD}
§ 2 Audits
An independent auditor must do a bias audit each year. {PAD}
"""


class Noting(Letters):
    """Notes questions too."""

    def embed(self, texts: list[str]) -> Vectors:
        self.embedded += texts
        return super().embed(texts)


def build(text: str = LAW, embedder: Letters | None = None) -> Collection:
    document = Document("law.txt", "Harbour law", text, pages=(0, 40))
    tools = tools_for(Settings(), embedder or load_minilm())
    return build_collection([document], replace(tools, extract=states))


LINES = ["(a) ", "1. ", "§ 2 Fees.\n", "# Head\n", ". ", ":\n", ";\n", "\n", " ", "x" * 40]
WORDS = ["The owner must pay", " the fee", "Bias audit.", PAD, "The guest may not moor. "]
PIECES = st.sampled_from([*LINES, *WORDS])


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(str.strip))
def test_statements_and_their_vectors_are_aligned(text: str) -> None:
    collection, model = build(text), load_minilm()
    view, held = collection.seen_by(ANYBODY), everything_in(collection)
    for position, chunk in enumerate(view.every_chunk()):
        found, vectors = view.statements(chunk["id"])
        made = PreparedChunk(chunk, found, [], *NOTHING)
        windows = windows_of(made, tools_for(Settings(), model))
        rows = held.dense.windows_of(position)
        assert (len(rows), len(vectors)) == (len(windows), len(found))
        for window, row in zip(windows, rows, strict=True):
            read = model.encode_tokens(
                [window.text], [[window.parts] * bool(window.parts)], lambda *_: None
            )
            expected = read.parts[0][0] if window.parts else read.vectors[0]
            np.testing.assert_allclose(row, expected, atol=5e-3)  # alone, not in a batch
        if len(found) > 1:
            np.testing.assert_array_equal(vectors, rows[-len(found) :])


def test_without_every_chunk_nothing_is_found_and_nothing_fails() -> None:
    law = build().seen_by(ANYBODY)
    left = without(law, [chunk["id"] for chunk in law.every_chunk()])
    empty = left.seen_by(ANYBODY)
    assert (list(empty.every_chunk()), len(everything_in(left).texts)) == ([], 0)
    assert empty.search_vector(["fee"], 5) == empty.search_lexical(["fee"], 5) == [[]]
    assert empty.graph.entities == []
    assert empty.idf("fee") == 0.0
    assert list(without(law, []).seen_by(ANYBODY).every_chunk()) == list(law.every_chunk())


def test_what_defines_a_term_is_gone_with_all_chunks_of_its_document() -> None:
    whole = build(f"§ 1 Definitions\n“Berth” means a place at which a boat is moored. {PAD}\n")
    view = whole.seen_by(ANYBODY)
    [defining] = view.defining(["berth"])
    assert without(view, [defining]).seen_by(ANYBODY).defining(["berth"]) == []


def test_recent_texts_are_embedded_once() -> None:
    embedder = Noting()
    collection = build(embedder=embedder)
    view = collection.seen_by(ANYBODY)
    embedder.embedded.clear()
    view.embed(["fee", "audit", "fee"])
    again = view.embed(["audit", "night", "fee"])
    np.testing.assert_allclose(again, Letters().embed(["audit", "night", "fee"]), atol=1e-5)
    again[:] = 0
    assert view.embed(["audit"]).any()
    assert embedder.embedded == ["fee", "audit", "night"]
    collection.forget()
    view.embed(["fee"])
    assert embedder.embedded == ["fee", "audit", "night", "fee"]
