"""Spans of a text that are left out, and where the rest of it then stands."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from lexloop.documents.document import FileRun


class Cuts:
    """The spans cut or blanked out of a text.

    Args:
        spans: Start and end of each span, in order.
    """

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.spans = spans
        self._starts = [start for start, _ in spans]
        self._gone = [0, *accumulate(end - start for start, end in spans)]

    def without(self, text: str) -> str:
        """Return the text without the spans."""
        begins = [0, *(end for _, end in self.spans)]
        ends = [*self._starts, len(text)]
        return "".join(text[a:b] for a, b in zip(begins, ends, strict=True))

    def blanked(self, text: str) -> str:
        """Return the text with the spans, whole lines, as spaces behind the line before them.

        Offsets stay.
        """
        pieces, done = list[str](), 0
        for start, end in self.spans:
            line_end = max(start - 1, done)
            pieces += [text[done:line_end], " " * (end - line_end - 1), "\n"]
            done = end
        return "".join([*pieces, text[done:]])

    def moved(self, offset: int) -> int:
        """Return the offset that a place of the text has after the cuts."""
        before = bisect_left(self._starts, offset)
        over = max(0, self.spans[before - 1][1] - offset) if before else 0
        return offset - self._gone[before] + over

    def runs(self, runs: Iterable[FileRun]) -> Iterator[FileRun]:
        """Yield the runs of the text as they are without the spans."""
        for run in self.kept(runs):
            yield run._replace(start=self.moved(run.start))

    def kept(self, runs: Iterable[FileRun]) -> Iterator[FileRun]:
        """Yield the runs of the text outside the spans."""
        for start, at, length, line in runs:
            begin, end = start, start + length
            first = max(0, bisect_left(self._starts, start) - 1)
            inside = self.spans[first : bisect_left(self._starts, end)]
            for stop, behind in [*inside, (end, end)]:
                if begin < stop:
                    yield FileRun(begin, at + begin - start, stop - begin, line)
                begin = max(begin, behind)
