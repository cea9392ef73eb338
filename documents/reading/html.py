""".html: the visible text of a page, with its title and headings."""

import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document
from lexloop.documents.reading.facts import identifier_of
from lexloop.documents.reading.page_notes import take_notes
from lexloop.documents.reading.page_tables import square_tables
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import LineWriter, decode, numeral, printable, whole_number
from lexloop.documents.reading.title import chosen_title, own_title
from lexloop.documents.structure.tree import Hung

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
_TABLE_TAGS = frozenset("table tbody thead tfoot tr td th colgroup".split())
_NAMED_HEADING = re.compile(
    r"(?:^|[-_\s])(?:h(?:ea(?:d|ding|der))?\d?|s?ti|title|caption)(?:[-_\s\d]|$)"
    r"|GroupTitle|BlockTitle|(?:Part|Chapter|Schedule)(?:Title|No|Number)\b",
    re.IGNORECASE,
)
_CLASS_LEVEL, _LONGEST_HEADING = 7, 250
"""A class that is named like a heading makes a short paragraph one, below all of the tags'."""
_MARK = re.compile(r"\(?(?:\d{1,3}|[a-z]{1,5}|[A-Z]{1,4})[).]|\d{1,3}(?:\.\d{1,3}){1,4}\.?|[-–—•·]")
_ITEM_STYLES = {"a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_NUMBERED = re.compile(r"\s*(?:\(?\w{1,5}[).]|\d+(?:\.\d+)+)\s")
_CHARSET = re.compile(
    rb"<(?:meta|\?xml)[^<>]*?(?:charset|encoding)\s*=\s*+[\"']?\s*+([\w-]+)", re.I
)
_IDENTIFYING = frozenset(
    ("eli:id_local", "eli:uri", "dc.identifier", "dcterms.identifier", "celex")
)
_HEAD, _MOST_ROWS = 4096, 400
_LONGEST_MARK, _MOST_INNER = 80, 100
_BEGINNING = 1000
_DEEPEST = 16
"""Tables that lie in each other deeper than this are no longer looked at for what they set."""


class Page(NamedTuple):
    """What a page shows: text, offset and level of each heading, title and footnotes."""

    text: str
    headings: tuple[tuple[int, int], ...]
    title: str
    notes: tuple[Hung, ...]


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document]:
    """Read the one document of a page; scripts, styles and navigation are left out.

    Raises:
        CorpusError: It is no text of one encoding, or shows no text.
    """
    soup = _parsed(page_source(data))
    text, headings, title, notes = _shown(soup)
    if not text.strip():
        raise CorpusError("It shows no text.", "Remove it, or save the page as it is shown.")
    own = _headed(text, headings) or own_title(text)
    title = chosen_title(title, own, text, PurePosixPath(name).stem)
    metadata = Metadata(identifier=identifier_of(_identifiers(soup)))
    yield Document(name, title, text, metadata, headings=headings, notes=notes)


def _headed(text: str, headings: tuple[tuple[int, int], ...]) -> str:
    """Return the headings of one level with which a page begins; "" where it begins with none."""
    lines: list[str] = []
    end = headings[0][0] if headings and headings[0][0] < _BEGINNING else -1
    for offset, level in headings:
        if offset != end or level != headings[0][1] or offset > _BEGINNING:
            break
        end = text.find("\n", offset) + 1
        lines.append(text[offset:end].strip())
    return " ".join(lines)


def page_source(data: bytes) -> str:
    """Return the source of a page, by the encoding that it names.

    Raises:
        CorpusError: It is no text of one encoding.
    """
    declared = _CHARSET.search(data[:_HEAD])
    source = decode(data, declared.group(1).decode() if declared else None)
    if "\x00" in source:
        raise CorpusError("It holds NUL bytes, so it is no text.", "Convert it to UTF-8.")
    return source


def read_page(source: str) -> Page:
    """Return what a page shows."""
    return _shown(_parsed(source))


def _parsed(source: str) -> Any:
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

    with warnings.catch_warnings():  # XHTML is read as a browser reads it
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(source, "lxml")


def _shown(soup: Any) -> Page:
    lines = LineWriter()
    title = printable(" ".join(soup.title.get_text().split())) if soup.title else ""
    notes = take_notes(soup)
    square_tables(soup)
    _read(soup, lines, notes)
    return Page(*lines.finished(), title, lines.notes)


def _identifiers(soup: Any) -> Iterator[str]:
    """Yield what may identify the law that a page shows, the likeliest first."""
    for tag in soup.find_all(("meta", "link"), limit=_MOST_ROWS):
        named = str(tag.get("property") or tag.get("name") or "").lower()
        if named in _IDENTIFYING or "canonical" in (tag.get("rel") or ()):
            yield str(tag.get("content") or tag.get("resource") or tag.get("href") or "")


def _read(soup: Any, lines: LineWriter, notes: dict[int, tuple[str, str]]) -> None:
    """Read the page without recursion, since pages nest to any depth.

    Args:
        soup: The page without its footnotes.
        lines: Where it is written.
        notes: The mark and the text of each footnote by the tag that it hangs on.
    """
    from bs4.element import NavigableString, PreformattedString

    left: list[tuple[Any, bool]] = [(soup, False)]
    layouts: list[bool] = []  # of each open table, whether it only sets numbers
    counts: dict[int, int] = {}
    pre = 0
    while left:
        node, closing = left.pop()
        if isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString):  # comments and declarations
                lines.add(str(node), as_is=pre > 0)
            continue
        if not closing and (node.name in _UNSEEN or node.has_attr("hidden") or id(node) in notes):
            lines.note(*notes.get(id(node), ("", "")))
            continue
        if node.name == "pre":
            pre += -1 if closing else 1
        if node.name == "table" and not closing:
            layouts.append(len(layouts) < _DEEPEST and _is_layout(node))
        laid_out = node.name in _TABLE_TAGS and bool(layouts) and layouts[-1]
        tag = "div" if laid_out else node.name
        if closing:
            if node.name == "table":
                layouts.pop()
            _close(tag, lines)
            continue
        children = _marked_row(node, lines) if laid_out and node.name == "tr" else node.contents
        _open(node, tag, lines)
        if node.name == "li" and (mark := _item_mark(node, counts)):
            lines.mark(mark)
        left.append((node, True))
        left.extend((child, False) for child in reversed(children))


def _open(node: Any, tag: str, lines: LineWriter) -> None:
    """Begin a tag's line, row or cell, with the level of a heading."""
    if tag in _CELLS:
        lines.cell()
    elif tag == "tr":
        lines.row()
    elif tag in _BLOCKS or tag == "br":
        lines.end()
    if tag in _HEADINGS:
        lines.heading(int(tag[1]))
    elif node.name in ("p", "div", "span", "caption") and _is_named_heading(node):
        lines.heading(_CLASS_LEVEL)


def _close(tag: str, lines: LineWriter) -> None:
    if tag == "tr":
        lines.end_row()
    elif tag in _BLOCKS:
        lines.end()
        if tag in _HEADINGS:
            lines.heading(0)


def _is_named_heading(node: Any) -> bool:
    """Return whether a paragraph's class names it a heading."""
    named = " ".join(node.get("class") or [])
    if not named or not _NAMED_HEADING.search(named):
        return False
    if any(inner.name in ("p", "div", "table") for inner in _inside(node) if inner is not node):
        return False
    return 0 < len(_beginning(node, _LONGEST_HEADING)) <= _LONGEST_HEADING


def _inside(node: Any) -> Iterator[Any]:
    """Yield what lies in a tag in its order, a hundred nodes at most.

    Tags lie in each other to any depth, and each is asked for its own: none is read to its end.
    """
    left = [node]
    for _ in range(_MOST_INNER):
        if not left:
            return
        yield (inner := left.pop())
        left.extend(reversed(getattr(inner, "contents", [])[:_MOST_INNER]))


def _beginning(node: Any, chars: int) -> str:
    """Return the first characters of a tag's text, and perhaps more."""
    from bs4.element import NavigableString, PreformattedString

    found = ""
    for inner in _inside(node):
        if isinstance(inner, NavigableString) and not isinstance(inner, PreformattedString):
            found = (found + inner).lstrip()
            if len(found) > chars:
                break
    return found.rstrip()


def _item_mark(item: Any, counts: dict[int, int]) -> str:
    """Return the number that a browser shows in front of an item; "" if its text has one.

    ``counts`` holds the items of each list so far, to which this one is added.
    """
    listed = item.parent
    if listed is None or listed.name not in ("ol", "ul", "menu"):
        return ""
    before = counts.get(id(listed), 0)
    counts[id(listed)] = before + 1
    style = f"{listed.get('style', '')} {item.get('style', '')}".lower()
    if "none" in style or _NUMBERED.match(f"{_beginning(item, _LONGEST_MARK)} "):
        return ""
    if listed.name != "ol":
        return "•"
    first = whole_number(listed.get("start"), 1)
    value = whole_number(item.get("value"), first + before)
    kind = next((k for k, name in _ITEM_STYLES.items() if name in style), listed.get("type", "1"))
    return numeral(value, kind) + "."


def _filled_cells(row: Any) -> list[tuple[Any, str]]:
    """Return the cells of a row that hold text, with its beginning."""
    cells = row.find_all(_CELLS, recursive=False)
    texts = [(cell, _beginning(cell, _LONGEST_MARK)) for cell in cells]
    return [(cell, text) for cell, text in texts if text]


def _is_layout(table: Any) -> bool:
    """Return whether a table only puts things in their place on the page.

    It sets numbers beside paragraphs, as the Official Journal's; or it has one column, or holds
    tables or headings, and names no columns. Browsers tell it so for screen readers.
    """
    if table.get("role") in ("presentation", "none"):
        return True
    found = table.find_all("tr", limit=_MOST_ROWS)
    own = [row for row in found if row.find_parent("table") is table]
    rows = [[text for _, text in _filled_cells(row)] for row in own]
    named = table.find(("thead", "caption"), recursive=False) is not None
    if not named and not any(row.find("th", recursive=False) for row in own):
        column = len(rows) < _MOST_ROWS and all(len(row) <= 1 for row in rows)
        if column or table.find(("table", *_HEADINGS)):
            return True
    if len(rows) == _MOST_ROWS or not any(len(row) == 2 for row in rows):
        return False
    return all(len(row) <= 2 and (not row or _MARK.fullmatch(row[0])) for row in rows)


def _marked_row(row: Any, lines: LineWriter) -> list[Any]:
    """Return a layout row's cells without the one with the number, which goes in front."""
    filled = _filled_cells(row)
    if not filled or not _MARK.fullmatch(filled[0][1]):
        return list(row.contents)
    lines.mark(filled[0][1])
    return [cell for cell, _ in filled[1:]]
