"""An answer or a thread as a file to keep: Markdown, or Word, with a footnote for every source."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

from lexloop.apps.shapes.text import one_line
from lexloop.core.errors import InputError
from lexloop.core.files import remedy, write_bytes

Format = Literal["docx", "md"]
MEDIA_TYPES: dict[Format, str] = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "md": "text/markdown; charset=utf-8",
}
_FORMATS: dict[str, Format] = {f".{form}": form for form in get_args(Format)}
_NAME_BYTES = 120
# what separates folders, drives or fields, what a shell or a browser reads, and what is no letter
_NO_NAME = re.compile(r"[^\w \-.,()§]+")


def exported(
    answers: Sequence[Mapping[str, Any]], form: Format, title: str = "", cut: bool = False
) -> bytes:
    """Return a file of answers.

    Args:
        answers: Their records, in the order in which they were asked for.
        form: The format.
        title: The thread's; empty for the first question.
        cut: Whether the thread has earlier answers, which the file says.
    """
    from lexloop.apps.shapes.outline import outline_of

    outline = outline_of(answers, title, cut)
    if form == "docx":
        from lexloop.apps.shapes.word import as_word

        return as_word(outline)
    from lexloop.apps.shapes.markdown import as_markdown

    return as_markdown(outline).encode()


def check_writable(file: Path, overwrite: bool) -> Format:
    """Check, before a question is asked, that its answer can be written.

    Args:
        file: Its suffix says the format.
        overwrite: Whether it may replace one.

    Raises:
        InputError: The suffix is unknown, the file is there, or its folder is not.
    """
    form = _FORMATS.get(file.suffix.lower())
    if form is None:
        raise InputError(f"--out {file} has no known format.", "Name a .docx or an .md file.")
    if not file.parent.is_dir():
        raise InputError(f"There is no folder {file.parent}.", "Make it, or name another file.")
    if file.is_dir():
        raise InputError(f"{file} is a folder.", "Name a file in it.")
    if not overwrite and (file.exists() or file.is_symlink()):
        raise InputError(f"{file} is there already.", "Name another file, or add --overwrite.")
    return form


def write_answers(file: Path, answers: Sequence[Mapping[str, Any]], overwrite: bool) -> None:
    """Write answers to a file, in one step.

    Args:
        file: Its suffix says the format.
        answers: Their records, in the order in which they were asked for.
        overwrite: Whether the file may replace one.

    Raises:
        InputError: It cannot be written; what was there is still there.
    """
    data = exported(answers, check_writable(file, overwrite))
    try:
        write_bytes(file, data)
    except OSError as error:
        hint = remedy(error, "Name another file.")
        raise InputError(f"{file} cannot be written: {error.strerror or error}.", hint) from error


def disposition(title: str, form: Format) -> str:
    """Return the value of ``Content-Disposition`` for a file of answers to be saved."""
    name = file_name(title, form)
    plain = file_name(name.removesuffix(f".{form}").encode("ascii", "ignore").decode(), form)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"


def file_name(title: str, form: Format) -> str:
    """Return a name for a file of answers that every system takes, whatever the title holds."""
    name = " ".join(_NO_NAME.sub(" ", one_line(title)).split())
    # systems cut dots and blanks at the ends, and hide what begins with a dot
    name = name.encode()[:_NAME_BYTES].decode(errors="ignore").strip(" .-,")
    return f"{name or 'answer'}.{form}"
