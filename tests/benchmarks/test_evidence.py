"""Which chunks are relevant to a gold record's reference contexts."""

from _evidence import Evidence, contexts_of, evidence

from lexloop.corpus.text.evidence import word_grams

RULE = "an employer must publish a summary of the most recent bias audit"
NOTICE = "a candidate is told ten business days before the tool is used"


def test_contexts_are_opened_by_their_numbers() -> None:
    assert contexts_of("Document 1: One.\n\nTwo.\n\nDocument 22: Three.") == [
        "One.\n\nTwo.",
        "Three.",
    ]
    assert contexts_of("") == []


def test_a_part_of_a_context_is_relevant_and_so_is_what_contains_it() -> None:
    chunks = {
        "part": word_grams("a summary of the most recent bias audit"),
        "whole": word_grams(f"{RULE}, and much else is said in this section besides that"),
        "other": word_grams("penalties of five hundred dollars are due on the first day"),
        "short": word_grams("bias audit"),
    }
    found = evidence(chunks, f"Document 3: {RULE}")
    assert found.by_context == (frozenset({"part", "whole"}),)


def test_half_of_the_grams_is_enough_and_less_is_not() -> None:
    # four words have two 3-grams
    half = {"half": word_grams("one two three nine")}
    assert evidence(half, "Document 1: one two three four five six").chunks == {"half"}
    # five words have three, of which the context has one
    third = {"third": word_grams("one two three nine ten")}
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
