"""Which chunks, documents and spans are relevant to a gold record."""

from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.score import Unresolved
from lexloop.core.types import Chunk
from lexloop.corpus.text.evidence import word_grams
from lexloop.evaluation.evidence import ChunkGrams, Evidence, Judged, contexts_of, evidence
from lexloop.evaluation.gold import GoldQuestion, Span

RULE = "an employer must publish a summary of the most recent bias audit"
NOTICE = "a candidate is told ten business days before the tool is used"


def test_contexts_are_opened_by_their_numbers() -> None:
    assert contexts_of("Document 1: One.\n\nTwo.\n\nDocument 22: Three.") == [
        "One.\n\nTwo.",
        "Three.",
    ]
    assert contexts_of("") == []


def test_a_part_of_a_context_is_relevant_and_so_is_what_contains_it() -> None:
    chunks = ChunkGrams(
        {
            "part": word_grams("a summary of the most recent bias audit"),
            "whole": word_grams(f"{RULE}, and much else is said in this section besides that"),
            "other": word_grams("penalties of five hundred dollars are due on the first day"),
            "short": word_grams("bias audit"),
        }
    )
    found = evidence(chunks, f"Document 3: {RULE}")
    assert found.by_context == (frozenset({"part", "whole"}),)


def test_half_of_the_grams_is_enough_and_less_is_not() -> None:
    # four words have two 3-grams
    half = ChunkGrams({"half": word_grams("one two three nine")})
    assert evidence(half, "Document 1: one two three four five six").chunks == {"half"}
    # five words have three, of which the context has one
    third = ChunkGrams({"third": word_grams("one two three nine ten")})
    assert evidence(third, "Document 1: one two three four five six").chunks == frozenset()


def test_recall_by_chunk_and_by_context() -> None:
    known = Evidence((frozenset({"a", "b", "c"}), frozenset({"c", "d"})))
    assert known.measure(["a", "b", "x", "y", "z"]) == {"recall@5": 2 / 4, "contexts@5": 1 / 2}
    assert known.measure(["c"]) == {"recall@5": 1 / 4, "contexts@5": 1.0}


def test_of_more_than_five_relevant_five_are_all() -> None:
    known = Evidence((frozenset("abcdefgh"),))
    assert known.measure(list("abcde"))["recall@5"] == 1.0


def test_without_a_relevant_chunk_nothing_is_found() -> None:
    assert Evidence((frozenset(),)).measure(["a"]) == {"recall@5": 0.0, "contexts@5": 0.0}
    assert Evidence(()).measure(["a"]) == {"recall@5": 0.0, "contexts@5": 0.0}


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=9), max_size=4), st.text("abcd "))
def test_the_index_of_grams_finds_what_looking_at_every_chunk_finds(
    texts: list[list[str]], context: str
) -> None:
    grams = {f"c{n}": word_grams(" ".join(text)) for n, text in enumerate(texts)}
    wanted = word_grams(context)
    assert ChunkGrams(grams).sharing(wanted) == {
        name
        for name, held in grams.items()
        if held and wanted and 2 * len(held & wanted) >= min(len(held), len(wanted))
    }


def chunk(document: str, start: int, text: str) -> Chunk:
    return {
        "id": f"{document}#{start}",
        "document": document,
        "title": "",
        "section": "",
        "page": None,
        "start": start,
        "end": start + len(text),
        "text": text,
    }


LAW = [chunk("law", 0, RULE), chunk("law", 100, NOTICE), chunk("guide", 0, "see the law")]


def test_spans_grade_the_chunks_that_hold_half_of_them() -> None:
    # 0-64 and 100-162: the first span is inside, of the second 12 of 40 code points are
    spans = (Span(document="law", start=4, end=30, relevance=3), Span(document="law", start=150,
             end=190), Span(document="law", start=10, end=12))  # fmt: skip
    found = Judged(LAW).relevant(GoldQuestion(question="Q?", evidence=spans))
    assert found.chunks == {"law#0": 3}
    assert found.documents == {"law": 3}
    assert found.spans == spans


def test_contexts_name_their_chunks_and_these_their_documents() -> None:
    gold = GoldQuestion(question="Q?", reference_context=f"Document 4: {NOTICE}")
    found = Judged(LAW).relevant(gold)
    assert (found.chunks, found.documents) == ({"law#100": 1}, {"law": 1})
    assert found.spans == Unresolved("the gold record names no spans")


def test_of_a_named_document_every_chunk_counts() -> None:
    found = Judged(LAW).relevant(GoldQuestion(question="Q?", documents=("law",)))
    assert found.chunks == {"law#0": 1, "law#100": 1}
    assert found.documents == {"law": 1}


def test_what_is_not_known_says_why() -> None:
    judged = Judged(LAW)
    nothing = judged.relevant(GoldQuestion(question="Q?"))
    assert nothing.chunks == Unresolved("the gold record names no evidence")
    gone = judged.relevant(GoldQuestion(question="Q?", documents=("lost",)))
    assert gone.documents == Unresolved("the collection has no document 'lost'") == gone.chunks
    outside = GoldQuestion(question="Q?", question_type="out of scope", documents=("law",))
    assert judged.relevant(outside).chunks == Unresolved("out of scope: nothing is relevant")
    far = GoldQuestion(question="Q?", evidence=(Span(document="law", start=900, end=950),))
    assert judged.relevant(far).chunks == Unresolved("no chunk holds the evidence")
    other = GoldQuestion(question="Q?", reference_context="nothing of the kind is said here")
    assert isinstance(judged.relevant(other).documents, Unresolved)
