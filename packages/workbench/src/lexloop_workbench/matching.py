"""Which lines of two versions of a document are the same: in order, moved, or changed.

Lines are compared and not trees, because one inserted number may shift how a whole tree is read.
The tree says what a line belongs to.

Equal lines are matched first, in the order that matches most words (a heaviest chain of pairs).
Then come equal lines elsewhere; then similar lines between matched neighbours, or anywhere if they
are very similar; then headings, by the lines below them. The time is nearly linear in the length of
both.
"""

import difflib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from lexloop.core.folding import narrowed
from lexloop.documents.structure.lines import logical_lines
from lexloop.documents.structure.markers import bare_number, list_markers, word_marker
from lexloop.documents.text.tokens import PIECE, WORD_OR_SIGN
from lexloop.store.provisions import Source
from lexloop_workbench.versions import MOST_PAIRS

_MARKS = "#>*_ \t\n"
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_TABLE = frozenset({"table", "row", "columns"})
_WINDOW = 8
"""Maximum distance of two matched lines among equal lines."""
_FEWEST_MOVED = 4
"""The fewest words of a line that counts as moved without its neighbours."""
_ALIKE, _NUMBERED, _MUCH_ALIKE = 0.4, 0.2, 0.6
"""Minimum similarity of lines between the same neighbours; of those with the same number there, or
with none and the same rank among as many; and of those elsewhere."""
_MOST_OFTEN, _BEST = 64, 6
"""Maximum lines that contain a word used to find lines, and lines compared for each."""
_WRAPPED = 4
"""One line of so many that goes on in the next tells that a text was wrapped."""
_ENDS, _FULL = ".:;", 0.75
"""End of a paragraph in wrapped text, on a line that is shorter than most."""
_FEW = 6
"""Lines between the same neighbours that are all compared with each other."""


class Piece(NamedTuple):
    """A line of a document, of any length.

    Args:
        opens: Whether it begins a line of the text, or continues the last piece.
        unit: The index in the tree of the unit that begins in it, or else contains it, or -1.
        above: The index of the line above it in the tree, or -1.
        number: Its number, as written: ``5.``, ``(a)``, ``Article 5``.
        words: The text after the number, on one line.
    """

    start: int
    end: int
    opens: bool
    unit: int
    above: int
    number: str
    words: str

    @property
    def key(self) -> str:
        """The words without blanks: a hyphen at the end of a line has one behind it."""
        return "".join(self.words.split())


class Pair(NamedTuple):
    """A line that both versions have, by its places among theirs."""

    old: int
    new: int
    moved: bool


def aligned(old: Source, new: Source) -> tuple[list[Piece], list[Piece], list[Pair]]:
    """Return the lines of two versions, and those that both have, in the order of the first.

    Page numbers, and lines without letters or digits, are ignored. A line is cut before a numbered
    unit. Equal lines are cut alike, even if one of the trees does not have the unit. If the same
    words are wrapped differently, both versions are cut at the line breaks of both. A line is
    ``moved`` if it is not in the order of most others.
    """
    signs = _Signs({}, set())
    parsed = [(source, *_lines(source, signs)) for source in (old, new)]
    more: tuple[set[int], set[int]] = (set(), set())
    first, second = (_pieces(*lines_of, signs, set()) for lines_of in parsed)
    pairs = _matched(first, second)
    more = _wrapped_otherwise((parsed[0][1], first), (parsed[1][1], second), pairs)
    if any(more):
        first, second = (
            _pieces(*lines_of, signs, at) for lines_of, at in zip(parsed, more, strict=True)
        )
        pairs = _matched(first, second)
    return first, second, pairs


def _wrapped_otherwise(
    old: tuple[str, Sequence[Piece]], new: tuple[str, Sequence[Piece]], pairs: Sequence[Pair]
) -> tuple[set[int], set[int]]:
    """Return the offsets in each text at which only the other one breaks a line."""
    stay = [
        pair for pair in pairs if not pair.moved and old[1][pair.old].key == new[1][pair.new].key
    ]
    olds = [-1, *(pair.old for pair in stay), len(old[1])]
    news = [-1, *(pair.new for pair in stay), len(new[1])]
    here = {(gap, gap) for gap in range(len(olds) - 1)}
    moved = ((bisect_left(olds, pair.old), bisect_left(news, pair.new)) for pair in pairs)
    cuts: tuple[set[int], set[int]] = (set(), set())
    for gap, there in here | {(gap - 1, other - 1) for gap, other in moved if gap != other}:
        lines = old[1][olds[gap] + 1 : olds[gap + 1]], new[1][news[there] + 1 : news[there + 1]]
        if all(lines) and (len(lines[0]) > 1 or len(lines[1]) > 1):
            sides = _tokens(old[0], lines[0]), _tokens(new[0], lines[1])
            for side, at in _parted(*sides):
                cuts[side].add(at)
    return cuts


_Token = tuple[str, int, bool]
"""A word, its offset, and whether a line begins with it."""


def _tokens(text: str, lines: Sequence[Piece]) -> list[_Token]:
    return [
        (match[0], match.start(), not number)
        for line in lines
        for number, match in enumerate(WORD_OR_SIGN.finditer(text, line.start, line.end))
    ]


def _parted(a: Sequence[_Token], b: Sequence[_Token]) -> Iterator[tuple[int, int]]:
    """Yield the side and the place of each word before which only the other side has a new line."""
    olds, news = ([word for word, *_ in side] for side in (a, b))
    counted = Counter(news)
    if sum(counted[word] for word in olds) > MOST_PAIRS:
        return
    same = difflib.SequenceMatcher(None, olds, news, autojunk=False)
    ends = 0, 0
    for i, j, size in same.get_matching_blocks():
        # whole lines that are missing in one text have none of its words around them
        missing = (0 < ends[1] == j < len(b) and _whole(a, ends[0], i)) or (
            0 < ends[0] == i < len(a) and _whole(b, ends[1], j)
        )
        first = 0 if missing else 1
        for step in range(first, size):
            (_, here, begins), (_, there, opens) = a[i + step], b[j + step]
            if begins != opens:
                yield (0, here) if opens else (1, there)
        ends = i + size, j + size


def _whole(side: Sequence[_Token], first: int, end: int) -> bool:
    """Return whether words are whole lines."""
    return first < end < len(side) and side[first][2] and side[end][2]


class _Signs(NamedTuple):
    """Facts of the trees about lines, by their text, so that equal lines share them.

    Args:
        cuts: Where numbered units begin within a line.
        counted: The text after a bare number at the start of a line, as in "5 Offences".
    """

    cuts: dict[str, set[int]]
    counted: set[str]


def _lines(source: Source, signs: _Signs) -> tuple[str, list[tuple[int, int]]]:
    """Return a text and the spans of its lines, and note the tree's facts about them."""
    text = narrowed(source.text)
    spans = _spans(text, bool(source.pages))
    starts = [start for start, _ in spans]
    for unit in source.tree.units:
        line = bisect_right(starts, unit.start) - 1
        if not unit.number or line < 0 or unit.start >= spans[line][1]:
            continue
        whole = text[slice(*spans[line])]
        bare = bare_number(whole[_marks(whole) :])
        if starts[line] < unit.start:
            signs.cuts.setdefault(whole, set()).add(unit.start - starts[line])
        elif bare and bare.number == unit.number:
            signs.counted.add(whole[_marks(whole) + bare.end :])
    return text, spans


def _spans(text: str, paged: bool) -> list[tuple[int, int]]:
    """Return the lines of a text; of one that was wrapped, its paragraphs."""
    lines = logical_lines(text, {}, paged)
    physical = [
        (line.start + match.start(), line.start + match.end())
        for line in lines
        for match in _LINE.finditer(text[line.start : line.end])
    ]
    if _WRAPPED * (len(physical) - len(lines)) <= len(lines):
        return physical
    width = sorted(end - start for start, end in physical)[-1 - len(physical) // 20]
    joined: list[tuple[int, int]] = []
    last = 0, 0
    for start, end in physical:
        full = text[last[1] - 1] not in _ENDS or last[1] - last[0] > _FULL * width
        if last[1] and full and _goes_on(text, last[1], start, end):
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
        last = start, end
    return joined


def _goes_on(text: str, before: int, start: int, end: int) -> bool:
    """Return whether a line is directly below another and does not begin with a number."""
    return text.count("\n", before, start) == 1 and not _numbered(text[start:end], ())


def _pieces(
    source: Source,
    text: str,
    spans: Sequence[tuple[int, int]],
    signs: _Signs,
    more: set[int],
) -> list[Piece]:
    """Return the lines of a text, cut at the signs and at ``more``."""
    ordered = sorted(more)
    tree = source.tree
    starts = [unit.start for unit in tree.units]
    heads: dict[int, int] = {}
    pieces: list[Piece] = []
    for span in spans:
        inside = {span[0] + cut for cut in signs.cuts.get(text[slice(*span)], ())}
        inside.update(ordered[bisect_right(ordered, span[0]) : bisect_left(ordered, span[1])])
        inner = sorted(inside)
        for start, end in pairwise((span[0], *inner, span[1])):
            if not PIECE.search(text, start, end):
                continue
            first, last = bisect_left(starts, start), bisect_left(starts, end)
            unit = first if first < last else tree.at(start)
            within = [*tree.above(unit)] if unit >= 0 else []
            if first == last and unit >= 0:
                within.insert(0, unit)
            above = next((heads[up] for up in within if up in heads), -1)
            heads.update(dict.fromkeys(range(first, last), len(pieces)))
            table = unit >= 0 and tree.units[unit].kind in _TABLE
            at = start if table else start + _numbered(text[start:end], signs.counted)
            number = text[start + _marks(text[start:end]) : at].strip()
            words = " ".join(source.text[at:end].split())
            pieces.append(Piece(start, end, start == span[0], unit, above, number, words))
    return pieces


def _numbered(line: str, counted: Container[str]) -> int:
    """Return the offset of a line's words, after its number."""
    at = _marks(line)
    bare = bare_number(line[at:])
    if bare and line[at + bare.end :] in counted:
        return at + bare.end
    if marker := word_marker(line[at:]):
        return at + marker.end
    return next((marker.end for marker in list_markers(line, at) if marker.value), at)


def _marks(line: str) -> int:
    return len(line) - len(line.lstrip(_MARKS))


def _matched(old: Sequence[Piece], new: Sequence[Piece]) -> list[Pair]:
    pairs = _chain((*pair, _weight(old, new, *pair)) for pair in _equal(old, new))
    matches = _Matches(old, new, pairs)
    matches.add_equal_elsewhere()
    matches.add_alike()
    matches.add_above(elsewhere=False)
    matches.add_alike()  # lines matched meanwhile give neighbours and numbers below them
    matches.add_alike_elsewhere()
    matches.add_beside()
    matches.add_above()
    return _in_order(old, matches.there)


def _weight(old: Sequence[Piece], new: Sequence[Piece], i: int, j: int) -> float:
    """Return the weight of two equal lines, by their words, number and parents."""
    above = old[i].above, new[j].above
    same = min(above) >= 0 and old[above[0]].key == new[above[1]].key
    return 1 + len(old[i].words.split()) + (old[i].number == new[j].number) / 2 + same / 2


def _equal(old: Sequence[Piece], new: Sequence[Piece]) -> list[tuple[int, int]]:
    """Return equal lines. If many are alike, only those of about the same rank are matched."""
    places: dict[str, list[int]] = {}
    for j, piece in enumerate(new):
        places.setdefault(piece.key, []).append(j)
    ranks: Counter[str] = Counter()
    equal: list[tuple[int, int]] = []
    for i, piece in enumerate(old):
        key = piece.key
        if there := places.get(key, ()) if key else ():
            rank = ranks[key]
            ranks[key] += 1
            near = there[max(0, rank - _WINDOW) : rank + _WINDOW + 1]
            equal += [(i, j) for j in near]
    return equal


def _chain(pairs: Iterable[tuple[int, int, float]]) -> list[tuple[int, int]]:
    """Return the heaviest sequence of pairs in which both places increase."""
    ordered = sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
    size = max((j for _, j, _ in ordered), default=0) + 2
    best: list[tuple[float, int]] = [(0.0, -1)] * size  # a Fenwick tree of the heaviest so far
    before: list[int] = []
    for number, (_, j, weight) in enumerate(ordered):
        heaviest, at = (0.0, -1), j
        while at > 0:
            heaviest = max(heaviest, best[at])
            at -= at & -at
        before.append(heaviest[1])
        entry, at = (heaviest[0] + weight, number), j + 1
        while at < size:
            best[at] = max(best[at], entry)
            at += at & -at
    last, at = (0.0, -1), size - 1
    while at > 0:
        last = max(last, best[at])
        at -= at & -at
    chain: list[tuple[int, int]] = []
    number = last[1]
    while number >= 0:
        chain.append(ordered[number][:2])
        number = before[number]
    return chain[::-1]


def _in_order(old: Sequence[Piece], there: dict[int, int]) -> list[Pair]:
    """Mark moved lines: as few as possible, and the shorter ones if there is a choice."""
    weighed = ((i, j, 1 + len(old[i].words) / 10_000) for i, j in there.items())
    stays = set(_chain(weighed))
    return [Pair(i, j, (i, j) not in stays) for i, j in sorted(there.items())]


class _Matches:
    """Lines that are matched one to one: ``there`` has the new place of an old line."""

    def __init__(
        self, old: Sequence[Piece], new: Sequence[Piece], pairs: Sequence[tuple[int, int]]
    ) -> None:
        self.old, self.new = old, new
        self.there = dict(pairs)
        self.back = {j: i for i, j in pairs}
        self._olds, self._news = [i for i, _ in pairs], [j for _, j in pairs]

    def _add(self, i: int, j: int) -> bool:
        free = i not in self.there and j not in self.back
        if free:
            self.there[i], self.back[j] = j, i
        return free

    def _left(self) -> tuple[list[int], list[int]]:
        left = [i for i in range(len(self.old)) if i not in self.there]
        return left, [j for j in range(len(self.new)) if j not in self.back]

    def add_equal_elsewhere(self) -> None:
        """Match equal lines elsewhere, except short ones, which may be equal by chance."""
        olds, news = self._left()
        places: dict[str, list[int]] = {}
        for j in reversed(news):
            places.setdefault(self.new[j].key, []).append(j)
        for i in olds:
            key, number = self.old[i].key, self.old[i].number
            there = places.get(key)
            many = len(self.old[i].words.split()) >= _FEWEST_MOVED
            if there and (many or (key and number and number == self.new[there[-1]].number)):
                self._add(i, there.pop())

    def add_alike(self) -> None:
        """Match similar lines between the same neighbours, in order."""
        scored = self._scored()
        gaps = [
            self._gaps(left, edges)
            for left, edges in zip(self._left(), (self._olds, self._news), strict=True)
        ]
        candidates = []
        for likeness, i, j in scored:
            (gap, rank, many), there = gaps[0][i], gaps[1][j]
            number = self.old[i].number
            same = number == self.new[j].number and (number or (gap, rank, many) == there)
            fewest = _NUMBERED if same and self._same_above(i, j) else _ALIKE
            if likeness >= fewest and gap == there[0]:
                words = min(len(piece.words.split()) for piece in (self.old[i], self.new[j]))
                candidates.append((i, j, likeness**3 * (1 + words)))
        for i, j in _chain(candidates):
            self._add(i, j)

    def add_alike_elsewhere(self) -> None:
        """Match very similar lines elsewhere."""
        for likeness, i, j in sorted(self._scored(), reverse=True):
            if likeness >= _MUCH_ALIKE and len(self.old[i].words.split()) >= _FEWEST_MOVED:
                self._add(i, j)

    @staticmethod
    def _gaps(left: Sequence[int], edges: Sequence[int]) -> dict[int, tuple[int, int, int]]:
        """Return of each line left its neighbours, its rank between them, and how many are."""
        by_gap: dict[int, list[int]] = {}
        for at in left:
            by_gap.setdefault(bisect_left(edges, at), []).append(at)
        return {
            at: (gap, rank, len(lines))
            for gap, lines in by_gap.items()
            for rank, at in enumerate(lines)
        }

    def _same_above(self, i: int, j: int) -> bool:
        above = self.old[i].above, self.new[j].above
        return above == (-1, -1) or self.there.get(above[0], -2) == above[1]

    def _scored(self) -> list[tuple[float, int, int]]:
        """Return pairs of unmatched lines that share words, with their similarity."""
        olds, news = self._left()
        bags = {j: _bag(self.new[j].words) for j in news}
        holding: dict[str, list[int]] = {}
        between: dict[int, list[int]] = {}
        for j, bag in bags.items():
            between.setdefault(bisect_left(self._news, j), []).append(j)
            for token in bag:
                holding.setdefault(token, []).append(j)
        scored: list[tuple[float, int, int]] = []
        for i in olds:
            bag = _bag(self.old[i].words)
            shared: Counter[int] = Counter()
            for token in bag:
                places = holding.get(token, ())
                if len(places) <= _MOST_OFTEN:
                    shared.update(places)
            near = between.get(bisect_left(self._olds, i), [])
            beside = near if len(near) <= _FEW else ()
            for j in {*(j for j, _ in shared.most_common(_BEST)), *beside}:
                if likeness := _likeness(bag, bags[j]):
                    scored.append((likeness, i, j))
        return scored

    def add_beside(self) -> None:
        """Match equal lines that are left directly before or behind matched ones."""
        ends = {-1: -1, len(self.old): len(self.new)}
        for i in (*range(len(self.old)), *range(len(self.old) - 1, -1, -1)):
            for step in (-1, 1):
                beside = ends.get(i + step, self.there.get(i + step))
                j = -1 if beside is None else beside - step
                if 0 <= j < len(self.new) and self.old[i].key == self.new[j].key:
                    self._add(i, j)

    def add_above(self, elsewhere: bool = True) -> None:
        """Match the remaining lines by the lines below them, the innermost first.

        Without ``elsewhere``, only lines between the same neighbours are matched.
        """
        votes: dict[int, Counter[int]] = {}
        for i in range(len(self.old) - 1, -1, -1):
            if i not in self.there and i in votes:
                (j, most), *_ = votes[i].most_common(1)
                near = elsewhere or bisect_left(self._olds, i) == bisect_left(self._news, j)
                if j >= 0 and near and 2 * most >= votes[i].total():
                    self._add(i, j)
            if self.old[i].above >= 0 and i in self.there:
                above = self.new[self.there[i]].above
                votes.setdefault(self.old[i].above, Counter())[above] += 1


def _bag(words: str) -> Counter[str]:
    """Return the words of a line and its pairs of neighbouring words, each with its number."""
    tokens = [token.casefold() for token in PIECE.findall(words)]
    return Counter(tokens) + Counter(map(" ".join, pairwise(tokens)))


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    """Return what two bags share of both (Dice), from 0 to 1."""
    if len(a) > len(b):
        a, b = b, a
    return 2 * sum(min(n, b[token]) for token, n in a.items()) / max(1, a.total() + b.total())
