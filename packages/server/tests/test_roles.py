"""What each role may do: every route and every tool, by a table that has to name them all."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from servers import as_, person, served_from

from lexloop.core.errors import AccessError
from lexloop.core.packages import brought, loaded
from lexloop_server.app import create_app
from lexloop_server.mcp import LexloopMcp
from lexloop_server.roles import NEEDED, ROLES, Role, check_role
from lexloop_server.settings import PersonSettings, ServerSettings

BROUGHT = [loaded(entry).needed for entry in brought("lexloop.routes").values()]
ALL = {**NEEDED, **{doing: role for needed in BROUGHT for doing, role in needed.items()}}
"""What the server needs a role for, and what the packages need that are installed beside it."""
TOOLS = {name for name in ALL if name.startswith("tool ")}


def stated(routes: Any) -> Iterator[str]:
    """Every route of an application as the table names it, those of routers inside included."""
    for route in routes:
        if (inner := getattr(route, "original_router", None)) is not None:
            yield from stated(inner.routes)
        elif route.path == "/mcp":
            yield "POST /mcp"
        else:
            methods = getattr(route, "methods", None) or {"GET"}
            yield from (f"{method} {route.path or '/'}" for method in methods - {"HEAD"})


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    who = [person(role, role=role) for role in ROLES]
    with served_from(tmp_path_factory.mktemp("data"), people=who, audit={}) as found:
        yield found


def test_every_route_and_tool_has_a_role_and_the_table_names_no_other() -> None:
    app = create_app()
    parts = app.state.serving
    assert not NEEDED.keys() & parts.needed
    known = {*NEEDED, *parts.needed}
    tools = {f"tool {name}" for name in LexloopMcp(parts, lambda _: parts.people._local).tools}
    assert {*stated(app.routes)} | tools == known
    router = APIRouter()
    router.add_api_route("/api/new", lambda: None)
    app.include_router(router)
    assert {*stated(app.routes)}.difference(known) == {"GET /api/new"}


def test_a_route_without_a_role_is_open_to_nobody() -> None:
    for role in (None, *ROLES):
        with pytest.raises(AccessError, match="no role is stated"):
            check_role(role, "GET /api/new", {})


@pytest.mark.parametrize("doing", sorted({*ALL} - TOOLS))
def test_each_role_may_do_what_the_table_says(address: str, doing: str) -> None:
    method, _, path = doing.partition(" ")
    path = re.sub(r"\{\w+(:path)?\}", "none", path)
    needed = ALL[doing]
    with httpx.Client(base_url=address, timeout=60) as client:
        nobody = client.request(method, path)
        assert needed is None or nobody.status_code == 401
        for role in ROLES:
            found = client.request(method, path, headers=as_(role))
            refused = needed is not None and ROLES.index(role) < ROLES.index(needed)
            if refused:
                error = found.json()["error"]
                assert (found.status_code, error["kind"]) == (403, "RoleNeeded")
                assert error["what"] == f"This needs the role {needed}; yours is {role}."
            else:
                assert found.status_code not in (401, 403)


@pytest.mark.parametrize("role", ROLES)
def test_tools_are_checked_by_name(role: Role) -> None:
    for tool in TOOLS:
        check_role(role, tool, ALL)
        with pytest.raises(AccessError, match="yours is none"):
            check_role(None, tool, ALL)


def test_openai_tells_a_refusal_in_its_form(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexloop_server.roles.NEEDED", {**NEEDED, "GET /v1/models": "operator"})
    found = httpx.get(f"{address}/v1/models", headers=as_("curator"))
    assert found.status_code == 403
    assert found.json()["error"]["type"] == "permission_error"
    assert "This needs the role operator; yours is curator." in found.json()["error"]["message"]


@pytest.mark.parametrize(
    ("given", "role"),
    [
        ({}, "reader"),
        ({"may_upload": False}, "reader"),
        ({"may_upload": True}, "curator"),
        ({"role": "operator"}, "operator"),
        ({"role": "operator", "may_upload": True}, "operator"),
    ],
)
def test_who_has_no_role_keeps_what_they_could_do(given: dict[str, Any], role: Role) -> None:
    assert PersonSettings(name="ann", **given).role == role


def test_whoever_sits_at_the_machine_runs_it_and_anyone_from_elsewhere_does_not() -> None:
    roles = [
        create_app(ServerSettings.of(given)).state.serving.people._local.role
        for given in ({}, {"anyone": True})
    ]
    assert roles == ["operator", "curator"]


def test_an_operator_lists_who_may_come_in_and_no_key(address: str) -> None:
    found = httpx.get(f"{address}/api/people", headers=as_("operator"))
    assert found.json() == {
        "people": [{"name": role, "role": role, "collections": None, "tags": []} for role in ROLES],
        "groups": [],
    }
    me = httpx.get(f"{address}/api/me", headers=as_("curator")).json()
    assert (me["role"], me["may_upload"]) == ("curator", True)
