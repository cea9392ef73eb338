"""The one tree of errors, and the exit codes that scripts rely on."""

import inspect
from contextvars import copy_context
from threading import Thread

from lexloop.core import errors
from lexloop.core.errors import LexloopError, Loss, hearing, tell_loss

KINDS = {
    name: kind
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, LexloopError)
}

OWN_CODES = {
    "LexloopError": 1,
    "InputError": 2,
    "CorpusError": 4,
    "DataError": 5,
    "ModelError": 6,
    "DeadlineExceeded": 7,
    "ThreadBusy": 8,
    "TrainingError": 9,
    "EngineError": 13,
    "ClusterError": 14,
}


def test_exit_codes_are_the_ones_that_scripts_rely_on() -> None:
    for kind in KINDS.values():
        of = next(one.__name__ for one in kind.__mro__ if one.__name__ in OWN_CODES)
        assert kind.exit_code == OWN_CODES[of], kind


LOSS = Loss("all of it", "half", "the rest did not answer")


def test_a_loss_is_heard_once_and_where_it_happened() -> None:
    tell_loss(*LOSS)  # nobody listens
    with hearing() as outer:
        with hearing() as inner:
            thread = Thread(target=copy_context().run, args=(tell_loss, *LOSS))
            thread.start()
            thread.join()
            tell_loss(*LOSS)
        assert outer == []
    assert inner == [LOSS]
