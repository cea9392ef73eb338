"""How much of what a follow-up leaves out is written out without a model.

    python benchmarks/followups.py --rewrites FILE [FILE ...] [--answers]

Each line of a file is a turn of a conversation as JSON: ``history``, the turns before; ``q``, what
was asked; ``standalone``, the same as a person wrote it out. ``recovered`` is the share of the
words that the person added which the embedded rewriter adds as well, ``right`` the share of its
added words that the person added too; words that name nothing are left out. ``left alone`` is the
share of the turns to which the person added nothing that stay as they were, ``taken up`` that of
the others which do not. Intervals are bootstrap 95 % over turns. With ``--answers`` the first turn
of a history names its subject, the second a part of it, which is left out, and then questions and
answers take turns.

``found`` is the reciprocal rank, up to 10, at which the product's hybrid retrieval has what belongs
to a turn, searched for as ``asked``, as ``written out`` and as ``a person`` wrote it: with
``--answers`` the answer that followed, among all answers; else what the person wrote, among all
that persons wrote. Some 500 turns are asked, evenly spread.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from _pipeline import TOP, candidates_for, index_passages, read_rows

from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Turn
from lexloop.documents.text.tokens import STOP_WORDS, words
from lexloop.evaluation.statistics import Estimate, estimate
from lexloop.models.embedders import load_embedder
from lexloop.nodes.rewrite import resolved

_ASKED = 500


def main() -> None:
    """Resolve every turn and print the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--rewrites", type=Path, nargs="+", required=True)
    options.add_argument("--answers", action="store_true", help="histories hold answers as well")
    given = options.parse_args()
    for path in given.rewrites:
        every = read_rows(path)
        rows = [row for row in every if row["history"]]
        figures = measured(rows, given.answers) | found(every, given.answers)
        print(f"\n{path.parent.name}/{path.name}: {len(rows)} turns")
        for name, made in figures.items():
            spread = f"({made['low']:.3f} to {made['high']:.3f})"
            print(f"  {name:19} {made['mean']:.3f} {spread}, {made['n']} turns")


def measured(rows: list[dict[str, Any]], answers: bool) -> dict[str, Any]:
    """For each measure its mean with the interval; what no turn has is left out."""
    values: dict[str, list[float]] = {
        "recovered": [],
        "right": [],
        "left alone": [],
        "taken up": [],
    }
    for row in rows:
        asked = _named(row["q"])
        wanted = _named(row["standalone"]) - asked
        written = resolved(row["q"], turns(row["history"], answers))
        added = _named(written) - asked
        values["taken up" if wanted else "left alone"].append(float(bool(added) == bool(wanted)))
        if wanted:
            values["recovered"].append(len(added & wanted) / len(wanted))
        if added:
            values["right"].append(len(added & wanted) / len(added))
    return _estimates(values)


def found(rows: list[dict[str, Any]], answers: bool) -> dict[str, Any]:
    """How high what belongs to a turn is found, by each of its forms."""
    belongs = dict(_belonging(rows, answers))
    texts = list(dict.fromkeys(belongs.values()))
    settings = Settings()
    index = index_passages(
        [{"id": str(place), "text": text} for place, text in enumerate(texts)],
        settings,
        load_embedder(settings.index.embedder, Connection()),
        lambda *_: None,
    )
    view = index.seen_by(Filters())
    asked = [n for n in belongs if rows[n]["history"]]
    ranks: dict[str, list[float]] = {}
    for n in asked[:: -(-len(asked) // _ASKED)]:
        row = rows[n]
        written = resolved(row["q"], turns(row["history"], answers))
        forms = {"asked": row["q"], "written out": written, "a person": row["standalone"]}
        for name, form in forms.items():
            ranked = [texts[int(c["document"])] for c in candidates_for(form, view, settings)[:TOP]]
            place = ranked.index(belongs[n]) + 1 if belongs[n] in ranked else 0
            ranks.setdefault(f"found, {name}", []).append(1 / place if place else 0.0)
    return _estimates(ranks)


def _belonging(rows: list[dict[str, Any]], answers: bool) -> Iterator[tuple[int, str]]:
    """What belongs to a turn, by its place among the rows."""
    for n, row in enumerate(rows):
        if not answers:
            yield n, row["standalone"]
        elif n + 1 < len(rows) and rows[n + 1]["history"][:-2] == row["history"]:
            yield n, rows[n + 1]["history"][-1]


def _estimates(found: dict[str, list[float]]) -> dict[str, Any]:
    figures = {name: estimate(values) for name, values in found.items()}
    return {name: asdict(one) for name, one in figures.items() if isinstance(one, Estimate)}


def turns(history: list[str], answers: bool) -> list[Turn]:
    """A history as the product keeps it."""
    told = [history[0], *history[2:]] if answers else history
    asks = [not answers or n == 0 or n % 2 == 1 for n in range(len(told))]
    return [
        {"role": "user" if asking else "assistant", "content": said}
        for asking, said in zip(asks, told, strict=True)
    ]


def _named(text: str) -> set[str]:
    return set(words(text)) - STOP_WORDS


if __name__ == "__main__":
    main()
