"""The one tree of errors, and the exit codes that scripts rely on."""

import inspect
from contextvars import copy_context
from threading import Thread

import pytest

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


def test_every_error_stands_in_the_tree_at_the_top_of_the_file() -> None:
    assert errors.__doc__ is not None
    lines = [line.split() for line in errors.__doc__.splitlines() if "Error" in line or "─" in line]
    drawn = {word for words in lines for word in words[:3]}
    assert set(KINDS) - drawn == set()


def test_exit_codes_are_the_ones_that_scripts_rely_on() -> None:
    for kind in KINDS.values():
        of = next(one.__name__ for one in kind.__mro__ if one.__name__ in OWN_CODES)
        assert kind.exit_code == OWN_CODES[of], kind


@pytest.mark.parametrize("name", KINDS)
def test_an_error_says_what_happened_and_what_to_do(name: str) -> None:
    error = KINDS[name]("It rained.", "Take an umbrella.")
    assert str(error) == "It rained. Take an umbrella."
    assert (error.what, error.hint) == ("It rained.", "Take an umbrella.")


LOSS = Loss("all of it", "half", "the rest did not answer")


def test_a_loss_is_heard_once_and_where_it_happened() -> None:
    tell_loss(*LOSS)  # nobody listens
    with hearing() as outer:
        with hearing() as inner:
            tell_loss(*LOSS)
            tell_loss(*LOSS)
        assert outer == []
    assert inner == [LOSS]


def test_a_loss_in_a_thread_is_heard_by_whoever_started_it() -> None:
    with hearing() as told:
        thread = Thread(target=copy_context().run, args=(tell_loss, *LOSS))
        thread.start()
        thread.join()
    assert told == [LOSS]
