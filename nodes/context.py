"""What a follow-up goes back to, written behind it, and taken off where only it counts."""

from lexloop.corpus.text.tokens import tokenize

_REGARDING = ", regarding "


def in_context(question: str, context: str) -> str:
    """A question that leans on a conversation, with what it goes back to behind it."""
    return f"{question.rstrip(' ?.!')}{_REGARDING}{context.rstrip(' ?.!')}?"


def without_context(question: str) -> str:
    """What is asked, without the context that ``in_context`` wrote behind it.

    The context finds the provision; inside it every statement shares those words, and what is asked
    tells them apart. Where what is asked names nothing of its own, the context stays.
    """
    asked, regarding, _ = question.partition(_REGARDING)
    return f"{asked}?" if regarding and tokenize(asked) else question
