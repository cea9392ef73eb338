"""The address of an index in a search engine, and how the engine stores it."""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, NewType, cast

from lexloop.core.errors import SettingsError
from lexloop.core.files import cache_folder
from lexloop.core.settings import SAMPLE_CORPUS, refuse_secrets

Product = Literal["elasticsearch", "opensearch"]
_ADDRESS = re.compile(r"(elasticsearch|opensearch)(\+tls)?://([^/?#]*)(?:/(.*))?", re.S)
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_PORT = 9200
VectorKind = NewType("VectorKind", str)
"""Precision of the vectors that an engine searches; ``vector_kind`` makes one."""
FLOAT, INT8, BINARY = map(VectorKind, ("float", "int8", "binary"))
VECTOR_KINDS: Mapping[str, tuple[VectorKind, ...]] = {
    "elasticsearch": (FLOAT, INT8, BINARY),
    "opensearch": (FLOAT, INT8),
}
"""The kinds of each product that find enough."""
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
            SettingsError: The address is invalid, or contains a user or a password.
        """
        refuse_secrets(text)  # they would be in logs, traces and lists of processes
        match = _ADDRESS.fullmatch(text)
        if not match:
            raise SettingsError(f"{text!r} is not an address of an engine.", _FORM)
        product, tls, hosts, name = match.groups()
        if not _NAME.fullmatch(name or ""):
            raise SettingsError(
                f"The engine's index has the name {name or ''!r}.",
                "Use up to 80 of a-z, 0-9, - and _, a letter or digit first.",
            )
        return cls(cast(Product, product), tuple(map(_host, hosts.split(","))), name, bool(tls))

    def __str__(self) -> str:
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"{self.product}{'+tls' if self.tls else ''}://{hosts}/{self.name}"


class Storage(NamedTuple):
    """How an engine keeps an index.

    Args:
        vectors: Precision of the vectors that it searches.
        shards: Number of parts of the index.
    """

    vectors: VectorKind = FLOAT
    shards: int = 1


USUAL = Storage()
"""The storage of an index by default."""


class Destination(NamedTuple):
    """Where a cluster writes an index.

    Args:
        address: Address in an engine.
        staging: Local folder for what is already written.
        storage: How the engine stores the index.
    """

    address: str
    staging: Path
    storage: Storage = USUAL


def vector_kind(product: str, name: str) -> VectorKind:
    """Return the kind of vectors of this name.

    Raises:
        SettingsError: The engine has no such kind, or it does not find enough.
    """
    kinds = VECTOR_KINDS[product]
    if name not in kinds:
        raise SettingsError(
            f"Vectors cannot be kept as {name!r} in {product}.", f"Use {' or '.join(kinds)}."
        )
    return VectorKind(name)


def is_address(text: str) -> bool:
    """Return whether a text names an index in an engine rather than a file or folder."""
    return text.startswith(("elasticsearch:", "opensearch:", "elasticsearch+", "opensearch+"))


def _host(text: str) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    port = int(match[2] or _PORT) if match else 0
    if not match or not 0 < port < 1 << 16:
        raise SettingsError(f"{text!r} names no host of an engine.", _FORM)
    return match[1], port


def absolute(corpus: str) -> str:
    """Return a corpus as an absolute path or address."""
    named = corpus == SAMPLE_CORPUS or is_address(corpus)
    return corpus if named else os.path.abspath(os.path.expanduser(corpus))


def beside(address: str) -> Path:
    """Return the cache folder for an index before it is written into an engine."""
    digest = hashlib.sha256(address.encode()).hexdigest()[:32]
    return cache_folder().parent / "engines" / digest
