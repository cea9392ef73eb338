"""What a worker is asked and what it answers: one JSON object a line, never a pickle."""

import base64
import json
from dataclasses import asdict
from typing import Any

from lexloop.core.metadata import Metadata
from lexloop.corpus.load.document import Document, Limits, Part, Skipped

Frame = dict[str, Any]
"""``{"document": ...}``, ``{"skipped": ...}``, ``{"part": ...}``, ``{"failed": reason}``, or
``{"end": whether the worker is fit for another file}``."""


def request(path: str, name: str, sha256: str, start: int, limits: Limits) -> Frame:
    """A file to read, from one of its parts on."""
    return {
        "path": path,
        "name": name,
        "sha256": sha256,
        "start": start,
        "limits": asdict(limits),
    }


def to_frame(found: Document | Skipped | Part) -> Frame:
    """What a reader found, as JSON can hold it."""
    if isinstance(found, Part):
        return {"part": [found.name, found.number]}
    if isinstance(found, Skipped):
        return {"skipped": [found.name, found.reason]}
    return {
        "document": [
            found.name,
            found.title,
            found.text,
            found.metadata.as_record(),
            found.pages,
            found.headings,
            base64.b64encode(found.boxes).decode(),
        ]
    }


def from_frame(frame: Frame) -> Document | Skipped | Part:
    """The reverse of ``to_frame``."""
    if "part" in frame:
        return Part(*frame["part"])
    if "skipped" in frame:
        return Skipped(*frame["skipped"])
    name, title, text, record, pages, headings, boxes = frame["document"]
    return Document(
        name,
        title,
        text,
        Metadata.from_record(record) if record else Metadata(),
        tuple(pages),
        tuple((offset, level) for offset, level in headings),
        base64.b64decode(boxes),
    )


def encode(frame: Frame) -> bytes:
    """One line of ASCII."""
    return json.dumps(frame, separators=(",", ":")).encode() + b"\n"
