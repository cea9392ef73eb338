"""Pages of a PDF as pictures, drawn in a worker process: the files are untrusted."""

import base64
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.core.workers import Frame
from lexloop.documents.reading.source import Limits, SourceFile, read_file
from lexloop.documents.reading.workers import confined

_MOST_PIXELS = 16_000_000
_LONGEST_EDGE = 16_383
"""WebP has no longer ones."""
_EFFORT = 2


def page_request(
    file: SourceFile, inside: str, pages: list[int], width: int, limits: Limits
) -> Frame:
    """Return the request for the sizes of pages, or for the picture of one.

    Args:
        file: As it was hashed; one that changed since is refused.
        inside: The name of the member, where it is an archive.
        pages: Their numbers, from 1.
        width: Of the picture of the first page, in pixels; 0 for the sizes.
        limits: On what it may take.
    """
    about = {"path": str(file.path), "sha256": file.sha256, "inside": inside}
    return {**about, "pages": pages, "width": width, "limits": asdict(limits)}


def answering(memory: str) -> Callable[[Frame], Iterator[Frame]]:
    """Limit the memory of this process to some bytes, and return what answers requests.

    It gives one frame, ``sizes`` of the pages as they show, in points, or ``picture`` in base64,
    or ``failed`` with a reason; then ``end``, as the worker that parses.
    """
    held = _Held()

    def answer(asked: Frame, limits: Limits) -> Iterator[Frame]:
        pdf = held.opened(asked, limits)
        if asked["width"]:
            drawn = _drawn(pdf, asked["pages"][0], asked["width"])
            yield {"picture": base64.b64encode(drawn).decode()}
        else:
            yield {"sizes": [_size(_page(pdf, number)) for number in asked["pages"]]}

    return confined(memory, answer)


class _Held:
    """The document that was opened last: who reads turns its pages."""

    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None
        self._pdf: Any = None

    def opened(self, asked: Frame, limits: Limits) -> Any:
        from lexloop.documents.reading.pdf import open_pdf
        from lexloop.documents.reading.source import read_member

        key = (asked["sha256"], asked["inside"])
        if key != self._key:
            if self._pdf is not None:
                self._pdf.close()
            self._key = self._pdf = None
            data = read_file(Path(asked["path"]), asked["sha256"], limits)
            if asked["inside"]:
                data = read_member(data, asked["inside"], limits)
            self._pdf = open_pdf(data)
            self._key = key
        return self._pdf


def _page(pdf: Any, number: int) -> Any:
    import pypdfium2

    if not 1 <= number <= len(pdf):
        raise CorpusError(f"It has {len(pdf)} pages, and no page {number}.", "Name another.")
    try:
        return pdf[number - 1]
    except pypdfium2.PdfiumError as error:
        raise CorpusError(f"Page {number} is damaged ({error}).", "Save it anew.") from error


def _size(page: Any) -> tuple[float, float]:
    """Return the width and height of a page as it shows: cropped and turned."""
    width, height = page.get_size()
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise CorpusError(f"The page is {width} by {height} points.", "Save it anew.")
    return width, height


def _drawn(pdf: Any, number: int, wanted: int) -> bytes:
    """Return the picture of a page, narrower than wanted where it would be too large."""
    page = _page(pdf, number)
    width, height = _size(page)
    most = min(
        math.sqrt(_MOST_PIXELS / (width * height)), _LONGEST_EDGE / max(width, height) * 0.99
    )
    try:
        bitmap = page.render(scale=min(wanted / width, most))
        made = io.BytesIO()
        # lossless: of a page of text it is a tenth of PNG, and as exact
        bitmap.to_pil().convert("RGB").save(made, "WEBP", lossless=True, method=_EFFORT)
    except (RuntimeError, ValueError, OSError) as error:
        raise CorpusError(f"Page {number} cannot be drawn ({error}).", "Save it anew.") from error
    finally:
        page.close()
    return made.getvalue()
