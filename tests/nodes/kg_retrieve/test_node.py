from datetime import date

import pytest
from graph_source import GraphCollection, passage_of
from running import runtime, update_of

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.state import State, Update
from lexloop.core.types import Candidate, Chunk, Plan
from lexloop.nodes.kg_retrieve.node import CANDIDATES, TRIPLETS, kg_retrieve
from lexloop.nodes.question import parse

TEXTS = [
    'The term "mooring fee" means the sum due for a berth.',
    "A boat owner must pay the mooring fee within 10 days of arrival.",
    "A boat owner must not moor at night unless the harbour master agrees.",
    "The harbour master may waive the mooring fee.",
    "The library opens at nine.",
]


def harbour(texts: list[str]) -> GraphCollection:
    """The chunks of a small ordinance and their graph."""
    return GraphCollection([passage_of(number, text) for number, text in enumerate(texts)])


def retrieved(
    source: GraphCollection | None,
    keywords: list[str],
    candidates: list[str],
    *,
    K: int = 4,
    S: int = 2,
) -> Update:
    plan: Plan = {"k": 5, "Q": 3, "K": K, "S": S}
    found: list[Candidate] = [
        {**passage_of(int(name[1:]), "x"), "score": 1.0, "signals": {}} for name in candidates
    ]
    state: State = {
        "plan": plan,
        "parsed": {**parse(""), "keywords": keywords},
        "candidates": found,
    }
    return update_of(kg_retrieve, state, runtime(graph_source=source))


def test_brings_up_triplets_and_the_chunks_that_state_them() -> None:
    update = retrieved(harbour(TEXTS), ["mooring fee"], [])
    first = update["triplets"][0]
    assert (first["subject"], first["predicate"]) == ("mooring fee", "defines")
    assert first["quote"] == TEXTS[0]
    best = update["graph_candidates"][0]
    assert (best["id"], best["text"]) == ("c0", TEXTS[0])
    assert {c["id"] for c in update["graph_candidates"]} == {"c0", "c1", "c2", "c3"}


def test_scores_are_shares_best_first_and_one_signal() -> None:
    found = retrieved(harbour(TEXTS), ["owner", "fee"], ["c3"])["graph_candidates"]
    scores = [candidate["score"] for candidate in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert all(candidate["signals"] == {"graph": candidate["score"]} for candidate in found)


def test_walks_from_the_candidates_where_no_keyword_is_known() -> None:
    update = retrieved(harbour(TEXTS), ["zeppelin"], ["c3"], S=1)
    assert "c3" in {candidate["id"] for candidate in update["graph_candidates"]}


def test_only_the_first_K_keywords_count() -> None:
    source = harbour(TEXTS)
    assert retrieved(source, ["zeppelin", "fee"], [], K=1) == {
        "triplets": [],
        "graph_candidates": [],
    }
    assert retrieved(source, ["zeppelin", "fee"], [], K=2)["triplets"]


def test_a_longer_path_reaches_further() -> None:
    source = harbour(TEXTS)
    near = {c["id"] for c in retrieved(source, ["berth"], [], S=1)["graph_candidates"]}
    far = {c["id"] for c in retrieved(source, ["berth"], [], S=2)["graph_candidates"]}
    assert near == {"c0"}
    assert near < far


@pytest.mark.parametrize(("K", "S"), [(0, 2), (4, 0), (0, 0)])
def test_nothing_when_the_plan_asks_for_none(K: int, S: int) -> None:
    nothing = {"triplets": [], "graph_candidates": []}
    assert retrieved(harbour(TEXTS), ["fee"], ["c0"], K=K, S=S) == nothing
    assert retrieved(None, ["fee"], ["c0"]) == nothing


def test_nothing_in_an_empty_graph_or_for_no_keywords() -> None:
    nothing = {"triplets": [], "graph_candidates": []}
    assert retrieved(harbour([]), ["fee"], ["c0"]) == nothing
    assert retrieved(harbour(TEXTS), [], []) == nothing


def test_both_lists_are_bounded_and_without_repetitions() -> None:
    many = [f"A boat owner must pay fee number {n} to the office." for n in range(60)]
    update = retrieved(harbour(many), ["boat owner", "fee", "office"], ["c1", "c2"], S=3)
    relations = [(t["subject"], t["predicate"], t["object"]) for t in update["triplets"]]
    assert len(relations) == len(set(relations)) == TRIPLETS
    ids = [candidate["id"] for candidate in update["graph_candidates"]]
    assert len(ids) == len(set(ids))
    assert len({*ids} - {"c1", "c2"}) == CANDIDATES  # those that the search found count apart


BEHIND = [
    "A boat owner must keep the papers that section 1 lists.",
    "The papers are a licence and a receipt.",
    "Section 0 does not apply to rowing boats.",
    "Whoever breaches section 0 is liable for a fine of $40.",
    "The library opens at nine on Mondays.",
]


def test_what_a_candidate_refers_to_and_what_limits_it_are_looked_up() -> None:
    text = "\n".join(f"Section {n}\n{said}" for n, said in enumerate(BEHIND))
    chunks = [passage_of(n, said, "law.txt") for n, said in enumerate(BEHIND)]
    begins = [text.index(said) for said in BEHIND]
    cut: list[Chunk] = [
        {**chunk, "section": f"Section {n}", "start": begin, "end": begin + len(chunk["text"])}
        for n, (chunk, begin) in enumerate(zip(chunks, begins, strict=True))
    ]
    source = GraphCollection(cut, text=text)
    found = retrieved(source, ["zeppelin"], ["c0"], S=1)
    assert {"c1", "c2", "c3"} <= {candidate["id"] for candidate in found["graph_candidates"]}
    assert "c4" not in {candidate["id"] for candidate in found["graph_candidates"]}
    assert "refers_to" in {triplet["predicate"] for triplet in found["triplets"]}


SECRET = [
    passage_of(0, TEXTS[0]),
    passage_of(1, TEXTS[1]),
    passage_of(7, "A boat owner must pay the secret mooring fee to the smuggler.", "secret.txt"),
]


@pytest.mark.parametrize("tags", [(), ("clerks",)])
def test_documents_that_the_filters_leave_out_have_no_part(tags: tuple[str, ...]) -> None:
    hidden = {"secret.txt": Metadata(tags=("inspectors",))}
    source = GraphCollection(SECRET, hidden, Filters(allowed_tags=frozenset(tags)))
    found = retrieved(source, ["mooring fee", "smuggler"], ["c7", "c1"], S=3)
    assert {c["document"] for c in found["graph_candidates"]} == {"harbour.txt"}
    assert {t["document"] for t in found["triplets"]} == {"harbour.txt"}
    alone = retrieved(GraphCollection(SECRET[:2]), ["mooring fee", "smuggler"], ["c1"], S=3)
    assert found == alone


def test_documents_that_the_filters_admit_are_walked() -> None:
    hidden = {"secret.txt": Metadata(tags=("inspectors",))}
    source = GraphCollection(SECRET, hidden, Filters(allowed_tags=frozenset({"inspectors"})))
    found = retrieved(source, ["smuggler"], [])
    assert "c7" in {c["id"] for c in found["graph_candidates"]}


def test_the_law_of_another_day_is_left_out() -> None:
    ended = {"secret.txt": Metadata.from_record({"in_force_to": "2020-12-31"})}
    then = GraphCollection(SECRET, ended, Filters(as_of=date(2020, 6, 1)))
    now = GraphCollection(SECRET, ended, Filters(as_of=date(2021, 1, 1)))
    assert retrieved(then, ["smuggler"], [])["graph_candidates"]
    assert not retrieved(now, ["smuggler"], [])["graph_candidates"]
