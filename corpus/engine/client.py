"""Requests to a search engine: bounded in time and number, with every failure in words."""

import os
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from lexloop.core.deadline import current_deadline, heed_deadline
from lexloop.core.errors import (
    CorpusError,
    EngineAuthError,
    EngineError,
    EngineUnavailable,
    LexloopError,
)
from lexloop.core.extras import need_extra
from lexloop.core.losses import tell_loss
from lexloop.corpus.engine.address import Address
from lexloop.corpus.engine.dialect import DIALECTS

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

REQUEST_S = 30.0
"""The most seconds that one request may take; a question's deadline may leave fewer."""
_ATTEMPTS, _LONGEST_WAIT_S = 4, 2.0
_VARIABLES = tuple(
    f"LEXLOOP_ENGINE_{name}"
    for name in ("USER", "PASSWORD", "API_KEY", "AWS_REGION", "AWS_SERVICE", "CA")
)
_LONGEST = 300
"""Characters of an engine's own words that a message holds."""
_BUSY = frozenset({429, 502, 503, 504})


class Engine:
    """An engine's nodes, safe to ask from several threads.

    Args:
        address: Of an index in it.
        credentials: Whoever signs in; see ``credentials_in``.

    ``client`` is what the requests go through.
    """

    def __init__(self, address: Address, credentials: Mapping[str, str]) -> None:
        self.address = address
        self.dialect = DIALECTS[address.product]
        self.client = _client(address, credentials)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        params: Mapping[str, str] | None = None,
        *,
        missing: Any = None,
    ) -> Any:
        """Return the engine's answer to one request.

        Args:
            method: Of HTTP.
            path: From the root; parts that are no constants are quoted by the caller.
            body: JSON, or lines of it as one text.
            params: Of the query.
            missing: Returned where the engine has no such thing; None makes it an error.

        Raises:
            EngineError: It failed, or is none that can be used.
            DeadlineExceeded: The question's deadline left no time.
        """
        attempts = Retrying(
            retry=retry_if_exception(_is_busy),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.1, max=_LONGEST_WAIT_S),
            reraise=True,
        )
        try:
            return attempts(self._once, method, path, body, dict(params or {}))
        except LexloopError:
            raise
        except Exception as error:
            if missing is not None and _status(error) == 404:
                return missing
            raise self.failure(error) from error

    def _once(self, method: str, path: str, body: Any, params: dict[str, str]) -> Any:
        heed_deadline(f"before {self.address} was asked")
        kind = "application/x-ndjson" if isinstance(body, str) else "application/json"
        return self.client.transport.perform_request(
            method,
            path,
            params={**params, "request_timeout": _seconds()},
            headers={"content-type": kind},
            body=body,
        )

    def searches(self, index: str, bodies: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return the answers to searches that are sent together; all shards weigh terms alike.

        Where a shard did not answer, what the others found is returned and the loss is told.

        Raises:
            EngineError: A search failed on every shard.
        """
        if not bodies:
            return []
        lines: list[Any] = []
        for body in bodies:
            timed = {**body, "timeout": f"{max(1, int(_seconds() * 1000))}ms"}
            lines += [{"search_type": "dfs_query_then_fetch"}, timed]
        dumps = self.client.transport.serializer.dumps
        text = "".join(f"{dumps(line)}\n" for line in lines)
        found = self.ask("POST", f"/{index}/_msearch", text)["responses"]
        for answer in found:
            if "error" in answer:
                raise self._refused(answer["status"], answer["error"])
            self._tell_partial(answer)
        return list(found)

    def search(self, index: str, body: Mapping[str, Any]) -> list[Any]:
        """Return the hits of one search; see ``searches``."""
        hits: list[Any] = self.searches(index, [body])[0]["hits"]["hits"]
        return hits

    def _tell_partial(self, answer: Mapping[str, Any]) -> None:
        shards = answer["_shards"]
        lost = shards["failed"]
        if lost or answer["timed_out"]:
            tell_loss(
                f"all {shards['total']} shards of {self.address}",
                f"{shards['total'] - lost} of them" if lost else "what they found in time",
                "the others did not answer" if lost else "the search took too long",
            )

    def check(self) -> None:
        """Check that the engine is the one that the address says, in a version that can be used.

        Raises:
            EngineError: It is another, or too old.
        """
        told = self.ask("GET", "/_nodes/_local", params={"filter_path": "nodes.*"})
        node: dict[str, Any] = next(iter(told.get("nodes", {}).values()), {})
        product = "elasticsearch" if "build_flavor" in node else "opensearch"
        version = str(node.get("version", "0"))
        if product != self.address.product:
            raise EngineError(
                f"{self.address} is answered by {product} {version}.",
                f"Begin the address with {product}://.",
            )
        if int(version.split(".", maxsplit=1)[0]) < self.dialect.oldest:
            raise EngineError(
                f"{self.address} is answered by {product} {version}.",
                f"Version {self.dialect.oldest} or later is needed.",
            )

    def failure(self, error: Exception) -> LexloopError:
        """Return what an exception of the client means, in words."""
        from opensearchpy.exceptions import ConnectionTimeout, TransportError

        if isinstance(error, ConnectionTimeout):
            heed_deadline(f"while {self.address} was asked")
            return EngineUnavailable(
                f"{self.address} did not answer within {_seconds():.0f} s.",
                "Check its load, or raise deadline_s.",
            )
        status = _status(error)
        if isinstance(error, TransportError) and status:
            return self._refused(status, error.info if isinstance(error.info, dict) else error)
        return EngineUnavailable(
            f"{self.address} cannot be reached: {_cause(error)}.",
            "Check that the engine runs there, and its TLS.",
        )

    def _refused(self, status: int, said: Any) -> LexloopError:
        why = _reason(said)
        if status in (401, 403) and "cluster_block" in why:
            return EngineError(
                f"{self.address} is read-only: {why}.",
                "Free disk space on its nodes (the flood-stage watermark), or lift the block.",
            )
        if status in (401, 403):
            return EngineAuthError(
                f"{self.address} refused the credentials ({status}): {why}.",
                "Set LEXLOOP_ENGINE_API_KEY, or LEXLOOP_ENGINE_USER and LEXLOOP_ENGINE_PASSWORD.",
            )
        if status == 404:
            return CorpusError(
                f"There is no index at {self.address}, or it is there no more.",
                f"Make one with `lexloop index push INDEX {self.address}`.",
            )
        if status in _BUSY:
            return EngineUnavailable(
                f"{self.address} cannot answer ({status}): {why}.",
                "Wait, or give it more nodes; see its logs.",
            )
        return EngineError(f"{self.address} refused a request ({status}): {why}.", "See its logs.")


def engine_at(address: str) -> Engine:
    """Return the engine of an address; its connections are shared and stay open.

    Raises:
        SettingsError: It is no address.
        InputError: A library is not installed.
    """
    return _shared(Address.parse(address), tuple(credentials_in(os.environ).items()))


@lru_cache(maxsize=64)
def _shared(address: Address, credentials: tuple[tuple[str, str], ...]) -> Engine:
    return Engine(address, dict(credentials))


def credentials_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what is set of the variables that say how to sign in."""
    return {name: value for name in _VARIABLES if (value := environment.get(name))}


def _client(address: Address, given: Mapping[str, str]) -> "OpenSearch":
    need_extra(address.product, "opensearchpy")
    from opensearchpy import OpenSearch

    return OpenSearch(
        hosts=[{"host": host, "port": port} for host, port in address.hosts],
        use_ssl=address.tls,
        verify_certs=True,
        ca_certs=given.get("LEXLOOP_ENGINE_CA"),
        # a node that is gone is left for the next; each is tried
        max_retries=len(address.hosts) + 1,
        retry_on_timeout=False,
        http_compress=False,
        pool_maxsize=32,
        **_signing(given),
    )


def _signing(given: Mapping[str, str]) -> dict[str, Any]:
    """Return how the client signs in."""
    if region := given.get("LEXLOOP_ENGINE_AWS_REGION"):
        need_extra("aws", "boto3")
        import boto3  # type: ignore[import-untyped,unused-ignore]
        from opensearchpy import Urllib3AWSV4SignerAuth

        service = given.get("LEXLOOP_ENGINE_AWS_SERVICE", "es")
        signer = Urllib3AWSV4SignerAuth(boto3.Session().get_credentials(), region, service)
        return {"http_auth": signer}
    if key := given.get("LEXLOOP_ENGINE_API_KEY"):
        return {"headers": {"authorization": f"ApiKey {key}"}}
    if user := given.get("LEXLOOP_ENGINE_USER"):
        return {"http_auth": (user, given.get("LEXLOOP_ENGINE_PASSWORD", ""))}
    return {}


def _seconds() -> float:
    deadline = current_deadline()
    left = deadline.at - time.monotonic() if deadline else REQUEST_S
    return min(REQUEST_S, max(0.05, left))


def _status(error: BaseException) -> int:
    """Return the HTTP status of a client's exception; 0 where nothing answered."""
    found = getattr(error, "status_code", 0)
    return found if isinstance(found, int) else 0


def _is_busy(error: BaseException) -> bool:
    return _status(error) in _BUSY


def _cause(error: Exception) -> str:
    return str(getattr(error, "error", "") or type(error).__name__)[:200]


def _reason(said: Any) -> str:
    """Return an engine's reason in short: its kind and its words, the innermost last."""
    if not isinstance(said, Mapping):
        return str(said)[:_LONGEST]
    error = said.get("error", said)
    if not isinstance(error, Mapping):
        return str(error)[:_LONGEST]
    inner: Mapping[str, Any] = error.get("caused_by") or next(iter(error.get("root_cause", [])), {})
    parts = [error.get("type"), error.get("reason"), inner.get("reason")]
    return ", ".join(dict.fromkeys(str(part) for part in parts if part))[:_LONGEST]
