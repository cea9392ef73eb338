"""Answers that a model calls good in every way, judged beside it by what they cite."""

from collections import Counter

from _judged import judged


def test_no_bad_answer_passes_and_most_good_ones_do() -> None:
    counted: Counter[tuple[bool, bool, bool]] = Counter()
    for row, result in judged():
        evaluation, beside = result["evaluation"], row.get("beside", False)
        counted[beside, row["passes"], evaluation["passed"]] += 1
        assert beside or row["passes"] or not evaluation["passed"], row["answer"]
        bullets = row["kind"] == "intro and bullets"
        assert not bullets or evaluation["passed"], (row["answer"], evaluation["reasons"])
    assert counted[False, False, False] == 46
    assert counted[False, True, True] >= 28
    # what no rule was made on
    assert counted[True, False, False] >= 27
    assert counted[True, True, True] >= 13
