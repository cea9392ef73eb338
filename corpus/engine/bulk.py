"""Records sent to an engine in bulk; what it does not take is sent again, and nothing else."""

from collections.abc import Iterable, Sequence
from typing import Any

from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_random_exponential

from lexloop.core.errors import EngineUnavailable, LexloopError
from lexloop.corpus.engine.client import Engine
from lexloop.corpus.engine.failure import refused

_ACTIONS, _BYTES = 300, 8 << 20
_ATTEMPTS, _WAIT, _REQUEST_S = 8, wait_random_exponential(multiplier=0.5, max=10), 120.0
_TOLD = {"filter_path": "items.*.status,items.*.error"}
Action = dict[str, Any]
"""A record's fields, and beside them its ``_index`` and ``_id``."""


def send(engine: Engine, actions: Iterable[Action]) -> None:
    """Write records; those that are there already are replaced.

    Raises:
        EngineError: They were not all taken after every allowed attempt.
    """
    lines: list[str] = []
    size, dumps = 0, engine.client.transport.serializer.dumps
    for action in actions:
        fields = {key: value for key, value in action.items() if key[0] != "_"}
        target = {"_index": action["_index"], "_id": action["_id"]}
        line = f"{dumps({'index': target})}\n{dumps(fields)}\n"
        if lines and (len(lines) == _ACTIONS or size + len(line) > _BYTES):
            _write(engine, lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    _write(engine, lines)


def delete(engine: Engine, index: str, ids: Sequence[str]) -> None:
    """Delete records, those that are there; raises as ``send``."""
    dumps = engine.client.transport.serializer.dumps
    _write(engine, [f"{dumps({'delete': {'_index': index, '_id': one}})}\n" for one in ids])


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

    if not lines:
        return
    attempts = Retrying(
        retry=retry_if_result(bool),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=_WAIT,
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )
    if error := attempts(untaken):
        raise error
