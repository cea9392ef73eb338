"""Objectives of retrieval, by hand."""

import records

from lexloop.core.types import Chunk, Passage
from lexloop.evaluation.case import Case, Span
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.evaluation.score import Unresolved
from lexloop.evaluation.tuning.measure import OF_RETRIEVAL, Objective, of_passages

WORDS = ("one two three four five", "six seven eight nine ten", "red blue green grey pink")


def chunk(number: int) -> Chunk:
    place = {"document": "d", "start": 100 * number, "end": 100 * number + 100}
    return records.chunk(WORDS[number], id=f"d#{number}", **place)


CHUNKS = [chunk(number) for number in range(3)]


def worth(gold: Case, *taken: int) -> dict[Objective, float | Unresolved]:
    passages: list[Passage] = [
        {**CHUNKS[place], "score": 1.0, "signals": {}, "n": n} for n, place in enumerate(taken, 1)
    ]
    return of_passages(gold, passages, EvidenceIndex(CHUNKS))


def spans(*places: tuple[int, int]) -> Case:
    evidence = tuple(Span(document="d", start=start, end=end) for start, end in places)
    return Case(question="Q?", evidence=evidence)


def test_a_span_is_found_when_half_of_it_is() -> None:
    gold = spans((50, 150), (200, 300))
    assert worth(gold, 0)["recall"] == 0.5  # half of the first span
    assert worth(gold, 0)["span_recall"] == 0.25  # 50 of 200 characters
    assert worth(gold, 0, 1, 2)["recall"] == 1.0
    assert worth(gold)["recall"] == 0.0
    assert worth(spans((80, 200)), 0)["recall"] == 0.0  # 20 of 120 characters


def test_contexts_count_once_whatever_number_of_chunks_they_have() -> None:
    reference = f"Document 1: {WORDS[0]} {WORDS[1]}\n\nDocument 2: {WORDS[2]}"
    gold = Case(question="Q?", reference_context=reference)
    assert worth(gold, 0)["recall"] == 0.5
    assert worth(gold, 0, 1)["recall"] == 0.5
    assert worth(gold, 1, 2)["recall"] == 1.0
    assert isinstance(worth(gold, 1)["span_recall"], Unresolved)


def test_nothing_known_and_nothing_to_find() -> None:
    for gold in (
        Case(question="Q?"),
        Case(question="Q?", question_type="out of scope", reference_context=WORDS[0]),
    ):
        assert all(isinstance(worth(gold, 0)[name], Unresolved) for name in OF_RETRIEVAL)
