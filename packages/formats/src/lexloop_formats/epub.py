""".epub: the pages of a book in their order, as a reader shows them one behind another."""

import posixpath
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.archive import Archive, opened
from lexloop.documents.reading.facts import identifier_of
from lexloop.documents.reading.html import page_source, read_page
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import printable
from lexloop.documents.reading.title import chosen_title, is_file_name, own_title
from lexloop.documents.structure.tree import Hung
from lexloop_formats.xml import parsed

_PAGES = frozenset(("application/xhtml+xml", "text/html"))
_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource]:
    """Read the one document of a book; its navigation is left out, and what holds no text.

    Raises:
        CorpusError: It is damaged or encrypted, unpacks to too much, declares entities, or holds
            no text.
    """
    book = _Book(opened(data, limits))
    texts, headings, notes, length = list[str](), list[tuple[int, int]](), list[Hung](), 0
    for number in book.pages():
        page = read_page(page_source(book.part(number)))
        headings += [(length + offset, level) for offset, level in page.headings]
        notes += [(length + at, length + start, length + end) for at, start, end in page.notes]
        texts.append(page.text)
        length += len(page.text)
    yield from (SkippedSource(name, why, indexed=True) for why in book.troubles)
    text = "".join(texts)
    if not text.strip():
        raise CorpusError("It holds no text (images?).", "Give a book with text.")
    # whoever publishes a book names it, and its text may begin behind a cover that is a picture
    said = "" if is_file_name(book.said("title")) else book.said("title")
    title = said or chosen_title("", own_title(text, headings), text, PurePosixPath(name).stem)
    identifiers = (e.text for e in book.package.iter("{*}identifier", "{*}source"))
    metadata = Metadata(identifier=identifier_of(identifiers))
    hung = tuple(notes)
    yield Document(name, title, text, metadata, headings=tuple(headings), notes=hung)


class _Book:
    """The package of a book; ``troubles`` says what of it cannot be read."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._numbers = {member: number for number, member in enumerate(archive.members)}
        self.troubles: list[str] = []
        container = parsed(self._named(_CONTAINER), f"Its part {_CONTAINER}")
        root = next(container.iter("{*}rootfile"), None)
        path = root.get("full-path", "") if root is not None else ""
        self.package = parsed(self._named(path), f"Its part {path}")
        self._folder = posixpath.dirname(path)
        self._locked = self._encrypted()

    def said(self, name: str) -> str:
        """Return what the package says of the book; "" where it says nothing."""
        found = next(self.package.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}"), None)
        return " ".join(printable("".join(found.itertext())).split()) if found is not None else ""

    def part(self, number: int) -> bytes:
        """Return a part of the book.

        Raises:
            CorpusError: It cannot be unpacked, or declares entities.
        """
        data = self._archive.read(number)
        if b"<!ENTITY" in data.replace(b"\x00", b""):  # UTF-16 hides nothing
            what = f"Its part {self._archive.members[number]} declares XML entities."
            raise CorpusError(what, "Save it without them.")
        return data

    def pages(self) -> Iterator[int]:
        """Yield the places of the pages among the parts, each once, in the order of reading.

        Raises:
            CorpusError: A page is encrypted.
        """
        items = {item.get("id"): item for item in self.package.iter("{*}item")}
        seen = set[int]()
        for reference in self.package.iter("{*}itemref"):
            item = items.get(reference.get("idref"))
            if item is None:
                self.troubles.append(f"It names a page {reference.get('idref')!r} that it lacks.")
            elif "nav" not in (item.get("properties") or "").split():
                number = self._page(item)
                if number is not None and number not in seen:
                    seen.add(number)
                    yield number

    def _page(self, item: Any) -> int | None:
        """Return the place of a page among the parts; None where it is not read, which is told."""
        href, kind = item.get("href") or "", item.get("media-type") or ""
        if urlsplit(href).scheme or href.startswith("//"):
            self.troubles.append(f"Its page {href!r} lies elsewhere; nothing is fetched.")
            return None
        path = posixpath.normpath(posixpath.join(self._folder, unquote(urlsplit(href).path)))
        if path.startswith(("..", "/")):
            self.troubles.append(f"Its page {href!r} leads out of the book.")
        elif path not in self._numbers:
            self.troubles.append(f"Its page {href!r} is missing.")
        elif kind not in _PAGES:
            self.troubles.append(f"Its page {href!r} is no text but {kind or 'of no kind'}.")
        elif path in self._locked:
            raise CorpusError(f"Its page {path} is encrypted.", "Give it without protection.")
        else:
            return self._numbers[path]
        return None

    def _encrypted(self) -> set[str]:
        """Return the names of the encrypted parts; of fonts, these are often all."""
        if _ENCRYPTION not in self._numbers:
            return set()
        told = parsed(self._named(_ENCRYPTION), f"Its part {_ENCRYPTION}")
        named = (e.get("URI") or "" for e in told.iter("{*}CipherReference"))
        return {posixpath.normpath(unquote(uri)).lstrip("/") for uri in named}

    def _named(self, path: str) -> bytes:
        if path not in self._numbers:
            raise CorpusError(f"It is a damaged EPUB book: it lacks {path!r}.", "Save it anew.")
        return self.part(self._numbers[path])
