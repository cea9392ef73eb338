"""Pages as pictures, and places on them as shares of the page; only of what was indexed."""

import base64
import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache, cached

from lexloop.core.errors import CorpusError, NotFoundError, Overloaded
from lexloop.core.workers import Frame, WorkerPool, WorkerProcess
from lexloop.documents.reading.drawing import page_request
from lexloop.documents.reading.formats import PAGED
from lexloop.documents.reading.source import Limits, SourceFile
from lexloop.documents.reading.workers import answers

if TYPE_CHECKING:
    from lexloop.documents.document import Box
    from lexloop.store.view import View

_MODULE = "lexloop.documents.reading.drawing"
_WIDTHS = range(100, 2401)
_STEP = 100
_LIMITS = Limits(seconds=20.0)
_PATIENCE_S = 45.0
_CACHED_BYTES = 64 << 20
_FILES = 256
_DIGITS = 5
_HINT = "Read its text."


@dataclass(frozen=True)
class Original:
    """The file of a document as it was indexed; ``inside`` names a member of an archive."""

    file: SourceFile
    inside: str

    def etag(self, page: int, width: int) -> str:
        """Return a name of the picture of a page that no other picture has."""
        said = f"{self.file.sha256}|{self.inside}|{page}|{width}"
        return f'"{hashlib.sha256(said.encode()).hexdigest()[:32]}"'


class Pages:
    """Draws pages in worker processes; the last pictures are kept.

    Args:
        workers: How many pages are drawn at once.
        limits: On what one page may take.
        cached_bytes: The most bytes of pictures that are kept.
    """

    def __init__(
        self, workers: int = 2, limits: Limits = _LIMITS, cached_bytes: int = _CACHED_BYTES
    ) -> None:
        self._limits = limits
        self._pool = WorkerPool(lambda: WorkerProcess(_MODULE, str(limits.memory)), workers)
        self._lock = Lock()
        self._files: LRUCache[Any, tuple[Any, SourceFile]] = LRUCache(_FILES)
        pictures: LRUCache[Any, bytes] = LRUCache(cached_bytes, getsizeof=len)
        self._picture = cached(
            pictures,
            lambda original, page, width: (original.file.sha256, original.inside, page, width),
            condition=Condition(),
        )(self._draw)

    def original(self, corpus: str, view: "View", document: str) -> Original:
        """Return the file of a document, once it is known to be the one that was indexed.

        The files of the collection lie where its settings say, at ``corpus``.

        Raises:
            NotFoundError: There is no such document, it has no pages, or its file is gone.
            ConflictError: Its file has changed since it was indexed.
        """
        from lexloop.store.opening import sources_of
        from lexloop.store.scan import find_again

        found = view.source_of(document)
        if found is None:
            raise NotFoundError(f"There is no document {document!r}.", "See the documents.")
        if not document.lower().endswith(PAGED):
            raise NotFoundError(f"{document} has no pages to show.", _HINT)
        name, fingerprint = found
        key = (corpus, name, fingerprint)
        with self._lock:
            held = self._files.get(key)
        if held is None or held[0] != _mark(held[1]):
            file = find_again(sources_of(corpus), name, fingerprint)
            held = (_mark(file), file)
            with self._lock:
                self._files[key] = held
        return Original(held[1], document[len(name) + 1 :])

    def picture(self, original: Original, page: int, width: int) -> bytes:
        """Return the picture of a page, in a width that ``fitting`` returns.

        Raises:
            NotFoundError: The page cannot be drawn.
            Overloaded: Too many others are being drawn.
        """
        return self._picture(original, page, width)

    def sizes(self, original: Original, pages: Iterable[int]) -> dict[int, tuple[float, float]]:
        """Return the width and height of pages as they show, in points.

        Raises:
            NotFoundError: One of them cannot be read.
            Overloaded: Too many others are being drawn.
        """
        wanted = sorted(set(pages))
        found = self._asked(original, wanted, 0)["sizes"]
        return {page: (size[0], size[1]) for page, size in zip(wanted, found, strict=True)}

    def close(self) -> None:
        """End the worker processes."""
        self._pool.__exit__()

    def _draw(self, original: Original, page: int, width: int) -> bytes:
        return base64.b64decode(self._asked(original, [page], width)["picture"])

    def _asked(self, original: Original, pages: list[int], width: int) -> Frame:
        asked = page_request(original.file, original.inside, pages, width, self._limits)
        job = self._pool.submit(self._answered, asked, original)
        try:
            return job.result(_PATIENCE_S)
        except NotInTime:
            job.cancel()
            raise Overloaded("Many pages are being drawn.", "Try again in a while.") from None

    def _answered(self, asked: Frame, original: Original) -> Frame:
        found: Frame = {}
        page, name = asked["pages"][0], original.inside or original.file.name
        try:
            with self._pool.worker() as worker:
                for frame in answers(worker, asked, self._limits):
                    worker.fit = frame.get("end", worker.fit)
                    found |= frame
        except CorpusError as error:
            what = f"Page {page} of {name} cannot be shown. {error.what}"
            raise NotFoundError(what, _HINT) from error
        if "failed" in found:
            what = f"Page {page} of {name} cannot be shown. {found['failed']}"
            raise NotFoundError(what, _HINT)
        return found


def fitting(width: int) -> int:
    """Return the width in which a page is drawn for who asks for ``width`` pixels.

    There are few, so that pictures are found again.
    """
    least, most = _WIDTHS[0], _WIDTHS[-1]
    return min(most, max(least, -(-width // _STEP) * _STEP))


def shares(boxes: "Iterable[Box]", sizes: dict[int, tuple[float, float]]) -> list[dict[str, Any]]:
    """Return for each page with boxes its size, and the boxes as shares from the top left."""
    found: dict[int, list[list[float]]] = {}
    for box in boxes:
        width, height = sizes[box.page]
        edges = (box.x0 / width, 1 - box.y1 / height, box.x1 / width, 1 - box.y0 / height)
        within = [round(min(1.0, max(0.0, edge)), _DIGITS) for edge in edges]
        found.setdefault(box.page, []).append(within)
    return [
        {"page": page, "width": sizes[page][0], "height": sizes[page][1], "boxes": boxes}
        for page, boxes in sorted(found.items())
    ]


def _mark(file: SourceFile) -> tuple[int, ...]:
    try:
        found = os.stat(file.path)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
