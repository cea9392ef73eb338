""".png, .jpg, .tif: the text on pictures of pages, recognised."""

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.pdf import Picture, written
from lexloop.documents.reading.pdf_page import Sheet
from lexloop.documents.reading.source import Limits, PageRead
from lexloop_formats.recognising import NEEDED, is_available
from lexloop_formats.scan import MOST_SCANS, advice, even, read_scans

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "TIFF")
_MOST_PIXELS = 75_000_000
"""What a page of A3 has at 600 dots an inch."""
_LONGER_EDGE = 842.0
"""Of a page, in points, as of A4: few images say rightly how large they were."""
_WIDE = "I;16"


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource | PageRead]:
    """Yield the document on an image's pages, and those of them that could not be read.

    Raises:
        CorpusError: It is damaged or too large, no text is on it, or nothing here can read it.
    """
    if not is_available():
        raise CorpusError(f"It is a picture. {NEEDED}", "Install one of them.")
    with open_image(data) as image:
        count = pages_in(image)
        sheets: dict[int, Sheet] = {}
        troubles: list[SkippedSource] = []
        for found in read_scans(range(count), lambda n: page_of(image, n), name, sheets):
            if isinstance(found, PageRead):
                yield found
            else:
                troubles.append(found)
    if count > MOST_SCANS:
        what = f"It has {count} pages, of which the first {MOST_SCANS} were read."
        troubles.append(SkippedSource(name, what))
    if not sheets:
        raise CorpusError(troubles[0].reason, "Scan it again.")
    yield from troubles
    blank = Sheet(_LONGER_EDGE, [], [], True)
    pages = [sheets.get(n, blank) for n in range(max(sheets) + 1)]
    even(pages)
    yield from written(pages, name, "", advice(len(pages)))


def open_image(data: bytes) -> "Image":
    """Open an image, of which only the head is read; whoever opens it closes it.

    Raises:
        CorpusError: It is damaged, of another format, or has far too many pixels.
    """
    import PIL.Image

    with _readable():
        return PIL.Image.open(io.BytesIO(data), formats=_FORMATS)


def pages_in(image: "Image") -> int:
    """Return the number of an image's pages.

    Raises:
        CorpusError: It is damaged.
    """
    with _readable():
        return int(getattr(image, "n_frames", 1))


def page_of(image: "Image", number: int) -> Picture:
    """Return the picture of a page, from 0, as it shows, and the size of the page in points.

    Raises:
        CorpusError: There is no such page, or it is damaged or too large.
    """
    import PIL.Image
    from PIL import ImageOps

    with _readable():
        image.seek(number)
        if image.width * image.height > _MOST_PIXELS:
            what = f"It has {image.width} by {image.height} pixels, more than {_MOST_PIXELS}."
            raise CorpusError(what, "Scan it at 300 dots an inch.")
        image.load()
        shown: Image = image
        if image.mode.startswith(_WIDE):
            shown = image.point(lambda shade: shade / 256).convert("L")
        if shown.has_transparency_data:
            ground = PIL.Image.new("RGBA", shown.size, "white")
            shown = PIL.Image.alpha_composite(ground, shown.convert("RGBA"))
        shown = ImageOps.exif_transpose(shown).convert("RGB")
    scale = _LONGER_EDGE / max(shown.size)
    return shown, (shown.width * scale, shown.height * scale)


@contextmanager
def _readable() -> Iterator[None]:
    import PIL.Image

    try:
        yield
    except PIL.Image.DecompressionBombError as error:
        raise CorpusError(f"It has too many pixels ({error}).", "Scan it again.") from error
    except PIL.UnidentifiedImageError as error:  # its words name the buffer
        raise CorpusError("It is a damaged image.", "Scan it again.") from error
    except (OSError, ValueError, TypeError, SyntaxError, EOFError, struct.error) as error:
        raise CorpusError(f"It is a damaged image ({error}).", "Scan it again.") from error
