"""What no command of the workbench can use is one line with its code."""

from refusing import place, refusals

__all__ = ["place"]

test_a_refusal_is_one_line = refusals("refusals_workbench")
