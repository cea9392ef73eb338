"""Hostile documents are read and cut in time linear in their length: numbering, lists, tables."""

import time
from collections.abc import Callable, Iterator

from _promise import Line

from lexloop.core.settings import Settings
from lexloop.documents.chunks.chunkers import Chunker, chunker_for
from lexloop.documents.chunks.statements import statements
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm

_SIZES = (10_000, 32_000, 100_000)
_MOST_GROWTH, _SLACK_S = 1.6, 0.5
"""How much faster than the length the time may grow, and what it may vary by."""
_DEEP = 50
_STYLES = ("({a})", "({n})", "({i})", "({A})", "{n}.", "{a}.", "{n})")


def _nested(count: int) -> str:
    """Points that go 50 deep, and then begin again."""
    depths = (place % _DEEP + 1 for place in range(count))
    return "".join(f"{'.'.join('1' * depth)} Depth {depth}:\n" for depth in depths)


def _styled(count: int) -> str:
    """Points 50 deep of which each has the next style of numbering."""
    first = {"a": "a", "n": "1", "i": "i", "A": "A"}
    heads = [style.format_map(first) for style in _STYLES]
    return "".join(f"{heads[place % _DEEP % len(heads)]} it is so:\n" for place in range(count))


_DOCUMENTS: dict[str, Callable[[int], str]] = {
    "points": lambda n: "Article 1\nA\n1. It is:\n" + "".join(f"({i}) one;\n" for i in range(1, n)),
    "points 50 deep": _nested,
    "points 50 deep in turning styles": _styled,
    "numbers in no order": lambda n: "".join(
        f"Article {i * 7919 % 997}\nHead\n{i * 31 % 13}. Text of {i}.\n" for i in range(n // 3)
    ),
    "rows of one table": lambda n: (
        "Table 1 Fees\n| Key | Fee |\n|---|---|\n"
        + "".join(f"| key {i} | {i % 97} euros |\n" for i in range(n))
    ),
    "one line": lambda n: "Article 1\nA\n" + "it is so (b) and so, " * (n * 5 // 2),
    "one line without a blank": lambda n: "x" * (n * 50),
    "one sentence a line": lambda n: "The owner pays the fee.\n" * n,
}


def held() -> Iterator[Line]:
    """Read and cut each document at three sizes."""
    cut = chunker_for(Settings(), load_minilm())
    for name, make in _DOCUMENTS.items():
        yield _tried(name, make, cut)


def _tried(name: str, make: Callable[[int], str], cut: Chunker) -> Line:
    taken: dict[str, list[float]] = {"structure": [], "chunks": []}
    lengths: list[int] = []
    problem = ""
    count = chunks = 0
    try:
        for size in _SIZES:
            document = Document("hostile.txt", "", make(size))
            lengths.append(len(document.text))
            begun = time.process_time()
            count = sum(1 for _ in statements(document.tree, document.text))
            read = time.process_time()
            chunks = len(cut(document))
            taken["structure"].append(read - begun)
            taken["chunks"].append(time.process_time() - read)
    except Exception as error:  # noqa: BLE001 - whatever comes is what is told
        problem = f"{type(error).__name__}: {str(error)[:80]}"
    shown = "; ".join(
        f"{part} {' / '.join(f'{second:.2f}' for second in seconds)} s"
        for part, seconds in taken.items()
    )
    megabytes = " / ".join(f"{length / 1e6:.2f}" for length in lengths)
    linear = not problem and all(_is_linear(lengths, seconds) for seconds in taken.values())
    said = problem or f"{count:,} statements, {chunks:,} chunks"
    return Line(f"{name} take time in proportion", f"{megabytes} MB: {shown}; {said}", linear)


def _is_linear(lengths: list[int], seconds: list[float]) -> bool:
    """Whether the largest takes no longer than the smallest lets expect."""
    return seconds[-1] <= _MOST_GROWTH * lengths[-1] / lengths[0] * seconds[0] + _SLACK_S
