"""What every request passes: names, origins, sizes, times, and the headers of every response."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest
from servers import QUESTION, as_, person, served, served_from

from lexloop_server.people import COOKIE
from lexloop_server.settings import ServerSettings


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with ann and bob, known as law.example; it is in a hurry, and takes 10,000 bytes."""
    given = {
        "people": [person("ann"), person("bob", collections=[])],
        "hosts": ["law.example"],
        "limits": {"body_mb": 0.01, "idle_s": 0.5, "body_s": 1.0},
    }
    with served_from(tmp_path_factory.mktemp("data"), **given) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, headers=as_("ann")) as found:
        yield found


def kind_of(found: httpx.Response) -> tuple[int, str]:
    return found.status_code, found.json()["error"]["kind"]


def raw(address: str, sent: bytes) -> bytes:
    """What the server answers to bytes, until it closes the connection."""
    where = urlsplit(address)
    with socket.create_connection((str(where.hostname), int(where.port or 0)), 20) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("path", ["/api/me", "/api/nothing", "/"])
def test_every_response_keeps_other_sites_out(client: httpx.Client, path: str) -> None:
    found = client.get(path).headers
    policy = dict(part.split(" ", 1) for part in found["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert "unsafe" not in found["content-security-policy"]
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    assert found["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in found["permissions-policy"]
    assert "server" not in found
    assert not [name for name in found if name.startswith("access-control")]
    assert found["cache-control"] == ("no-store" if path.startswith("/api") else "no-cache")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("[::1]:8321", 200),
        ("LAW.example", 200),
        ("law.example.evil.example", 403),
        ("", 403),
        ("[::1", 403),
    ],
)
def test_only_known_names_are_answered_to(client: httpx.Client, host: str, status: int) -> None:
    assert client.get("/api/me", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({}, True),
        ({"Origin": "http://law.example", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "null"}, False),
        ({"Origin": "http://law.example:81"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
    ],
)
def test_pages_of_other_sites_cannot_write(
    client: httpx.Client, headers: dict[str, str], passes: bool
) -> None:
    headers = {"Host": "law.example", **headers}
    found = client.delete("/api/threads/none", headers=headers)
    assert kind_of(found) == ((404, "NotFoundError") if passes else (403, "AccessError"))
    assert client.get("/api/me", headers=headers).status_code == 200  # reading is the browser's


def test_the_page_signs_in_and_out(address: str) -> None:
    with httpx.Client(base_url=address) as client:
        assert client.get("/api/me").status_code == 401
        assert kind_of(client.post("/api/session", json={"key": "x"})) == (401, "UnknownPerson")
        secure = client.post(
            "/api/session",
            json={"key": "key-ann"},
            headers={"Origin": address.replace("http", "https")},
        )
        assert "; Secure" in secure.headers["set-cookie"]
        client.cookies.clear()
        opened = client.post("/api/session", json={"key": "key-ann"})
        assert opened.status_code == 204
        cookie = opened.headers["set-cookie"]
        assert cookie.startswith(f"{COOKIE}=")
        assert {"HttpOnly", "Max-Age=43200", "Path=/", "SameSite=strict"} == {
            *cookie.split("; ")[1:]
        }
        assert "key-ann" not in cookie
        assert client.get("/api/me").json()["name"] == "ann"
        held = client.cookies[COOKIE]
        assert client.delete("/api/session").status_code == 204
        assert client.get("/api/me").status_code == 401
        kept = {"Cookie": f"{COOKIE}={held}"}
        assert client.get("/api/me", headers=kept).status_code == 401


def test_nor_is_more_read_of_one_whose_size_is_not_told(client: httpx.Client) -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        yield b'{"question": "'
        while sent < 100_000_000:
            sent += 65536
            yield b"x" * 65536

    headers = {"Content-Type": "application/json"}
    try:
        found = client.post("/api/ask", content=pieces(), headers=headers)
    except httpx.TransportError:  # the server closed while the rest was sent
        pass
    else:
        assert kind_of(found) == (413, "TooLargeError")
    assert sent < 50_000_000


BODIES = ["/api/ask", "/v1/chat/completions", "/mcp"]


@pytest.mark.parametrize("path", [*BODIES, "/api/collections/mine/documents", "/api/nothing"])
def test_nothing_is_taken_of_whom_nobody_knows(address: str, path: str) -> None:
    for key in ("", "Authorization: Bearer key-eve\r\n"):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/x\r\n{key}"
        asking = f"{head}Content-Length: 100000000\r\nExpect: 100-continue\r\n\r\n"
        found = raw(address, asking.encode())
        assert found.startswith(b"HTTP/1.1 401 ")
        assert b"connection: close" in found


@pytest.mark.parametrize("path", BODIES)
def test_a_body_is_as_large_as_its_route_takes_whatever_it_is_called(
    client: httpx.Client, path: str
) -> None:
    for kind in ("application/json", "multipart/form-data"):
        found = client.post(path, content=b"x" * 20_000, headers={"Content-Type": kind})
        assert found.status_code == 413


def test_little_is_taken_of_who_signs_in() -> None:
    limits = {"body_mb": 1.0}
    with served(ServerSettings.of({"people": [person("ann")], "limits": limits})) as address:
        found = httpx.post(f"{address}/api/session", json={"key": "x" * 20_000})
    assert kind_of(found) == (413, "TooLargeError")


@pytest.mark.parametrize("path", BODIES)
def test_a_body_that_drips_is_left_after_its_time(address: str, path: str) -> None:
    where = urlsplit(address)
    place = (str(where.hostname), int(where.port or 0))
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key-ann\r\n"
        "Content-Type: multipart/x\r\nContent-Length: 9000\r\n\r\n"
    )
    began, found = time.monotonic(), b""
    with socket.create_connection(place, 20) as connection:
        connection.sendall(head.encode())
        connection.settimeout(0.2)
        while not found and time.monotonic() - began < 10:
            connection.sendall(b" ")
            with suppress(TimeoutError):
                found = connection.recv(65536)
    assert found.startswith(b"HTTP/1.1 408 ")
    assert 1.0 <= time.monotonic() - began < 5.0


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        # two keys at once are nobody's
        (401, "Authorization: Bearer key-bob\r\nConnection: close\r\n\r\n"),
        (
            400,
            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
            "1\r\n{\r\n0\r\n\r\nGET /api/me HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ),
        (408, 'Content-Length: 100\r\n\r\n{"q'),  # a body that does not come is not waited for
    ],
)
def test_what_is_no_whole_request_is_refused(address: str, status: int, sent: str) -> None:
    head = (
        "POST /api/ask HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key-ann\r\n"
        "Content-Type: application/json\r\n"
    )
    found = raw(address, (head + sent).encode())
    assert found.startswith(f"HTTP/1.1 {status} ".encode())
    assert found.count(b"HTTP/1.1") == 1  # what follows is no second request
    assert b"connection: close" in found.lower()


@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/me"])
def test_who_sends_no_key_keeps_nobody_from_signing_in(path: str) -> None:
    given = {"people": [person("ann")], "limits": {"requests_per_minute": 3}}
    with served(ServerSettings.of(given)) as address, httpx.Client(base_url=address) as client:
        told = {client.get(path).status_code for _ in range(20)}
        assert told == ({401, 429} if path == "/api/me" else {401})
        assert client.post("/api/session", json={"key": "key-ann"}).status_code == 204
        assert client.get(path, timeout=60).status_code == 200


@pytest.mark.parametrize("trusted", [True, False])
def test_a_forwarded_address_is_believed_of_a_trusted_proxy_alone(trusted: bool) -> None:
    proxy = {"trusted": ["127.0.0.1" if trusted else "10.0.0.1"]}
    given = {"people": [person("ann")], "proxy": proxy, "limits": {"requests_per_minute": 2}}
    with served(ServerSettings.of(given)) as address, httpx.Client(base_url=address) as client:

        def status(forwarded: str) -> int:
            return client.get("/api/me", headers={"X-Forwarded-For": forwarded}).status_code

        told = [status("192.0.2.1") for _ in range(3)]
        assert told == [401, 401, 429]
        waiting = client.get("/api/me", headers={"X-Forwarded-For": "192.0.2.1"})
        assert kind_of(waiting) == (429, "RateExceeded")
        assert int(waiting.headers["retry-after"]) > 0
        assert status("192.0.2.1, 192.0.2.2") == (401 if trusted else 429)
        # what a client says of itself is before what its proxy adds
        assert status("192.0.2.3, 192.0.2.1") == 429
        secure = client.post(
            "/api/session", json={"key": "key-ann"}, headers={"X-Forwarded-Proto": "https"}
        )
        assert ("; Secure" in secure.headers["set-cookie"]) == trusted


def test_what_there_is_not_and_what_one_does_not_see(client: httpx.Client, address: str) -> None:
    assert kind_of(client.get("/%2e%2e/settings.py")) == (404, "NotFoundError")
    assert kind_of(client.get("/api/ask")) == (405, "MethodNotAllowed")
    nobodys = client.post("/api/ask", json=QUESTION, headers=as_("bob"))
    assert kind_of(nobodys) == (404, "NotFoundError")


def test_nothing_of_a_request_is_logged(
    address: str, client: httpx.Client, capfd: pytest.CaptureFixture[str]
) -> None:
    client.get("/api/threads", params={"before": "a-question-in-confidence"})
    client.post("/api/ask", json={"question": "x" * 5000}, params={"q": "a-question-in-confidence"})
    assert threading.active_count() > 1
    said = capfd.readouterr()
    assert "confidence" not in said.out + said.err
    assert "key-ann" not in said.out + said.err
