"""No request to any route is answered with a 500."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hostile_requests import GATES, HEADERS, TEXTS, URLS, Request, library, met, requests
from servers import as_

Room = tuple[TestClient, dict[str, Any]]
_REQUESTS = 300


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with library(tmp_path_factory.mktemp("library")) as (client, _, known):
        yield client, known


def posting(**headers: bytes) -> Request:
    """A request to make a collection, with some headers of which no other is hostile."""
    usual = {"host": b"localhost", "authorization": b"Bearer key-ann"}
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    usual["content-type"] = b"application/json"
    return Request("POST", "/api/collections", {**usual, **given}, b'{"name": "~"}')


@pytest.mark.parametrize("seed", [1, 2])
def test_no_hostile_value_makes_a_route_fail(room: Room, seed: int) -> None:
    client, known = room
    schema = client.get("/api/openapi.json", headers=as_("ann")).json()
    made = met(client, requests(schema, known, seed), _REQUESTS)
    assert made.failures == []
    assert made.statuses.total() == _REQUESTS
    assert made.statuses[200] > _REQUESTS / 10  # not all end at the first check


def test_no_text_in_a_header_makes_the_server_fail(room: Room) -> None:
    sent = [
        posting(**{name: text.encode("utf-8", "surrogatepass").translate(None, b"\0\r\n")})
        for name in (*GATES, *HEADERS)
        for text in TEXTS
    ]
    assert met(room[0], iter(sent), len(sent)).failures == []


@pytest.mark.parametrize("origin", [one for one in URLS if one != "http://localhost"])
def test_an_origin_that_is_no_address_is_another_sites(room: Room, origin: str) -> None:
    made = met(room[0], iter([posting(origin=origin.encode())]), 1)
    assert [*made.statuses] == [403]


@pytest.mark.parametrize(
    ("length", "status"),
    [("9" * 5000, 413), ("0" * 5000 + "13", 400), ("²", 400), ("-1", 400), ("13", 400)],
)
def test_a_length_of_any_digits_is_read_or_refused(room: Room, length: str, status: int) -> None:
    made = met(room[0], iter([posting(content_length=length.encode())]), 1)
    assert [*made.statuses] == [status]  # 400: no collection can be called "~"
