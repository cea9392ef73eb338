"""A conversation about a small statute, embedded: what each turn is read as and what it cites."""

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

ACT = """Quay Act

Article 1
Allocation of berths
1. The Board shall allocate berths to boats by the date of their application.
2. A berth is allocated for one season and may be extended once for another season.
3. Boats of clubs that teach sailing to pupils take precedence.

Article 2
The Harbour Board
1. The Board consists of five members whom the town council elects.
2. The Board decides by a majority of its members.

Article 3
Winter storage
1. Owners may leave their boats ashore from November to March.
2. Masts shall be taken down before a boat is stored.
3. Sails shall be removed from the quay, as they attract mice.
"""


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    folder = tmp_path_factory.mktemp("quay")
    (folder / "act.txt").write_text(ACT, encoding="utf-8")
    return Resources(Connection(), Settings(corpus=str(folder)))


def talked(graph: Lexloop, *questions: str) -> list[tuple[str, list[str]]]:
    """Of each turn how it was read, and which provisions its answer cites."""
    config: RunnableConfig = {"configurable": {"thread_id": "-".join(questions)}}
    found: list[tuple[str, list[str]]] = []
    for question in questions:
        result = graph.invoke({"question": question}, config)
        cited = [citation["section"] for citation in result["citations"]]
        found.append((result["attempts"][0]["question"], cited))
    return found


@pytest.mark.parametrize(
    "turns",
    [
        [
            ("Who allocates berths?", "Who allocates berths?", "Article 1(1)"),
            (
                "Can that be extended?",
                "Can that be extended, regarding Allocation of berths?",
                "Article 1(2)",
            ),
            ("And the Board?", "And the Board, regarding Allocation of berths?", "Article 1(1)"),
            ("How does it decide?", "How does the Board decide?", "Article 2(2)"),
        ],
        [
            (
                "Where can I leave my boat in winter?",
                "Where can I leave my boat in winter?",
                "Article 3(1)",
            ),
            ("And the sails?", "And the sails, regarding Winter storage?", "Article 3(3)"),
            ("And paragraph 2?", "And paragraph 2 of Article 3?", "Article 3(2)"),
            ("What about pupils?", "What about pupils, regarding Winter storage?", "Article 1(3)"),
        ],
    ],
)
def test_each_turn_goes_back_to_what_was_asked_and_cited(
    quay: Resources, turns: list[tuple[str, str, str | None]]
) -> None:
    graph = build_graph(quay, InMemorySaver())
    found = talked(graph, *(asked for asked, _, _ in turns))
    assert [read for read, _ in found] == [read for _, read, _ in turns]
    assert [cited[0] if cited else None for _, cited in found] == [cited for *_, cited in turns]
