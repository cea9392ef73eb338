""".html: what a reader sees of a page, with its title and headings."""

import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.cleaning import printable
from lexloop.corpus.load.document import Document
from lexloop.corpus.load.encoding import decode
from lexloop.corpus.load.lines import Lines
from lexloop.corpus.load.numerals import numeral
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
_NAMED_HEADING = re.compile(
    r"(?:^|[-_\s])(?:h(?:ea(?:d|ding|der))?\d?|s?ti|title|caption)(?:[-_\s\d]|$)"
    r"|GroupTitle|BlockTitle|(?:Part|Chapter|Schedule)(?:Title|No|Number)\b",
    re.IGNORECASE,
)
_CLASS_LEVEL, _LONGEST_HEADING = 7, 250
"""A class that is named like a heading makes a short paragraph one, below all of the tags'."""
_MARK = re.compile(r"\(?(?:\d{1,3}|[a-z]{1,5}|[A-Z]{1,4})[).]|[-–—•·]")
_ITEM_STYLES = {"a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_NUMBERED = re.compile(r"\s*(?:\(?\w{1,5}[).]|\d+(?:\.\d+)+)\s")
_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.I)
_HEAD, _MOST_ROWS = 4096, 400


def read_html(data: bytes, name: str) -> Iterator[Document]:
    """The one document of a page; scripts, styles and navigation are left out.

    Raises:
        CorpusError: It is no text of one encoding, or shows no text.
    """
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

    declared = _CHARSET.search(data[:_HEAD])
    source = decode(data, declared.group(1).decode() if declared else None)
    if "\x00" in source:
        raise CorpusError("It holds NUL bytes, so it is no text.", "Convert it to UTF-8.")
    with warnings.catch_warnings():  # XHTML is read as a browser reads it
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
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
    layouts: set[int] = set()
    pre = 0
    while left:
        node, closing = left.pop()
        if isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString):  # comments and declarations
                lines.add(str(node), as_is=pre > 0)
        elif isinstance(node, Tag):
            pre += {"pre": -1 if closing else 1}.get(node.name, 0)
            laid_out = node.name in _TABLE_TAGS and id(_table_of(node)) in layouts
            if closing:
                _close("div" if laid_out else node.name, lines)
            elif not _unseen(node):
                if node.name == "table" and _is_layout(node):
                    layouts.add(id(node))
                    laid_out = True
                children = node.contents
                if laid_out and node.name == "tr":
                    children = _marked_row(node, lines)
                _open("div" if laid_out else node.name, lines)
                _begin(node, lines)
                left.append((node, True))
                left.extend((child, False) for child in reversed(children))
            elif node.name == "pre":
                pre -= 1


def _begin(node: Any, lines: Lines) -> None:
    """What a tag adds beside its text: the level of a heading, the number of an item."""
    if node.name in ("p", "div", "span", "caption") and _headed(node):
        lines.heading(_CLASS_LEVEL)
    elif node.name == "li" and (mark := _item_mark(node)):
        lines.mark(mark)


def _headed(node: Any) -> bool:
    """Whether a paragraph's class says that it is a heading."""
    named = " ".join(node.get("class") or [])
    if not named or not _NAMED_HEADING.search(named) or node.find(_BLOCKS & {"p", "div", "table"}):
        return False
    return 0 < len(node.get_text(" ", strip=True)) <= _LONGEST_HEADING


def _item_mark(item: Any) -> str:
    """The number that a browser shows in front of an item; nothing where its text has its own."""
    listed = item.parent
    if listed is None or listed.name not in ("ol", "ul", "menu"):
        return ""
    style = f"{listed.get('style', '')} {item.get('style', '')}".lower()
    if "none" in style or _NUMBERED.match(item.get_text()[:80].lstrip() + " "):
        return ""
    if listed.name != "ol":
        return "•"
    before = sum(1 for brother in item.previous_siblings if getattr(brother, "name", "") == "li")
    first = _whole_number(listed.get("start"), 1)
    value = _whole_number(item.get("value"), first + before)
    kind = next((k for k, name in _ITEM_STYLES.items() if name in style), listed.get("type", "1"))
    return numeral(value, kind) + "."


def _whole_number(written: Any, otherwise: int) -> int:
    text = str(written or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else otherwise


_TABLE_TAGS = frozenset("table tbody thead tfoot tr td th colgroup".split())


def _table_of(node: Any) -> Any:
    return node if node.name == "table" else node.find_parent("table")


def _rows_of(table: Any) -> list[Any]:
    return [row for row in table.find_all("tr", limit=_MOST_ROWS) if _table_of(row) is table]


def _cells_of(row: Any) -> list[Any]:
    return list(row.find_all(_CELLS, recursive=False))


def _is_layout(table: Any) -> bool:
    """Whether a table only sets numbers beside paragraphs, as the Official Journal does."""
    rows = _rows_of(table)
    if not rows or len(rows) == _MOST_ROWS:
        return False
    texts = [[c.get_text(" ", strip=True) for c in _cells_of(row)] for row in rows]
    filled = [[text for text in row if text] for row in texts]
    return all(len(row) <= 2 and (not row or _MARK.fullmatch(row[0])) for row in filled) and any(
        len(row) == 2 for row in filled
    )


def _marked_row(row: Any, lines: Lines) -> list[Any]:
    """The cells of a layout row without the one that holds the number, which goes in front."""
    filled = [cell for cell in _cells_of(row) if cell.get_text(strip=True)]
    if not filled or not _MARK.fullmatch(filled[0].get_text(" ", strip=True)):
        return list(row.contents)
    lines.mark(filled[0].get_text(" ", strip=True))
    return filled[1:]


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
