"""The error tree, and the losses that did not raise an error.

LexloopError
├── InputError            what the caller gave cannot be used
│   ├── QuestionError     empty, blank, too long, or not a text
│   ├── SettingsError     a setting outside its allowed values
│   ├── BudgetError       a run would cost more than it may
│   ├── NotFoundError     not found, or hidden from the caller
│   ├── TooLargeError     more bytes than the limit
│   ├── ConflictError     the request does not fit the current state
│   └── CorpusError       documents or an index missing, empty or unreadable
│       └── IndexWriteError  an index that cannot be written; the one before still serves
├── DataError             a shipped or cached file is missing, corrupt or of another version
│   └── OutdatedIndexError  an index that `lexloop index update` brings up to this version
├── EngineError           a search engine did not do what it was asked
│   ├── EngineUnavailable unreachable, overloaded or failing after every allowed attempt
│   └── EngineAuthError   the key was refused: a retry cannot help
├── ClusterError          there is no cluster, or it cannot do what was asked
├── TrainingError         training cannot continue; its last good checkpoint is kept
├── AccessError           the caller may not do this
│   ├── UnknownPerson     the caller is not signed in
│   └── RoleNeeded        the caller needs another role
├── AuditError            the action cannot be written to the audit log, so it is not done
├── Overloaded            too much is running; try again later
│   ├── RateExceeded      one person asks too often
│   └── TooSlow           a request did not arrive in time
├── ThreadBusy            other questions kept the thread busy until the deadline
└── ModelError            a configured model did not give a usable reply
    ├── ModelAuthError    the key was refused: a retry cannot help
    ├── ModelUnknown      the host has no such model or address: a retry cannot help
    ├── ModelUnavailable  unreachable, overloaded or failing after every allowed attempt
    ├── ModelReplyError   a reply that stayed malformed after one repair
    │   └── ModelWindowError  the prompt is longer than the model reads at once
    └── DeadlineExceeded  the question's deadline ran out
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple


class LexloopError(RuntimeError):
    """Base of every error that Lexloop raises on purpose.

    A ``RuntimeError``, because a LangGraph server hides the text of errors that do not descend
    from a built-in one, and because the default retry policy of a graph around this one would
    otherwise repeat a question that cannot succeed. Not a ``ValueError``: pydantic swallows those.

    Args:
        what: What happened, with the offending value.
        hint: What the reader can do about it.
        package: Short name of a package of Lexloop that is missing, such as "formats"; else "".
    """

    exit_code = 1

    def __init__(self, what: str, hint: str, package: str = "") -> None:
        super().__init__(f"{what} {hint}")
        self.what = what
        self.hint = hint
        self.package = package

    def __reduce__(self) -> tuple[Any, ...]:
        """Say how it is made again, in another process."""
        return type(self), (self.what, self.hint), self.__dict__


class InputError(LexloopError):
    """The caller's input cannot be used."""

    exit_code = 2


class QuestionError(InputError):
    """The question is empty, blank, over-long or not text."""


class SettingsError(InputError):
    """A setting lies outside its allowed values."""


class BudgetError(InputError):
    """A run would cost more than it may."""


class NotFoundError(InputError):
    """Not found, or hidden from the caller; both give the same message, so nothing leaks."""


class TooLargeError(InputError):
    """What was given has more bytes than are taken."""


class ConflictError(InputError):
    """What is asked does not fit what is there by now: a name is taken, a file has changed."""


class CorpusError(InputError):
    """Documents or an index are missing, empty or unreadable."""

    exit_code = 4


class IndexWriteError(CorpusError):
    """An index cannot be written; what was there before still serves."""


class DataError(LexloopError):
    """A shipped or cached file is missing, corrupt or of another version."""

    exit_code = 5


class OutdatedIndexError(DataError):
    """An index is of an earlier format or was stemmed otherwise; an update brings it up."""


class EngineError(LexloopError):
    """A search engine did not do what it was asked."""

    exit_code = 13


class EngineUnavailable(EngineError):
    """The engine could not be reached, or kept failing, within the allowed attempts."""


class EngineAuthError(EngineError):
    """The engine refused who asks; trying again cannot help."""


class ClusterError(LexloopError):
    """A cluster is not there, or does not do what it is asked; what came back of it is kept."""

    exit_code = 14


class TrainingError(LexloopError):
    """A training cannot go on; its last good checkpoint is kept."""

    exit_code = 9


class AccessError(LexloopError):
    """Who asks may not do this."""


class UnknownPerson(AccessError):
    """Nothing that was sent says who asks."""


class RoleNeeded(AccessError):
    """Who asks has a role that may not do this; another may."""


class AuditError(LexloopError):
    """The audit log cannot be written, so what it was to tell of is not done."""


class Overloaded(LexloopError):
    """As much is being done as may be at once.

    ``retry_after_s`` says after how many seconds it may be tried again.
    """

    retry_after_s = 5


class RateExceeded(Overloaded):
    """One person asks more often than they may."""


class TooSlow(Overloaded):
    """What a client was to send did not come in time."""


class ThreadBusy(LexloopError):
    """Other questions held the thread for as long as one question may take."""

    exit_code = 8


class ModelError(LexloopError):
    """A configured model did not give a usable reply.

    ``embedder`` is the name of the embedding model, if that is what failed. ``embedded_possible``
    says whether the question could be answered without the model.
    """

    exit_code = 6
    embedder = ""
    embedded_possible = False


class ModelAuthError(ModelError):
    """The model's host refused the key; trying again cannot help."""


class ModelUnknown(ModelError):
    """The model's host has no such model or address. A retry cannot help."""


class ModelUnavailable(ModelError):
    """The model could not be reached, or kept failing, within the allowed attempts."""


class ModelReplyError(ModelError):
    """The model's reply stayed malformed after one repair."""


class ModelWindowError(ModelReplyError):
    """The prompt is longer than what the model reads at once."""


class DeadlineExceeded(ModelError):
    """The question's deadline ran out."""

    exit_code = 7


class Loss(NamedTuple):
    """What was wanted, what was used in its place, and why."""

    wanted: str
    used: str
    reason: str


_heard: ContextVar[list[Loss] | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[list[Loss]]:
    """Collect the losses reported inside, also by threads that share the context."""
    losses: list[Loss] = []
    token = _heard.set(losses)
    try:
        yield losses
    finally:
        _heard.reset(token)


def tell_loss(wanted: str, used: str, reason: str) -> None:
    """Tell whoever listens that less could be used than was wanted; the same once."""
    losses, loss = _heard.get(), Loss(wanted, used, reason)
    if losses is not None and loss not in losses:
        losses.append(loss)


def retry_on(error: Exception) -> bool:
    """Return whether the same question may succeed a moment later; for LangGraph's ``RetryPolicy``.

    True if a model or a search engine could not be reached, or too much was running. Of errors that
    are not Lexloop's, LangGraph's default decides.
    """
    if isinstance(error, LexloopError):
        return isinstance(error, ModelUnavailable | EngineUnavailable | Overloaded)
    from langgraph.types import RetryPolicy

    by_default: Any = RetryPolicy().retry_on
    return bool(by_default(error))
