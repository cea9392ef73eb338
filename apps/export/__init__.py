"""An answer or a thread as a file to keep: Markdown, or Word, with a footnote for every source."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Format = Literal["docx", "md"]
MEDIA_TYPES: dict[Format, str] = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "md": "text/markdown; charset=utf-8",
}


def exported(answers: Sequence[Mapping[str, Any]], form: Format, title: str = "") -> bytes:
    """Return a file of answers.

    Args:
        answers: Their records, in the order in which they were asked for.
        form: The format.
        title: The thread's; empty for the first question.
    """
    from lexloop.apps.export.outline import outline_of

    outline = outline_of(answers, title)
    if form == "docx":
        from lexloop.apps.export.word import as_word

        return as_word(outline)
    from lexloop.apps.export.markdown import as_markdown

    return as_markdown(outline).encode()
