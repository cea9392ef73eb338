"""Altered answers to little documents do not pass; what says the same in other words does."""

from claims import TRUE, refused


def test_no_altered_answer_passes_and_few_true_ones_are_refused() -> None:
    counts, wrong = refused()
    altered = {key: count for key, count in counts.items() if key[1] != TRUE}
    assert sum(count for (late, _), count in altered.items() if not late) <= 1, wrong
    assert sum(altered.values()) <= 3, wrong
    assert counts[False, TRUE] <= 3, wrong
    assert counts[True, TRUE] <= 2, wrong
