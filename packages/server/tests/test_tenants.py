"""What a server tells a party is byte for byte the same beside another's files."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_sessions import opened
from servers import client_of, openai_client, person, served_from, suggested
from tenants import OTHER_TAG, OTHERS, OWN, OWN_TAG, QUESTIONS, as_file, lasting

ASKED = QUESTIONS[:5]
ENTITIES = ("mooring fee", "berth permit", "captain", "moorin fe")
WORDS = ("mooring", "berth permit", '"the mooring fee"', "section 1", "§ 1-1")
TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("ask", {"question": one}) for one in ASKED[:3]),
    *(("search", {"query": one, "limit": 9}) for one in ASKED),
    *(("find_words", {"words": one}) for one in WORDS),
    *(("related", {"entity": one}) for one in ENTITIES),
    ("list_documents", {}),
    ("read_provision", {"document": "act.txt", "provision": "§ 1-1"}),
    ("read_provision", {"document": "act-2.txt"}),
    ("diff", {"old": "act.txt", "new": "act-2.txt"}),
)
READ = (
    "documents",
    "tree?document=act.txt",
    "tree?document=act-2.txt",
    "text?document=m.txt",
    "diff?old=act.txt&new=act-2.txt",
    "diff?old=act.txt&new=m.txt",
)


def by_http(address: str) -> list[Any]:
    with client_of(address, "ann") as client:
        told = [client.post("/ask", json={"question": one}).json() for one in ASKED]
        found = [client.get(f"/collections/port/{path}") for path in READ]
        return [
            *told,
            suggested(client),
            *(client.get("/search", params={"q": one}).json() for one in WORDS),
            *(f"{f.status_code} {f.text}" for f in found),
        ]


def by_openai(address: str) -> list[Any]:
    told = []
    with openai_client(address, "key-ann") as client:
        for question in ASKED:
            said: Any = [{"role": "user", "content": question}]
            told.append(client.chat.completions.create(model="lexloop/port", messages=said))
        return [*(one.model_dump() for one in told), *(m.id for m in client.models.list())]


async def by_mcp(address: str) -> list[Any]:
    async with opened(address, "ann") as client:
        told: list[Any] = [(await client.call_tool(*one)).model_dump(mode="json") for one in TOOLS]
        return [*told, (await client.list_resources()).model_dump(mode="json")]


def test_each_way_to_ask_tells_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, found = tmp_path / "port", []
    folder.mkdir()
    for stage, documents in (("alone", OWN), ("beside", OTHERS)):
        for document in documents:
            (folder / document.name).write_text(as_file(document), "utf-8")
        if stage == "beside":
            (folder / "secret.pdf").write_bytes(b"%PDF-1.4 broken")
        monkeypatch.setenv("LEXLOOP_DATA_DIR", str(tmp_path / stage))
        people = [person("ann", tags=[OWN_TAG]), person("bob", tags=[OTHER_TAG])]
        settings = {"collections": {"port": str(folder)}, "people": people}
        with served_from(tmp_path / stage, **settings) as address:
            told = [by_http(address), by_openai(address), anyio.run(by_mcp, address)]
        found.append([[json.dumps(lasting(one)) for one in way] for way in told])
    for alone, beside in zip(*found, strict=True):
        for one, other in zip(alone, beside, strict=True):
            assert one == other
