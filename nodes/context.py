"""What a follow-up goes back to, written behind it, and taken off where only it counts."""

_REGARDING = ", regarding "


def in_context(question: str, context: str) -> str:
    """A question that leans on a conversation, with what it goes back to behind it."""
    return f"{question.rstrip(' ?.!')}{_REGARDING}{context.rstrip(' ?.!')}?"


def without_context(question: str) -> str:
    """What is asked, without the context that ``in_context`` wrote behind it.

    The context finds the provision; inside it every statement shares those words, and what is asked
    tells them apart.
    """
    asked, regarding, _ = question.partition(_REGARDING)
    return f"{asked}?" if regarding else question
