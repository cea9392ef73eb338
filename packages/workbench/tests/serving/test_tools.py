"""The workbench's MCP tools, of what each person sees."""

import pytest
from mcp import Client
from mcp_sessions import text_of, typed
from servers import DOGS

pytestmark = pytest.mark.anyio


async def test_exact_words_and_two_versions(eve: Client) -> None:
    words = await typed(eve, "find_words", words='keeper "dog licence" section 1')
    assert (words["documents"], words["provision"]) == (1, "section 1")
    assert {one["provision"] for one in words["found"]} == {"Section 1"}
    changes = await typed(eve, "diff", old="dogs.txt", new="acts/dogs.txt")
    assert (changes["collection"], changes["counts"]) == ("dogs", {})
    refused = await eve.call_tool("diff", {"old": "dogs.txt", "new": "cats.txt"})
    assert refused.is_error
    assert "no document 'cats.txt'" in text_of(refused)


async def test_each_document_is_asked_for_a_table(eve: Client) -> None:
    asked = {"collection": "dogs", "questions": ["What does a dog licence cost?"]}
    found = await typed(eve, "table", **asked)
    [row] = found["rows"]
    [cell] = row["cells"]
    assert (row["document"], found["more"]) == ("acts/dogs.txt", 0)
    assert "30 dollars" in cell["answer"]
    assert cell["sources"][0]["uri"].startswith("lexloop://dogs/acts%2Fdogs.txt")


async def test_the_register_and_a_profile(eve: Client) -> None:
    given = {"document": "dogs.txt", "kinds": ["duty", "penalty"]}
    found = await typed(eve, "register", **given)
    assert found["total"] == len(found["entries"]) > 0
    (first, *_) = found["entries"]
    assert (first["collection"], first["document"]) == ("dogs", "acts/dogs.txt")
    assert first["uri"].startswith("lexloop://dogs/acts%2Fdogs.txt#Section")
    assert first["quote"] in DOGS
    refused = await eve.call_tool("register", {"kinds": ["dutys"]})
    assert refused.is_error
    assert "There is no kind 'dutys'" in text_of(refused)
    profile = await typed(eve, "describe", document="dogs.txt")
    assert (profile["collection"], profile["words"]) == ("dogs", len(DOGS.split()))
    asked = [one["said"] for one in profile["said"] if one["about"] == "worth asking"]
    for question in asked:
        assert (await typed(eve, "ask", question=question, collections=["dogs"]))["passed"]


async def test_a_register_is_of_what_one_sees(bobs: Client) -> None:
    found = await typed(bobs, "register")
    assert {one["collection"] for one in found["entries"]} <= {"dogs"}
    assert (await bobs.call_tool("describe", {"document": "cats.txt"})).is_error
