"""Files of offices and archives as bytes: saved, packed, and with a part changed."""

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any


def saved(made: Any) -> bytes:
    """Return a document of a library of an office as its file."""
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """Return an archive; what says its type is not compressed, as those formats want it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, kind)
    return out.getvalue()


def repacked(data: bytes, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return an archive with one of its members changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        members = {info.filename: old.read(info) for info in old.infolist()}
    return zipped({**members, part: change(members[part])})
