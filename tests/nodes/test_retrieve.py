"""Both ways to retrieve: hybrid search with what is pointed to, and walks over the graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import records
from indexes import view_of
from rankings import best_first
from running import runtime, update_of

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.state import State
from lexloop.core.types import Hit, Plan, Scored
from lexloop.documents.document import Document
from lexloop.models.embedding import Vectors
from lexloop.nodes import hybrid_retrieve as node
from lexloop.nodes.hybrid_retrieve import hybrid_retrieve, provisions_around
from lexloop.nodes.kg_retrieve import CANDIDATES, kg_retrieve
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


LAW = {
    0: "Terms\nIn this ordinance:\n(1) “mooring fee” means the sum due for a berth.",
    1: "Payment of dues\nA boat owner must pay the mooring fee as § 3 says.",
    2: "Nights\nA boat owner must not moor at night.",
    3: "Receipts\nThe harbour master keeps a copy. § 2 does not apply to the harbour master.",
    4: "Library\nThe library opens at nine.",
}
NOTHING = {"triplets": [], "graph_candidates": [], "by": {}}


def law_of(sections: Mapping[int, str]) -> View:
    """A law of sections of these numbers, each a chunk of its own."""
    law = "\n\n".join(f"§ {number} {text}" for number, text in sections.items())
    cut = {"chunking": "pattern", "chunking.pattern": "^§ "}
    return view_of(Document("berths.txt", "Rule", law), **cut)


@pytest.fixture(scope="module")
def berths() -> View:
    return law_of(LAW)


def numbers(view: View) -> dict[str, int]:
    """The section of each chunk, by its id."""
    return {chunk["id"]: int(chunk["text"].split()[1]) for chunk in view.every_chunk()}


def retrieved(
    view: View | None, keywords: list[str], found: Sequence[int] = (), K: int = 4, S: int = 2
) -> dict[str, Any]:
    """What the node writes, chunks by their sections; ``by`` has which of them hand on to which."""
    plan: Plan = {"k": 5, "Q": 3, "K": K, "S": S}
    known = numbers(view) if view else {}
    state: State = {
        "plan": plan,
        "parsed": {**parse(""), "keywords": keywords},
        "candidates": [
            records.candidate(name) for name, number in known.items() if number in found
        ],
    }
    update = update_of(kg_retrieve, state, runtime(view=view))
    by = {known[one["id"]]: known[one["by"]] for one in update["graph_candidates"] if "by" in one}
    brought = [known[candidate["id"]] for candidate in update["graph_candidates"]]
    return {**update, "by": by, "graph_candidates": brought}


def test_what_a_candidate_hands_on_to_and_what_limits_it_are_looked_up(berths: View) -> None:
    update = retrieved(berths, ["zeppelin"], [1, 2], S=1)
    assert update["by"] == {0: 1, 3: 2}
    assert 4 not in update["graph_candidates"]
    assert [t["predicate"] for t in update["triplets"]] == ["exception_to", "uses"]
    alone = retrieved(berths, ["zeppelin"], [1], S=1)
    assert alone["by"] == {0: 1, 3: 1}
    assert {t["predicate"] for t in alone["triplets"]} == {"refers_to", "uses"}


@pytest.mark.parametrize(("K", "S"), [(0, 2), (4, 0)])
def test_nothing_when_the_plan_asks_for_none(berths: View, K: int, S: int) -> None:
    assert retrieved(berths, ["fee"], [0], K=K, S=S) == NOTHING
    assert retrieved(None, ["fee"]) == NOTHING


def test_both_lists_are_bounded_and_without_repetitions() -> None:
    said = "Fee of boats number {}\nWhoever owns a boat pays fee {}, see § {}."
    many = law_of({n: said.format(n, n, (n + 7) % 60) for n in range(60)})
    update = retrieved(many, ["boat", "fee", "number"], [1, 2], S=3)
    relations = [(t["subject"], t["predicate"], t["object"]) for t in update["triplets"]]
    assert len(relations) == len(set(relations)) == 12
    brought = update["graph_candidates"]
    assert len(brought) == len(set(brought))
    assert len({*brought} - {1, 2}) == CANDIDATES  # those that were found count apart
