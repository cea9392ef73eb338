"""Words broken at the end of a line made whole."""

HYPHEN = "\ue000"
"""Stands for a hyphen at the end of a line until it is known whether the word keeps it."""


def keeps_hyphen(left: str, right: str, words: frozenset[str]) -> bool:
    """Whether a word that a line end broke is written with a hyphen.

    The document's other words decide: it goes if they hold the word without it, and stays if they
    only hold the word with it. If they hold neither, it goes in front of a small letter.

    Args:
        left: What stands in front of the hyphen.
        right: What the next line begins with.
        words: What the document writes elsewhere, in small letters.
    """
    if f"{left}{right}".lower() in words:
        return False
    return f"{left}-{right}".lower() in words or not right[:1].islower()
