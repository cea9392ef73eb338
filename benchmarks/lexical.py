"""How our search for words compares with bm25s and rank-bm25: time, order, and what it can do.

    pip install -e ".[bench]"
    python benchmarks/lexical.py --passages PASSAGES.jsonl [--chunks 13000] [--questions 60]

All three get the same terms of the same chunks and give the best 50 positions. *Filtered* asks for
them among a random tenth of the chunks, as for an asker who may see no more; weights stay those of
all. *Scores as rank-bm25* is the share of questions whose best ten have its scores to five digits,
which is what ours promises; bm25s computes "atire", the nearest that it has. *Part* makes the index
of that tenth alone, as forgetting documents does. Times are medians, in ms but for building, in s.
"""

import random
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from _mixture import mixed_texts, questions_from, read_passages
from _shared import options, table, timed
from numpy.typing import NDArray

from lexloop.documents.text.tokens import tokenize
from lexloop.store.folder.lexical import K1, B, LexicalIndex, best_positions

DEPTH, _TOP = 50, 10
Mask = NDArray[np.bool_]
Found = tuple[NDArray[Any], NDArray[Any]]
Search = Callable[[str, Mask | None], Found]
Part = Callable[[Mask], object]
Build = Callable[[list[str]], tuple[Search, Part | None]]


def main() -> None:
    """Build each index, ask it, and print the figures."""
    parser = options(__doc__)
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines with `text`")
    parser.add_argument("--chunks", type=int, default=13_000)
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    passages = read_passages(given.passages)
    texts = [text for _, text in islice(mixed_texts(passages), given.chunks)]
    questions = questions_from(passages, given.questions)
    seen = np.zeros(len(texts), dtype=np.bool_)
    seen[random.Random(5).sample(range(len(texts)), len(texts) // 10)] = True
    builds: dict[str, Build] = {"rank-bm25": _okapi, "bm25s": _bm25s, "ours": _ours}
    rows: list[list[str]] = []
    reference: list[Found] = []
    for name, build in builds.items():
        figures, found = _measured(build, texts, questions, seen)
        reference = reference or found
        rows.append([name, *figures, f"{_alike(found, reference):.2f}"])
    head = ["", "built, s", "a query, ms", "filtered, ms", "part, s", "scores as rank-bm25"]
    print(table(head, rows))


def _measured(
    build: Build, texts: list[str], questions: list[str], seen: Mask
) -> tuple[list[str], list[Found]]:
    """Return the times of one index, and what it found."""
    built, (search, part) = timed(lambda: build(texts))
    search(questions[0], None)
    whole = [timed(lambda q=question: search(q, None)) for question in questions]  # type: ignore[misc]
    within = [timed(lambda q=question: search(q, seen)) for question in questions]  # type: ignore[misc]
    times = [f"{1e3 * median(s for s, _ in took):.2f}" for took in (whole, within)]
    again = "built anew" if part is None else f"{timed(lambda: part(seen))[0]:.2f}"
    return [f"{built:.1f}", *times, again], [found for _, found in whole]


def _alike(found: Sequence[Found], reference: Sequence[Found]) -> float:
    same = [
        np.allclose(ours[1][:_TOP], theirs[1][:_TOP], rtol=1e-5)
        for ours, theirs in zip(found, reference, strict=True)
    ]
    return sum(same) / len(same)


def _okapi(texts: list[str]) -> tuple[Search, None]:
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([tokenize(text) for text in texts], k1=K1, b=B)

    def search(question: str, seen: Mask | None) -> Found:
        scores = index.get_scores(tokenize(question)).astype(np.float32)
        places = best_positions(scores if seen is None else scores * seen, DEPTH, floor=0.0)
        return places, scores[places]

    return search, None


def _bm25s(texts: list[str]) -> tuple[Search, None]:
    import bm25s

    index: Any = bm25s.BM25(k1=K1, b=B, method="atire", backend="numba")
    index.index([tokenize(text) for text in texts], show_progress=False)

    def search(question: str, seen: Mask | None) -> Found:
        mask = None if seen is None else seen.astype(np.float32)
        places, scores = index.retrieve(
            [tokenize(question)], k=DEPTH, show_progress=False, weight_mask=mask
        )
        return places[0], scores[0]

    return search, None


def _ours(texts: list[str]) -> tuple[Search, Part]:
    index = LexicalIndex.build(texts)
    return lambda question, seen: index.top(question, DEPTH, seen), index.part


if __name__ == "__main__":
    main()
