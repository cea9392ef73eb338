import inspect

import pytest

from lexloop.core import errors
from lexloop.core.errors import LexloopError

TREE = {
    "InputError": "LexloopError",
    "QuestionError": "InputError",
    "SettingsError": "InputError",
    "BudgetError": "InputError",
    "CorpusError": "InputError",
    "IndexWriteError": "CorpusError",
    "NotFoundError": "InputError",
    "TooLargeError": "InputError",
    "ConflictError": "InputError",
    "DataError": "LexloopError",
    "OutdatedIndexError": "DataError",
    "EngineError": "LexloopError",
    "EngineUnavailable": "EngineError",
    "EngineAuthError": "EngineError",
    "ClusterError": "LexloopError",
    "TrainingError": "LexloopError",
    "AccessError": "LexloopError",
    "UnknownPerson": "AccessError",
    "Overloaded": "LexloopError",
    "RateExceeded": "Overloaded",
    "TooSlow": "Overloaded",
    "ThreadBusy": "LexloopError",
    "ModelError": "LexloopError",
    "ModelAuthError": "ModelError",
    "ModelUnknown": "ModelError",
    "ModelUnavailable": "ModelError",
    "ModelReplyError": "ModelError",
    "DeadlineExceeded": "ModelError",
}
EXIT_CODES = {
    "LexloopError": 1,
    "InputError": 2,
    "QuestionError": 2,
    "SettingsError": 2,
    "BudgetError": 2,
    "CorpusError": 4,
    "IndexWriteError": 4,
    "NotFoundError": 2,
    "TooLargeError": 2,
    "ConflictError": 2,
    "DataError": 5,
    "OutdatedIndexError": 5,
    "EngineError": 13,
    "EngineUnavailable": 13,
    "EngineAuthError": 13,
    "ClusterError": 14,
    "TrainingError": 9,
    "AccessError": 1,
    "UnknownPerson": 1,
    "Overloaded": 1,
    "RateExceeded": 1,
    "TooSlow": 1,
    "ThreadBusy": 8,
    "ModelError": 6,
    "ModelAuthError": 6,
    "ModelUnknown": 6,
    "ModelUnavailable": 6,
    "ModelReplyError": 6,
    "DeadlineExceeded": 7,
}


def found() -> dict[str, type[LexloopError]]:
    return {
        name: kind
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, LexloopError)
    }


def test_the_tree_is_the_one_drawn_at_the_top_of_the_file() -> None:
    parents = {name: kind.__base__.__name__ for name, kind in found().items() if kind.__base__}
    assert parents == {**TREE, "LexloopError": "RuntimeError"}
    assert errors.__doc__ is not None
    assert all(name in errors.__doc__ for name in TREE)


def test_exit_codes_are_the_ones_that_scripts_rely_on() -> None:
    assert {name: kind.exit_code for name, kind in found().items()} == EXIT_CODES


@pytest.mark.parametrize("name", EXIT_CODES)
def test_an_error_says_what_happened_and_what_to_do(name: str) -> None:
    error = found()[name]("It rained.", "Take an umbrella.")
    assert str(error) == "It rained. Take an umbrella."
    assert (error.what, error.hint) == ("It rained.", "Take an umbrella.")
