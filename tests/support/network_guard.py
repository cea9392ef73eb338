"""No connection and no look-up beyond loopback, however a library makes it.

An audit hook sees sockets of every library that goes through Python's socket module, in every
thread, blocking or on an event loop; unlike a patch it cannot be undone by accident. Attempts are
recorded too, because a library may swallow the error.
"""

import ipaddress
import sys
from typing import Any

attempts: list[str] = []
_CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOK_UPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})
_state = {"installed": False}


class NetworkBlockedError(RuntimeError):
    """Something tried to reach beyond this machine."""


def install() -> None:
    """Guard this process from now on; it cannot be taken back."""
    if not _state["installed"]:
        _state["installed"] = True
        sys.addaudithook(_watch)


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in _CONNECTIONS:
        address = args[1]
        # Unix sockets have a path for an address; a connected sendmsg has none.
        host = address[0] if isinstance(address, tuple) else None
    elif event in _LOOK_UPS:
        host = args[0]
    else:
        return
    if not _stays_here(host):
        attempts.append(f"{event} {host}")
        raise NetworkBlockedError(
            f"{event} to {host!r}: tests must not reach beyond loopback; "
            "start a server on 127.0.0.1 instead."
        )


def _stays_here(host: Any) -> bool:
    if host is None:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    if name in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or address.is_unspecified
