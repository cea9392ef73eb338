"""Markdown as its reader sees it: without its marks, and its lines where the file has them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from lexloop.documents.reading.text import printable
from lexloop.documents.structure.tree import Hung

_BULLETS = "•◦▪"
"""As browsers show them, by the depth of their list."""
_MARK = re.compile(r"[-*+]|\d{1,9}(?=[.)])")
_SIGNS = re.compile(r"[>#]+ ?")
_FOOTNOTE = re.compile(r"\[\^(?P<name>[^\]\s]{1,60})\](?P<text>: ?)?")
_HANGS, _SAYS, _ENDS = "\ue110", "\ue111", "\ue112"
"""What stands for a footnote's mark, in front of the note or where it hangs, until it is placed."""
_PLACED = re.compile(rf"(?P<sign>[{_HANGS}{_SAYS}])(?P<name>[^{_ENDS}]{{1,60}}){_ENDS}")
_EMPTY_ITEMS = ("-", "*", "+", ">")
_TAG = re.compile(r"</?([a-zA-Z]+)")
_SILENT = ("script", "style")
_CODE = "    "
"""In front of a line of code, where no sign means a heading."""
_MOST_DEEP = 100
_LONGEST_HEADING = 250
Pairs = tuple[tuple[int, int], ...]


class _Shown(NamedTuple):
    """A line as it is shown; its level is that of the heading that it is, 0 for none."""

    text: str
    level: int = 0


_NOTHING = [_Shown("")]


_DOTTED_NAME = re.compile(
    r"\b(?:article|clause|section)s?\s+(\d{1,3}\.\d{1,3})(?![\d.])", re.IGNORECASE
)
_DOTTED_LINE = re.compile(r"^[ \t]*\d{1,3}\.\d", re.MULTILINE)
_FEWEST_NAMED = 3
"""The fewest names such as "Section 2.1" that tell how a document counts."""


class Rendered(NamedTuple):
    """A text as it is shown.

    Args:
        headings: The offset and the level of each.
        lines: The offset of each line, and that of its line of the file.
        notes: Of each footnote where its mark was, and where its text begins and ends.
    """

    text: str
    headings: Pairs
    lines: Pairs
    notes: tuple[Hung, ...]


def rendered(text: str, known: Sequence[tuple[int, int]] = ()) -> Rendered:
    """Return a Markdown text as it is shown.

    A line of the file stays a line, with its indent and its number, by which the lists of a law
    tell their order. What is HTML is read as a page is.

    Args:
        text: The whole text.
        known: Headings that are known beforehand.
    """
    source = text.split("\n")
    page = _Page(source, {text.count("\n", 0, at): level for at, level in known})
    environment: dict[str, Any] = {}
    for token in _parser().parse(text, environment):
        page.add(token)
    page.keep_rest(one["map"] for one in environment.get("references", {}).values())
    return page.finished()


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _MOST_DEEP})
    parser.enable(["table", "strikethrough"])
    parser.inline.ruler.before("link", "footnote", _pass_footnote)
    return parser


def _pass_footnote(state: Any, silent: bool) -> bool:
    """Note the mark of a footnote, which is shown as a small number beside the text."""
    found = _FOOTNOTE.match(state.src, state.pos)
    if found is not None:
        state.pos = found.end()
        if not silent:
            state.push(
                "text", "", 0
            ).content = f"{_SAYS if found['text'] else _HANGS}{found['name']}{_ENDS}"
    return found is not None


def _is_levelled(text: str) -> bool:
    """Return whether a text calls the items of its inner lists "Section 2.1", and numbers none so.

    Markdown has no such numbers; what makes a page of it does.
    """
    named = frozenset(_DOTTED_NAME.findall(text))
    return len(named) >= _FEWEST_NAMED and _DOTTED_LINE.search(text) is None


class _Page:
    """The lines of a file, each put as it is shown."""

    def __init__(self, source: Sequence[str], levels: dict[int, int]) -> None:
        self._source, self._levels = source, levels
        self._shown: dict[int, list[_Shown]] = {}
        self._lists: list[int] = []  # the last number of each open list; -1 where it has bullets
        self._marks: dict[int, list[str]] = defaultdict(list)
        self._cells: list[str] | None = None
        self._row = 0
        self._level = 0
        self._levelled = _is_levelled("\n".join(source))

    def add(self, token: Any) -> None:
        """Put what a token of the parser says."""
        kind = token.type
        if kind == "list_item_open":
            self._marks[token.map[0]].append(self._item_mark(token))
        elif kind.endswith("list_open"):
            self._lists.append(-1 if kind == "bullet_list_open" else 0)
        elif kind.endswith("list_close"):
            self._lists.pop()
        elif kind == "heading_open":
            self._level = int(token.tag[1])
            self._blank(token.map)
        elif kind == "heading_close":
            self._level = 0
        elif kind == "tr_open":
            self._cells = []
        elif kind == "tr_close" and self._cells is not None:
            self._shown[self._row] = [_Shown(f"| {' | '.join(self._cells)} |")]
            self._cells = None
        else:
            self._put_block(token)

    def _put_block(self, token: Any) -> None:
        if token.type in ("table_open", "hr"):
            self._blank(token.map)
        elif token.type == "inline":
            self._inline(token)
        elif token.type == "html_block":
            self._html(token)
        elif token.type in ("code_block", "fence"):
            self._code(token)

    def keep_rest(self, unseen: Iterable[Sequence[int]]) -> None:
        """Keep the lines that no token said, but for those that are not to be seen."""
        for lines in unseen:
            self._blank(lines)
        for number, line in enumerate(self._source):
            kept = "" if line.strip() in _EMPTY_ITEMS else line
            self._shown.setdefault(number, [_Shown(kept, self._levels.get(number, 0))])

    def finished(self) -> Rendered:
        """Return the whole text, its headings, and where its lines are from."""
        length, at, headings, lines = 0, 0, list[tuple[int, int]](), list[str]()
        origins: list[tuple[int, int]] = []
        notes = _Notes()
        for number, written in enumerate(self._source):
            for shown, level in self._shown[number]:
                line = notes.placed(shown, length)
                if level and line.strip():
                    headings.append((length + len(line) - len(line.lstrip()), level))
                lines.append(line)
                origins.append((length, at))
                length += len(line) + 1
            at += len(written) + 1
        return Rendered("\n".join(lines), tuple(headings), tuple(origins), notes.hung())

    def _item_mark(self, item: Any) -> str:
        """Return what stands in front of an item; numbers go on where the file repeats one."""
        if not item.info:
            depth = sum(number < 0 for number in self._lists)
            return _BULLETS[min(depth, len(_BULLETS)) - 1]
        self._lists[-1] = max(int(item.info), self._lists[-1] + 1)
        outer = self._lists[-2] if len(self._lists) == 2 and self._levelled else 0
        return f"{outer}.{self._lists[-1]}" if outer > 0 else str(self._lists[-1])

    def _inline(self, token: Any) -> None:
        text = _text_of(token.children)
        if self._cells is not None:
            self._cells.append(" ".join(text.split()))
            self._row = token.map[0]
            return
        shown = text.split("\n")
        level = self._level if len(shown) == 1 and len(text) <= _LONGEST_HEADING else 0
        self._put(token.map, token.content.split("\n"), shown, level)

    def _put(
        self, place: Sequence[int], written: Sequence[str], shown: Sequence[str], level: int = 0
    ) -> None:
        """Put shown lines where the file has what was written, each behind its own beginning."""
        begin, end = place
        self._blank(place)
        as_written = len(shown) == len(written)
        if not as_written:  # which line is which cannot be told: all begin where the first does
            self._shown.update((line, []) for line in range(begin, min(begin + len(shown), end)))
        found: dict[int, list[_Shown]] = defaultdict(list)
        for number, text in enumerate(shown):
            line = begin + number if as_written else begin
            front = self._front(line, written[number]) if number < len(written) else ""
            found[line].append(_Shown(front + text, level or self._levels.get(line, 0)))
        self._shown.update(found)

    def _front(self, number: int, written: str) -> str:
        """Return what is shown in front of the text of a line: its indent, its number."""
        line, marks = self._source[number], iter(self._marks.pop(number, ()))
        bare = next(
            (end for end in (line.rstrip(), line.rstrip(" #")) if end.endswith(written)), ""
        )
        front = bare.removesuffix(written) or line[: len(line) - len(line.lstrip())]
        return _MARK.sub(lambda mark: next(marks, mark[0]), _SIGNS.sub("", front))

    def _html(self, token: Any) -> None:
        from lexloop.documents.reading.html import read_page

        self._blank(token.map)
        text, headings, *_ = read_page(token.content)
        levels, at = dict(headings), 0
        lines = list[_Shown]()
        for line in text.splitlines():
            lines.append(_Shown(line, levels.get(at, 0)))
            at += len(line) + 1
        self._shown[token.map[0]] = lines or _NOTHING

    def _code(self, token: Any) -> None:
        """Put indented text, which in a law is a list more often than code, and code as it is."""
        written = token.content.removesuffix("\n").split("\n")
        if token.type == "code_block":
            place = (token.map[0], token.map[0] + len(written))
            inner = [_parser().parseInline(line.strip())[0].children or [] for line in written]
            self._put(place, [line.strip() for line in written], [*map(_text_of, inner)])
            return
        self._blank(token.map)
        for number, line in enumerate(written if token.content else [], token.map[0] + 1):
            self._shown[number] = [_Shown(_CODE + line)]

    def _blank(self, lines: Sequence[int]) -> None:
        self._shown.update((number, _NOTHING) for number in range(*lines))


class _Notes:
    """The footnotes of a text whose lines are given in order."""

    def __init__(self) -> None:
        self._marks: list[tuple[str, int]] = []
        self._texts: dict[str, tuple[int, int]] = {}
        self._open = ""  # the note that the next line goes on with

    def placed(self, line: str, at: int) -> str:
        """Return a line that begins at an offset without the marks in it, which are noted."""
        shown, done = "", 0
        self._open = self._open if line.strip() else ""
        for found in _PLACED.finditer(line):
            shown, done = shown + line[done : found.start()], found.end()
            if found["sign"] == _HANGS:
                self._marks.append((found["name"], at + len(shown)))
            elif not shown.strip():
                self._open = found["name"]
                self._texts.setdefault(self._open, (at + len(shown), at))
        shown += line[done:]
        if self._open:
            self._texts[self._open] = (self._texts[self._open][0], at + len(shown.rstrip()))
        return shown

    def hung(self) -> tuple[Hung, ...]:
        """Return where each mark was, and where the text of its note begins and ends."""
        return tuple((at, *self._texts[name]) for name, at in self._marks if name in self._texts)


def _text_of(tokens: Iterable[Any]) -> str:
    """Return the text of a paragraph's tokens as it is shown."""
    parts = []
    silent = ""  # the tag whose contents nobody is shown
    for token in tokens:
        tag = _TAG.match(token.content) if token.type == "html_inline" else None
        if silent:
            silent = "" if tag and tag[0].lower() == f"</{silent}" else silent
        elif tag and tag[1].lower() in _SILENT:
            silent = tag[1].lower()
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "html_inline":
            parts.append("\n" if tag and tag[0].lower() == "<br" else "")
        elif token.type == "image":
            parts.append(_text_of(token.children or ()))  # no text is None
        else:
            parts.append(token.content)
    text = printable("".join(parts)).replace("\xa0", " ")
    return "\n".join(filter(None, map(str.strip, text.split("\n"))))
