"""The metrics of one answer: pure functions, each with its formula and its source.

A metric that cannot be computed is ``Unresolved`` with the reason, never NaN.
"""
