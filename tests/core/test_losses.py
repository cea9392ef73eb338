"""Losses told from wherever they are noticed."""

from contextvars import copy_context
from threading import Thread

from lexloop.core.errors import Loss, hearing, tell_loss

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
