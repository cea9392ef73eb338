"""Pages of PDFs and of images as pictures, drawn in worker processes."""

import base64
import io
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lexloop.core.errors import CorpusError
from lexloop.core.workers import Frame
from lexloop.documents.reading import pdf
from lexloop.documents.reading.formats import IMAGES, read_member, reader
from lexloop.documents.reading.source import Limits, SourceFile, read_file
from lexloop.documents.reading.workers import confined

if TYPE_CHECKING:
    from PIL.Image import Image

_EFFORT, _QUALITY = 2, 80


def page_request(
    file: SourceFile, inside: str, pages: list[int], width: int, limits: Limits
) -> Frame:
    """Return the request for the sizes of all pages, or for the picture of one page.

    Args:
        file: The file as it was hashed; a changed file is refused.
        inside: Name of the member, if the file is an archive.
        pages: Their numbers, from 1.
        width: Width of the picture of the first page, in pixels; 0 for the sizes.
        limits: Memory, size and time limits.
    """
    about = {"path": str(file.path), "name": file.name, "sha256": file.sha256, "inside": inside}
    return {**about, "pages": pages, "width": width, "limits": asdict(limits)}


def answering(memory: str) -> Callable[[Frame], Iterator[Frame]]:
    """Limit the memory of this process, in bytes, and return the function that answers requests.

    The function yields one frame: ``sizes`` of the pages in points, ``picture`` in base64, or
    ``failed`` with a reason; then ``end``, as the worker that parses does.
    """
    opened = _LastOpened()

    def answer(asked: Frame, limits: Limits) -> Iterator[Frame]:
        paper = opened.opened(asked, limits)
        if asked["width"]:
            drawn = paper.drawn(asked["pages"][0], asked["width"])
            yield {"picture": base64.b64encode(drawn).decode()}
        else:
            yield {"sizes": [paper.size(number) for number in asked["pages"]]}

    return confined(memory, answer)


class _Pdf:
    """The pages of a PDF."""

    def __init__(self, data: bytes) -> None:
        self._pdf = pdf.open_pdf(data)

    def size(self, number: int) -> tuple[float, float]:
        """Return the size of a page, from 1, in points."""
        return pdf.page_size(self._pdf, number)

    def drawn(self, number: int, width: int) -> bytes:
        """Return the picture of a page, narrower than asked for if it would be too large."""
        scale = width / self.size(number)[0]
        drawn, _ = pdf.draw_page(self._pdf, number, scale)
        # lossless: a tenth of the size of PNG for a page of text, and as exact
        return _webp(drawn, number, lossless=True, method=_EFFORT)

    def close(self) -> None:
        """Close the file."""
        self._pdf.close()


class _Image:
    """The pages of an image."""

    def __init__(self, data: bytes, suffix: str) -> None:
        self._reader = reader(suffix)
        self._image = self._reader.open_image(data)

    def size(self, number: int) -> tuple[float, float]:
        """Return the size of a page, from 1, in points."""
        size: tuple[float, float] = self._reader.page_of(self._image, number - 1)[1]
        return size

    def drawn(self, number: int, width: int) -> bytes:
        """Return the picture of a page, not wider than the image."""
        shown, _ = self._reader.page_of(self._image, number - 1)
        shown.thumbnail((width, width * shown.height // shown.width + 1))
        return _webp(shown, number, quality=_QUALITY)

    def close(self) -> None:
        """Close the file."""
        self._image.close()


class _LastOpened:
    """The document that was opened last, since readers turn its pages."""

    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None
        self._paper: _Pdf | _Image | None = None

    def opened(self, asked: Frame, limits: Limits) -> _Pdf | _Image:
        key = (asked["sha256"], asked["inside"])
        if self._paper is None or key != self._key:
            if self._paper is not None:
                self._paper.close()
            self._key = self._paper = None
            data = read_file(Path(asked["path"]), asked["sha256"], limits)
            if asked["inside"]:
                data = read_member(data, asked["name"], asked["inside"], limits)
            suffix = PurePosixPath(asked["inside"] or asked["name"]).suffix.lower()
            self._paper = _Image(data, suffix) if suffix in IMAGES else _Pdf(data)
            self._key = key
        return self._paper


def _webp(drawn: "Image", number: int, **how: Any) -> bytes:
    made = io.BytesIO()
    try:
        drawn.convert("RGB").save(made, "WEBP", **how)
    except (RuntimeError, ValueError, OSError) as error:
        raise CorpusError(f"Page {number} cannot be drawn ({error}).", "Save it again.") from error
    return made.getvalue()
