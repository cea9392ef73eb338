"""``benchmarks/rules.py``: its rules are there."""

import importlib
from functools import reduce

from rules import GROUPS


def test_every_rule_that_is_taken_out_is_there() -> None:
    for path in {path for group in GROUPS.values() for path in group}:
        module, _, attribute = path.partition(":")
        home = importlib.import_module(f"lexloop.{module}")
        assert reduce(getattr, attribute.split("."), home) is not None
