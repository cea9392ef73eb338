"""The address of an index in a search engine, as a corpus setting names it."""

import re
from dataclasses import dataclass
from typing import Literal, cast

from lexloop.core.errors import SettingsError

Product = Literal["elasticsearch", "opensearch"]
_ADDRESS = re.compile(r"(elasticsearch|opensearch)(\+tls)?://([^/?#]*)(?:/(.*))?", re.S)
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_PORT = 9200
_FORM = "Write it as opensearch://HOST:9200/NAME or elasticsearch://HOST:9200/NAME."


@dataclass(frozen=True)
class Address:
    """The place of an index in a search engine.

    Args:
        product: The engine.
        hosts: Its nodes, each a host and a port.
        name: The index's, among others of the engine.
        tls: Whether the connection is encrypted.
    """

    product: Product
    hosts: tuple[tuple[str, int], ...]
    name: str
    tls: bool = False

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Return the address that a text names.

        Raises:
            SettingsError: It is none, or it holds a user or a password.
        """
        found = _ADDRESS.fullmatch(text)
        if not found:
            raise SettingsError(f"{text!r} is no address of an engine.", _FORM)
        product, tls, hosts, name = found.groups()
        if "@" in hosts:  # it would be in logs, traces and lists of processes
            raise SettingsError(
                "The engine's address holds a user or a password.",
                "Set LEXLOOP_ENGINE_USER and LEXLOOP_ENGINE_PASSWORD, or LEXLOOP_ENGINE_API_KEY.",
            )
        if not _NAME.fullmatch(name or ""):
            raise SettingsError(
                f"The engine's index has the name {name or ''!r}.",
                "Use up to 80 of a-z, 0-9, - and _, a letter or digit first.",
            )
        return cls(cast(Product, product), tuple(map(_host, hosts.split(","))), name, bool(tls))

    def __str__(self) -> str:
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"{self.product}{'+tls' if self.tls else ''}://{hosts}/{self.name}"


def is_address(text: str) -> bool:
    """Return whether a text names an index in an engine rather than a file or folder."""
    return text.startswith(("elasticsearch:", "opensearch:", "elasticsearch+", "opensearch+"))


def _host(text: str) -> tuple[str, int]:
    found = _HOST.fullmatch(text)
    port = int(found[2] or _PORT) if found else 0
    if not found or not 0 < port < 1 << 16:
        raise SettingsError(f"{text!r} names no host of an engine.", _FORM)
    return found[1], port
