"""MCP over HTTP by the SDK's own client and by LangChain's adapters, against a real server."""

import json
from typing import Any

import httpx
import pytest
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp import ClientSession, McpError
from mcp.types import ResourceLink
from mcp_messages import BEGIN, HEADERS, LIST
from mcp_sessions import text_of, typed
from pydantic import AnyUrl
from servers import CATS, DOGS, PENALTY, as_, person, served

from lexloop_server.settings import ServerSettings

pytestmark = pytest.mark.anyio
TOOLS = ["ask", "search", "read_provision", "list_documents", "related"]


async def test_tools_say_what_they_take_and_give(eve: ClientSession) -> None:
    tools = (await eve.list_tools()).tools
    assert [tool.name for tool in tools][: len(TOOLS)] == TOOLS
    for tool in tools:
        assert tool.outputSchema is not None
        assert tool.annotations is not None
        assert tool.annotations.readOnlyHint
        assert 50 < len(tool.description or "") < 400
        assert not {"corpus", "model", "url", "path"} & set(tool.inputSchema["properties"])
        assert tool.inputSchema["additionalProperties"] is False


async def test_an_answer_is_typed_told_and_linked(eve: ClientSession) -> None:
    told: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        assert (done, total) == (len(told) + 1, None)
        told.append(message or "")

    given = {"question": PENALTY, "collections": ["dogs"]}
    found = await eve.call_tool("ask", given, progress_callback=progress)
    assert not found.isError
    answer = found.structuredContent
    assert answer is not None
    assert "90 dollars" in answer["answer"]
    assert (answer["answered"], answer["collections"]) == (True, ["dogs"])
    (source,) = answer["sources"]
    uri = "lexloop://dogs/acts%2Fdogs.txt#Section%203"
    assert (source["n"], source["provision"], source["uri"]) == (1, "Section 3", uri)
    assert "[1] acts/dogs.txt, Section 3, line 7\n" in text_of(found)
    assert [str(part.uri) for part in found.content if isinstance(part, ResourceLink)] == [uri]
    read = (await eve.read_resource(AnyUrl(uri))).contents[0]
    assert read.model_dump()["text"] == DOGS.strip().rpartition("\n\n")[2]
    assert told[0].startswith("dogs: classify")
    assert any("passages" in said for said in told)


async def test_what_the_other_tools_give(eve: ClientSession) -> None:
    passages = (await typed(eve, "search", query="keeper", limit=3))["passages"]
    assert len(passages) == 3
    assert {one["collection"] for one in passages} >= {"dogs", "my cats"}
    alone = {"documents": ["dogs.txt"], "passage": [0, 90]}
    told_alone = await typed(eve, "ask", question="What must a keeper hold?", **alone)
    assert {one["document"] for one in told_alone["sources"]} == {"acts/dogs.txt"}
    asked = {"document": "law", "provision": "20-871(b)", "collection": "sample"}
    (one,) = (await typed(eve, "read_provision", **asked))["provisions"]
    assert (one["document"], one["cut"]) == ("law.txt", False)
    assert one["provision"].startswith("§ 20-871")
    assert one["above"]
    listed = (await typed(eve, "read_provision", document="dogs.txt"))["contents"]
    assert [unit["label"] for unit in listed] == ["", "Section 1", "Section 2", "Section 3"]
    told = await eve.call_tool("related", {"entity": "bias audit", "limit": 5})
    found: dict[str, Any] = json.loads(text_of(told))
    assert found["relations"][0].items() <= (told.structuredContent or {})["relations"][0].items()
    assert (found["entity"], len(found["relations"])) == ("Bias audit", 5)
    assert all(one["quote"] for one in found["relations"])
    assert {one["collection"] for one in found["relations"]} == {"sample"}


async def test_documents_are_listed_and_where_they_lie_is_told_to_nobody(
    eve: ClientSession,
) -> None:
    found = await typed(eve, "list_documents", containing="cat")
    assert found["collections"] == ["sample", "dogs", "my cats", "gone"]
    assert found["unavailable"] == ["gone"]
    (cats,) = [one for one in found["documents"] if one["collection"] == "my cats"]
    assert cats["uri"] == "lexloop://my%20cats/cats.txt"
    assert cats["uri"] in [str(one.uri) for one in (await eve.list_resources()).resources]
    (template,) = (await eve.list_resource_templates()).resourceTemplates
    assert template.uriTemplate == "lexloop://{collection}/{document}{#label}"
    read = (await eve.read_resource(AnyUrl(cats["uri"]))).contents[0]
    assert read.model_dump()["text"].rstrip() == CATS.rstrip()
    gone = await eve.call_tool("ask", {"question": "Why?", "collections": ["gone"]})
    assert gone.isError
    assert text_of(gone).startswith("The documents cannot be read at the moment.\n")
    assert "gone" not in text_of(gone)
    with pytest.raises(McpError, match="cannot be read at the moment"):
        await eve.read_resource(AnyUrl("lexloop://gone/a.txt"))


HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("ask", {}, "question: Field required"),
    ("ask", {"question": "x" * 900_000}, "at most 20000 characters"),
    ("ask", {"question": "Why?", "corpus": "/etc"}, "corpus: Extra inputs"),
    ("search", {"query": "a", "limit": 10**30}, "limit: Input should be less"),
    ("read_provision", {"document": "../../etc/passwd"}, "no document '../../etc/passwd'"),
    ("related", {"entity": "\0"}, "no entity '\\x00'"),
    ("format_disk", {}, "no tool 'format_disk'"),
]


async def test_hostile_arguments_are_refused(eve: ClientSession) -> None:
    for tool, given, said in HOSTILE:
        found = await eve.call_tool(tool, given)
        assert found.isError
        assert said in text_of(found)
        assert len(text_of(found)) < 1000
        assert (found.meta or {})["lexloop/error"]["hint"]


async def test_only_what_one_sees_is_read(bobs: ClientSession) -> None:
    dogs = "lexloop://dogs"
    for uri in ("lexloop://sample/law.txt", f"{dogs}/..%2F..%2Fetc%2Fpasswd", f"{dogs}/../cats.txt",
                "file:///etc/passwd"):  # fmt: skip
        with pytest.raises(McpError) as raised:
            await bobs.read_resource(AnyUrl(uri))
        assert raised.value.error.code == -32002
    for collection in ("sample", "nothing", "/etc"):
        for tool, given in (("ask", {"question": "Why?"}), ("search", {"query": "audit"})):
            found = await bobs.call_tool(tool, {**given, "collections": [collection]})
            assert text_of(found).startswith(f"There is no collection '{collection}'")
    assert (await typed(bobs, "list_documents"))["collections"] == ["dogs"]


def test_a_session_is_its_makers_alone(address: str) -> None:
    with httpx.Client(base_url=address, headers=HEADERS) as client:
        assert client.post("/mcp", json=BEGIN).status_code == 401
        made = client.post("/mcp", json=BEGIN, headers=as_("eve"))
        client.headers["Mcp-Session-Id"] = made.headers["mcp-session-id"]
        for name, status in (("eve", 200), ("bob", 404), ("nobody", 401)):
            assert client.post("/mcp", json=LIST, headers=as_(name)).status_code == status
        elsewhere = {**as_("eve"), "Origin": "http://evil.invalid"}
        assert client.post("/mcp", json=LIST, headers=elsewhere).status_code == 403
        assert client.get("/mcp", headers=as_("eve")).status_code == 405


def test_sessions_of_one_person_take_nobody_elses_place() -> None:
    given = {"people": [person("eve"), person("bob")], "limits": {"mcp_sessions": 3}}
    with served(ServerSettings.of(given)) as address, httpx.Client(base_url=address) as client:

        def begun(name: str) -> httpx.Response:
            return client.post("/mcp", json=BEGIN, headers={**HEADERS, **as_(name)})

        opened = [begun("eve") for _ in range(4)]
        assert [one.status_code for one in opened] == [200, 200, 200, 503]
        assert begun("bob").status_code == 200
        session = opened[0].headers["mcp-session-id"]
        ended = {**as_("eve"), "Mcp-Session-Id": session}
        assert client.delete("/mcp", headers=ended).status_code == 200
        assert begun("eve").status_code == 200


@pytest.mark.parametrize("body", [b"[" * 100_000, b"\xff\xfe"], ids=["deep", "no text"])
def test_broken_messages_are_refused(address: str, body: bytes) -> None:
    headers = {**HEADERS, **as_("eve")}
    assert httpx.post(f"{address}/mcp", content=body, headers=headers).status_code == 400


async def test_tools_are_tools_of_langchain(address: str) -> None:
    url, transport = f"{address}/mcp", "streamable_http"
    connection: Any = {"transport": transport, "url": url, "headers": as_("eve")}
    tools = await MultiServerMCPClient({"lexloop": connection}).get_tools()
    ask = next(tool for tool in tools if tool.name == "ask")
    call = {"question": PENALTY, "collections": ["dogs"]}
    message = await ask.ainvoke({"name": "ask", "args": call, "id": "1", "type": "tool_call"})
    assert "90 dollars" in message.content[0]["text"]
    assert message.artifact["structured_content"]["answered"]
