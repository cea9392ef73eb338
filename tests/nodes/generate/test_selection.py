"""Which statements of the passages make the answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from records import query

from lexloop.core.types import DEFINING, Passage, PointedUnit
from lexloop.documents.chunks.statements import Statement
from lexloop.models.embedding import Vectors
from lexloop.nodes.generate.extractive import (
    NEARLY_BEST,
    Lengths,
    Quotable,
    ScoredQuotables,
    score_quotables,
    select,
)
from lexloop.nodes.relevance import Query
from lexloop.store.view import View

LENGTHS = Lengths()
Passages = Callable[..., list[Passage]]


def scored(*rows: list[float], texts: list[str], passage: Passage) -> ScoredQuotables:
    said = [Statement(0, len(text), (), "", "", text) for text in texts]
    evidence = [Quotable(passage, one, n) for n, one in enumerate(said)]
    return ScoredQuotables(
        evidence, np.eye(len(texts), dtype=np.float32), np.array(rows, dtype=np.float32)
    )


def asked(small: View, parts: int) -> Query:
    return query(" ".join(f"What is thing {n}?" for n in range(parts)), small)


@pytest.fixture
def passage(passages: Passages) -> Passage:
    return passages("§ 10-2")[0]


def test_the_spans_of_evidence_are_exact(small: View, passages: Passages) -> None:
    given = passages()
    found = score_quotables(query("What is an inspection?", small), given, small)
    assert found is not None
    for item in found.quotables:
        text = small.text_of(item.passage["document"]) or ""
        quoted = text[item.said.start : item.said.end]
        assert quoted.strip() == quoted
        lead = [text[start:end] for start, end in item.said.leads]
        assert item.said.lead.split() == " ".join(lead).split()
        if item.said.points:
            assert quoted.endswith("3. a statement that the hull is sound.")
            continue
        assert quoted.split()[-1] == item.text.split()[-1]
        assert quoted.endswith(item.said.own)


def test_the_best_for_each_part_then_what_is_nearly_as_good(small: View, passage: Passage) -> None:
    found = scored(
        [0.9, 0.1, 0.89 * 0.9, 0.2],
        [0.1, 0.8, 0.1, 0.75],
        texts=["alpha fee", "beta berth", "gamma quay", "delta owner"],
        passage=passage,
    )
    # the bar is 0.81: the first two answer their parts, the others fall short of it
    assert NEARLY_BEST == 0.9
    chosen = select(asked(small, 2), found, LENGTHS)
    assert [item.order for item in chosen.best] == [0, 1]
    assert chosen.more == []


def test_more_is_taken_while_it_is_nearly_as_good(small: View, passage: Passage) -> None:
    found = scored(
        [0.7, 0.9, 0.85, 0.84, 0.83, 0.82],
        texts=["alpha fee", "beta berth", "gamma quay", "delta owner", "epsilon boat", "zeta oar"],
        passage=passage,
    )
    chosen = select(asked(small, 1), found, LENGTHS)
    assert [item.order for item in chosen.best] == [1]
    assert [item.order for item in chosen.more] == [2, 3, 4]
    assert len(chosen.best) + len(chosen.more) == LENGTHS.statements


def test_what_was_said_is_not_said_again(small: View, passage: Passage) -> None:
    found = scored(
        [0.9, 0.89, 0.88],
        texts=["The owner pays the fee.", "Owners pay fees", "A quay is long."],
        passage=passage,
    )
    chosen = select(asked(small, 1), found, LENGTHS)
    assert [item.order for item in [*chosen.best, *chosen.more]] == [0, 2]


def test_a_list_is_no_addition(small: View, passage: Passage) -> None:
    texts = ["alpha fee", "beta berth", "gamma quay"]
    found = scored([0.9, 0.89, 0.88], texts=texts, passage=passage)
    listed = replace(found.quotables[1].said, points=4)
    found.quotables[1] = replace(found.quotables[1], said=listed)
    chosen = select(asked(small, 1), found, LENGTHS)
    assert [item.order for item in [*chosen.best, *chosen.more]] == [0, 2]
    found.scores[0, 1] = 0.95  # where it is the best, it answers
    assert [item.order for item in select(asked(small, 1), found, LENGTHS).best] == [1]


def test_the_very_definition_of_a_term_goes_before_other_texts_that_say_what_it_is(
    small: View, passages: Passages
) -> None:
    question = query("What is a hull inspection?", small)
    assert question.definitions == ["hull inspection"]
    given = passages("§ 5-100")
    plain = score_quotables(question, given, small)
    marked = score_quotables(
        question, [{**one, "signals": {DEFINING: 1.0}} for one in given], small
    )
    assert plain is not None
    assert marked is not None
    # the list's own words and the first sentence say what it is, its points do not
    assert marked.scores - plain.scores == pytest.approx(
        np.array([[0.5, 0.5, 0.0, 0.0, 0.0]]), abs=1e-6
    )


class Near:
    """A view whose chunks' tokens come as near to any question's as it is told, by their ids."""

    def __init__(self, view: View, near: dict[str, list[float]]) -> None:
        self._view, self._near = view, near

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        if not self._near:
            return None
        return np.array([self._near[name] for name in chunk_ids], dtype=np.float32).T

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)


def test_statements_stand_behind_by_what_their_passages_tokens_do(
    small: View, passages: Passages
) -> None:
    question, given = (
        query("Which boats are exempt?", small),
        passages("§ 10-3", "§ 5-200"),
    )
    first, second = (passage["id"] for passage in given)
    plain = score_quotables(question, given, Near(small, {}))
    near = score_quotables(question, given, Near(small, {first: [0.5, 0.0], second: [0.75, 0.25]}))
    assert plain is not None
    assert near is not None
    assert [p["id"] for p in near.passages] == [first, second]
    # MaxSim is 0.25 and 0.5: the first passage's statements lose 1.6 of the difference
    lost = [0.4 if item.passage["id"] == first else 0.0 for item in near.quotables]
    assert 0.4 in lost
    assert 0.0 in lost
    assert plain.scores[0] - near.scores[0] == pytest.approx(np.array(lost), abs=1e-6)


def of_passages(given: ScoredQuotables, *owners: int) -> ScoredQuotables:
    """The same evidence, each piece of the passage with this number."""
    for n, owner in enumerate(owners):
        item = given.quotables[n]
        named = {**item.passage, "id": f"c{owner}", "n": owner}
        given.quotables[n] = replace(item, passage=named)
    return given


def test_where_it_is_not_sure_each_further_passage_has_its_say(
    small: View, passage: Passage
) -> None:
    texts = ["alpha fee", "beta berth", "gamma quay", "delta owner", "epsilon boat", "zeta oar"]
    found = scored([0.4, 0.9, 0.89, 0.28, 0.1, 0.3], texts=texts, passage=passage)
    of_passages(found, 1, 2, 2, 3, 3, 4)
    assert [one["n"] for one in found.passages] == [1, 2, 3, 4]
    unsure = select(asked(small, 1), found, LENGTHS, sure=False)
    assert [item.order for item in unsure.best] == [1]
    # in the order of the passages: the second gave the best
    assert [item.order for item in unsure.more] == [0, 3, 5]
    sure = select(asked(small, 1), found, LENGTHS)
    assert [item.order for item in [*sure.best, *sure.more]] == [1, 2]
    three = select(asked(small, 1), found, Lengths(statements=3), sure=False)
    assert [item.order for item in [*three.best, *three.more]] == [1, 0, 3]
    one = select(asked(small, 1), found, Lengths(statements=1), sure=False)
    assert [item.order for item in [*one.best, *one.more]] == [1]


def test_a_further_passage_repeats_nothing_and_ends_with_no_colon(
    small: View, passage: Passage
) -> None:
    texts = ["alpha fee", "Alpha fees", "gamma quay:", "delta owner", "epsilon boat"]
    found = scored([0.9, 0.8, 0.7, 0.6, 0.5], texts=texts, passage=passage)
    of_passages(found, 1, 2, 3, 4, 4)
    listed = replace(found.quotables[3].said, points=2)
    found.quotables[3] = replace(found.quotables[3], said=listed)
    unsure = select(asked(small, 1), found, LENGTHS, sure=False)
    assert [item.order for item in [*unsure.best, *unsure.more]] == [0, 4]


def test_evidence_within_provisions(small: View, passage: Passage) -> None:
    texts = ["alpha", "beta", "gamma"]
    found = scored([0.1, 0.2, 0.3], [0.4, 0.5, 0.6], texts=texts, passage=passage)
    for n, item in enumerate(found.quotables):
        said = replace(item.said, start=10 * n, end=10 * n + 5)
        found.quotables[n] = replace(item, said=said)
    inside = found.within([unit(passage, 10, 15), unit(passage, 20, 24)])  # the third juts out
    assert inside is not None
    assert [item.text for item in inside.quotables] == ["beta"]
    assert inside.scores.tolist() == [[np.float32(0.2)], [np.float32(0.5)]]
    assert inside.vectors.tolist() == [[0.0, 1.0, 0.0]]
    assert found.within([unit(passage, 0, 5, document="other.txt")]) is None
    assert found.within([]) is None


def unit(passage: Passage, start: int, end: int, document: str = "") -> PointedUnit:
    named = document or passage["document"]
    return {"document": named, "place": 0, "label": "§ 1", "start": start, "end": end}
