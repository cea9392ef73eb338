"""Answers as a mail message (RFC 5322): the text, and a Word document of the same."""

from collections.abc import Iterator, Sequence
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import NamedTuple

from lexloop.apps.shapes.outline import Aside, Block, Facts, Heading, Line, Memo, Outline
from lexloop.apps.shapes.text import clean, one_line


class Attached(NamedTuple):
    """A file that a message carries."""

    name: str
    media_type: str
    data: bytes


def as_mail(outline: Outline, memo: Memo | None, file: Attached) -> bytes:
    """Return an outline as an unsent message, which mail programs open as a draft.

    Args:
        outline: The text.
        memo: Gives recipient and sender, if it has their addresses.
        file: The attachment.
    """
    message = EmailMessage(SMTP)
    message["Subject"] = one_line(outline.subject)
    message["Date"] = format_datetime(outline.made)
    message["X-Unsent"] = "1"
    for name, value in (("To", memo.to), ("From", memo.sender)) if memo else ():
        if address := _address(value):
            message[name] = address
    message.set_content(as_text(outline))
    kind, _, subtype = file.media_type.partition("/")
    message.add_attachment(file.data, maintype=kind, subtype=subtype, filename=file.name)
    return message.as_bytes()


def _address(text: str) -> Address | None:
    """Return the only address in a text, or None if there are several or just a name."""
    text = one_line(text)
    name, address = parseaddr(text)
    more = text.replace(address, "", 1).replace(name, "", 1).strip(' <>"')
    try:
        return Address(name, addr_spec=address) if address.count("@") == 1 and not more else None
    except (ValueError, IndexError, MessageError):
        return None


def as_text(outline: Outline) -> str:
    """Return an outline as text, with footnotes as numbers in brackets and at the end."""
    parts = [outline.title, *("\n".join(_lines(block)) for block in outline.blocks)]
    notes = [f"[{number}] {_indented(lines)}" for number, lines in outline.notes.items()]
    return clean("\n\n".join([*parts, *notes])) + "\n"


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield block.text.upper() if block.level == 1 else block.text
    elif isinstance(block, Facts):
        yield from (f"{name}: {value}".rstrip() for name, value in block.rows)
    elif isinstance(block, Aside):
        yield from (f"    {line}" for line in block.lines)
    else:
        yield ("- " if block.item else "") + _written(block)


def _written(line: Line) -> str:
    return "".join(run if isinstance(run, str) else f" [{run}]" for run in line.runs)


def _indented(lines: Sequence[str]) -> str:
    return "\n    ".join(lines)
