""".html: what a reader sees of a page, with its title and headings."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.cleaning import printable
from lexloop.corpus.load.document import Document
from lexloop.corpus.load.encoding import decode
from lexloop.corpus.load.lines import Lines
from lexloop.corpus.load.titles import title_of

_UNSEEN = frozenset(
    "script style nav noscript template head svg iframe object canvas math select button".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hr html legend li main ol p pre section summary table"
    " tbody tfoot thead tr ul".split()
)
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_CELLS = frozenset(("td", "th"))
_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.I)
_HEAD = 4096


def read_html(data: bytes, name: str) -> Iterator[Document]:
    """The one document of a page; scripts, styles and navigation are left out.

    Raises:
        CorpusError: It is no text of one encoding, or shows no text.
    """
    from bs4 import BeautifulSoup

    declared = _CHARSET.search(data[:_HEAD])
    source = decode(data, declared.group(1).decode() if declared else None)
    if "\x00" in source:
        raise CorpusError("It holds NUL bytes, so it is no text.", "Convert it to UTF-8.")
    soup = BeautifulSoup(source, "lxml")
    lines = Lines()
    _read(soup, lines)
    text, headings = lines.finished()
    if not text.strip():
        raise CorpusError("It shows no text.", "Remove it, or save the page as it is shown.")
    title = printable(" ".join(soup.title.get_text().split())) if soup.title else ""
    yield Document(
        name,
        title or title_of(text, PurePosixPath(name).stem),
        text,
        headings=headings,
    )


def _read(soup: Any, lines: Lines) -> None:
    """Walk the page without recursion, since pages nest as deep as they like."""
    from bs4.element import NavigableString, PreformattedString, Tag

    left: list[Any] = [(soup, False)]
    pre = 0
    while left:
        node, closing = left.pop()
        if isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString):  # comments and declarations
                lines.add(str(node), as_is=pre > 0)
        elif isinstance(node, Tag):
            pre += {"pre": -1 if closing else 1}.get(node.name, 0)
            if closing:
                _close(node.name, lines)
            elif not _unseen(node):
                _open(node.name, lines)
                left.append((node, True))
                left.extend((child, False) for child in reversed(node.contents))
            elif node.name == "pre":
                pre -= 1


def _unseen(node: Any) -> bool:
    return node.name in _UNSEEN or node.has_attr("hidden")


def _open(tag: str, lines: Lines) -> None:
    if tag in _CELLS:
        lines.cell()
    elif tag == "tr":
        lines.row()
    elif tag in _BLOCKS or tag == "br":
        lines.end()
    if tag in _HEADINGS:
        lines.heading(int(tag[1]))


def _close(tag: str, lines: Lines) -> None:
    if tag == "tr":
        lines.end_row()
    elif tag in _BLOCKS:
        lines.end()
        if tag in _HEADINGS:
            lines.heading(0)
