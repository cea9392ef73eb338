""".eml: a message, its headers and text as one document, and what is attached to it as others."""

import email
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from email.errors import (
    CloseBoundaryNotFoundDefect,
    HeaderParseError,
    MessageError,
    NoBoundaryInMultipartDefect,
    StartBoundaryNotFoundDefect,
)
from email.header import decode_header
from email.message import Message as Parsed
from email.utils import parseaddr, parsedate_to_datetime
from itertools import pairwise
from mimetypes import guess_extension
from pathlib import PurePosixPath
from typing import cast

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.html import read_page
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import as_seen, decode, printable

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_FAULTS = (ValueError, LookupError, TypeError, AttributeError, RecursionError, MessageError)
"""What the standard library raises at malformed messages."""
_CUTS = CloseBoundaryNotFoundDefect, NoBoundaryInMultipartDefect, StartBoundaryNotFoundDefect
_CUT = "It is cut off: what stood at its end is missing."
_MOST = 100
_LONGEST_NAME, _LONGEST_SUFFIX = 150, 20
_LONGEST_HEADER, _LONGEST_SENDER = 20_000, 200
_QUOTED = re.compile(r"(?:> ?)+")
_WRAPPED = range(60, 81)
"""How long programs make the lines of a plain text at most."""


def opened(data: bytes, limits: Limits) -> "Message":
    """Open a message.

    Raises:
        CorpusError: It is none, or malformed beyond reading.
    """
    try:
        message = email.message_from_bytes(data.removeprefix(BOM_UTF8))
        if any(name in message for name in ("From", "Date", "Subject")):
            flaws = [flaw for part in message.walk() for flaw in part.defects]
            return Message(message, _CUT if any(isinstance(f, _CUTS) for f in flaws) else "")
    except _FAULTS as error:
        raise CorpusError(f"It is a malformed message ({error}).", "Save it anew.") from error
    hint = "Save the message anew, or give the file the suffix of what it is."
    raise CorpusError("It begins with no From, Date or Subject, as a message does.", hint)


class Message:
    """A message and what is attached to it; pictures that its text shows are no attachments.

    Args:
        message: As the standard library parses one.
        lost: What of it is known not to be there, in words.
    """

    def __init__(self, message: Parsed, lost: str = "") -> None:
        self._message, self._lost = message, lost
        leaves = list(_leaves(message))
        self._texts = [part for part, shown in leaves if shown and _is_text(part)]
        attached = [part for part, _ in leaves if not (_is_text(part) or _is_within_text(part))]
        self._attached, self._untold = attached[:_MOST], len(attached) - _MOST
        self.members = _distinct([_name(part) for part in self._attached])
        """The names of what is attached, in order."""

    def read(self, number: int) -> bytes:
        """Return the content of what is attached, by its place in ``members``.

        Raises:
            CorpusError: It cannot be decoded.
        """
        part = self._attached[number]
        try:
            if part.get_content_maintype() == "message" and part.is_multipart():
                return _inner(part)[0].as_bytes()
            return cast(bytes, part.get_payload(decode=True) or b"")
        except _FAULTS as error:
            raise CorpusError(f"It cannot be decoded ({error}).", "Save it anew.") from error

    def own(self, name: str) -> Iterator[Document | SkippedSource]:
        """Yield the document of the message: its headers and its text, the quoted chain included.

        Raises:
            CorpusError: It is malformed.
        """
        try:
            said = {header: _header(self._message, header) for header in _HEADERS}
            place = _place(said["From"], said["Date"])
            headings = [(0, 1)] if place else []
            shown = [f"{header}: {value}" for header, value in said.items() if value]
            text = "".join(f"{line}\n" for line in (place, *shown) if line)
            for part in self._texts:
                words, marked = _words(part)
                begun = len(text) + 1
                headings += [(begun + offset, level + 1) for offset, level in marked]
                text += f"\n{words}" if words.strip() else ""
        except _FAULTS as error:
            raise CorpusError(f"It is a malformed message ({error}).", "Save it anew.") from error
        title = said["Subject"] or place or PurePosixPath(name).stem
        yield Document(name, title, text, headings=tuple(headings))
        if self._lost:
            yield SkippedSource(name, self._lost)
        if self._untold > 0:
            what = f"It has {self._untold} more attachments than the {_MOST} that are read."
            yield SkippedSource(name, what)


def _leaves(part: Parsed, shown: bool = True) -> Iterator[tuple[Parsed, bool]]:
    """Yield the parts that hold no others, and whether each is shown: of alternatives one is."""
    if part.get_content_maintype() != "multipart":
        yield part, shown
        return
    inner = _inner(part)
    chosen = _chosen(inner) if part.get_content_subtype() == "alternative" else None
    for one in inner:
        yield from _leaves(one, shown and chosen in (None, one))


def _inner(part: Parsed) -> list[Parsed]:
    return cast(list[Parsed], part.get_payload()) if part.is_multipart() else []


def _chosen(alternatives: list[Parsed]) -> Parsed | None:
    """Return the plain text among alternatives, where it says anything; else the last."""
    plain = (one for one in alternatives if one.get_content_type() == "text/plain")
    spoken = (one for one in plain if bytes(one.get_payload(decode=True) or b"").strip())
    return next(spoken, alternatives[-1] if alternatives else None)


def _is_text(part: Parsed) -> bool:
    """Return whether a part is text of the message itself."""
    spoken = part.get_content_type() in ("text/plain", "text/html")
    return spoken and not (_is_attached(part) or part.get_filename())


def _is_within_text(part: Parsed) -> bool:
    """Return whether a part is a picture that the text shows, or another form of the text."""
    if _is_attached(part):
        return False
    kind = part.get_content_maintype()
    return (kind == "image" and bool(part.get("Content-ID"))) or (
        kind == "text" and not part.get_filename()
    )


def _is_attached(part: Parsed) -> bool:
    return part.get_content_disposition() == "attachment"


def _words(part: Parsed) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text of a part, and the offset and level of each heading in it."""
    data = cast(bytes, part.get_payload(decode=True) or b"")
    declared = part.get_content_charset()
    if b"\x1b" in data and declared is not None:  # ISO-2022, whose bytes are ASCII
        text = _in_charset(data, declared)
    else:
        text = decode(data, declared) if data.strip() else ""
    if part.get_content_type() == "text/html":
        text, headings, *_ = read_page(text)
        return text, headings
    flowed = str(part.get_param("format", "")).lower() == "flowed"
    written = [printable(line) for line in as_seen(text).strip().split("\n")]
    lines = [f"{line.rstrip()}\n" for line in _unwrapped(written, flowed)]
    last = _before_quoted(lines)
    marked = ((sum(map(len, lines[:last])), 1),) if last is not None else ()
    return "".join(lines), marked


def _before_quoted(lines: list[str]) -> int | None:
    """Return the line that says who wrote what is quoted at the end; None where none does."""
    number = len(lines)
    while number and (_QUOTED.match(lines[number - 1]) or not lines[number - 1].strip()):
        number -= 1
    leads = 0 < number < len(lines) and lines[number - 1].rstrip().endswith(":")
    return number - 1 if leads else None


def _unwrapped(lines: list[str], flowed: bool) -> Iterator[str]:
    """Yield the lines of a plain text as they were written, before a program wrapped them.

    ``flowed`` ones end with a blank where they go on. Others go on where the next word would have
    made them longer than the longest line, which is as long as programs make one.
    """
    width = max((len(_quoted(line)[1].rstrip()) for line in lines), default=0)
    wrapped = width in _WRAPPED
    held = ""
    for line, after in pairwise([*lines, ""]):
        (mark, own), (next_mark, rest) = _quoted(line), _quoted(after)
        goes_on = line.endswith(" ") and line != "-- "
        if not flowed:
            first = (rest.split() or [""])[0]
            goes_on = wrapped and len(own.rstrip()) + 1 + len(first) > width
        if goes_on and rest.strip() and mark == next_mark:
            held = f"{held or mark}{own.strip()} "
        else:
            yield f"{held}{own.strip()}" if held else line
            held = ""


def _quoted(line: str) -> tuple[str, str]:
    """Return the marks before a line of another message, and the line without them."""
    marks = _QUOTED.match(line)
    return (marks[0], line[marks.end() :]) if marks else ("", line)


def _place(sender: str, date: str) -> str:
    """Return what a citation calls a message; "" where nobody says of whom and when it is."""
    name, address = parseaddr(sender[:_LONGEST_SENDER])
    of = f" from {name or address}" if name or address else ""
    return f"Message{of}{f', {date[:10]}' if date else ''}" if of or date else ""


def _header(message: Parsed, name: str) -> str:
    """Return a header as one line; a date in ISO's form, where it is one."""
    written = (value for key, value in message.raw_items() if key.lower() == name.lower())
    value = _decoded(next(written, ""))
    if name == "Date":
        with suppress(ValueError, OverflowError):
            return in_iso(parsedate_to_datetime(value))
    return value


def _decoded(written: str) -> str:
    """Return what a header says, on one line.

    The standard library's own reading of addresses takes minutes for a hostile one.
    """
    raw = str(written)[:_LONGEST_HEADER]
    if not raw.isascii() and any("\udc80" <= char <= "\udcff" for char in raw):
        raw = decode(raw.encode("ascii", "surrogateescape"))
    try:
        parts = decode_header(raw)
    except HeaderParseError:
        parts = [(raw, None)]
    said = "".join(
        part if isinstance(part, str) else _in_charset(part, charset or "")
        for part, charset in parts
    )
    return " ".join(printable(said).split())


def _in_charset(data: bytes, charset: str) -> str:
    """Return bytes as text; in a set of characters that nobody knows, letter by letter."""
    with suppress(LookupError, UnicodeError):
        return data.decode(charset or "latin-1", "replace")
    return data.decode("latin-1")


def in_iso(moment: datetime) -> str:
    """Return a moment as its message shows it: ``2024-03-05 14:02 +01:00``."""
    written = moment.isoformat(" ", "minutes")
    return f"{written[:16]} {written[16:]}".rstrip()


def _name(part: Parsed) -> str:
    """Return the name of what is attached, without folders, as text of one line."""
    given = _decoded(part.get_filename() or "")
    if part.get_content_type() == "message/rfc822":
        subject = next((_header(one, "Subject") for one in _inner(part)), "")
        given = (given or subject or "message").replace("/", " ").removesuffix(".eml") + ".eml"
    last = " ".join(given.replace("\\", "/").rpartition("/")[2].split())
    plain = "".join(char for char in last if char.isprintable()).strip(" .")
    stem, dot, suffix = plain.rpartition(".")
    if not dot:
        stem, suffix = plain, (guess_extension(part.get_content_type()) or "").lstrip(".")
    named = (stem or "attachment")[:_LONGEST_NAME]
    return f"{named}.{suffix[:_LONGEST_SUFFIX]}" if suffix else named


def _distinct(names: list[str]) -> list[str]:
    """Return names of which none comes twice: the second ``a.pdf`` is ``a (2).pdf``."""
    found: list[str] = []
    for name in names:
        path, number, own = PurePosixPath(name), 1, name
        while own in found:
            number += 1
            own = f"{path.stem} ({number}){path.suffix}"
        found.append(own)
    return found
