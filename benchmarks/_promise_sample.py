"""The sample answers if it is named or no corpus is: a misspelt name is refused, however it comes.

Every way of naming a corpus is tried with every slip. What answers all the same, answers from
documents that nobody named.
"""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
from _shared import LEXLOOP, Line
from fake_openai import FakeOpenAI
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteException, RemoteGraph
from langgraph_server import Served, langgraph_dev
from mcp_messages import HEADERS
from servers import served

import lexloop
from lexloop.core.configuration import configured
from lexloop.core.errors import LexloopError
from lexloop.core.settings import Settings
from lexloop.graph.app import graph
from lexloop_eval.run.variants import Variant

_SLIPS = ("corpsu", "corpos", "copus", "corpuss", "corpus_", "Corpus")
_ASKED: dict[str, Any] = {"question": "What is a bias audit?"}
_VALUE = "contracts"
Way = Callable[[str], Any]
"""Asks with a corpus under a misspelt name; raises, or returns what was answered."""


class _RefusedError(Exception):
    """Says with which words somebody at a distance refused."""


def held() -> Iterator[Line]:
    """One line for each way in which a corpus is named."""
    for name, context in {"nothing": None, "the sample": {"corpus": "sample"}}.items():
        answered = graph.invoke(_ASKED, context=context)
        sources = {cited["document"] for cited in answered["citations"]}
        yield Line(
            f"the sample answers if {name} is named", f"{len(sources)} sources", bool(sources)
        )
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        ways = {**_settings(folder), **_library(), **_graphs(), **_command(folder)}
        ways |= _server(opened.enter_context(served()))
        model = opened.enter_context(FakeOpenAI())
        with patch.dict(os.environ, {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}):
            ways |= _development(opened.enter_context(langgraph_dev(folder, model)))
        for name, way in ways.items():
            outcomes = [_outcome(way, slip) for slip in _SLIPS]
            refused, answered = outcomes.count("refused"), outcomes.count("answered")
            measured = f"{refused} of {len(_SLIPS)} refused, the sample answered {answered} times"
            yield Line(f"a misspelt corpus in {name} is refused", measured, not answered)


def _outcome(way: Way, slip: str) -> str:
    try:
        way(slip)
    except (LexloopError, RemoteException, _RefusedError) as error:
        if slip.strip("_").lower() not in str(error).lower():
            raise  # it failed for another reason
        return "refused"
    return "answered"


def _settings(folder: Path) -> dict[str, Way]:
    file = folder / "lexloop.toml"

    def of_file(slip: str) -> Settings:
        file.write_text(f'{slip} = "{_VALUE}"\n', "utf-8")
        return configured(file)

    def of_environment(slip: str) -> Settings:
        name = slip if slip == "Corpus" else slip.upper()
        with patch.dict(os.environ, {f"LEXLOOP_{name}": _VALUE}):
            return configured()

    return {
        "a file": of_file,
        "the environment": of_environment,
        "a variant of an evaluation": lambda slip: Variant("own", {slip: _VALUE}).info(Settings()),
    }


def _library() -> dict[str, Way]:
    question = _ASKED["question"]
    return {
        "ask": lambda slip: lexloop.ask(question, **{slip: _VALUE}),
        "aask": lambda slip: asyncio.run(lexloop.aask(question, **{slip: _VALUE})),
        "as_tool": lambda slip: lexloop.as_tool("law", "Law.", **{slip: _VALUE}),
        "as_tools": lambda slip: lexloop.as_tools("sample", **{slip: _VALUE}),
        "build_agent": lambda slip: lexloop.build_agent({"law": "sample"}, **{slip: _VALUE}),
        "table": lambda slip: lexloop.table("sample", [question], **{slip: _VALUE}),
        "register": lambda slip: lexloop.register(**{slip: _VALUE}),
        "search": lambda slip: lexloop.search("audit", **{slip: _VALUE}),
    }


def _graphs() -> dict[str, Way]:
    agent = lexloop.build_agent({"law": "sample"})
    parent: Any = StateGraph(MessagesState, context_schema=None).add_node("law", graph)
    parent = parent.add_edge(START, "law").compile()
    messages = {"messages": [HumanMessage(_ASKED["question"])]}
    return {
        "a context": lambda slip: graph.invoke(_ASKED, context={slip: _VALUE}),
        "an agent's context": lambda slip: agent.invoke(_ASKED, context={slip: _VALUE}),
        "an input": lambda slip: graph.invoke({**_ASKED, slip: _VALUE}),
        "a configurable": lambda slip: graph.invoke(_ASKED, {"configurable": {slip: _VALUE}}),
        "what a parent passes on": lambda slip: parent.invoke(
            messages, context={"user": "somebody", "lexloop": {slip: _VALUE}}
        ),
    }


def _command(folder: Path) -> dict[str, Way]:
    def run(*options: str) -> None:
        command = [*LEXLOOP, "ask", _ASKED["question"], *options]
        environ = {**os.environ, "NO_COLOR": "1", "COLUMNS": "500"}
        done = subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise _RefusedError(done.stderr)

    return {
        "an option": lambda slip: run(f"--{slip}", _VALUE),
        "--set": lambda slip: run("--set", f"{slip}={_VALUE}"),
    }


def _server(address: str) -> dict[str, Way]:
    client = httpx.Client(base_url=address, timeout=60.0)

    def post(body: dict[str, Any]) -> None:
        reply = client.post("api/ask", json={**_ASKED, **body})
        if reply.is_error:
            raise _RefusedError(reply.text)

    def tool(slip: str) -> None:
        params = {"name": "ask", "arguments": {**_ASKED, slip: _VALUE}}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
        said = client.post("mcp", json=call, headers=HEADERS).text
        data = next(line[6:] for line in said.splitlines() if line.startswith("data: {"))
        if json.loads(data)["result"]["isError"]:
            raise _RefusedError(data)

    return {
        "settings over HTTP": lambda slip: post({"settings": {slip: _VALUE}}),
        "a request's body": lambda slip: post({slip: _VALUE}),
        "arguments of a tool": tool,
    }


def _development(on: Served) -> dict[str, Way]:
    def run(graph: str = "lexloop", more: Any = None, **options: Any) -> None:
        event, data = on.stream({**_ASKED, **(more or {})}, "values", graph=graph, **options)[-1]
        if event == "error":
            raise _RefusedError(data["message"])

    def assistant(slip: str) -> None:
        made = on.client.assistants.create("lexloop", context={slip: _VALUE})
        run(made["assistant_id"], context={"plan": {"k": 3}})

    remote = RemoteGraph("lexloop", sync_client=on.client)
    return {
        "a served graph's context": lambda slip: run(context={slip: _VALUE}),
        "a served agent's context": lambda slip: run("agent", context={slip: _VALUE}),
        "a served graph's configurable": lambda slip: run(config={"configurable": {slip: _VALUE}}),
        "a served graph's input": lambda slip: run(more={slip: _VALUE}),
        "an assistant's context": assistant,
        "a remote graph's context": lambda slip: remote.invoke(_ASKED, context={slip: _VALUE}),
    }
