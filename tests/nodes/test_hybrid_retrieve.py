"""The search over every query, fusion by hand and by its laws, and what stands around passages."""

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexes import view_of
from rankings import DOCUMENTS, best_first, found, ties_shuffled
from running import runtime, update_of

from lexloop.core.metadata import Filters, Metadata, host_score
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import Fusion, Linear, ReciprocalRank, Standardised
from lexloop.core.state import State
from lexloop.core.types import Hit, Scored
from lexloop.documents.document import Document
from lexloop.models.embedding import Vectors
from lexloop.nodes import hybrid_retrieve as node
from lexloop.nodes.hybrid_retrieve import (
    SearchResults,
    fuse,
    hybrid_retrieve,
    linear,
    provisions_around,
    reciprocal_rank,
    standardised,
)
from lexloop.nodes.question.parts import parse
from lexloop.store.view import Collection, View

QUESTION = "What is the penalty for mooring without an inspection?"
FUSIONS = ("standardised", "linear", "rrf")


class Searched:
    """A collection whose searches find each chunk with the score that a test gives it.

    ``asked`` holds every search.
    """

    def __init__(self, scores: Mapping[str, float], supporting: str = "") -> None:
        self.terms: dict[str, list[str]] = {}
        self.documents: list[str] = []
        self.asked: list[tuple[str, object]] = []
        self._hits = [
            Hit(name, name, score, bool(supporting) and name.startswith(supporting))
            for name, score in best_first(dict(scores)).items()
        ]

    def within(self, documents: Sequence[str]) -> "Searched":
        assert not documents
        return self

    def search(self, queries: list[str], limit: int) -> tuple[list[list[Hit]], list[list[Hit]]]:
        self.asked.append(("search", (queries, limit)))
        return [self._hits] * len(queries), [self._hits] * len(queries)

    def knows(self, term: str) -> bool:
        return False

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        return None

    def defining(self, terms: Sequence[str]) -> list[str]:
        return [name for term in terms for name in self.terms.get(term, [])]


def state(question: str = QUESTION, queries: Sequence[str] = (), k: int = 3) -> State:
    plan = {"k": k, "Q": 3, "K": 3, "S": 1}
    return {"parsed": {**parse(question), "queries": [*queries]}, "plan": plan}


Retrieve = Callable[..., list[Scored]]


@pytest.fixture
def retrieve(monkeypatch: pytest.MonkeyPatch) -> Retrieve:
    """``retrieve(state(), backend, pointed=[...])``: the candidates."""

    def run(
        asked: State, backend: Any, pointed: Sequence[str] = (), **settings: Any
    ) -> list[Scored]:
        if isinstance(backend, Searched):
            told = {"units": [], "chunks": [*pointed], "told": [], "only": False}
            monkeypatch.setattr(node, "point", lambda *_: told)
        around = runtime(view=backend, settings=Settings(**settings))
        return update_of(hybrid_retrieve, asked, around)["candidates"]

    return run


def ids(candidates: list[Scored]) -> list[str]:
    return [candidate["id"] for candidate in candidates]


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("level", [None, 2])
def test_the_section_that_answers_is_found(
    retrieve: Retrieve, small: View, harbour: Collection, fusion: str, level: int | None
) -> None:
    chosen = {"fusion": fusion, "fusion.documents": level}
    found = small.candidates(retrieve(state(), small, **chosen))
    (penalties,) = [candidate for candidate in found[:2] if candidate["section"] == "§ 5-200"]
    signals = penalties["signals"]
    assert set(signals) == {"lexical", "dense", *(["late"] if fusion == "standardised" else [])}
    near = small.closeness(QUESTION, [penalties["id"]])
    assert near is not None
    assert signals.get("late", near.mean()) == pytest.approx(near.mean())
    scores = [candidate["score"] for candidate in found]
    assert scores == sorted(scores, reverse=True)
    for candidate in found:
        document = str(small.text_of(candidate["document"]))
        assert document[candidate["start"] : candidate["end"]] == candidate["text"]
    statutes = harbour.seen_by(Filters(kinds=frozenset({"statute"})))
    assert retrieve(state(), statutes, **chosen) == []


def test_all_queries_are_searched_in_one_batch_and_no_texts_fetched(retrieve: Retrieve) -> None:
    backend = Searched({name: float(n) for n, name in enumerate("abcdefg")})
    found = retrieve(
        state(queries=["fee", QUESTION]), backend, fusion="linear", **{"retrieval.candidates": 3}
    )
    assert ids(found) == ["g", "f", "e"]
    assert backend.asked == [("search", ([QUESTION, "fee"], 12))]


def test_what_is_pointed_to_comes_first_in_its_order_then_what_defines(retrieve: Retrieve) -> None:
    backend = Searched({"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.5})
    backend.terms = {"hull inspection": ["d"]}
    asked = state("What is a hull inspection, and who pays?")
    found = retrieve(asked, backend, pointed=["c", "b"], **{"retrieval.candidates": 4})
    assert ids(found) == ["c", "b", "d", "a"]
    assert [one["signals"].get("pointed") for one in found] == [1.0, 1.0, None, None]
    assert found[2]["signals"]["defining"] == 1.0
    assert found[2]["score"] == found[3]["score"]  # as good as the best that was found


@pytest.mark.parametrize(
    ("operative", "recitals", "kept"),
    [(9, 9, (6, 1)), (2, 9, (2, 1)), (0, 9, (0, 1))],  # one for every six
)
def test_what_supports_is_kept_apart_and_crowds_nothing_out(
    retrieve: Retrieve, operative: int, recitals: int, kept: tuple[int, int]
) -> None:
    rules = {f"rule {n}": 1.0 / (n + 1) for n in range(operative)}
    suiting_best = {f"recital {n}": 20.0 - n for n in range(recitals)}
    backend = Searched({**rules, **suiting_best}, supporting="recital")
    found = retrieve(state(), backend, **{"retrieval.candidates": 6})
    marks = [candidate["id"].startswith("recital") for candidate in found]
    assert marks == [False] * kept[0] + [True] * kept[1]


HOSTS = {"act": 1.0, "rule": 0.75, "case": 0.5}
SAMPLE = SearchResults.of(
    [[Hit("act#0", "act", 6.0), Hit("guide#0", "guide", 3.0, True)]],
    [[Hit("guide#5", "guide", 0.7), Hit("act#0", "act", 0.4), Hit("case#0", "case", 0.2)]],
)


def test_weighted_reciprocal_ranks_by_hand() -> None:
    rankings = [{"a": 9.0, "b": 5.0}, {"b": 0.8, "c": 0.8, "a": 0.5}, {"d": 1.0}]
    assert reciprocal_rank(rankings, 60, [0.25, 0.75, 0.0]) == {
        "a": pytest.approx(0.25 / 61 + 0.75 / 63),
        "b": pytest.approx(0.25 / 62 + 0.75 / 61),
        "c": pytest.approx(0.75 / 61),  # equal scores share their first rank
    }


def test_linear_by_hand() -> None:
    lexical, vector = {"a": 8.0, "b": 4.0, "d": 2.0}, {"b": 0.5, "c": 0.25}
    # a and d have no cosine: they get the last one
    for normalisation, shares in {"max": (1, 1 / 2, 1 / 4), "minmax": (1, 1 / 3, 0)}.items():
        assert linear(lexical, vector, 0.4, normalisation) == {
            "a": pytest.approx(0.25 + 0.4 * shares[0]),
            "b": pytest.approx(0.5 + 0.4 * shares[1]),
            "c": pytest.approx(0.25),
            "d": pytest.approx(0.25 + 0.4 * shares[2]),
        }


def test_the_standardised_sum_by_hand() -> None:
    lexical, vector = {"a": 6.0, "b": 6.0}, {"b": 0.75, "c": 0.75, "d": 0.25}
    late = {"a": 0.875, "b": 0.625, "c": 0.625, "d": 0.875}
    # BM25 is 6, 6, 0, 0: mean 3, deviation 3, so that a and b have +1, c and d -1. The cosine that
    # a does not have is the last, 0.25: b and c have +1, a and d -1. MaxSim: a and d +1, b and c -1
    assert standardised(lexical, vector, late, Standardised()) == {
        "a": pytest.approx(0.9 - 0.6 + 1.0),
        "b": pytest.approx(0.9 + 0.6 - 1.0),
        "c": pytest.approx(-0.9 + 0.6 - 1.0),
        "d": pytest.approx(-0.9 - 0.6 + 1.0),
    }
    other = Standardised(bm25_weight=2.0, cosine_weight=0.0, token_weight=0.5)
    assert standardised(lexical, vector, late, other) == {
        "a": pytest.approx(2.0 + 0.5),
        "b": pytest.approx(2.0 - 0.5),
        "c": pytest.approx(-2.0 - 0.5),
        "d": pytest.approx(-2.0 + 0.5),
    }
    same = dict.fromkeys("abc", 0.3)
    assert standardised(same, same, same, Standardised()) == dict.fromkeys(same, 0.0)


def test_equation_1_by_hand() -> None:
    chosen = Linear(documents=2, normalisation="none", bm25_boost=0.3, host_boost=0.1)
    fused = fuse(SAMPLE, chosen, {"guide": 0.25, "act": 1.0, "case": 0.5})
    # guide: 0.7 + 0.3 x 3 + 0.1 x 0.25 = 1.625, act: 0.4 + 0.3 x 6 + 0.1 = 2.3, case: 0.25
    assert fused == {
        "act#0": pytest.approx(2.3),
        "guide#5": pytest.approx(1.625),
        "guide#0": pytest.approx(0.2 + 0.9 + 0.025),
    }


def test_the_publisher_goes_before_the_kind() -> None:
    scores = {"statute": 1.0, "guidance": 0.25, "law.example": 0.75}
    for host, score in (("", 1.0), ("law.example", 0.75), ("blog.example", 1.0)):
        assert host_score(Metadata(host=host, kind="statute"), scores) == score


DOCUMENT_COUNTS = st.none() | st.integers(1, 4)
WAYS: st.SearchStrategy[Fusion] = st.one_of(
    st.builds(Standardised, documents=DOCUMENT_COUNTS),
    st.builds(
        Linear,
        documents=DOCUMENT_COUNTS,
        normalisation=st.sampled_from(["max", "minmax", "none"]),
        bm25_boost=st.sampled_from([0.0, 0.4, 10.0]),
        host_boost=st.sampled_from([0.0, 0.3]),
    ),
    st.builds(
        ReciprocalRank,
        documents=DOCUMENT_COUNTS,
        lexical_weight=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    ),
)


@given(found(), WAYS)
def test_scores_are_finite_and_of_chunks_that_were_found_in_the_best_documents(
    what: SearchResults, chosen: Fusion
) -> None:
    fused = fuse(what, chosen, HOSTS)
    assert all(math.isfinite(score) for score in fused.values())
    assert set(fused) <= {name for ranking in (*what.lexical, *what.vector) for name in ranking}
    if chosen.documents is not None:
        assert len({DOCUMENTS[name] for name in fused}) <= chosen.documents


@given(found(), WAYS, st.randoms(use_true_random=False))
def test_neither_queries_nor_ties_show_in_what_order_they_came(
    what: SearchResults, chosen: Fusion, chance: Random
) -> None:
    late = what.late or [{} for _ in what.vector]
    queries = list(zip(what.lexical, what.vector, late, strict=True))
    later = queries[1:]
    chance.shuffle(later)
    shuffled = [
        tuple(ties_shuffled(ranking, chance) for ranking in one) for one in (queries[0], *later)
    ]
    lexical, vector, late = map(list, zip(*shuffled, strict=True))
    other = SearchResults(lexical, vector, DOCUMENTS, late=late if what.late else [])
    assert fuse(other, chosen, HOSTS) == fuse(what, chosen, HOSTS)


FERRY = """\
Article 1
Ferries
1. A ferry shall carry a bell.
2. The bell shall be rung.
Article 2
Crew
1. A ferry shall have a master.
"""


def test_a_retry_reads_the_whole_provision_and_nothing_beside_it() -> None:
    lines = {"chunking": "pattern", "chunking.pattern": "^(?:Article|[0-9])"}
    view = view_of(Document("ferry.txt", "Ferry Act", FERRY), **lines)
    (found,) = [one for one in view.every_chunk() if "rung" in one["text"]]
    passage = {**found, "score": 1.0, "signals": {}, "n": 1}
    texts = [one["text"] for one in view.chunks(provisions_around([passage], view))]
    assert "".join(sorted(texts, key=FERRY.index)) == FERRY[: FERRY.index("Article 2")]
    assert provisions_around([{**passage, "document": "gone.txt"}], view) == []
