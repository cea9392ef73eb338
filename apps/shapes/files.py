"""An answer or a thread as a file: Markdown, Word, or mail, with a footnote for every source."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args
from urllib.parse import quote

from lexloop.apps.shapes.outline import (
    PLAIN,
    Aside,
    Block,
    Facts,
    Heading,
    Layout,
    Line,
    Outline,
    Run,
    outline_of,
)
from lexloop.apps.shapes.text import one_line
from lexloop.core.errors import InputError
from lexloop.core.files import remedy, write_bytes

Form = TypeVar("Form", bound=str)
Format = Literal["docx", "md", "eml"]
MEDIA_TYPES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eml": "message/rfc822",
    "html": "text/html; charset=utf-8",
    "ics": "text/calendar; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Of every file that is written, by its suffix."""
_FORMATS: dict[str, Format] = {f".{form}": form for form in get_args(Format)}
_NAME_BYTES = 120
# separators of folders, drives or fields, characters that shells or browsers read, and non-letters
_NO_NAME = re.compile(r"[^\w \-.,()§]+")
# what opens markup anywhere in a line; angle brackets and ampersands become entities, which also
# readers that do not unescape a backslash before them take for text
_MARKUP = re.compile(r"[\\`*_\[\]{}|~$^#]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ENTITY = re.compile("[&<>]")
# what opens a block at the start of a line: a list, a rule, a definition; a numbered list
_OPENING = re.compile(r"^(\s*)([+\-=:])")
_ORDINAL = re.compile(r"^(\s*\d+)([.)])(?=\s|$)")
# addresses that readers make links of by themselves
_ADDRESS = re.compile(r"(?i)(?<=[a-z])(:)(?=/)|(?<=www)(\.)|@|(?<=mailto)(:)|(?<=xmpp)(:)")


def exported(
    answers: Sequence[Mapping[str, Any]],
    form: Format,
    title: str = "",
    cut: bool = False,
    layout: Layout = PLAIN,
) -> bytes:
    """Return a file of answers, which says what ``outline_of`` returns."""
    return in_form(outline_of(answers, title, cut, layout), form, layout)


def in_form(outline: Outline, form: Format, layout: Layout) -> bytes:
    """Return an outline as a file of a format."""
    if form == "md":
        return as_markdown(outline).encode()
    from lexloop.apps.shapes.word import as_word

    word = as_word(outline)
    if form == "docx":
        return word
    from lexloop.apps.shapes.mail import Attached, as_mail

    name = file_name(outline.subject, "docx")
    return as_mail(outline, layout.memo, Attached(name, MEDIA_TYPES["docx"], word))


def check_writable(file: Path, overwrite: bool) -> Format:
    """Return the format of answers that a file's suffix names; see ``named_form``."""
    return named_form(file, overwrite, _FORMATS)


def named_form(file: Path, overwrite: bool, forms: Mapping[str, Form]) -> Form:
    """Return the format that a file's suffix names, once it is sure that it can be written.

    Raises:
        InputError: The suffix is unknown, the file is there, or its folder is not.
    """
    form = forms.get(file.suffix.lower())
    if form is None:
        *first, last = forms
        hint = f"Name a file that ends in {', '.join(first)} or {last}."
        raise InputError(f"--out {file} has no known format.", hint)
    if not file.parent.is_dir():
        raise InputError(f"There is no folder {file.parent}.", "Create it, or name another file.")
    if file.is_dir():
        raise InputError(f"{file} is a folder.", "Name a file in it.")
    if not overwrite and (file.exists() or file.is_symlink()):
        raise InputError(f"{file} is there already.", "Name another file, or add --overwrite.")
    return form


def write_answers(
    file: Path, answers: Sequence[Mapping[str, Any]], overwrite: bool, layout: Layout = PLAIN
) -> None:
    """Write answers to a file of the format that its suffix names, in one step.

    Raises:
        InputError: It cannot be written. An existing file is unchanged.
    """
    form = check_writable(file, overwrite)
    write_whole(file, exported(answers, form, layout=layout))


def write_whole(file: Path, data: bytes) -> None:
    """Write a requested file in one step.

    Raises:
        InputError: It cannot be written. An existing file is unchanged.
    """
    try:
        write_bytes(file, data)
    except OSError as error:
        hint = remedy(error, "Name another file.")
        raise InputError(f"{file} cannot be written: {error.strerror or error}.", hint) from error


def disposition(title: str, form: str) -> str:
    """Return the value of ``Content-Disposition`` for a file of answers to be saved."""
    name = file_name(title, form)
    plain = file_name(name.removesuffix(f".{form}").encode("ascii", "ignore").decode(), form)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"


def file_name(title: str, form: str) -> str:
    """Return a file name for answers that every system accepts, for any title."""
    name = " ".join(_NO_NAME.sub(" ", one_line(title)).split())
    # systems cut dots and blanks at the ends, and hide what begins with a dot
    name = name.encode()[:_NAME_BYTES].decode(errors="ignore").strip(" .-,")
    return f"{name or 'answer'}.{form}"


def as_markdown(outline: Outline) -> str:
    """Return an outline as Markdown with footnotes."""
    parts = [f"# {escaped(outline.title)}"]
    after_item = False
    for block in outline.blocks:
        text = _block(block)
        item = isinstance(block, Line) and block.item
        if item and after_item:
            parts[-1] += f"\n{text}"
        else:
            parts.append(text)
        after_item = item
    parts += [_note(number, lines) for number, lines in outline.notes.items()]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Escape a line of text, so that Markdown shows it without markup, links or HTML."""
    text = _MARKUP.sub(r"\\\g<0>", text)
    text = _ENTITY.sub(lambda match: _ENTITIES[match[0]], text)
    text = _ADDRESS.sub(lambda match: f"&#{ord(match[0])};", text)
    return _ORDINAL.sub(r"\1\\\2", _OPENING.sub(r"\1\\\2", text))


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * (block.level + 1)} {escaped(block.text)}"
    if isinstance(block, Facts):
        return "\n".join(f"- **{escaped(name)}:** {escaped(value)}" for name, value in block.rows)
    if isinstance(block, Aside):
        return "\n".join(f"> {line}" for line in _broken(block.lines))
    text = "".join(run if isinstance(run, str) else f"[^{run}]" for run in _escaped(block))
    return f"- {text}" if block.item else text


def _escaped(line: Line) -> Iterator[Run]:
    for run in line.runs:
        yield escaped(run) if isinstance(run, str) else run


def _note(number: int, lines: Sequence[str]) -> str:
    """Return a footnote; its further lines are indented, as readers of footnotes want them."""
    return f"[^{number}]: " + "\n    ".join(_broken(lines))


def _broken(lines: Sequence[str]) -> list[str]:
    """Return escaped lines, each but the last with the two blanks that break it there."""
    shown = [escaped(line) for line in lines]
    return [*(f"{line}  " for line in shown[:-1]), *shown[-1:]]
