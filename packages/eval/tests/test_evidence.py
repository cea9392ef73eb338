"""Which chunks, documents and spans are relevant to a gold record."""

import pytest
import records
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import InputError
from lexloop.core.types import Chunk
from lexloop_eval.case import Case, Span
from lexloop_eval.evidence import EvidenceIndex
from lexloop_eval.score import Unresolved

RULE = "an employer must publish a summary of the most recent bias audit"
NOTICE = "a candidate is told ten business days before the tool is used"


def chunk(document: str, start: int, text: str) -> Chunk:
    return records.chunk(text, document=document, start=start)


def of_texts(**texts: str) -> EvidenceIndex:
    """Documents of one chunk each."""
    return EvidenceIndex(chunk(name, 0, text) for name, text in texts.items())


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=9), max_size=4), st.text("abcd "))
def test_the_index_of_grams_finds_what_looking_at_every_chunk_finds(
    texts: list[list[str]], context: str
) -> None:
    index = of_texts(**{f"c{n}": " ".join(text) for n, text in enumerate(texts)})
    wanted = grams_of(context.split())
    grams = {f"c{n}#0": grams_of(text) for n, text in enumerate(texts)}
    alike = {
        name
        for name, held in grams.items()
        if held and wanted and 2 * len(held & wanted) >= min(len(held), len(wanted))
    }
    assert index.by_context(f"Document 1: {context}") == ([alike] if context.strip() else [])


def grams_of(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[n : n + 3]) for n in range(len(words) - 2)}


LAW = [chunk("law", 0, RULE), chunk("law", 100, NOTICE), chunk("guide", 0, "see the law")]


def test_spans_grade_the_chunks_that_hold_half_of_them() -> None:
    # 0-64 and 100-162: the first span is inside, of the second 12 of 40 code points are
    spans = (Span(document="law", start=4, end=30, relevance=3), Span(document="law", start=150,
             end=190), Span(document="law", start=10, end=12))  # fmt: skip
    result = EvidenceIndex(LAW).relevant(Case(question="Q?", evidence=spans))
    assert result.chunks == {"law#0": 3}
    assert result.documents == {"law": 3}
    assert result.spans == spans


def test_contexts_name_their_chunks_and_these_their_documents() -> None:
    gold = Case(question="Q?", reference_context=f"Document 4: {NOTICE}")
    result = EvidenceIndex(LAW).relevant(gold)
    assert (result.chunks, result.documents) == ({"law#100": 1}, {"law": 1})
    assert result.spans == Unresolved("the gold record names no spans")


def test_what_is_not_known_says_why() -> None:
    index = EvidenceIndex(LAW)
    nothing = index.relevant(Case(question="Q?"))
    assert nothing.chunks == Unresolved("the gold record names no evidence")
    gone = index.relevant(Case(question="Q?", documents=("lost",)))
    assert gone.documents == Unresolved("the collection has no document 'lost'") == gone.chunks
    outside = Case(question="Q?", question_type="out of scope", documents=("law",))
    assert index.relevant(outside).chunks == Unresolved("out of scope: nothing is relevant")
    far = Case(question="Q?", evidence=(Span(document="law", start=900, end=950),))
    assert index.relevant(far).chunks == Unresolved("no chunk holds the evidence")
    other = Case(question="Q?", reference_context="nothing of the kind is said here")
    assert isinstance(index.relevant(other).documents, Unresolved)


def taken_out(chunks: list[Chunk], **known: object) -> frozenset[str]:
    return EvidenceIndex(chunks).to_take_out(Case(id="q7", question="Q?", **known))


def test_what_lies_by_half_in_two_contexts_together_is_taken_out() -> None:
    # of the eight 3-grams three are in the first context and three in the second, two in neither
    across = chunk("law", 0, "a b c d e p q r s t")
    contexts = "Document 1: a b c d e f g h i j\n\nDocument 2: k l m n o p q r s t"
    assert not any(of_texts(x=across["text"]).by_context(contexts))
    assert taken_out([across, LAW[1]], reference_context=contexts) == {"law#0"}


def test_a_span_takes_out_what_it_touches_and_what_says_the_same_elsewhere() -> None:
    again = chunk("guide", 50, f"as the law says, {RULE}")
    touching = (Span(document="law", start=60, end=101),)
    result = taken_out([*LAW, again], evidence=touching, reference_context=RULE)
    assert result == {"law#0", "law#100", "guide#50"}


@pytest.mark.parametrize(
    "known",
    [
        {"documents": ("lost",)},
        {"reference_context": "nothing of the kind is said here"},
        {"reference_context": "too short"},
        {"evidence": (Span(document="law", start=900, end=950),), "documents": ("law",)},
        {},
    ],
)
def test_evidence_that_no_chunk_holds_cannot_be_taken_out(known: dict[str, object]) -> None:
    with pytest.raises(InputError, match="No chunk holds the evidence of the question 'q7'"):
        taken_out(LAW, **known)


WORDS = st.lists(st.sampled_from("abcd"), min_size=3, max_size=12).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=3))
def test_nothing_that_the_metrics_count_stays(texts: list[str], contexts: list[str]) -> None:
    index = EvidenceIndex(chunk(f"d{n}", 0, text) for n, text in enumerate(texts))
    quoted = "\n\n".join(f"Document {n}: {text}" for n, text in enumerate(contexts))
    span = Span(document="d0", start=0, end=len(contexts[0]))
    names = {"documents": ("d0",)}
    for known in ({"reference_context": quoted}, {"evidence": (span,)}, names):
        gold = Case(question="Q?", **known)
        counted = index.relevant(gold).chunks
        if not isinstance(counted, Unresolved):
            assert counted.keys() <= index.to_take_out(gold)
