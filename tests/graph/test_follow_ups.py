"""A conversation about a small statute, embedded: what each turn is read as and what it cites."""

from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import build_graph
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


TURNS = [
    ("Where can I leave my boat in winter?", "Where can I leave my boat in winter?", "3(1)"),
    ("And the sails?", "Where can I leave the sails in winter?", "3(3)"),
    ("And paragraph 2?", "And paragraph 2 of Article 3?", "3(2)"),
    ("What about pupils?", "What about pupils, regarding Winter storage?", "1(3)"),
]


def test_each_turn_goes_back_to_what_was_asked_and_cited(tmp_path: Path) -> None:
    (tmp_path / "act.txt").write_text(ACT, encoding="utf-8")
    graph = build_graph(Resources(Connection(), Settings(corpus=str(tmp_path))), InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    for asked, read, cited in TURNS:
        result = graph.invoke({"question": asked}, config)
        assert result["attempts"][0]["question"] == read
        assert result["citations"][0]["section"] == f"Article {cited}"
