"""Building of a tree: units are opened in reading order and closed by what follows them."""

import re
from collections.abc import Sequence

from lexloop.documents.structure.headings import Heading, Outline
from lexloop.documents.structure.lines import LogicalLine, caption, cells, is_ruler
from lexloop.documents.structure.markers import Marker, is_about_definitions, value_of
from lexloop.documents.structure.numbering import Fit, OpenUnit, heading_label, item_label, kept_by
from lexloop.documents.structure.tree import ITEMS, LEADS, Kind, Tree, Unit

_FLAT: frozenset[Kind] = frozenset(("text", "table", "row", "columns", "note"))
_MOST_PROBLEMS = 200
_LONGEST_KEY = 80
_TOPIC = re.compile(
    r"(?!(?:This|These|That|Those|Such|It|The)\b)[A-Z](?:(?!\b(?:is|are|shall|must|may|has|have)\b)[^.:;])"
    r"{2,60}\.\s+[A-Z]"
)
"""The beginning of a new topic behind a list: "Exception to disclosure. Information ..."."""


class TreeBuilder:
    """A builder of a document's tree, given its lines in order.

    ``stack`` holds the open units, outermost first; ``numbered`` says whether a provision that a
    number alone names has been opened.
    """

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._opened: list[OpenUnit] = []
        self._problems: list[str] = []
        self._last: dict[tuple[str, str], tuple[float, str]] = {}
        self._pending: LogicalLine | None = None
        self._last_text = ""
        self._annex_count = 0.0
        self._reached = 0
        self.numbered = False
        self.stack: list[OpenUnit] = []

    def finished(self) -> Tree:
        """Return the tree; nothing can be added afterwards."""
        self._close(0)
        units: list[Unit] = []
        for e in self._opened:
            span = (e.start, max(e.body, e.start), e.end)
            units.append(Unit(e.kind, e.number, e.heading, e.label, *span, e.parent))
        return Tree(tuple(units), tuple(self._problems))

    # what the parser asks

    @property
    def within(self) -> Kind | None:
        """The kind of the innermost open unit."""
        return self.stack[-1].kind if self.stack else None

    @property
    def among_definitions(self) -> bool:
        """True where the nearest provision's or part's heading names definitions."""
        held = (e.heading for e in reversed(self.stack) if e.divides or e.kind == "provision")
        return is_about_definitions(next(filter(None, held), ""))

    def knows_beside(self, number: str) -> bool:
        """Return whether the unit that ``4.2.1`` lies in, or stands beside, is open."""
        above = number.rpartition(".")[0]
        return any(e.number == above or e.number.startswith(above + ".") for e in self.stack)

    def goes_on_with(self, marker: Marker) -> bool:
        """Return whether a number is the next of the provisions that have only numbers."""
        for entry in self.stack:
            if entry.kind == "provision" and entry.style == marker.style:
                return 0 < marker.value - entry.value <= 1
        return marker.style == "1." and marker.value <= 1

    def begins_anew(self, column: int) -> bool:
        """Return whether a first number at an indent begins a list behind the provisions."""
        provisions = (e for e in self.stack if e.kind == "provision" and not e.divides)
        return any(e.style == "1." and e.column == column for e in provisions)

    def counts_on(self, marker: Marker) -> bool:
        """Return whether a number without a stop is the next paragraph of a schedule."""
        annexed = any(entry.kind == "annex" for entry in self.stack)
        return annexed and 0 < marker.value - self._annex_count <= 1

    # what a line opens

    def heading(self, line: LogicalLine, heading: Heading, body: int, end: int) -> None:
        """Open a part, a provision or an annex, and close what it ends.

        Its text begins at ``body``, behind the heading; its lines end at ``end``.
        """
        rank = self._outline.ranks.get(heading.style, -1)
        kind: Kind = "provision"
        if rank >= 0 and heading.style != self._outline.provisions:
            kind = "annex" if heading.style == "annex" else "part"
        if self._pending is not None:
            self._crossheading(self._pending)
        self._close(kept_by(heading, rank, kind, self.stack))
        label = heading_label(self._outline, heading, kind, self.stack)
        entry = OpenUnit(kind, label, heading.style, value_of(heading.number), heading.number)
        entry.heading, entry.start, entry.body = heading.text, line.start, body
        entry.rank, entry.level, entry.divides = rank, heading.level, True
        if kind == "annex":
            self._annex_count = 0.0
        elif heading.number:
            self._check_order(entry)
        self._push(entry, end)

    def item(
        self,
        line: LogicalLine,
        fit: Fit,
        at: int,
        rest: str,
        *,
        heading: str,
        body: int | None,
        term: str | None,
    ) -> None:
        """Open a numbered provision, paragraph or point that begins at a place of its line.

        Args:
            line: Its line.
            fit: The reading of its number.
            at: Where it begins in the line.
            rest: The line's text behind the number; "" where another item begins there.
            heading: Its heading, where it runs into an item or into its text.
            body: Where the text that its heading runs into begins in the line.
            term: The term that it defines, if any.
        """
        marker, pending = fit.marker, self._pending
        self._pending = None
        begins = self._outline.numbered and marker.style == "1." and marker.value <= 1
        introduced = not any(
            e.divides or e.kind in ("part", "annex", "provision") for e in self.stack
        )
        led = bool(self.stack) and self.stack[-1].leads
        keep = 0 if begins and introduced and not led else fit.keep
        self._close(keep)
        counted = fit.odd and not self.counts_on(marker)
        kind = self._kind_of(marker, term)
        start = _offset(line, at)
        if kind == "provision" and not heading:
            heading = rest.strip(" .*") if line.short and len(rest) <= 120 else ""
        begin = line.end if kind == "provision" and heading else start
        if body is not None:
            begin = line.start + line.skipped + body if rest.strip() else line.end
        if pending is not None and kind == "provision" and not heading:
            heading, start = pending.text, pending.start
        elif pending is not None:
            self.text(pending, 0)
            self._close(min(keep, len(self.stack)))
        label = item_label(self._outline, marker, kind, self.stack)
        entry = OpenUnit(
            kind, label, marker.style, marker.value, marker.number, term or heading, start
        )
        entry.leads, entry.bare = rest.rstrip().endswith(LEADS), not rest.strip()
        entry.body = begin
        if self._outline.indented and not at and not line.skipped:
            entry.stands(line.column, marker, self.stack[-1].listed if self.stack else None)
        if self.stack:
            self.stack[-1].listed = entry
        if counted:
            self._note_problem(f"{label or marker.number} does not follow what precedes it")
        self._push(entry, line.end)

    def _kind_of(self, marker: Marker, term: str | None) -> Kind:
        within = self.within
        root = all(entry.kind == "part" for entry in self.stack)
        if root and marker.style[0] == "1" and self._outline.numbered:
            self.numbered = True
            return "provision"
        if marker.style == "1." and all(entry.kind in ("part", "annex") for entry in self.stack):
            self._annex_count = marker.value
        if term:
            return "definition"
        return "paragraph" if within == "provision" else "point"

    def recital(self, line: LogicalLine, markers: Sequence[Marker]) -> bool:
        """Open a recital if its number is the next, and return whether it was."""
        last = next((entry for entry in self.stack if entry.kind == "recital"), None)
        for marker in markers:
            step = marker.value - (last.value if last else 0)
            if 0 < step <= 1 and (last is None or last.style == marker.style):
                self._close(self._depth_of("recital", "text"))
                entry = OpenUnit("recital", f"Recital {marker.number}", marker.style, marker.value)
                entry.number, entry.start, entry.leads = marker.number, line.start, line.leads
                self._push(entry, line.end)
                return True
        return False

    def definition(self, line: LogicalLine, at: int, term: str) -> None:
        """Open the definition of a term that has no number."""
        self._close_style("definition", self._depth_at(line))
        self._close_flat()
        label = f'{self._label} "{term}"'.strip()
        entry = OpenUnit("definition", label, "definition", 0, term, term, _offset(line, at))
        entry.leads = line.leads
        self._push(entry, line.end)

    def text(self, line: LogicalLine, at: int) -> None:
        """Add unnumbered text: to a unit that has none yet, or as a unit of its own."""
        self._flush()
        top = self.stack[-1] if self.stack else None
        if top is not None and top.bare and self._depth_at(line) == len(self.stack):
            top.bare, top.leads = False, line.leads
            self._reached = line.end
            return
        enacts = line.text.isupper() and line.text.endswith(":")
        recital = self._depth_of("recital") if enacts else len(self.stack)
        depth = min(recital, self._depth_for_text(line))  # "HAVE ADOPTED THIS DIRECTIVE:"
        if depth < len(self.stack) and _TOPIC.match(line.text):
            depth = min(depth, self._depth_of("paragraph", "point"))
        self._close(depth)
        self._push(
            OpenUnit("text", self._label, start=_offset(line, at), leads=line.leads), line.end
        )
        self._last_text = line.text

    def pending(self, line: LogicalLine) -> None:
        """Hold back a line that may be the heading of what comes next."""
        self._flush()
        self._pending = line

    def list_heading(self, line: LogicalLine) -> None:
        """Open what a heading without a number makes a list of its own, named by its words."""
        self._close(0)
        self._annex_count = 0.0
        entry = OpenUnit("annex", line.text, "", 0, "", line.text, line.start, line.end)
        entry.divides = True
        self._push(entry, line.end)

    def row(self, line: LogicalLine) -> None:
        """Add a row; the first one names the columns."""
        if is_ruler(line.text):
            self._reached = line.end
            return
        depth = self._depth_of("table")
        kind: Kind = "columns" if depth == len(self.stack) else "row"
        key = ""
        if kind == "columns":
            self._open_table(line)
        else:
            self._close(depth + 1)
            key = next(filter(None, cells(line.text)), "")[:_LONGEST_KEY]
        label = f"{self._label}, row {key}" if self._label and key else self._label
        self._push(OpenUnit(kind, label, number=key, start=line.start), line.end)

    def _open_table(self, line: LogicalLine) -> None:
        """Open a table; the line above it that counts it becomes its caption."""
        self._flush()
        top = self.stack[-1] if self.stack else None
        written = self._last_text if top is not None and top.kind == "text" else ""
        if top is not None and top.divides and top.place == len(self._opened) - 1:
            written = top.heading
        found = caption(written)
        if top is not None and found is not None:
            top.number, top.heading = found
            top.kind, top.label, top.divides = "table", f"Table {top.number}", False
            return
        self._close_flat()
        self._push(OpenUnit("table", self._label, start=line.start), line.end)

    def note(self, line: LogicalLine, word: str, number: str) -> None:
        """Add a note, which explains and does not rule: an advisory, a note, a source."""
        about = next((i + 1 for i, e in enumerate(self.stack) if number and e.number == number), 0)
        self._close(about or min(self._depth_of(*_FLAT), self._depth_at(line)))
        label = f"{word.capitalize()} {number}" if number else self._label
        entry = OpenUnit("note", label, number=number, start=line.start, leads=line.leads)
        self._push(entry, line.end)

    def exception(self, line: LogicalLine, number: str) -> None:
        """Open the exceptions of a provision."""
        self._close_style("exception", self._depth_of(*_FLAT))
        label = f"{self._label}, Exception {number}".rstrip() if self._label else ""
        entry = OpenUnit("paragraph", label, "exception", 0, number or "Exception", "", line.start)
        entry.leads = True
        self._push(entry, line.end)

    def add_to(self, kind: Kind, line: LogicalLine) -> None:
        """Add a line to the unit of a kind that is open at the end, or open one at the top."""
        if self.within == kind:
            self._reached = line.end
        else:
            self._close(0)
            self._push(OpenUnit(kind, start=line.start), line.end)

    # how units are put into the tree

    @property
    def _label(self) -> str:
        return self.stack[-1].label if self.stack else ""

    def _push(self, entry: OpenUnit, end: int) -> None:
        entry.parent = self.stack[-1].place if self.stack else -1
        entry.place = len(self._opened)
        self._opened.append(entry)
        self.stack.append(entry)
        self._reached = end

    def _close(self, keep: int) -> None:
        self._flush()
        while len(self.stack) > keep:
            self.stack.pop().end = self._reached

    def _close_style(self, style: str, depth: int) -> None:
        """Close the outermost unit of a style, or what stands deeper than ``depth``."""
        styles = [entry.style for entry in self.stack[:depth]]
        self._close(styles.index(style) if style in styles else depth)

    def _close_flat(self) -> None:
        """Close text, tables and notes that lead into nothing."""
        while self.stack and self.stack[-1].kind in _FLAT and not self.stack[-1].leads:
            self._close(len(self.stack) - 1)

    def _flush(self) -> None:
        """Add the line held back as text, if it headed nothing."""
        line, self._pending = self._pending, None
        if line is not None:
            self.text(line, 0)

    def _crossheading(self, line: LogicalLine) -> None:
        """Open a heading without a number or a level that groups provisions."""
        self._pending = None
        self._close(self._depth_of("provision", "text"))
        if self.stack and self.stack[-1].style == "crossheading":
            self._close(len(self.stack) - 1)
        entry = OpenUnit(
            "part", self._label, "crossheading", 0, "", line.text, line.start, line.end
        )
        entry.divides = True
        self._push(entry, line.end)

    def _depth_of(self, *kinds: Kind) -> int:
        """Return how many units stay open when the outermost of these kinds is closed."""
        return next((i for i, e in enumerate(self.stack) if e.kind in kinds), len(self.stack))

    def _depth_at(self, line: LogicalLine) -> int:
        """Return how many units stay open at text at an indent: no item that it stands left of."""
        items = (i for i, e in enumerate(self.stack) if e.kind in ITEMS and "." not in e.number)
        return next((i for i in items if self.stack[i].outside(line.column)), len(self.stack))

    def _depth_for_text(self, line: LogicalLine) -> int:
        """Return how many units stay open at unnumbered text.

        After a list, what leads into the list, unless the text stands below that of an item.
        """
        depth = self._depth_at(line)
        while depth:
            entry = self.stack[depth - 1]
            led = depth > 1 and self.stack[depth - 2].leads
            below = 0 <= entry.column < line.column  # what stands below an item's text is its own
            ends_list = entry.kind in ("point", "paragraph", "definition") and led and not below
            if entry.style == "definition" and not self.among_definitions:
                ends_list = True
            opens = entry.style == "exception" and entry.place == len(self._opened) - 1
            if opens or (entry.kind not in _FLAT and entry.kind != "contents" and not ends_list):
                break
            depth -= 1
        return depth

    def _check_order(self, entry: OpenUnit) -> None:
        """Record a provision or part that does not follow the one before it."""
        if entry.number.endswith("01") and self.stack and self.stack[-1].kind == "part":
            return  # standards count the provisions of each chapter from its own hundred
        within = self._label if entry.kind == "part" or self._outline.anew else ""
        prefix = entry.number[: -len(entry.number.replace("-", ".").rpartition(".")[2])]
        key = (entry.style, within + prefix)
        last, label = self._last.get(key, (0.0, ""))
        self._last[key] = (entry.value, entry.label)
        step = entry.value - last
        if label and not 0 < step <= 1:
            wrong = "numbers are missing" if step > 1 else "out of order" if step else "repeated"
            self._note_problem(f"{entry.label} follows {label}: {wrong}")

    def _note_problem(self, what: str) -> None:
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(f"{what}.")


def _offset(line: LogicalLine, at: int) -> int:
    """Return the offset in the document of a place in a line."""
    return line.start + line.skipped + at if at else line.start
