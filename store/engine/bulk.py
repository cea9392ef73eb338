"""Records sent to an engine in bulk; what it does not take is sent again, and nothing else."""

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_random_exponential

from lexloop.core.errors import EngineUnavailable, LexloopError
from lexloop.store.engine.client import Engine
from lexloop.store.engine.failure import refused

_ACTIONS, _BYTES, _AT_ONCE = 300, 8 << 20, 3
_ATTEMPTS, _WAIT, _REQUEST_S = 8, wait_random_exponential(multiplier=0.5, max=10), 120.0
_TOLD = {"filter_path": "items.*.status,items.*.error"}
Action = dict[str, Any]
"""A record's fields, and beside them its ``_index`` and ``_id``."""


class Bulk:
    """Sends records, many in a request and several requests at once; use it as a context manager.

    At the end of the context all are written, or the first error is raised.

    Args:
        engine: Where to.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._dumps = engine, engine.client.transport.serializer.dumps
        self._pool = ThreadPoolExecutor(_AT_ONCE, "bulk")
        self._under_way = deque[Future[None]]()
        self._lines, self._size = list[str](), 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self._pool.shutdown(cancel_futures=True)

    def write(self, actions: Iterable[Action]) -> None:
        """Write records; those that are there already are replaced.

        Raises:
            EngineError: Earlier ones were not all taken after every allowed attempt.
        """
        for action in actions:
            fields = {key: value for key, value in action.items() if key[0] != "_"}
            target = {"_index": action["_index"], "_id": action["_id"]}
            self._add(f"{self._dumps({'index': target})}\n{self._dumps(fields)}\n")

    def delete(self, index: str, ids: Iterable[str]) -> None:
        """Delete records, those that are there; raises as ``write``."""
        for one in ids:
            self._add(f"{self._dumps({'delete': {'_index': index, '_id': one}})}\n")

    def flush(self) -> None:
        """Wait until everything is written; raises as ``write``."""
        self._submit()
        while self._under_way:
            self._under_way.popleft().result()

    def _add(self, line: str) -> None:
        if self._lines and (len(self._lines) == _ACTIONS or self._size + len(line) > _BYTES):
            self._submit()
        self._lines.append(line)
        self._size += len(line)

    def _submit(self) -> None:
        if len(self._under_way) >= _AT_ONCE:
            self._under_way.popleft().result()
        if self._lines:
            self._under_way.append(self._pool.submit(_write, self._engine, self._lines))
        self._lines, self._size = [], 0


def _write(engine: Engine, lines: list[str]) -> None:
    """Write lines; those that a busy engine did not take are sent again, and no others."""
    left = lines

    def untaken() -> LexloopError | None:
        nonlocal left
        told = engine.ask("POST", "/_bulk", "".join(left), _TOLD, seconds=_REQUEST_S, patient=True)
        results = [next(iter(item.values())) for item in told["items"]]
        failed = [(line, one) for line, one in zip(left, results, strict=True) if "error" in one]
        errors = [refused(engine.address, one["status"], one) for _, one in failed]
        for error in errors:
            if not isinstance(error, EngineUnavailable):
                raise error
        left = [line for line, _ in failed]
        return errors[0] if errors else None

    attempts = Retrying(
        retry=retry_if_result(bool),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=_WAIT,
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )
    if error := attempts(untaken):
        raise error
