"""How much of what a follow-up leaves out is written out without a model.

    python benchmarks/followups.py --rewrites FILE [FILE ...] [--json OUT]

Each line of a file is a turn of a conversation as JSON: ``history``, the turns before; ``q``, what
was asked; ``standalone``, the same as a person wrote it out. ``recovered`` is the share of the
words that the person added which the embedded rewriter adds as well, ``right`` the share of its
added words that the person added too; words that name nothing are left out. ``left alone`` is the
share of the turns to which the person added nothing that stay as they were, ``taken up`` that of
the others which do not. Intervals are bootstrap 95 % over turns. With ``--answers`` the first turn
of a history names its subject, the second a part of it, which is left out, and then questions and
answers take turns.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from _pipeline import read_rows

from lexloop.core.types import Turn
from lexloop.corpus.text.tokens import STOP_WORDS, words
from lexloop.evaluation.metrics.intervals import Estimate, estimate
from lexloop.nodes.rewrite.followup import resolved


def main() -> None:
    """Resolve every turn and print the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--rewrites", type=Path, nargs="+", required=True)
    options.add_argument("--answers", action="store_true", help="histories hold answers as well")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    figures: dict[str, dict[str, Any]] = {}
    for path in given.rewrites:
        rows = [row for row in read_rows(path) if row["history"]]
        figures[str(path)] = measured(rows, given.answers)
        print(f"\n{path.parent.name}/{path.name}: {len(rows)} turns")
        for name, found in figures[str(path)].items():
            spread = f"({found['low']:.3f} to {found['high']:.3f})"
            print(f"  {name:10} {found['mean']:.3f} {spread}, {found['n']} turns")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


def measured(rows: list[dict[str, Any]], answers: bool) -> dict[str, Any]:
    """For each measure its mean with the interval; what no turn has is left out."""
    found: dict[str, list[float]] = {"recovered": [], "right": [], "left alone": [], "taken up": []}
    for row in rows:
        asked = _named(row["q"])
        wanted = _named(row["standalone"]) - asked
        written, _ = resolved(row["q"], turns(row["history"], answers))
        added = _named(written) - asked
        found["taken up" if wanted else "left alone"].append(float(bool(added) == bool(wanted)))
        if wanted:
            found["recovered"].append(len(added & wanted) / len(wanted))
        if added:
            found["right"].append(len(added & wanted) / len(added))
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
