"""Who asks behind a proxy: by its headers from its addresses, and what groups make of them."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from servers import as_, person, served_from

from lexloop.core.errors import AccessError
from lexloop_server.audit import FOLDER
from lexloop_server.audit_lines import raw_lines
from lexloop_server.people import People
from lexloop_server.settings import ServerSettings

USER, GROUPS = "X-Auth-Request-Email", "X-Auth-Request-Groups"
PROXY: dict[str, Any] = {
    "header": USER,
    "groups": GROUPS,
    "trusted": ["127.0.0.0/8"],
    "roles": {"legal": "reader", "legal-leads": "curator", "it": "operator", "Ämter": "reader"},
    "tags": {"legal": ["staff"], "legal-leads": ["staff", "board"]},
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose proxy is on loopback, and which knows ann by name and key."""
    given = {"people": [person("ann", role="curator")], "proxy": PROXY, "audit": {}}
    with served_from(tmp_path_factory.mktemp("data"), **given) as found:
        yield found


def raw(address: str, *headers: bytes) -> tuple[int, bytes]:
    """The status and the whole of what the server answers to headers as they are."""
    where = urlsplit(address)
    head = b"GET /api/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    with socket.create_connection((str(where.hostname), int(where.port or 0)), 20) as connection:
        connection.sendall(head + b"".join(one + b"\r\n" for one in headers) + b"\r\n")
        told = b"".join(iter(lambda: connection.recv(65536), b""))
    return int(told.split(b" ", 2)[1]), told


def me(address: str, user: str, *groups: str) -> tuple[int, Any]:
    said = {USER: user.encode(), GROUPS: ",".join(groups).encode()}
    found = httpx.get(f"{address}/api/me", headers=[*said.items()])
    return found.status_code, found.json()


def test_groups_give_the_highest_role_of_theirs(address: str) -> None:
    assert me(address, "kim@law.example", "legal")[1]["role"] == "reader"
    assert me(address, "kim@law.example", "legal", " legal-leads")[1]["role"] == "curator"
    assert me(address, "kim@law.example", "it", "legal", "others")[1]["role"] == "operator"
    for groups in ((), ("others",), ("LEGAL",), ("legal;it",), ("",)):
        status, told = me(address, "kim@law.example", *groups)
        assert (status, told["error"]["kind"]) == (403, "AccessError")


def test_tags_are_those_of_all_groups() -> None:
    known = People(ServerSettings.of({"proxy": PROXY}))
    said = {USER.lower(): "kim", GROUPS.lower(): "legal,legal-leads,it"}
    kim = known.identified(said, "127.0.0.1", "")
    assert kim is not None
    assert (kim.name, kim.role, kim.tags) == ("kim", "operator", ("board", "staff"))
    assert known.needs_key
    assert known.identified({}, "127.0.0.1", "") is None


def test_who_is_among_the_people_is_what_is_said_there(address: str) -> None:
    assert me(address, "ann", "it")[1]["role"] == "curator"
    assert me(address, "ann")[1]["role"] == "curator"


def test_names_and_groups_are_utf_8_in_one_form(address: str) -> None:
    status, told = me(address, "Zoe\u0308 Müller", "A\u0308mter")
    assert (status, told["name"], told["role"]) == (200, "Zo\u00eb Müller", "reader")
    status, told = raw(address, USER.encode() + b": Zo\xeb", GROUPS.encode() + b": legal")
    assert status == 403
    assert b"not UTF-8" in told


@pytest.mark.parametrize(
    "user",
    [
        "x" * 101,
        "kim,ann",
        "../kim",
        "ann~Dogs",
        "<b>kim</b>",
        "k\u202eim",
        "k\u200bim",
        "kim\tann",
        "'; DROP TABLE people",
        "犬" * 101,
        "local",  # has what was kept before there were people
    ],
)
def test_names_that_nobody_can_have_are_refused_and_not_repeated(address: str, user: str) -> None:
    status, told = me(address, user, "legal")
    assert (status, told["error"]["kind"]) == (403, "AccessError")
    assert user not in str(told)


def test_a_header_that_is_given_twice_is_refused(address: str) -> None:
    user, groups = USER.encode(), GROUPS.encode()
    for headers in (
        (user + b": kim", user + b": ann", groups + b": legal"),
        (user + b": kim", groups + b": it", groups + b": legal"),
        (user + b": kim", groups.lower() + b": it", groups.upper() + b": legal"),
    ):
        status, told = raw(address, *headers)
        assert status == 400
        assert b"twice" in told


@pytest.mark.parametrize(
    "line",
    [
        b": kim\r\n X-Auth-Request-Groups: it",  # a folded line is a part of the name
        b": kim\x00ann",
        b" : kim",
    ],
)
def test_headers_cannot_be_smuggled_into_one(address: str, line: bytes) -> None:
    status, told = raw(address, USER.encode() + line)
    assert status in (400, 401, 403) or b'"role":"reader"' in told
    assert b'"role":"operator"' not in told


def test_what_is_very_long_is_refused(address: str) -> None:
    status, _ = me(address, "kim", *(f"group-{n}" for n in range(3000)))
    assert status == 403
    assert me(address, "x" * 50_000, "it")[0] == 403


def test_a_key_counts_more_than_what_a_proxy_says(address: str) -> None:
    found = httpx.get(f"{address}/api/me", headers={**as_("ann"), USER: "kim", GROUPS: "it"})
    assert found.json()["name"] == "ann"


def test_an_untrusted_peer_is_not_believed_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    proxy = {**PROXY, "trusted": ["10.0.0.0/8", "::1"]}
    given = {"people": [person("zoe", role="operator")], "proxy": proxy, "audit": {}}
    forged = {USER: "secret-name", GROUPS: "it"}
    with served_from(tmp_path, **given) as address:
        for more in ({}, {"X-Forwarded-For": "10.0.0.1"}, {"X-Real-IP": "10.0.0.1"}):
            found = httpx.get(f"{address}/api/me", headers={**forged, **more})
            assert found.status_code == 401
        mine = httpx.get(f"{address}/api/me", headers={**forged, **as_("zoe")})
        assert mine.json()["name"] == "zoe"  # what is forged is ignored
        lines = httpx.get(f"{address}/api/audit", headers=as_("zoe")).text
    assert lines.count('"did":"identity header of no proxy"') == 4
    assert '"address":"127.0.0.1"' in lines
    assert caplog.text.count("identity header of no proxy from 127.0.0.1") == 4
    assert "secret-name" not in lines + caplog.text


def test_an_address_that_a_proxy_passes_on_fills_no_log(tmp_path: Path) -> None:
    with served_from(tmp_path, people=[person("zoe")], proxy=PROXY, audit={}) as address:
        wrong = {"X-Forwarded-For": "x" * 30_000, "Authorization": "Bearer wrong"}
        assert httpx.get(f"{address}/api/me", headers=wrong).status_code == 401
    [line] = raw_lines(tmp_path / FOLDER)
    assert b'"address":"' + b"x" * 100 + b'"' in line
    assert len(line) < 500


def test_groups_alone_are_people_enough_to_listen_for() -> None:
    ServerSettings.of({"host": "0.0.0.0", "proxy": PROXY}).check_guarded(said_again=False)
    with pytest.raises(AccessError):
        People(ServerSettings.of({"proxy": PROXY})).identified(
            {USER.lower(): "kim"}, "127.0.0.1", ""
        )
