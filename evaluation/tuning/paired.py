"""Two settings on the same questions: what one gains, and how sure that is.

Near-duplicate questions are no independent evidence: whole groups are resampled, and whole groups
change their sign.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from lexloop.core.score import Score, Unresolved, is_resolved
from lexloop.evaluation.metrics.intervals import Estimate, interval_of, paired_randomisation

BEYOND_NOISE = 1.96
"""Standard errors that a gain must exceed: its 95 % interval leaves out zero."""


def gain(before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]) -> Score:
    """The mean difference over the questions that have both scores."""
    found = _differences(before, after, groups)
    return sum(d for d, _ in found) / len(found) if found else Unresolved("no question has both")


def standard_error(before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]) -> float:
    """The standard error of ``gain``, robust to clusters; infinite for fewer than two of them.

    sqrt(G / (G - 1) x sum over groups of (sum of residuals)^2) / n, as in Liang and Zeger 1986.
    """
    found = _differences(before, after, groups)
    if not found:
        return math.inf
    mean = sum(d for d, _ in found) / len(found)
    sums: dict[int, float] = defaultdict(float)
    for difference, group in found:
        sums[group] += difference - mean
    count = len(sums)
    if count < 2:
        return math.inf
    return math.sqrt(count / (count - 1) * sum(s * s for s in sums.values())) / len(found)


def beyond_noise(before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]) -> bool:
    """Whether settings gain more than chance alone would often show."""
    found = gain(before, after, groups)
    error = standard_error(before, after, groups)
    return is_resolved(found) and found > max(BEYOND_NOISE * error, 1e-12)


def estimated(scores: Sequence[Score], groups: Sequence[int]) -> Estimate | Unresolved:
    """The mean with its bootstrap interval over groups."""
    pairs = [(s, g) for s, g in zip(scores, groups, strict=True) if is_resolved(s)]
    if not pairs:
        missing = [score for score in scores if isinstance(score, Unresolved)]
        return missing[0] if missing else Unresolved("there are no scores")
    found = interval_of(_mean, [s for s, _ in pairs], [g for _, g in pairs])
    if isinstance(found, Unresolved):
        return found
    return Estimate(found.mean, found.low, found.high, len(pairs), len(scores) - len(pairs))


def gained(
    before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]
) -> Estimate | Unresolved:
    """``gain`` with its bootstrap interval over groups."""
    found = _differences(before, after, groups)
    if not found:
        return Unresolved("no question has both scores")
    return interval_of(_mean, [d for d, _ in found], [g for _, g in found])


def p_value(before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]) -> Score:
    """Of the paired randomisation test, signs drawn for whole groups."""
    sums: dict[int, float] = defaultdict(float)
    for difference, group in _differences(before, after, groups):
        sums[group] += difference
    return paired_randomisation(list(sums.values()), [0.0] * len(sums))


def _differences(
    before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]
) -> list[tuple[float, int]]:
    rows = zip(before, after, groups, strict=True)
    return [(y - x, group) for x, y, group in rows if is_resolved(x) and is_resolved(y)]


def _mean(values: Sequence[float]) -> Score:
    return sum(values) / len(values)
