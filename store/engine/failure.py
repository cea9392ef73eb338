"""What a search engine's failures mean, in words, and whether trying again can help."""

import re
import ssl
from collections.abc import Mapping
from typing import Any

from lexloop.core.errors import (
    CorpusError,
    EngineAuthError,
    EngineError,
    EngineUnavailable,
    LexloopError,
)
from lexloop.store.engine.address import Address

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
