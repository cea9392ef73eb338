"""Which statements of the passages make the answer."""

from collections.abc import Callable

import numpy as np
import pytest

from lexloop.core.types import Passage
from lexloop.corpus.index.view import View
from lexloop.nodes.generate.selection import (
    MAX_STATEMENTS,
    MAX_WORDS,
    NEARLY_BEST,
    Evidence,
    Scored,
    gather,
    select,
)
from lexloop.nodes.relevance import Asked, understand

Passages = Callable[..., list[Passage]]


def scored(*rows: list[float], texts: list[str], passage: Passage) -> Scored:
    evidence = [Evidence(passage, 0, len(text), text, n) for n, text in enumerate(texts)]
    return Scored(evidence, np.eye(len(texts), dtype=np.float32), np.array(rows, dtype=np.float32))


def asked(small: View, parts: int) -> Asked:
    return understand(" ".join(f"What is thing {n}?" for n in range(parts)), small)


@pytest.fixture
def passage(passages: Passages) -> Passage:
    return passages("§ 10-2")[0]


def test_every_statement_and_every_list_is_evidence(small: View, passages: Passages) -> None:
    given = passages("§ 5-100", "§ 10-3")
    found = gather(understand("What is an inspection?", small), given, small)
    assert found is not None
    texts = [item.text for item in found.evidence]
    # the definition, three items with their lead-in, the whole list; then two statements
    assert len(texts) == 5 + 2
    items = [text for text in texts if text.startswith("It must include:")]
    assert len(items) == 4
    assert "corrosion" in items[-1]
    assert "sound" in items[-1]
    assert found.scores.shape == (1, 7)
    assert found.vectors.shape == (7, 384)


def test_the_spans_of_evidence_are_exact(small: View, passages: Passages) -> None:
    given = passages()
    found = gather(understand("What is an inspection?", small), given, small)
    assert found is not None
    for item in found.evidence:
        quoted = item.passage["text"][item.start : item.end]
        assert quoted.strip() == quoted
        assert item.text.split()[0] == quoted.split()[0]
        assert item.text.split()[-1] == quoted.split()[-1]


def test_no_passages_hold_no_evidence(small: View) -> None:
    assert gather(understand("What is a berth?", small), [], small) is None


def test_the_best_for_each_part_then_what_is_nearly_as_good(small: View, passage: Passage) -> None:
    found = scored(
        [0.9, 0.1, 0.89 * 0.9, 0.2],
        [0.1, 0.8, 0.1, 0.75],
        texts=["alpha fee", "beta berth", "gamma quay", "delta owner"],
        passage=passage,
    )
    # the bar is 0.81: the first two answer their parts, the others fall short of it
    assert NEARLY_BEST == 0.9
    assert [item.order for item in select(asked(small, 2), found)] == [0, 1]


def test_more_is_taken_while_it_is_nearly_as_good(small: View, passage: Passage) -> None:
    found = scored(
        [0.7, 0.9, 0.85, 0.84, 0.83],
        texts=["alpha fee", "beta berth", "gamma quay", "delta owner", "epsilon boat"],
        passage=passage,
    )
    chosen = select(asked(small, 1), found)
    assert [item.order for item in chosen] == [1, 2, 3]
    assert len(chosen) == MAX_STATEMENTS


def test_what_was_said_is_not_said_again(small: View, passage: Passage) -> None:
    found = scored(
        [0.9, 0.89, 0.88],
        texts=["The owner pays the fee.", "Owners pay fees", "A quay is long."],
        passage=passage,
    )
    assert [item.order for item in select(asked(small, 1), found)] == [0, 2]


def test_an_answer_has_a_length(small: View, passage: Passage) -> None:
    long = " ".join(f"word{n}" for n in range(MAX_WORDS - 1))
    found = scored([0.9, 0.89, 0.88], texts=[long, "two more words here", "short"], passage=passage)
    assert [item.order for item in select(asked(small, 1), found)] == [0, 2]


def test_a_statement_beyond_the_length_is_taken_alone(small: View, passage: Passage) -> None:
    long = " ".join(f"word{n}" for n in range(2 * MAX_WORDS))
    found = scored([0.9, 0.89], texts=[long, "short"], passage=passage)
    assert [item.order for item in select(asked(small, 1), found)] == [0]
