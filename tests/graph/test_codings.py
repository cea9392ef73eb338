"""Questions and documents in other codings of the same letters, through the whole graph."""

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from statute import LAW, RULE

from lexloop.apps.shapes.record import answer_record
from lexloop.core.settings import Connection, Settings
from lexloop.documents.reading.text import as_seen
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}
ASKED = "How much is the mooring fee of an official café boat under § 10-2?"
WAYS = {
    "full width": ASKED.translate(WIDE),
    "signs of no width": f"\ufeff{ASKED}".replace("oo", "o\u200bo\u200d").replace("mu", "m\xadu"),
    "ligatures, directions and blanks": unicodedata.normalize("NFD", ASKED)
    .replace("ffi", "ﬃ")
    .replace("fee", "\u202afee\u202c\u200e")
    .replace(" ", "\xa0")
    .replace("-", "\u2011"),
}


def outcome(answer: dict[str, Any]) -> tuple[Any, ...]:
    cited = [(c["document"], c["section"], c["start"], c["end"]) for c in answer["citations"]]
    passages = [passage["id"] for passage in answer["passages"]]
    return passages, cited, answer["evaluation"]["passed"], answer["finding"], answer["answer"]


@pytest.mark.parametrize("written", WAYS.values(), ids=WAYS)
def test_a_question_brings_the_same_however_it_is_coded(graph: Lexloop, written: str) -> None:
    assert written != ASKED
    found = graph.invoke({"question": written})
    assert outcome(found) == outcome(graph.invoke({"question": ASKED}))
    assert "§ 10-2" in found["citations"][0]["section"]


def test_what_was_typed_is_shown_as_it_was_typed(embedded: Resources) -> None:
    typed = WAYS["full width"]
    graph = build_graph(embedded, InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "typed"}}
    graph.invoke({"question": f" {typed}\n"}, config)
    state = graph.get_state(config).values
    assert [m.content for m in state["messages"] if isinstance(m, HumanMessage)] == [typed]
    assert answer_record(state, Settings(), [])["question"] == typed
    assert (state["asked"], state["read_as"]) == (ASKED, [])


DOCUMENTS = {
    "full width": lambda text: text.translate(WIDE),
    "signs of no width": lambda text: text.replace("oo", "o\u200bo").replace("§", "\ufeff§\u200e"),
    "soft hyphens, ligatures and blanks": lambda text: (
        text.replace("ing", "\xading").replace("fi", "ﬁ").replace(" ", "\xa0")
    ),
}


@pytest.mark.parametrize("written", DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents_are_cited_in_their_letters(graph: Lexloop, tmp_path: Path, written: Any) -> None:
    (tmp_path / "law.txt").write_text(written(LAW), encoding="utf-8")
    (tmp_path / "rule.txt").write_text(written(RULE), encoding="utf-8")
    coded = build_graph(Resources(Connection(), Settings(corpus=str(tmp_path))))
    for asked in (ASKED, "What must a hull inspection include?", "What does § 10-3 say?"):
        found = coded.invoke({"question": asked})
        assert outcome(found)[:4] == outcome(graph.invoke({"question": asked}))[:4]
        assert found["evaluation"]["citations_verified"]
        for citation in found["citations"]:
            file = (tmp_path / citation["document"]).read_bytes().decode()
            there = file[slice(*citation["in_file"])]
            assert as_seen(there) == citation["quote"]
