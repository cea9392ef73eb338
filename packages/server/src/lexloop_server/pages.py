"""Pictures of the pages of indexed documents, and places on them as fractions of the page."""

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
    """The indexed file of a document. ``inside`` names a member of an archive."""

    file: SourceFile
    inside: str

    def etag(self, page: int, width: int) -> str:
        """Return a name of the picture of a page that no other picture has."""
        identity = f"{self.file.sha256}|{self.inside}|{page}|{width}"
        return f'"{hashlib.sha256(identity.encode()).hexdigest()[:32]}"'


class Pages:
    """Draws pages in worker processes, and caches the last pictures.

    Args:
        workers: The number of pages drawn at once.
        limits: The limits on drawing one page.
        cached_bytes: The maximum size of cached pictures, in bytes.
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
        """Return the file of a document, after checking that it is the one that was indexed.

        The files of the collection are at ``corpus``, as its settings say.

        Raises:
            NotFoundError: There is no such document, it has no pages, or its file is gone.
            ConflictError: Its file has changed since it was indexed.
        """
        from lexloop.store.opening import sources_of
        from lexloop.store.scan import find_again

        origin = view.access.source_of(document)
        if origin is None:
            raise NotFoundError(f"There is no document {document!r}.", "See the documents.")
        if not document.lower().endswith(PAGED):
            raise NotFoundError(f"{document} has no pages to show.", _HINT)
        name, fingerprint = origin
        key = (corpus, name, fingerprint)
        with self._lock:
            cached = self._files.get(key)
        if cached is None or cached[0] != _mark(cached[1]):
            file = find_again(sources_of(corpus), name, fingerprint)
            cached = (_mark(file), file)
            with self._lock:
                self._files[key] = cached
        return Original(cached[1], document[len(name) + 1 :])

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
        numbers = sorted(set(pages))
        sizes = self._asked(original, numbers, 0)["sizes"]
        return {page: (size[0], size[1]) for page, size in zip(numbers, sizes, strict=True)}

    def close(self) -> None:
        """End the worker processes."""
        self._pool.__exit__()

    def _draw(self, original: Original, page: int, width: int) -> bytes:
        return base64.b64decode(self._asked(original, [page], width)["picture"])

    def _asked(self, original: Original, pages: list[int], width: int) -> Frame:
        request = page_request(original.file, original.inside, pages, width, self._limits)
        job = self._pool.submit(self._answered, request, original)
        try:
            return job.result(_PATIENCE_S)
        except NotInTime:
            job.cancel()
            raise Overloaded("Many pages are being drawn.", "Try again in a while.") from None

    def _answered(self, request: Frame, original: Original) -> Frame:
        reply: Frame = {}
        page, name = request["pages"][0], original.inside or original.file.name
        try:
            with self._pool.worker() as worker:
                for frame in answers(worker, request, self._limits):
                    worker.fit = frame.get("end", worker.fit)
                    reply |= frame
        except CorpusError as error:
            problem = f"Page {page} of {name} cannot be shown. {error.what}"
            raise NotFoundError(problem, _HINT) from error
        if "failed" in reply:
            problem = f"Page {page} of {name} cannot be shown. {reply['failed']}"
            raise NotFoundError(problem, _HINT)
        return reply


def fitting(width: int) -> int:
    """Return the width in which to draw a page for a request of ``width`` pixels.

    There are only a few widths, so that cached pictures can be reused.
    """
    least, most = _WIDTHS[0], _WIDTHS[-1]
    return min(most, max(least, -(-width // _STEP) * _STEP))


def shares(boxes: "Iterable[Box]", sizes: dict[int, tuple[float, float]]) -> list[dict[str, Any]]:
    """Return for each page with boxes its size, and the boxes as shares from the top left."""
    pages: dict[int, list[list[float]]] = {}
    for box in boxes:
        width, height = sizes[box.page]
        edges = (box.x0 / width, 1 - box.y1 / height, box.x1 / width, 1 - box.y0 / height)
        within = [round(min(1.0, max(0.0, edge)), _DIGITS) for edge in edges]
        pages.setdefault(box.page, []).append(within)
    return [
        {"page": page, "width": sizes[page][0], "height": sizes[page][1], "boxes": boxes}
        for page, boxes in sorted(pages.items())
    ]


def _mark(file: SourceFile) -> tuple[int, ...]:
    try:
        status = os.stat(file.path)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
