"""Two versions of a document compared over HTTP: by who may see both."""

import io
from collections.abc import Iterator

import docx
import pytest
from compared import comparison
from fastapi.testclient import TestClient
from servers import as_, got, people, reading_room

from lexloop_workbench.serving.results import Changes

OLD = "Article 1 Fees\nThe owner must pay a fee of 10 euro for each boat.\n"
NEW = OLD.replace("10 euro", "12 euro")
LATER = "\nArticle 7 Late fees\nThe fee of Article 1 is doubled.\n"
BOTH = {"old": "2020.txt", "new": "2024.txt"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    made = tmp_path_factory.mktemp("served")
    (made / "fees").mkdir()
    (made / "fees" / "2020.txt").write_text(OLD)
    (made / "fees" / "2024.txt").write_text(NEW)
    (made / "fees" / "draft.txt").write_text(NEW)
    (made / "fees" / "metadata.csv").write_text("file,tags\ndraft.txt,red\n")
    named = {"fees": str(made / "fees")}
    who = people(ann={"tags": ["red"]}, bob={})
    with reading_room(made / "data", named, people=who) as (opened, _):
        yield opened


def test_what_changed_and_who_may_know(client: TestClient) -> None:
    found = got(client, "fees/diff", "bob", **BOTH)
    assert (found["counts"], found["answers"]) == ({"changed": 1}, [])
    (change,) = found["changes"]
    assert (change["old"]["document"], change["new"]["section"]) == ("2020.txt", "Article 1")
    assert [part["text"] for part in change["parts"] if part["op"] == "added"] == ["12"]
    draft = {**BOTH, "new": "draft.txt"}
    assert got(client, "fees/diff", "ann", **draft)["counts"] == {"changed": 1}
    got(client, "fees/diff", "bob", 404, **draft)
    got(client, "gone/diff", "bob", 404, **BOTH)
    got(client, "fees/diff", "bob", 404, **BOTH, thread="gone")
    assert client.get("/api/collections/fees/diff", params=BOTH).status_code == 401


def test_the_quotes_of_a_conversation_that_are_touched(client: TestClient) -> None:
    asked = {"question": "How much is the fee for a boat?", "collections": ["fees"]}
    answer = client.post("/api/ask", json=asked, headers=as_("bob")).json()
    cited = {one["document"] for one in answer["citations"]}
    for old in cited:
        (new,) = {"2020.txt", "2024.txt"} - {old}
        found = got(client, "fees/diff", "bob", old=old, new=new, thread=answer["thread"])
        assert {one["became"] for one in found["answers"]} == {"changed"}
        assert {one["question"] for one in found["answers"]} == {asked["question"]}
        got(client, "fees/diff", "ann", 404, old=old, new=new, thread=answer["thread"])
    assert cited


def test_what_the_tool_of_mcp_gives() -> None:
    found = comparison(f"{OLD}{LATER}", f"{NEW.replace('Article 1', 'Article 2')}{LATER}").record()
    given = Changes.of("fees", found, 1)
    assert (given.counts, given.more) == ({"changed": 1, "renumbered": 1}, 1)
    (first,) = given.changes
    assert first.new is not None
    assert (first.kinds, first.words) == (["renumbered"], "")
    assert first.new.uri == "lexloop://fees/rules.txt#Article%202"
    assert [(one.provision, one.said, one.now) for one in given.stale] == [
        ("Article 7", "Article 1", "Article 2")
    ]
    (_, second) = Changes.of("fees", found, 9).changes
    assert second.words == "The owner must pay a fee of [-10-]{+12+} euro for each boat."


def test_tracked_changes_as_a_file(client: TestClient) -> None:
    path = "/api/collections/fees/diff/export"
    given = client.get(path, params=BOTH, headers=as_("bob"))
    assert given.headers["Content-Disposition"].startswith(
        'attachment; filename="2020.txt - 2024.txt.docx"'
    )
    made = docx.Document(io.BytesIO(given.content))
    assert made.sections[0].header.paragraphs[0].text == "Changes from 2020.txt to 2024.txt"
    assert client.get(path, params={**BOTH, "new": "x"}, headers=as_("bob")).status_code == 404
