"""Does adapting k pay: recall against fixed k at equal tokens of context.

    python benchmarks/adapting.py --gold GOLD.jsonl --docs DIR --passages PASSAGES.jsonl
        --questions QUESTIONS.jsonl

Either pair may be left out. The gold file is one of LL144's form (reference contexts over .txt
files; a passage is relevant to a context when half of the word 3-grams of one occur in the other);
passages and questions are ObliQA's (``relevant_ids``; the 720 passages without text left out).

Every question goes through the graph up to rerank with all candidates; rules then say how many of
them are taken, at most 20. A rule's mean of tokens is compared with fixed k at the same mean, a mix
of two ks where it lies between them. Rules: the paper's classifier with its plans of two and of
three classes and the one learnt of depths, cross-validated by group; the oracle that knows the
number of relevant passages, and one that knows where the last of them stands; and the scores of the
candidates (the setting plan.k=scores).

The shipped values of ``scores`` have seen all questions. Beside them stand temperature and share
chosen on four fifths of the questions for the fifth that is measured, and chosen on the other set.
Intervals are bootstrap 95 % over groups of questions that are near-duplicates or made of one
passage.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _adapting_lists import Ranking, rankings_of_gold, rankings_of_passages
from _adapting_measure import Curves, against_fixed, curves
from _adapting_rules import MOST, RULES, Ks, Rule, by_scores, fold_of

_TEMPERATURES = (0.05, 0.06, 0.08, 0.1, 0.12)
_SHARES = (0.03, 0.05, 0.08)
_TRIED = [by_scores(heat, share) for heat in _TEMPERATURES for share in _SHARES]
_FIXED = (1, 3, 5, 7, 10, 20)
Report = dict[str, dict[str, float]]


def main() -> None:
    """Print a table for each set."""
    options = _options()
    sets: dict[str, list[Ranking]] = {}
    if options.gold and options.docs:
        sets["gold"] = [*rankings_of_gold(options.gold, options.docs)]
    if options.passages and options.questions:
        sets["passages"] = [*rankings_of_passages(options.passages, options.questions)]
    if not sets:
        sys.exit("Give --gold with --docs, or --passages with --questions.")
    tables = []
    for name, rankings in sets.items():
        curve = curves(rankings, MOST)
        chosen = {rule: choose(rankings) for rule, choose in RULES.items()}
        for other in sets.keys() - {name}:
            chosen["scores, chosen on the other set"] = _best_on(sets[other])(rankings)
        for metric in curve.found:
            ks = {**chosen, "scores, chosen on other folds": _cross_fitted(rankings, metric)}
            rows = {rule: against_fixed(curve, metric, taken) for rule, taken in ks.items()}
            tables.append(_table(f"{name}: {metric}, {len(rankings)} questions", rows))
            tables.append(_fixed(curve, metric))
    print("\n\n".join(tables))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--gold", type=Path, help="questions with reference contexts")
    parser.add_argument("--docs", type=Path, help="folder of their .txt files")
    parser.add_argument("--passages", type=Path, help="JSON Lines: id, text")
    parser.add_argument("--questions", type=Path, help="JSON Lines: question, relevant_ids")
    return parser.parse_args()


def _cross_fitted(rankings: Sequence[Ranking], metric: str) -> Ks:
    """What the scores choose, the rule's two constants chosen on the other folds."""
    folds = fold_of(rankings)
    tried = [rule(rankings) for rule in _TRIED]
    curve = curves(rankings, MOST)
    chosen = np.ones(len(rankings), dtype=np.int64)
    for fold in np.unique(folds):
        rest, here = folds != fold, folds == fold
        seen = Curves({metric: curve.found[metric][rest]}, curve.tokens[rest], curve.groups[rest])
        gains = [_gain(seen, metric, ks[rest]) for ks in tried]
        chosen[here] = tried[int(np.argmax(gains))][here]
    return chosen


def _best_on(rankings: Sequence[Ranking]) -> Rule:
    """The constants that gain most there: of contexts where they are known, else of passages."""
    curve = curves(rankings, MOST)
    metric = "contexts" if "contexts" in curve.found else "recall"
    gains = [_gain(curve, metric, rule(rankings)) for rule in _TRIED]
    return _TRIED[int(np.argmax(gains))]


def _gain(curve: Curves, metric: str, ks: Ks) -> float:
    rows = np.arange(len(ks))
    fixed = curve.found[metric].mean(axis=0)
    tokens = float(curve.tokens[rows, ks].mean())
    found = float(curve.found[metric][rows, ks].mean())
    return found - float(np.interp(tokens, curve.tokens.mean(axis=0), fixed))


def _table(title: str, rows: Report) -> str:
    head = "k, mean | tokens | recall | fixed k at these tokens | gain | tokens fixed k needs"
    lines = [title, "", f"| | {head} |", "|---|---|---|---|---|---|---|"]
    for name, row in rows.items():
        gain = f"{row['gain']:+.3f} [{row['gain_low']:+.3f}, {row['gain_high']:+.3f}]"
        cells = [f"{row['k']:.2f}", f"{row['tokens']:.0f}", f"{row['recall']:.3f}"]
        cells += [f"{row['fixed']:.3f}", gain, f"{row['fixed_tokens']:.0f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _fixed(curve: Curves, metric: str) -> str:
    found, tokens = curve.found[metric].mean(axis=0), curve.tokens.mean(axis=0)
    said = [f"{k}: {found[k]:.3f} with {tokens[k]:.0f} tokens" for k in _FIXED]
    return f"Fixed k, {metric}: {'; '.join(said)}."


if __name__ == "__main__":
    main()
