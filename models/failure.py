"""One failed attempt at a model call: which error it is, and whether another attempt can help.

Providers' exceptions have no base class in common, so they are told apart by the HTTP status they
carry. An exception without one is a reply that could not be read (the builtin value errors) or a
connection that failed (everything else).
"""

import email.utils
import math
import random
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from lexloop.core.errors import (
    ModelAuthError,
    ModelError,
    ModelReplyError,
    ModelUnavailable,
    ModelUnknown,
)
from lexloop.models.provider import Client, redacted, showable

if TYPE_CHECKING:
    from tenacity import RetryCallState

_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError)
_PASSING = frozenset({408, 409, 425, 429})
_FIRST_WAIT_S, _WAIT_GROWTH, _LONGEST_WAIT_S = 0.25, 4.0, 16.0


@dataclass(eq=False)
class FailedAttempt(Exception):
    """An attempt that gave no usable reply.

    Args:
        error: Raised when no attempt is left.
        retry: Whether another attempt can help.
        wait_s: Seconds the host asks to wait before it; None where it does not say.
        cause: The third-party exception, unless it shows a secret.
    """

    error: ModelError
    _: KW_ONLY
    retry: bool = False
    wait_s: float | None = None
    cause: Exception | None = None


def retries(
    limit: int, deadline: float, give_up: Callable[[FailedAttempt, float], NoReturn]
) -> dict[str, Any]:
    """Return tenacity's options to repeat what raises ``FailedAttempt`` while that can help.

    Args:
        limit: The most attempts, the first included.
        deadline: When a further attempt would be too late, on ``time.monotonic``.
        give_up: Raises what the last failure comes to; called with the seconds after which another
            attempt would be too late, or with 0.
    """
    from tenacity import retry_if_exception_type, wait_exponential

    growing = wait_exponential(_FIRST_WAIT_S, _LONGEST_WAIT_S, _WAIT_GROWTH)

    def wait_s(state: "RetryCallState") -> float:
        asked = _failure(state).wait_s
        jitter = random.uniform(0.5, 1.0)  # noqa: S311 - it needs no secrecy
        return growing(state) * jitter if asked is None else asked

    def hopeless(state: "RetryCallState") -> bool:
        return not _failure(state).retry or state.attempt_number >= limit

    def stop(state: "RetryCallState") -> bool:
        return hopeless(state) or time.monotonic() + state.upcoming_sleep >= deadline

    def end(state: "RetryCallState") -> NoReturn:
        give_up(_failure(state), 0.0 if hopeless(state) else state.upcoming_sleep)

    return {
        "retry": retry_if_exception_type(FailedAttempt),
        "wait": wait_s,
        "stop": stop,
        "retry_error_callback": end,
    }


def _failure(state: "RetryCallState") -> FailedAttempt:
    failure = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(failure, FailedAttempt)  # nothing else is tried again
    return failure


def failed_call(error: Exception, client: Client) -> FailedAttempt:
    """Return the failed attempt that a provider's exception means."""
    cause = showable(error, client.secrets)
    status = status_of(error)
    said = redacted(message_of(error), client.secrets)
    where = f"{client.name} at {client.host}"
    failed: ModelError
    if status in (401, 403):
        what = f"{client.host} refused the key for {client.name} ({status}: {said})."
        failed = ModelAuthError(what, f"Check {client.key_variable}.")
    elif status == 404:
        failed = ModelUnknown(
            f"{client.host} knows no model or address for {client.name} (404: {said}).",
            "Check the model's name and LEXLOOP_BASE_URL, which usually ends in /v1.",
        )
    elif status is None and isinstance(error, _UNREADABLE):
        return failed_reply(f"The reply of {where} could not be read: {said}.", cause=cause)
    elif _is_passing(status):
        what = f"{where} is unavailable ({status or type(error).__name__}: {said})."
        hint = "Check that the host is reachable, or try again later."
        failed = ModelUnavailable(what, hint)
    else:
        failed = ModelError(
            f"{where} refused the request ({status}: {said}).",
            "Check the model's name and settings, and that the passages fit its context.",
        )
    return FailedAttempt(failed, retry=can_pass(error), wait_s=retry_after_s(error), cause=cause)


def can_pass(error: Exception) -> bool:
    """Return whether another attempt may reach a working host; a used-up quota stays so."""
    used_up = "insufficient_quota" in f"{getattr(error, 'code', '')}"
    return _is_passing(status_of(error)) and not used_up


def _is_passing(status: int | None) -> bool:
    return status is None or status in _PASSING or status >= 500


def failed_reply(
    what: str,
    hint: str = "Try again, or use another model.",
    *,
    retry: bool = True,
    cause: Exception | None = None,
) -> FailedAttempt:
    """Return the failed attempt of a reply that arrived but cannot be used."""
    return FailedAttempt(ModelReplyError(what, hint), retry=retry, cause=cause)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of the answer that an error stands for; None where there is none."""
    response = getattr(error, "response", None)
    for status in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        # A reply with status 200 that could not be read is no refusal.
        if isinstance(status, int) and status >= 300:
            return status
    return None


def message_of(error: BaseException) -> str:
    """Return the host's own words, or the innermost cause's where there was no answer."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        told = body["error"] if isinstance(body.get("error"), dict) else body
        return str(told["message"] if isinstance(told.get("message"), str) else body)
    innermost: BaseException = error
    while status_of(error) is None and (cause := innermost.__cause__ or innermost.__context__):
        innermost = cause
    return str(innermost) or type(innermost).__name__


def retry_after_s(error: Exception) -> float | None:
    """Return the seconds until the host wants to be asked again (RFC 9110, section 10.2.3).

    A date is compared with the host's own clock, where it tells it: ours may be wrong by days.
    """
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    value = headers.get("retry-after")
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        date, told = (email.utils.parsedate_tz(text) for text in (value, headers.get("date", "")))
        now = email.utils.mktime_tz(told) if told else time.time()
        seconds = email.utils.mktime_tz(date) - now if date else math.nan
    return max(0.0, seconds) if math.isfinite(seconds) else None
