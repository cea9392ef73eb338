"""A real node that asks for credentials: what each of them may do, as a user sees it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from secured_node import SecuredNode, secured_node

pytestmark = [pytest.mark.engines, pytest.mark.secured]
Run = Callable[..., Any]
QUESTION = "How much does a dog licence cost?"
ASKS = (["cluster:monitor/nodes/info"], {"lexloop-dogs.*": ["read", "view_index_metadata"]})
HOLDS = (ASKS[0], {**ASKS[1], "lexloop-dogs.meta": ["write"]})
PUSHES = (
    ["cluster:monitor/nodes/info", "cluster:monitor/health"],
    {"lexloop-dogs.*": ["read", "write", "manage"]},
)
"""What docs/operator/engines.md says a key must be allowed."""


@pytest.fixture(scope="module")
def node() -> Iterator[SecuredNode]:
    with secured_node() as running:
        yield running


@pytest.fixture
def address(node: SecuredNode) -> Iterator[str]:
    yield f"elasticsearch://{node.host}/dogs"
    for index in indexes(node):
        node.ask("DELETE", f"/{index}")


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``signed(API_KEY=...)``: with these credentials from now on."""

    def sign(**credentials: str) -> None:
        for name in ("API_KEY", "USER", "PASSWORD"):
            monkeypatch.delenv(f"LEXLOOP_ENGINE_{name}", raising=False)
        for name, value in credentials.items():
            monkeypatch.setenv(f"LEXLOOP_ENGINE_{name}", value)

    return sign


def indexes(node: SecuredNode) -> list[str]:
    listed = node.ask("GET", "/_cat/indices/lexloop-*?format=json&h=index")
    return sorted(one["index"] for one in listed)


def holds(node: SecuredNode) -> int:
    node.ask("POST", "/lexloop-dogs.meta/_refresh")
    return int(node.ask("GET", "/lexloop-dogs.meta/_count?q=_exists_:generation")["count"])


def answered(result: Any) -> None:
    told = json.loads(result.stdout)
    assert "40 euros" in told["answer"], told
    assert told["degraded"] == []


def refused(result: Any, status: int, *secrets: str) -> None:
    assert result.exit_code == 13, result.stdout + result.stderr
    error = json.loads(result.stdout)["error"]
    assert error["type"] == "EngineAuthError"
    assert f"({status})" in error["what"]
    assert "LEXLOOP_ENGINE_API_KEY" in error["hint"]
    assert not any(secret in result.stdout + result.stderr for secret in secrets)


def test_a_key_that_pushes_and_one_that_asks(
    run: Run, index: Path, node: SecuredNode, address: str, signed: Callable[..., None]
) -> None:
    writes, asks, also_holds = node.key(*PUSHES), node.key(*ASKS), node.key(*HOLDS)
    ask = ("ask", QUESTION, "--json", "--corpus", address)
    signed(API_KEY=writes)
    for _ in range(2):  # the second one removes what the first one wrote
        assert run("index", "push", str(index), address, "--json").exit_code == 0
    assert len(indexes(node)) == 4
    answered(run(*ask))
    signed(API_KEY=asks)
    before, written = holds(node), indexes(node)
    refused(run("index", "push", str(index), address, "--json"), 403, asks)
    assert indexes(node) == written
    answered(run(*ask))
    assert holds(node) == before
    assert run("index", "verify", address, "--against", str(index)).exit_code == 0
    assert run("index", "pull", address, f"{index}.copy").exit_code == 0
    signed(API_KEY=also_holds)
    answered(run(*ask))
    assert holds(node) == before + 1


def test_wrong_credentials_and_none(
    run: Run, index: Path, node: SecuredNode, address: str, signed: Callable[..., None]
) -> None:
    node.user("ann", "p€ss:wörd")
    signed(USER="ann", PASSWORD="p€ss:wörd")
    assert run("index", "push", str(index), address).exit_code == 0
    answered(run("ask", QUESTION, "--json", "--corpus", address))
    for status, wrong in (
        (401, {"API_KEY": "bm9ib2R5OndpdGhvdXQga2V5"}),
        (401, {"API_KEY": "no-key"}),
        (401, {"USER": "ann", "PASSWORD": "pass-word"}),
        (401, {"USER": "nobody", "PASSWORD": "pass-word"}),
        (403, {}),
    ):
        signed(**wrong)
        secrets = [value for name, value in wrong.items() if name != "USER"]
        refused(run("ask", QUESTION, "--corpus", address, "--json"), status, *secrets)
