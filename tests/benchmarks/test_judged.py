"""Answers that a model calls good in every way, judged beside it by what they cite."""

from collections import Counter

from _judged import judged


def test_no_bad_answer_passes_and_most_good_ones_do() -> None:
    counted: Counter[tuple[bool, bool]] = Counter()
    for row, result in judged():
        evaluation = result["evaluation"]
        counted[row["passes"], evaluation["passed"]] += 1
        assert row["passes"] or not evaluation["passed"], row["answer"]
        bullets = row["kind"] == "intro and bullets"
        assert not bullets or evaluation["passed"], (row["answer"], evaluation["reasons"])
    assert counted[False, False] == 46
    assert counted[True, True] >= 28
