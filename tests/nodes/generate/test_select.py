"""Which statements make an answer: their scores, and who does what they say."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from indexes import passages_of, view_of
from records import query
from sets import rows

from lexloop.core.types import Passage
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.doers import says_who
from lexloop.nodes.generate.score import Quotable, ScoredQuotables, score_quotables
from lexloop.nodes.generate.select import NEARLY_BEST, Lengths, select
from lexloop.nodes.relevance import Query
from lexloop.store.view import View

Passages = Callable[..., list[Passage]]
LENGTHS = Lengths()


def scored(*rows: list[float], texts: list[str], duties: Passage) -> ScoredQuotables:
    said = [Statement(0, len(text), (), "", "", text) for text in texts]
    evidence = [Quotable(duties, one) for one in said]
    scores = np.array(rows, dtype=np.float32)
    vectors = np.eye(len(texts), dtype=np.float32)
    return ScoredQuotables(evidence, vectors, scores, *np.zeros((2, *scores.shape), np.float32))


def places(found: ScoredQuotables, items: list[Quotable]) -> list[int]:
    return [found.quotables.index(item) for item in items]


def asked(small: View, parts: int) -> Query:
    return query(" ".join(f"What is thing {n}?" for n in range(parts)), small)


@pytest.fixture
def duties(passages: Passages) -> Passage:
    return passages("§ 10-2")[0]


def test_the_best_for_each_part_and_further_items_where_several_are_asked_for(
    small: View, duties: Passage
) -> None:
    found = scored(
        [0.9, 0.1, 0.89 * 0.9, 0.2],
        [0.1, 0.8, 0.1, 0.75],
        texts=["alpha fee", "beta berth", "gamma quay", "delta owner"],
        duties=duties,
    )
    chosen = select(asked(small, 2), found, LENGTHS)
    assert places(found, chosen.best) == [0, 1]
    assert chosen.more == []  # nothing asks for several things
    several = query("Which things are there?", small)
    # the bar is 0.7: the best, then what is hardly worse
    assert NEARLY_BEST == 0.2
    found = scored([0.9, 0.71, 0.69], texts=["alpha", "beta", "gamma"], duties=duties)
    chosen = select(several, found, LENGTHS)
    assert places(found, [*chosen.best, *chosen.more]) == [0, 1]


def of_passages(given: ScoredQuotables, *owners: int) -> ScoredQuotables:
    """The same evidence, each piece of the passage with this number."""
    for n, owner in enumerate(owners):
        item = given.quotables[n]
        named = {**item.passage, "id": f"c{owner}", "n": owner}
        given.quotables[n] = replace(item, passage=named)
    return given


def test_where_it_is_not_sure_each_further_passage_has_its_say(
    small: View, duties: Passage
) -> None:
    texts = ["alpha fee", "beta berth", "gamma quay", "delta owner", "epsilon boat", "zeta oar"]
    found = scored([0.4, 0.9, 0.89, 0.28, -0.2, 0.0], texts=texts, duties=duties)
    of_passages(found, 1, 2, 2, 3, 3, 4)
    unsure = select(asked(small, 1), found, LENGTHS, enough=False)
    assert places(found, unsure.best) == [1]
    # in the order of the passages: the second gave the best
    assert places(found, unsure.more) == [0, 3, 5]
    enough = select(asked(small, 1), found, LENGTHS)
    assert places(found, [*enough.best, *enough.more]) == [1]
    three = select(asked(small, 1), found, Lengths(statements=3), enough=False)
    assert places(found, [*three.best, *three.more]) == [1, 0, 3]
    one = select(asked(small, 1), found, Lengths(statements=1), enough=False)
    assert places(found, [*one.best, *one.more]) == [1]


LAW = """§ 1 Boats
A boat may be held by one of the following:
(a) a rope that two people tie;
(b) a chain with papers.
"""


@pytest.mark.parametrize(
    ("asked", "alike"),
    [("In which cases may a boat be held?", True), ("May a chain hold a boat?", False)],
)
def test_a_list_is_read_as_well_as_its_best_point_if_several_things_are_asked_for(
    asked: str, alike: bool
) -> None:
    view = view_of(Document("d.txt", "Boats Act", LAW), embedder=load_minilm())
    scored = score_quotables(query(asked, view), passages_of(view), view)
    assert scored is not None
    [whole] = [n for n, item in enumerate(scored.quotables) if item.statement.points]
    points = [n for n, item in enumerate(scored.quotables) if item.statement.leads]
    assert len(points) == 2
    read = scored.read[0]
    assert (read[whole] >= read[points].max()) == alike


@pytest.mark.parametrize(("asked", "text", "how"), rows("doers"))
def test_a_statement_says_who_does_a_thing_or_leans_on_it(asked: str, text: str, how: str) -> None:
    assert says_who(asked, text) == how
