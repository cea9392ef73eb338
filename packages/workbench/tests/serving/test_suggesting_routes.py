"""Questions that are suggested, and to go on with: each was tried of what the person may see."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from fastapi.testclient import TestClient
from servers import as_, asked, people, reading_room, suggested
from sets import write_texts

from lexloop_server.state import Serving

FERRY = """Ferry Act

Section 1. Definitions. “Berth” means a place at which a ferry lies.

Section 2. Register. The captain must register the ferry within ten days of its launch.

Section 3. Passengers. The captain must not carry more than forty passengers.

Section 10. Termination. Every permit ends as the Council may say.
"""
BEES = """Bee Keeping Act

Section 1. Definitions. “Apiary” means a place at which hives are kept.

Section 2. Distance. The keeper must keep each hive at least eight metres from a road.

Section 3. Honey. The keeper may sell honey at the gate without a licence.
"""
NOTES = "The weather was fine.\n\nNobody came.\n"
WHO = people(ann={"tags": ["bees"], "may_upload": True})


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Serving]]:
    made = tmp_path_factory.mktemp("suggesting")
    write_texts(
        made / "acts",
        {"ferry.txt": FERRY, "notes.txt": NOTES, "bees.md": f"---\ntags: bees\n---\n{BEES}"},
    )
    with reading_room(made / "data", {"acts": str(made / "acts")}, people=WHO) as opened:
        yield opened


def first_cited(client: TestClient, question: str, who: str) -> str:
    """Ask it as a person does; return what it cites first, once it has passed."""
    sent = client.post("/api/ask", json={"question": question}, headers=as_(who))
    answer: dict[str, Any] = sent.json()
    assert answer["passed"], question
    document: str = answer["citations"][0]["document"]
    return document


def test_what_is_suggested_passes_and_is_of_each_document(room: tuple[TestClient, Serving]) -> None:
    client, _ = room
    [acts] = suggested(client, as_("ann"))
    examples = [one["question"] for one in acts["examples"]]
    assert 2 <= len(examples) <= 6
    assert {first_cited(client, one, "ann") for one in examples} == {"ferry.txt", "bees.md"}


def test_nobody_is_suggested_what_a_document_says_that_they_may_not_see(
    room: tuple[TestClient, Serving],
) -> None:
    client, _ = room
    [hers], [his] = suggested(client, as_("ann")), suggested(client, as_("bob"))
    told = " ".join(one["question"] for one in his["examples"])
    assert told
    assert "hive" not in told
    assert "keeper" not in told
    assert "Apiary" not in told
    assert his["examples"] != hers["examples"]


def test_the_first_page_waits_for_no_question_and_a_changed_index_is_tried_anew(
    tmp_path: Path,
) -> None:
    write_texts(tmp_path / "acts", {"bees.txt": BEES})
    goes, tried = threading.Event(), list[int]()

    def slowly(*_: Any) -> list[str]:
        tried.append(1)
        assert goes.wait(30)
        return ["Who keeps bees?"]

    with (
        patch("lexloop_workbench.describing.suggested", slowly),
        reading_room(tmp_path / "data", {"acts": str(tmp_path / "acts")}) as (client, serving),
    ):
        [acts] = client.get("/api/collections").json()
        assert (acts["documents"], acts["trying"], acts["examples"]) == (1, True, [])
        goes.set()
        [acts] = suggested(client)
        assert acts["examples"] == [{"question": "Who keeps bees?"}]
        assert len(tried) == 1
        (tmp_path / "acts" / "ferry.txt").write_text(FERRY)
        serving.let_go()
        suggested(client)
        assert len(tried) == 2


def test_where_trying_fails_nothing_is_suggested(tmp_path: Path) -> None:
    write_texts(tmp_path / "acts", {"bees.txt": BEES})
    with (
        patch(
            "lexloop_workbench.describing.suggested", side_effect=RuntimeError("The disk is gone.")
        ),
        reading_room(tmp_path / "data", {"acts": str(tmp_path / "acts")}) as (client, _),
    ):
        [acts] = suggested(client)
        assert (acts["trying"], acts["examples"], acts["trouble"]) == (False, [], "")


def test_an_answer_leads_on_to_questions_that_its_documents_answer(ann: httpx.Client) -> None:
    answer = asked(ann, question="What is the civil penalty for a first violation?")
    found = ann.get(f"/answers/{answer['id']}/next").json()["questions"]
    assert 0 < len(found) <= 4
    assert all(asked(ann, question=question)["passed"] for question in found)
    hello = asked(ann, question="Hello!")
    assert ann.get(f"/answers/{hello['id']}/next").json() == {"questions": []}


def test_an_answer_of_somebody_else_leads_nowhere(ann: httpx.Client, bob: httpx.Client) -> None:
    assert bob.get(f"/answers/{asked(ann)['id']}/next").status_code == 404
