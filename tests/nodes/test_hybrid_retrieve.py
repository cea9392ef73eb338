"""The search over every query, fusion by hand and by its laws, and what stands around passages."""

import math
from collections.abc import Callable
from datetime import date
from random import Random
from typing import Any

import pytest
from backend import MemoryBackend, chunk
from hypothesis import given
from hypothesis import strategies as st
from rankings import DOCUMENTS, LEXICAL, VECTOR, best_first, found, ties_shuffled
from running import runtime, update_of
from statute import LAW, RULE

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import Fusion, Linear, ReciprocalRank, Standardised
from lexloop.core.state import State, Update
from lexloop.core.types import Candidate, Chunk, Hit, Passage
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes import hybrid_retrieve as node
from lexloop.nodes.hybrid_retrieve import (
    Scores,
    SearchResults,
    best_by_document,
    fuse,
    host_score,
    hybrid_retrieve,
    linear,
    provisions_around,
    reciprocal_rank,
    scaled,
    standardised,
)
from lexloop.nodes.question import parse
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection, View
from lexloop.store.writer import build_collection

QUESTION = "What is the penalty for mooring without an inspection?"
PENALTIES = "rule#2"
METADATA = {
    "law": Metadata(kind="statute", jurisdiction="Port"),
    "rule": Metadata(kind="rule", jurisdiction="Port", host="harbour.example"),
}
FUSIONS = ("standardised", "linear", "rrf")
Retrieve = Callable[..., list[Candidate]]


def paragraphs(document: str, text: str) -> list[Chunk]:
    return [chunk(f"{document}#{n}", part) for n, part in enumerate(text.split("\n\n"))]


def state(question: str = QUESTION, queries: list[str] | None = None, k: int = 3) -> State:
    plan = {"k": k, "Q": 3, "K": 3, "S": 1}
    return {"parsed": {**parse(question), "queries": queries or []}, "plan": plan}


def finished(asked: State, backend: MemoryBackend | None, **settings: object) -> Update:
    chosen = Settings(**settings)
    if isinstance(backend, MemoryBackend):
        backend.access = Filters.of(chosen)
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(backend, MemoryBackend):
            patch.setattr(node, "point", lambda _, memory: memory.pointed)
        return update_of(hybrid_retrieve, asked, runtime(backend=backend, settings=chosen))


@pytest.fixture
def backend() -> MemoryBackend:
    return MemoryBackend([*paragraphs("law", LAW), *paragraphs("rule", RULE)], METADATA)


@pytest.fixture
def retrieve(backend: MemoryBackend) -> Retrieve:
    return lambda asked, **settings: finished(asked, backend, **settings)["candidates"]


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("level", [None, 3])
def test_the_section_that_answers_is_found(
    retrieve: Retrieve, fusion: str, level: int | None
) -> None:
    found = retrieve(state(), **{"fusion": fusion, "fusion.documents": level})
    assert PENALTIES in [candidate["id"] for candidate in found[:2]]
    assert set(found[0]["signals"]) == {"lexical", "dense"}
    scores = [candidate["score"] for candidate in found]
    assert scores == sorted(scores, reverse=True)


def test_all_queries_are_searched_in_one_batch_and_few_texts_fetched(
    backend: MemoryBackend,
) -> None:
    asked = state(queries=["fee", QUESTION])
    found = finished(
        asked, backend, fusion="linear", **{"retrieval.candidates": 3, "access.as_of": "any"}
    )
    batch = ([QUESTION, "fee"], 12)
    ids = [candidate["id"] for candidate in found["candidates"]]
    assert backend.asked == [("lexical", batch), ("vector", batch), ("chunks", ids)]


def test_the_nearness_of_tokens_leads_by_hand() -> None:
    twins = MemoryBackend([chunk("a#0", "fee"), chunk("b#0", "fee"), chunk("c#0", "fee")])
    plain = finished(state("fee", k=3), twins)["candidates"]
    assert [(one["id"], one["score"]) for one in plain] == [("a#0", 0), ("b#0", 0), ("c#0", 0)]
    assert not any("late" in one["signals"] for one in plain)
    twins.close = {"b#0": 0.75}
    near = finished(state("fee", k=3), twins)["candidates"]
    # 0, 0.75, 0: mean 0.25, deviation 0.25 times the root of 2; the other signals are equal
    assert [one["id"] for one in near] == ["b#0", "a#0", "c#0"]
    assert [one["score"] for one in near] == pytest.approx([2**0.5, -(0.5**0.5), -(0.5**0.5)])
    assert [one["signals"]["late"] for one in near] == [0.75, 0.0, 0.0]
    ranked = finished(state("fee", k=3), twins, fusion="linear")["candidates"]
    assert [one["id"] for one in ranked] == ["a#0", "b#0", "c#0"]
    assert not any("late" in one["signals"] for one in ranked)


def test_a_view_keeps_to_the_seam(small: View, harbour: Collection) -> None:
    found = finished(state(), small)["candidates"]
    assert found[0]["section"] == "§ 5-200"
    assert set(found[0]["signals"]) == {"lexical", "dense", "late"}
    near = small.closeness(QUESTION, [found[0]["id"]])
    assert near is not None
    assert found[0]["signals"]["late"] == pytest.approx(near.mean())
    for candidate in found:
        document = small.text_of(candidate["document"])
        assert document is not None
        assert document[candidate["start"] : candidate["end"]] == candidate["text"]
    statutes = harbour.seen_by(Filters(kinds=frozenset({"statute"})))
    assert finished(state(), statutes)["candidates"] == []


DAYS = st.none() | st.dates(date(2020, 1, 1), date(2024, 12, 31))
SOURCES = st.dictionaries(
    st.sampled_from(["act", "case", "guide", "memo", "rule"]),
    st.builds(
        Metadata,
        kind=st.sampled_from(["statute", "rule", "case", ""]),
        jurisdiction=st.sampled_from(["Port", "Town", ""]),
        host=st.sampled_from(["a.example", "b.example", ""]),
        tags=st.sets(st.sampled_from(["staff", "legal"])).map(lambda tags: tuple(sorted(tags))),
        in_force_from=DAYS,
    ),
    min_size=1,
)
CHOSEN: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "fusion": st.sampled_from(FUSIONS),
        "fusion.documents": st.sampled_from([None, 3]),
        "retrieval.candidates": st.integers(1, 3),
    },
    optional={
        "access.tags": st.sets(st.sampled_from(["staff", "legal"])).map(tuple),
        "access.as_of": st.sampled_from(["any", "today", "2022-06-01"]),
        "access.jurisdictions": st.just(("Port",)),
        "access.kinds": st.sampled_from([("statute",), ("rule", "case")]),
        "access.hosts": st.just(("a.example",)),
    },
)


@given(SOURCES, CHOSEN)
def test_nothing_outside_the_filter_surfaces_and_nothing_inside_is_crowded_out(
    sources: dict[str, Metadata], chosen: dict[str, Any]
) -> None:
    chunks = [chunk(f"{name}#{n}", f"fee {name} {n}") for name in sources for n in range(3)]
    memory = MemoryBackend(chunks, sources)
    found = finished(state("fee", ["fee rule"], k=1), memory, **chosen)["candidates"]
    filters = Filters.of(Settings(**chosen))
    admitted = {name for name, metadata in sources.items() if filters.admits(metadata)}
    assert {candidate["document"] for candidate in found} <= admitted
    assert len(found) == min(chosen["retrieval.candidates"], 3 * len(admitted))


def test_what_the_question_points_to_comes_first_in_its_order(backend: MemoryBackend) -> None:
    backend.points_to(["law#1", "law#0"])
    found = finished(state(), backend, **{"retrieval.candidates": 3})["candidates"]
    assert [candidate["id"] for candidate in found[:2]] == ["law#1", "law#0"]
    assert [candidate["signals"].get("pointed") for candidate in found[:3]] == [1.0, 1.0, None]
    assert len({candidate["id"] for candidate in found}) == len(found)


@pytest.mark.parametrize(
    ("operative", "recitals", "kept"),
    [(9, 9, (6, 1)), (2, 9, (2, 1)), (0, 9, (0, 1))],  # one for every six
)
def test_what_supports_is_kept_apart_and_crowds_nothing_out(
    operative: int, recitals: int, kept: tuple[int, int]
) -> None:
    """Recitals suit the fee best, and provisions do less so."""
    beside: list[Chunk] = [
        {**chunk(f"law#{n}", "fee " * (20 - n)), "supporting": True} for n in range(recitals)
    ]
    rules = [chunk(f"rule#{n}", f"a fee of {n} euro for a boat") for n in range(operative)]
    found = finished(state("fee"), MemoryBackend([*beside, *rules]), **{"retrieval.candidates": 6})
    marks = [bool(candidate.get("supporting")) for candidate in found["candidates"]]
    assert marks == [False] * kept[0] + [True] * kept[1]


def test_what_defines_a_term_comes_first_where_its_meaning_is_asked(
    backend: MemoryBackend,
) -> None:
    backend.terms = {"hull inspection": ["law#2"]}
    found = finished(state("What is a hull inspection, and who pays?"), backend)["candidates"]
    assert found[0]["id"] == "law#2"
    assert found[0]["signals"]["defining"] == 1.0
    assert found[0]["score"] == found[1]["score"]  # as good as the best that was found
    assert len({candidate["id"] for candidate in found}) == len(found)


HOSTS = {"act": 1.0, "rule": 0.75, "case": 0.5}
SAMPLE = SearchResults.of(
    [[Hit("act#0", "act", 6.0), Hit("guide#0", "guide", 3.0, True)]],
    [[Hit("guide#5", "guide", 0.7), Hit("act#0", "act", 0.4), Hit("case#0", "case", 0.2)]],
)


def test_weighted_reciprocal_ranks_by_hand() -> None:
    fused = reciprocal_rank([{"a": 9.0, "b": 5.0}, {"b": 0.8, "c": 0.8}], 60, [0.25, 0.75])
    assert fused == {
        "a": pytest.approx(0.25 / 61),
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
    assert standardised(lexical, vector, late) == {
        "a": pytest.approx(0.9 - 0.6 + 1.0),
        "b": pytest.approx(0.9 + 0.6 - 1.0),
        "c": pytest.approx(-0.9 + 0.6 - 1.0),
        "d": pytest.approx(-0.9 - 0.6 + 1.0),
    }
    same = dict.fromkeys("abc", 0.3)
    assert standardised(same, same, same) == dict.fromkeys(same, 0.0)


def test_equation_1_by_hand() -> None:
    chosen = Linear(documents=2, normalisation="none", bm25_boost=0.3, host_boost=0.1)
    fused = fuse(SAMPLE, chosen, {"guide": 0.25, "act": 1.0, "case": 0.5})
    # guide: 0.7 + 0.3 x 3 + 0.1 x 0.25 = 1.625, act: 0.4 + 0.3 x 6 + 0.1 = 2.3, case: 0.25
    assert fused == {
        "act#0": pytest.approx(2.3),
        "guide#5": pytest.approx(1.625),
        "guide#0": pytest.approx(0.2 + 0.9 + 0.025),
    }


@pytest.mark.parametrize(
    ("metadata", "score"),
    [
        (Metadata(kind="statute"), 1.0),
        (Metadata(host="law.example", kind="statute"), 0.75),
        (Metadata(host="blog.example", kind="guidance"), 0.25),
    ],
)
def test_the_publisher_goes_before_the_kind(metadata: Metadata, score: float) -> None:
    scores = {"statute": 1.0, "guidance": 0.25, "law.example": 0.75}
    assert host_score(metadata, scores) == score


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


def equation_1(lexical: Scores, vector: Scores, document: str, chosen: Linear) -> float:
    """A document's score, term by term; a chunk without a cosine has the last."""
    bm25 = scaled(lexical, chosen.normalisation) if chosen.bm25_boost else {}
    own = [name for name in {**bm25, **vector} if DOCUMENTS[name] == document]
    last = min(vector.values(), default=0.0)
    return (
        max(vector.get(name, last) for name in own)
        + chosen.bm25_boost * max(bm25.get(name, 0.0) for name in own)
        + chosen.host_boost * HOSTS.get(document, 0.0)
    )


@given(found(), WAYS)
def test_the_best_chunk_of_a_document_has_the_score_of_equation_1(
    what: SearchResults, chosen: Fusion
) -> None:
    linear = chosen if isinstance(chosen, Linear) else Linear()
    linear = linear.model_copy(update={"documents": 100})
    one = SearchResults(what.lexical[:1], what.vector[:1], DOCUMENTS)
    fused = fuse(one, linear, HOSTS)
    for document, score in best_by_document(fused, DOCUMENTS).items():
        expected = equation_1(one.lexical[0], one.vector[0], document, linear)
        assert score == pytest.approx(expected)


@given(LEXICAL, VECTOR, VECTOR)
def test_standardised_sums_are_0_on_average(lexical: Scores, vector: Scores, late: Scores) -> None:
    fused = standardised(lexical, vector, late)
    assert sum(fused.values()) == pytest.approx(0.0, abs=1e-9)
    # by Cauchy and Schwarz no deviation is beyond that of the three signals in step
    squares = sum(score * score for score in fused.values())
    assert squares <= len(fused) * (1.0 + 0.6 + 0.9) ** 2 + 1e-9


@given(st.dictionaries(st.text(max_size=3), st.floats(-1e300, 1e300)).map(best_first))
def test_scaled_bm25_lies_between_0_and_1_and_keeps_its_order(lexical: Scores) -> None:
    for normalisation in ("max", "minmax"):
        shares = scaled(lexical, normalisation)
        assert all(0.0 <= share <= 1.0 for share in shares.values())
        assert not shares or max(shares.values()) == 1.0
        assert list(best_first(shares).values()) == list(shares.values())


FERRY = """\
Article 1
Ferries
1. A ferry shall carry a bell of brass that is hung at the bow, where it can be heard on the quay \
by those who wait there, and that is cleaned by the mate in the first week of each month.
2. The bell shall be rung before departure, for as long as it takes to count to ten, and once more \
when the last line has been cast off, save in the case referred to in Article 3(2).

Article 2
Crew
1. A ferry shall have a master, who is on board while there are passengers on board and who is \
relieved by a mate after a watch of six hours; paragraph 2 sets out whom.
2. The master shall be named in the register that the port keeps, with the day on which service \
began, and the port shall show the register to whoever asks to see it.

Article 3
Fog
1. In fog a ferry shall wait at the quay until the far bank can be seen from the bow, and those \
who have paid for the crossing shall be told how long the wait is likely to last.
2. A ferry under tow shall not ring, whatever the weather, since the tug that tows it rings for \
the two of them as long as the line is made fast. Article 9 is left empty.
"""


@pytest.fixture(scope="module")
def ferry() -> View:
    tools = tools_for(Settings(**{"chunking.tokens": 32, "chunking.overlap": 0}), load_minilm())
    made = build_collection([Document("ferry.txt", "Ferry Act", FERRY)], tools)
    return made.seen_by(Filters())


def at(ferry: View, words: str) -> Passage:
    """The passage that holds words, its chunk."""
    (found,) = [chunk for chunk in ferry.every_chunk() if words in chunk["text"]]
    return {**found, "score": 1.0, "signals": {}, "n": 1}


def texts(ferry: View, ids: list[str]) -> str:
    found: list[Chunk] = ferry.chunks(ids)
    return " ".join(" ".join(chunk["text"].split()) for chunk in found)


def test_the_whole_provision_and_nothing_beside_it(ferry: View) -> None:
    said = texts(ferry, provisions_around([at(ferry, "be rung before")], ferry))
    assert "carry a bell" in said
    assert "be rung before" in said
    assert "master" not in said
    assert "fog" not in said
