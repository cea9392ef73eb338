"""BM25 by rank-bm25 itself: as the index scores, but by what the asker sees."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from indexes import letter_tools, view_of
from rank_bm25 import BM25Okapi

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import tokenize
from lexloop.graph.app import graph
from lexloop.graph.resources import build_context
from lexloop.store.okapi import Okapi
from lexloop.store.writer import build_collection

HARBOUR = [
    Document("a.txt", "Berths", "The owner pays the berth fee. A guest pays no fee."),
    Document("b.txt", "Audits", "An audit of the fee takes one day."),
    Document("c.txt", "Boats", "A vessel moors at night."),
]
SECRET = Document("s.txt", "Secret", "The fee is a fee.", metadata=Metadata(tags=("board",)))
QUESTIONS = ["Who pays the fee?", "audit", "unheard", ""]


@given(st.lists(st.sampled_from(HARBOUR), unique=True), st.sampled_from(QUESTIONS))
def test_it_finds_what_the_index_finds(documents: list[Document], question: str) -> None:
    view = view_of(*documents)
    (own,) = view.search_lexical([question], 9)
    (found,) = view.by_okapi().search_lexical([question], 9)
    assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in own]
    np.testing.assert_allclose([h.score for h in found], [h.score for h in own], rtol=1e-4)


def test_only_what_the_asker_sees_is_counted() -> None:
    collection = build_collection([*HARBOUR, SECRET], letter_tools())
    public = collection.seen_by(Filters(allowed_tags=frozenset()))
    (found,) = public.by_okapi().search_lexical(["audit fee"], 9)
    held = [*public.every_chunk()]
    terms = [tokenize(f"{c['title']}\n{c['section']}\n\n{c['text']}") for c in held]
    expected = BM25Okapi(terms).get_scores(tokenize("audit fee"))
    assert [h.document for h in found] == ["b.txt", "a.txt"]
    np.testing.assert_allclose(found[0].score, expected.max(), rtol=1e-6)
    (own,) = public.search_lexical(["audit fee"], 9)
    np.testing.assert_allclose([h.score for h in found], [h.score for h in own], rtol=1e-4)
    inside = public.by_okapi().within(["a.txt"])
    assert [h.document for hits in inside.search(["audit fee"], 9)[0] for h in hits] == ["a.txt"]


def test_without_any_word_nothing_is_found() -> None:
    assert Okapi([]).search(["fee"], 3, None) == [[]]
    blank = view_of(Document("x.txt", "", "— — —"))
    assert blank.by_okapi().search(["fee", ""], 3)[0] == [[], []]


def test_the_setting_chooses_it() -> None:
    context = {"retrieval.lexical": "okapi"}
    done = graph.invoke({"question": "What is a bias audit?"}, context=context)
    assert done["finding"] == "answers"
    collection = build_collection(HARBOUR, letter_tools())
    for lexical, own in (("index", True), ("okapi", False)):
        chosen = build_context(Settings(**{"retrieval.lexical": lexical}), collection)
        assert (chosen.view is collection.seen_by(Filters.of(Settings()))) is own
