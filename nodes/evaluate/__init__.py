"""Three scores, the checks of citations, and the verdict.

The node's judges are ``embedded`` (with ``support`` of each claim) and ``model``.
"""
