"""Requests to a search engine: signed in, bounded in time and number, failures in words."""

import base64
import logging
import os
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson
from tenacity import RetryCallState, Retrying, retry_if_exception, retry_if_result
from tenacity.wait import wait_random_exponential
from urllib3.util import Timeout

from lexloop.core.errors import (
    EngineAuthError,
    EngineError,
    EngineUnavailable,
    LexloopError,
    tell_loss,
)
from lexloop.core.packages import need_extra
from lexloop.core.running import current_deadline, out_of_time
from lexloop.store.address import Address
from lexloop_engines.engine.schema import DIALECTS

if TYPE_CHECKING:
    from opensearchpy import OpenSearch
import re

from lexloop.core.errors import (
    CorpusError,
)

BUSY = frozenset({429, 502, 503, 504})
"""The statuses of an engine that may answer later."""
_NODE_LOST = re.compile("disconnected|not connected|node_closed")
"""What an engine says of a search whose node went away in the middle of it, with the status 500."""
_LONGEST = 300
"""Characters of an engine's own words that a message holds."""


class Unsigned(Exception):
    """A request that could not be signed."""


def failure(address: Address, error: Exception) -> LexloopError:
    """Return what an exception of the client means, in words."""
    from opensearchpy.exceptions import ConnectionError as Unreached
    from opensearchpy.exceptions import TransportError

    status = status_of(error)
    if isinstance(error, TransportError) and status:
        return refused(address, status, error.info if isinstance(error.info, dict) else error)
    if isinstance(error, Unreached):
        return _unreached(address, error)
    return no_engine(address, f"what cannot be read ({_cause(error)})")


def _unreached(address: Address, error: Exception) -> LexloopError:
    """Return what it means that a request had no answer."""
    from opensearchpy.exceptions import SSLError

    if _is_unsigned(error):
        return no_credentials(_cause(error))
    if _is_untrusted(error):
        return EngineError(
            f"The certificate of {address} is not trusted: {_cause(error)}.",
            "Name a file with its signer's in LEXLOOP_ENGINE_CA, and a host that it is for.",
        )
    if isinstance(error, SSLError):
        return EngineUnavailable(
            f"{address} cannot be spoken to by TLS: {_cause(error)}.",
            f"Begin the address with {address.product}:// if the engine there has none.",
        )
    tls = f"{address.product}+tls://"
    return EngineUnavailable(
        f"{address} cannot be reached: {_cause(error)}.",
        "Check that the engine runs there."
        if address.tls
        else f"Check that the engine runs there; if it has TLS, begin the address with {tls}.",
    )


def no_engine(address: Address, said: str) -> EngineError:
    """Return what is raised where an answer is none of an engine."""
    return EngineError(
        f"{address} answers {said}, as no {address.product} does.",
        "Check the host and the port, and what stands between.",
    )


def refused(address: Address, status: int, said: Any) -> LexloopError:
    """Return what an engine's refusal means, by its status and its words."""
    why = _reason(said)
    if _is_blocked(status, why):
        return EngineError(
            f"{address} is read-only: {why}.",
            "Free disk space on its nodes (the flood-stage watermark), or lift the block.",
        )
    if status in (401, 403):
        what = "refused the credentials" if status == 401 else "does not allow this"
        return EngineAuthError(
            f"{address} {what} ({status}): {why}.",
            "Check LEXLOOP_ENGINE_API_KEY, LEXLOOP_ENGINE_USER and LEXLOOP_ENGINE_PASSWORD, or for "
            "AWS LEXLOOP_ENGINE_AWS_REGION, and what they may do.",
        )
    if status == 404:
        return CorpusError(
            f"There is no index at {address}, or it is there no more.",
            f"Make one with `lexloop index push INDEX {address}`.",
        )
    if is_busy(status, said):
        return EngineUnavailable(
            f"{address} cannot answer ({status}): {why}.",
            "Wait, or give it more nodes; see its logs.",
        )
    if why.startswith("index_closed_exception"):
        return EngineError(
            f"An index of {address} is closed.",
            f"Open it: POST /lexloop-{address.name}.*/_open to the engine.",
        )
    return EngineError(f"{address} refused a request ({status}): {why}.", "See its logs.")


def no_credentials(why: str) -> EngineAuthError:
    """Return what is raised where nothing can be signed."""
    return EngineAuthError(
        f"LEXLOOP_ENGINE_AWS_REGION is set, and requests cannot be signed: {why}.",
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; renew what has expired.",
    )


def is_busy(status: int, said: Any) -> bool:
    """Return whether what an engine refuses now it may answer later, or another of its nodes."""
    return status in BUSY or (status == 500 and _NODE_LOST.search(_reason(said)) is not None)


def status_of(error: BaseException | None) -> int:
    """Return the HTTP status of a client's exception; 0 where nothing answered."""
    found = getattr(error, "status_code", 0)
    return found if isinstance(found, int) else 0


def may_pass(error: BaseException) -> bool:
    """Return whether another attempt can help."""
    from opensearchpy.exceptions import ConnectionError as Unreached

    if isinstance(error, Unreached):
        return not _is_unsigned(error) and not _is_untrusted(error)
    status = status_of(error)
    return is_busy(status, getattr(error, "info", "")) and not _is_blocked(status, str(error))


def _is_unsigned(error: BaseException) -> bool:
    return isinstance(getattr(error, "info", None), Unsigned)


def _is_untrusted(error: BaseException) -> bool:
    """Return whether a certificate is not trusted; TLS that breaks off is no such case."""
    cause = getattr(error, "info", None)  # of urllib3, which wraps Python's
    return isinstance(next(iter(getattr(cause, "args", ())), None), ssl.SSLCertVerificationError)


def _is_blocked(status: int, why: str) -> bool:
    """Return whether a disk is too full or somebody forbade writing; neither passes by itself."""
    return status in (403, 429) and "cluster_block" in why


def _cause(error: Exception) -> str:
    return (str(getattr(error, "error", "") or error) or type(error).__name__)[:200]


def _reason(said: Any) -> str:
    """Return an engine's reason in short: its kind and its words, the innermost last."""
    if not isinstance(said, Mapping):
        return str(said)[:_LONGEST]
    error = said.get("error", said)
    if not isinstance(error, Mapping):
        return str(error)[:_LONGEST]
    # what AWS refuses before the engine has a message; its second line shows the signed headers
    outer = str(error.get("message") or error.get("Message") or "").partition("\n")[0]
    inner: Mapping[str, Any] = error.get("caused_by") or next(iter(error.get("root_cause", [])), {})
    parts = [outer, error.get("type"), error.get("reason"), inner.get("reason")]
    return ", ".join(dict.fromkeys(str(part) for part in parts if part))[:_LONGEST]


_VARIABLES = tuple(
    f"LEXLOOP_ENGINE_{name}"
    for name in ("USER", "PASSWORD", "API_KEY", "AWS_REGION", "AWS_SERVICE", "CA")
)
REQUEST_S = 30.0
"""The most seconds that one request may take; a question's deadline may leave fewer."""
_ATTEMPTS, _PATIENT_ATTEMPTS, _REPEATS = 4, 10, 3
_WAIT = wait_random_exponential(multiplier=0.1, max=8.0)
_CONNECT_S, _LEAST_S, _ASIDE_S = 3.0, 0.05, 10
"""Seconds for a connection, the fewest that a request is made for, and those for which a node that
failed is left aside."""
_AT_ONCE = 128
_IN_TIME = 0.8
"""The share of its time in which a search is to end, so that what it found until then comes."""


class Engine:
    """An engine's nodes, safe to ask from several threads.

    Args:
        address: Of an index in it.
        credentials: Whoever signs in; see ``credentials_in``.

    ``client`` is what the requests go through; ``major`` is the engine's version, by ``check``.
    """

    major = 0

    def __init__(self, address: Address, credentials: Mapping[str, str]) -> None:
        self.address = address
        self.dialect = DIALECTS[address.product]
        self.client = _client(address, credentials)
        self._waiting = ThreadPoolExecutor(_AT_ONCE, "engine")

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        params: Mapping[str, str] | None = None,
        *,
        missing: Any = None,
        seconds: float = REQUEST_S,
        patient: bool = False,
    ) -> Any:
        """Return the engine's answer to one request.

        A node that is gone is left for the next; an engine that is busy is asked again.

        Args:
            method: Of HTTP.
            path: From the root; parts that are no constants are quoted by the caller.
            body: JSON, or lines of it as one text.
            params: Of the query.
            missing: Returned where the engine has no such thing; None makes it an error.
            seconds: The most that one attempt may take; the question's deadline may leave fewer.
            patient: Whether to go on asking for as long as nodes need to choose another leader.

        Raises:
            EngineError: It failed, or is none that can be used.
            DeadlineExceeded: The question's deadline left no time.
        """
        attempts = Retrying(
            retry=retry_if_exception(may_pass),
            stop=_last(_PATIENT_ATTEMPTS if patient else _ATTEMPTS + len(self.address.hosts)),
            wait=self._wait,
            reraise=True,
        )
        try:
            told = attempts(self._once, method, path, body, dict(params or {}), seconds)
        except LexloopError:
            raise
        except Exception as error:
            if missing is not None and status_of(error) == 404:
                return missing
            raise failure(self.address, error) from error
        if not isinstance(told, dict):
            raise no_engine(self.address, f"{type(told).__name__} {str(told)[:40]!r}")
        return told

    def _once(
        self, method: str, path: str, body: Any, params: dict[str, str], seconds: float
    ) -> Any:
        from opensearchpy.exceptions import ConnectionTimeout

        left = self._left(seconds)
        kind = "application/x-ndjson" if isinstance(body, str) else "application/json"
        # a socket's timeout begins anew with every byte, and names are resolved without one
        asked = self._waiting.submit(
            self.client.transport.perform_request,
            method,
            path,
            params=params,
            headers={"content-type": kind},
            body=body,
            timeout=Timeout(connect=min(left, _CONNECT_S), read=left),  # type: ignore[arg-type]
        )
        try:
            return asked.result(left)
        except (TimeoutError, ConnectionTimeout) as error:
            asked.cancel()
            self._left(seconds)
            raise EngineUnavailable(
                f"{self.address} did not answer within {left:.0f} s.",
                "Check its load, or raise deadline_s.",
            ) from error

    def _left(self, seconds: float) -> float:
        deadline, left = current_deadline(), _seconds(seconds)
        if deadline and left < _LEAST_S:
            raise out_of_time(deadline.allowed_s, f"while {self.address} was asked")
        return left

    def _wait(self, state: RetryCallState) -> float:
        """Return the seconds until the next attempt: none while there are other nodes to ask."""
        error = state.outcome and not state.outcome.cancelled() and state.outcome.exception()
        others = state.attempt_number < len(self.address.hosts)
        if error and not status_of(error) and others:
            return 0.0
        return _WAIT(state)

    def searches(
        self, index: str, bodies: Sequence[Mapping[str, Any]], *, whole: bool = False
    ) -> list[Any]:
        """Return the answers to searches that are sent together; all shards weigh terms alike.

        Where a shard did not answer even when asked again, what the others found is returned, the
        loss is told.

        Args:
            index: Its name.
            bodies: A search each.
            whole: Whether a part of what there is would not do.

        Raises:
            EngineError: A search failed on every shard, or on one where all are needed.
        """
        if not bodies:
            return []
        lines: list[Any] = []
        for body in bodies:
            timed = {**body, "timeout": f"{max(1, int(_seconds() * _IN_TIME * 1000))}ms"}
            lines += [{"search_type": "dfs_query_then_fetch"}, timed]
        dumps = self.client.transport.serializer.dumps
        text = "".join(f"{dumps(line)}\n" for line in lines)
        again = Retrying(
            retry=retry_if_result(_may_be_whole),
            stop=_last(_REPEATS),
            wait=self._wait,
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )
        found: list[Any] = again(self._answers, index, text)
        for answer in found:
            if "error" in answer:
                raise refused(self.address, answer["status"], answer["error"])
            self._tell_partial(answer, whole)
        return found

    def _answers(self, index: str, text: str) -> list[Any]:
        told = self.ask("POST", f"/{index}/_msearch", text)
        if "responses" not in told:
            raise no_engine(self.address, f"{str(told)[:40]!r}")
        return list(told["responses"])

    def search(self, index: str, body: Mapping[str, Any]) -> list[Any]:
        """Return the hits of one search, for which all shards are needed; see ``searches``."""
        hits: list[Any] = self.searches(index, [body], whole=True)[0]["hits"]["hits"]
        return hits

    def records(self, index: str, ids: Sequence[str]) -> list[Mapping[str, Any] | None]:
        """Return the ``record`` of each id, None where the index has none.

        Raises:
            EngineError: The engine failed, or a shard that may have one did not answer.
        """
        found: list[Mapping[str, Any] | None] = []
        for one in self.ask("POST", f"/{index}/_mget", {"ids": [*ids]})["docs"]:
            if "error" in one:
                raise refused(self.address, 503, one)
            found.append(one["_source"]["record"] if one.get("found") else None)
        return found

    def _tell_partial(self, answer: Mapping[str, Any], whole: bool) -> None:
        shards = answer["_shards"]
        lost = shards["failed"]
        if whole and (lost or answer["timed_out"]):
            raise EngineUnavailable(
                f"{self.address} answers from {shards['total'] - lost} of {shards['total']} shards"
                f"{', too late' if answer['timed_out'] else ''}.",
                "Bring back the nodes that hold the others.",
            )
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
        told = self.ask("GET", "/_nodes/_local", params={"filter_path": "nodes.*"}, missing={})
        node: dict[str, Any] = next(iter(told.get("nodes", {}).values()), {})
        product = "elasticsearch" if "build_flavor" in node else "opensearch"
        version = str(node.get("version", ""))
        major = version.partition(".")[0]
        if not major.isdecimal():
            raise no_engine(self.address, f"{str(told)[:40]!r}")
        self.major = int(major)
        if product != self.address.product:
            raise EngineError(
                f"{self.address} is answered by {product} {version}.",
                f"Begin the address with {product}://.",
            )
        if self.major < self.dialect.oldest:
            raise EngineError(
                f"{self.address} is answered by {product} {version}.",
                f"Version {self.dialect.oldest} or later is needed.",
            )


def engine_at(address: str) -> Engine:
    """Return the engine of an address; its connections are shared and stay open.

    Raises:
        SettingsError: It is no address.
        EngineError: Credentials or certificates that the environment names cannot be used.
        InputError: A library is not installed.
    """
    return _shared(Address.parse(address), tuple(credentials_in(os.environ).items()))


@lru_cache(maxsize=64)
def _shared(address: Address, credentials: tuple[tuple[str, str], ...]) -> Engine:
    return Engine(address, dict(credentials))


def _client(address: Address, given: Mapping[str, str]) -> "OpenSearch":
    from opensearchpy import OpenSearch
    from opensearchpy.serializer import JSONSerializer

    class FastJSON(JSONSerializer):
        """The client's serializer, by orjson; arrays of float32 take half the room."""

        def loads(self, s: str) -> Any:
            try:
                return orjson.loads(s)
            except orjson.JSONDecodeError:  # lone surrogates, which it does not read
                return super().loads(s)  # type: ignore[no-untyped-call,unused-ignore]

        def dumps(self, data: Any) -> str:
            if isinstance(data, str):
                return data
            try:
                return orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY).decode()
            except TypeError:  # nor write
                return str(super().dumps(data))

    return OpenSearch(
        serializer=FastJSON(),
        hosts=[{"host": host, "port": port} for host, port in address.hosts],
        use_ssl=address.tls,
        ssl_context=_trusted(given) if address.tls else None,
        # each attempt has its own share of the time, so they are counted in `ask`; what can be
        # tried again is what puts a node aside
        max_retries=0,
        retry_on_timeout=True,
        dead_timeout=_ASIDE_S,
        timeout_cutoff=0,
        http_compress=False,
        pool_maxsize=32,
        **_signing(given),
    )


def credentials_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what is set of the variables that say how to sign in."""
    return {name: value for name in _VARIABLES if (value := environment.get(name))}


def _trusted(given: Mapping[str, str]) -> ssl.SSLContext:
    """Return what checks an engine's certificate."""
    file = given.get("LEXLOOP_ENGINE_CA")
    try:
        return ssl.create_default_context(cafile=file)  # the system's where there is no file
    except OSError as error:  # as an error of TLS is, too
        raise EngineError(
            f"LEXLOOP_ENGINE_CA names {file}, of which no certificates can be read: {error}.",
            "Name a file of certificates in PEM.",
        ) from error


def _signing(given: Mapping[str, str]) -> dict[str, Any]:
    """Return how the client signs in: a region of AWS counts before a key, that before a user."""
    if region := given.get("LEXLOOP_ENGINE_AWS_REGION"):
        return {"http_auth": _signer(region, given.get("LEXLOOP_ENGINE_AWS_SERVICE", "es"))}
    if key := given.get("LEXLOOP_ENGINE_API_KEY"):
        if not (key.isascii() and key.isprintable()):  # the client would show it in its error
            raise EngineAuthError(
                "LEXLOOP_ENGINE_API_KEY has a line break or a character that no key has.",
                "Set it to the `encoded` form that the engine gave.",
            )
        return {"headers": {"authorization": f"ApiKey {key}"}}
    if user := given.get("LEXLOOP_ENGINE_USER"):
        # the client knows no letters beyond Latin-1
        told = f"{user}:{given.get('LEXLOOP_ENGINE_PASSWORD', '')}".encode()
        return {"headers": {"authorization": f"Basic {base64.b64encode(told).decode()}"}}
    return {}


def _signer(region: str, service: str) -> Callable[..., dict[str, str]]:
    need_extra("Signing for Amazon", "aws", "boto3", package="engines")
    import boto3  # type: ignore[import-untyped,unused-ignore]
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped,unused-ignore]
    from opensearchpy import Urllib3AWSV4SignerAuth

    # it would log every request as it is signed, and with it the session's token
    logging.getLogger("botocore.auth").setLevel(logging.INFO)
    try:
        credentials = boto3.Session().get_credentials()
    except BotoCoreError as error:
        raise no_credentials(str(error).rstrip(".")) from error
    if credentials is None:
        raise no_credentials("boto3 finds no credentials")
    sign = Urllib3AWSV4SignerAuth(credentials, region, service)

    def signed(method: str, url: str, body: bytes | None) -> dict[str, str]:
        try:
            return sign(method, url, body)
        except BotoCoreError as error:  # such as a session that has expired meanwhile
            raise Unsigned(str(error).rstrip(".")) from error

    return signed


def _seconds(most: float = REQUEST_S) -> float:
    """Return the seconds that there are for a request, none where the deadline is over."""
    deadline = current_deadline()
    return min(most, max(0.0, deadline.at - time.monotonic())) if deadline else most


def _last(attempts: int) -> Callable[[RetryCallState], bool]:
    """Return what ends a repetition: the attempts, or a deadline before the next one."""

    def over(state: RetryCallState) -> bool:
        late = _seconds() < state.upcoming_sleep + _LEAST_S
        return late or state.attempt_number >= attempts

    return over


def _may_be_whole(answers: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether searches may find more when asked again: of other copies, or a free node."""
    return any(
        is_busy(one["status"], one["error"]) if "error" in one else one["_shards"]["failed"]
        for one in answers
    )
