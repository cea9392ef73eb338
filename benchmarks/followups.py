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

from collections.abc import Iterator
from pathlib import Path

from _pipeline import TOP, candidates_for, index_passages
from _shared import Row, options, read_rows

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.text.tokens import STOP_WORDS, words
from lexloop.evaluation.statistics import Estimate, estimate
from lexloop.finetune.public_rows import turns
from lexloop.models.minilm import load_shipped
from lexloop.nodes.rewrite import resolved

_ASKED = 500
Scores = dict[str, list[float]]


def main() -> None:
    """Resolve every turn and print the table."""
    parser = options(__doc__)
    parser.add_argument("--rewrites", type=Path, nargs="+", required=True)
    parser.add_argument("--answers", action="store_true", help="histories hold answers as well")
    given = parser.parse_args()
    for path in given.rewrites:
        rows = read_rows(path)
        following = [row for row in rows if row["history"]]
        print(f"\n{path.parent.name}/{path.name}: {len(following)} turns")
        scores = _written_out(following, given.answers) | _found(rows, given.answers)
        for name, values in scores.items():
            if isinstance(made := estimate(values), Estimate):
                spread = f"({made.low:.3f} to {made.high:.3f})"
                print(f"  {name:19} {made.mean:.3f} {spread}, {made.n} turns")


def _written_out(rows: list[Row], answers: bool) -> Scores:
    scores: Scores = {"recovered": [], "right": [], "left alone": [], "taken up": []}
    for row in rows:
        asked = _named(row["q"])
        wanted = _named(row["standalone"]) - asked
        added = _named(resolved(row["q"], turns(row["history"], answers))) - asked
        scores["taken up" if wanted else "left alone"].append(float(bool(added) == bool(wanted)))
        if wanted:
            scores["recovered"].append(len(added & wanted) / len(wanted))
        if added:
            scores["right"].append(len(added & wanted) / len(added))
    return scores


def _found(rows: list[Row], answers: bool) -> Scores:
    """How high what belongs to a turn is found, by each of its forms."""
    belongs, settings = dict(_belonging(rows, answers)), Settings()
    texts = list(dict.fromkeys(belongs.values()))
    passages = [{"id": str(place), "text": text} for place, text in enumerate(texts)]
    view = index_passages(passages, settings, load_shipped()).seen_by(Filters())
    asked = [n for n in belongs if rows[n]["history"]]
    scores: Scores = {}
    for n in asked[:: -(-len(asked) // _ASKED)]:
        row = rows[n]
        written = resolved(row["q"], turns(row["history"], answers))
        forms = {"asked": row["q"], "written out": written, "a person": row["standalone"]}
        for name, form in forms.items():
            ranked = [texts[int(c["document"])] for c in candidates_for(form, view, settings)[:TOP]]
            rank = ranked.index(belongs[n]) + 1 if belongs[n] in ranked else 0
            scores.setdefault(f"found, {name}", []).append(1 / rank if rank else 0.0)
    return scores


def _belonging(rows: list[Row], answers: bool) -> Iterator[tuple[int, str]]:
    """What belongs to a turn, by its place among the rows."""
    for n, row in enumerate(rows):
        if not answers:
            yield n, row["standalone"]
        elif n + 1 < len(rows) and rows[n + 1]["history"][:-2] == row["history"]:
            yield n, rows[n + 1]["history"][-1]


def _named(text: str) -> set[str]:
    return set(words(text)) - STOP_WORDS


if __name__ == "__main__":
    main()
