"""The search over every query, on a small statute behind a backend in memory."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from backend import MemoryBackend, chunk
from hypothesis import given
from hypothesis import strategies as st
from running import runtime, update_of
from statute import LAW, RULE

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.core.types import Candidate, Chunk
from lexloop.nodes import hybrid_retrieve as node
from lexloop.nodes.hybrid_retrieve import hybrid_retrieve
from lexloop.nodes.question import parse
from lexloop.store.view import Collection, View

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


def test_candidates_are_limited_but_never_to_fewer_than_k(retrieve: Retrieve) -> None:
    assert len(retrieve(state(k=3), **{"retrieval.candidates": 2})) == 3
    assert len(retrieve(state(k=1), **{"retrieval.candidates": 2})) == 2


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


def test_authority_counts_where_it_is_set(backend: MemoryBackend, retrieve: Retrieve) -> None:
    linear = {"fusion": "linear", "fusion.host_scores": {"harbour.example": 0.5}}
    plain = {candidate["id"]: candidate["score"] for candidate in retrieve(state(), **linear)}
    assert "metadata" not in [name for name, _ in backend.asked]
    for candidate in retrieve(state(), **linear, **{"fusion.host_boost": 0.5}):
        host = 0.5 if candidate["document"] == "rule" else 0.0
        assert candidate["signals"]["host"] == host
        assert candidate["score"] == pytest.approx(plain[candidate["id"]] + 0.5 * host)


def test_advice_to_search_more_broadly_brings_up_more(retrieve: Retrieve) -> None:
    advice = {"question": QUESTION, "queries": [], "guidance": "", "strategy": "broaden"}
    assert len(retrieve({**state(k=1), "advice": advice}, **{"retrieval.candidates": 3})) == 6
    narrow = {**advice, "strategy": "operative"}
    assert len(retrieve({**state(k=1), "advice": narrow}, **{"retrieval.candidates": 3})) == 3


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
    [(9, 9, (6, 1)), (2, 9, (2, 1)), (9, 0, (6, 0)), (0, 9, (0, 1))],  # one for every six
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
