""".msg: a message as Outlook saves it, read as one of the form in which messages are sent."""

import io
import struct
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from email.utils import format_datetime, formataddr
from typing import TYPE_CHECKING, Any

from lexloop.core.errors import CorpusError
from lexloop.documents.reading.source import Limits
from lexloop_formats.mail import Message

if TYPE_CHECKING:
    from oxmsg import Message as OutlookMessage

_DELIVERED, _RECIPIENT_TYPE, _RICH, _CONTENT_ID = 0x0E06, 0x0C15, 0x1009, 0x3712
_NAME, _ADDRESS, _SMTP_ADDRESS = 0x0C1A, 0x0C1F, 0x5D01  # of the sender
_SHORT_NAME = 0x3704
_RECIPIENTS = {1: "To", 2: "Cc"}
_PROPERTIES, _ATTACHED_MESSAGE = "__properties_version1.0", "__substg1.0_3701000D"
_HEADER, _PROPERTY, _FILLED_UP = 24, 16, bytes(8)
"""The properties of an attached message have a shorter header than those of a file, as Outlook
writes them; other programs write the same."""
_DEEPEST = 5
_ONLY_RICH = "Its text is kept as rich text alone, which is not read: save it as .eml or .pdf."


def opened(data: bytes, limits: Limits) -> Message:
    """Open a message.

    Raises:
        CorpusError: It is damaged.
    """
    from olefile import OleFileIO
    from oxmsg import Message as OutlookMessage
    from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError
    from oxmsg.storage import Storage

    faults = (OSError, ValueError, LookupError, TypeError, AttributeError, AssertionError)
    coding = (UnrecognizedCodePageError, UnsupportedEncodingError, struct.error, OverflowError)
    try:
        with OleFileIO(io.BytesIO(data)) as file:
            message = OutlookMessage(Storage.from_ole(file))
        return Message(_as_sent(message, 0), _lost(message))
    except (*faults, *coding, RecursionError) as error:
        raise CorpusError(f"It is a damaged message ({error}).", "Save it again.") from error


def _lost(message: "OutlookMessage") -> str:
    rich = message.properties.binary_prop_value(_RICH)
    return _ONLY_RICH if rich and not (message.body or message.html_body) else ""


def _as_sent(message: "OutlookMessage", depth: int) -> EmailMessage:
    """Return a message in the form in which one is sent, with those attached to it."""
    sent = EmailMessage()
    for header, value in _headers(message):
        if (said := " ".join(value.split())) and header not in sent:
            sent[header] = said
    plain, page = message.body, message.html_body
    if plain and plain.strip():
        sent.set_content(plain)
    elif page:
        sent.set_content(page, subtype="html")
    if depth < _DEEPEST:
        for attachment in message.attachments:
            _attach(attachment, sent, depth, page or "")
    return sent


def _headers(message: "OutlookMessage") -> Iterator[tuple[str, str]]:
    """Yield headers as they were sent, and those that Outlook's own fields give in their place."""
    headers = message.message_headers
    for name in ("From", "To", "Cc", "Date"):
        yield name, next((v for key, v in headers.items() if key.lower() == name.lower()), "")
    own = message.properties
    address = own.str_prop_value(_SMTP_ADDRESS) or own.str_prop_value(_ADDRESS)
    yield "From", _address(own.str_prop_value(_NAME), address)
    for kind, name in _RECIPIENTS.items():
        found = (
            one
            for one in message.recipients
            if one.properties.int_prop_value(_RECIPIENT_TYPE) == kind
        )
        yield name, ", ".join(_address(one.name, one.email_address) for one in found)
    moment = message.sent_date or own.date_prop_value(_DELIVERED)
    yield "Date", format_datetime(moment) if moment else ""
    yield "Subject", message.subject


def _address(name: str | None, address: str | None) -> str:
    """Return a person as messages name one: addresses within a company's Exchange say nothing."""
    named, plain = " ".join((name or "").split()).strip("'"), (address or "").strip()
    if "@" not in plain:
        return named
    return formataddr(("" if named == plain else named, plain), charset="utf-8")


def _attach(attachment: Any, sent: EmailMessage, depth: int, page: str) -> None:
    """Attach what is attached to a message; pictures that its page shows are within the text."""
    own = attachment.properties
    name = attachment.file_name or own.str_prop_value(_SHORT_NAME)
    within = (one for one in attachment._storage.storages if one.name == _ATTACHED_MESSAGE)
    storage = next(within, None)
    # an object of another program, as a drawing, lies in the same place
    if storage is not None and any(one.name == _PROPERTIES for one in storage.streams):
        inner = _as_sent(_as_file(storage), depth + 1)
        sent.add_attachment(inner, filename=f"{inner.get('Subject') or name or 'message'}.eml")
        return
    kind, _, subkind = str(attachment.mime_type).partition("/")
    content_id = (own.str_prop_value(_CONTENT_ID) or "").strip("<>")
    shown = kind == "image" and content_id and f"cid:{content_id}" in page
    data = attachment.file_bytes or b""
    if kind in ("text", "message", "multipart") or not subkind:
        kind, subkind = "application", "octet-stream"  # as it is, whatever its kind
    sent.add_attachment(
        data,
        kind,
        subkind,
        filename=name,
        disposition="inline" if shown else "attachment",
        cid=f"<{content_id}>" if content_id else None,
    )


def _as_file(storage: Any) -> "OutlookMessage":
    """Return an attached message as if its storage were a file of its own."""
    from oxmsg import Message as OutlookMessage

    streams = (
        replace(one, bytes_=one.bytes_[:_HEADER] + _FILLED_UP + one.bytes_[_HEADER:])
        if one.name == _PROPERTIES and len(one.bytes_) % _PROPERTY == _HEADER % _PROPERTY
        else one
        for one in storage.streams
    )
    return OutlookMessage(replace(storage, streams=tuple(streams)))
