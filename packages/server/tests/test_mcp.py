"""MCP over HTTP by the SDK's own client and by LangChain's adapters, against a real server."""

import json
from importlib.metadata import version
from typing import Any

import httpx
import pytest
from langchain.mcp import MCPAdapter
from mcp import Client, MCPError
from mcp.types import ResourceLink
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION
from mcp_messages import BEGIN, HEADERS, LIST, READY
from mcp_sessions import text_of, typed
from servers import CATS, DOGS, PENALTY, as_

pytestmark = pytest.mark.anyio
TOOLS = ["ask", "search", "read_provision", "list_documents", "related"]


async def test_tools_say_what_they_take_and_give(eve: Client) -> None:
    tools = (await eve.list_tools()).tools
    assert [tool.name for tool in tools][: len(TOOLS)] == TOOLS
    for tool in tools:
        assert tool.output_schema is not None
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert 50 < len(tool.description or "") < 400
        within = {"corpus", "model", "url", "path", "person", "call"}
        assert not within & set(tool.input_schema["properties"])
        assert tool.input_schema["additionalProperties"] is False


async def test_an_answer_is_typed_told_and_linked(eve: Client) -> None:
    told: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        assert (done, total) == (len(told) + 1, None)
        told.append(message or "")

    given = {"question": PENALTY, "collections": ["dogs"]}
    found = await eve.call_tool("ask", given, progress_callback=progress)
    assert not found.is_error
    answer = found.structured_content
    assert answer is not None
    assert "90 dollars" in answer["answer"]
    assert (answer["answered"], answer["collections"]) == (True, ["dogs"])
    (source,) = answer["sources"]
    uri = "lexloop://dogs/acts%2Fdogs.txt#Section%203"
    assert (source["n"], source["provision"], source["uri"]) == (1, "Section 3", uri)
    assert "[1] acts/dogs.txt, Section 3, line 7\n" in text_of(found)
    assert [part.uri for part in found.content if isinstance(part, ResourceLink)] == [uri]
    read = (await eve.read_resource(uri)).contents[0]
    assert read.model_dump()["text"] == DOGS.strip().rpartition("\n\n")[2]
    assert told[0].startswith("dogs: classify")
    assert any("passages" in said for said in told)


async def test_what_the_other_tools_give(eve: Client) -> None:
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
    assert found["relations"][0].items() <= (told.structured_content or {})["relations"][0].items()
    assert (found["entity"], len(found["relations"])) == ("Bias audit", 5)
    assert all(one["quote"] for one in found["relations"])
    assert {one["collection"] for one in found["relations"]} == {"sample"}


async def test_documents_are_listed_and_where_they_lie_is_told_to_nobody(eve: Client) -> None:
    found = await typed(eve, "list_documents", containing="cat")
    assert found["collections"] == ["sample", "dogs", "my cats", "gone"]
    assert found["unavailable"] == ["gone"]
    (cats,) = [one for one in found["documents"] if one["collection"] == "my cats"]
    assert cats["uri"] == "lexloop://my%20cats/cats.txt"
    assert cats["uri"] in [one.uri for one in (await eve.list_resources()).resources]
    (template,) = (await eve.list_resource_templates()).resource_templates
    assert template.uri_template == "lexloop://{collection}/{document}{#label}"
    read = (await eve.read_resource(cats["uri"])).contents[0]
    assert read.model_dump()["text"].rstrip() == CATS.rstrip()
    gone = await eve.call_tool("ask", {"question": "Why?", "collections": ["gone"]})
    assert gone.is_error
    assert text_of(gone).startswith("The documents cannot be read at the moment.\n")
    assert "gone" not in text_of(gone)
    with pytest.raises(MCPError, match="cannot be read at the moment"):
        await eve.read_resource("lexloop://gone/a.txt")


HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("ask", {}, "question: Field required"),
    ("ask", {"question": "x" * 900_000}, "at most 20000 characters"),
    ("ask", {"question": "Why?", "corpus": "/etc"}, "corpus: Extra inputs"),
    ("search", {"query": "a", "limit": 10**30}, "limit: Input should be less"),
    ("read_provision", {"document": "../../etc/passwd"}, "no document '../../etc/passwd'"),
    ("related", {"entity": "\0"}, "no entity '\\x00'"),
    ("format_disk", {}, "no tool 'format_disk'"),
]


async def test_hostile_arguments_are_refused(eve: Client) -> None:
    for tool, given, said in HOSTILE:
        found = await eve.call_tool(tool, given)
        assert found.is_error
        assert said in text_of(found)
        assert len(text_of(found)) < 1000
        assert (found.meta or {})["lexloop/error"]["hint"]


async def test_only_what_one_sees_is_read(bobs: Client) -> None:
    dogs = "lexloop://dogs"
    for uri in ("lexloop://sample/law.txt", f"{dogs}/..%2F..%2Fetc%2Fpasswd", f"{dogs}/../cats.txt",
                "file:///etc/passwd"):  # fmt: skip
        with pytest.raises(MCPError) as raised:
            await bobs.read_resource(uri)
        assert raised.value.error.code == -32002
    for collection in ("sample", "nothing", "/etc"):
        for tool, given in (("ask", {"question": "Why?"}), ("search", {"query": "audit"})):
            found = await bobs.call_tool(tool, {**given, "collections": [collection]})
            assert text_of(found).startswith(f"There is no collection '{collection}'")
    assert (await typed(bobs, "list_documents"))["collections"] == ["dogs"]


def given_back(reply: httpx.Response) -> dict[str, Any]:
    """The result that a stream of events ends with."""
    *_, last = [line[6:] for line in reply.text.splitlines() if line.startswith("data: {")]
    return dict(json.loads(last)["result"])


@pytest.mark.parametrize("revision", HANDSHAKE_PROTOCOL_VERSIONS)
def test_every_earlier_revision_is_spoken(address: str, revision: str) -> None:
    begin = {**BEGIN, "params": {**BEGIN["params"], "protocolVersion": revision}}
    with httpx.Client(base_url=address, headers={**HEADERS, **as_("eve")}, timeout=60) as client:
        begun = client.post("/mcp", json=begin)
        assert "mcp-session-id" not in begun.headers
        made = given_back(begun)
        assert (made["protocolVersion"], made["serverInfo"]["name"]) == (revision, "lexloop")
        assert "no legal advice" in made["instructions"]
        client.headers["MCP-Protocol-Version"] = revision
        assert client.post("/mcp", json=READY).status_code == 202
        tools = given_back(client.post("/mcp", json=LIST))["tools"]
        assert [tool["name"] for tool in tools][: len(TOOLS)] == TOOLS
        params = {"name": "ask", "arguments": {"question": PENALTY, "collections": ["dogs"]}}
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}
        assert "90 dollars" in given_back(client.post("/mcp", json=call))["content"][0]["text"]


async def test_the_newest_revision_is_spoken(eve: Client) -> None:
    assert eve.protocol_version == LATEST_MODERN_VERSION == "2026-07-28"
    assert eve.server_info is not None
    assert (eve.server_info.name, eve.server_info.version) == ("lexloop", version("lexloop"))


def test_each_request_is_of_who_sends_it(address: str) -> None:
    with httpx.Client(base_url=address, headers=HEADERS) as client:
        assert client.post("/mcp", json=BEGIN).status_code == 401
        client.headers["Mcp-Session-Id"] = "of-somebody-else"  # of a server that had sessions
        for name, status in (("eve", 200), ("bob", 200), ("nobody", 401)):
            assert client.post("/mcp", json=LIST, headers=as_(name)).status_code == status
        elsewhere = {**as_("eve"), "Origin": "http://evil.invalid"}
        assert client.post("/mcp", json=LIST, headers=elsewhere).status_code == 403
        for method in ("GET", "DELETE"):
            refused = client.request(method, "/mcp", headers=as_("eve"))
            assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("body", [b"[" * 100_000, b"\xff\xfe"], ids=["deep", "no text"])
def test_broken_messages_are_refused(address: str, body: bytes) -> None:
    headers = {**HEADERS, **as_("eve")}
    assert httpx.post(f"{address}/mcp", content=body, headers=headers).status_code == 400


async def test_tools_are_tools_of_langchain(address: str) -> None:
    server = {"url": f"{address}/mcp", "headers": as_("eve")}
    async with MCPAdapter({"mcpServers": {"lexloop": server}}) as adapter:
        ask = next(tool for tool in await adapter.list_tools() if tool.name == "ask")
        call = {"question": PENALTY, "collections": ["dogs"]}
        message = await ask.ainvoke({"name": "ask", "args": call, "id": "1", "type": "tool_call"})
    assert "90 dollars" in message.content[0]["text"]
    assert message.artifact["structured_content"]["answered"]
