"""A run as figures, by hand: metrics, groups, what the loop gained, seconds; and two runs."""

import json

import pytest
from run_records import attempt, record, run_info

from lexloop.core.errors import InputError
from lexloop_eval.record import Record, RefusalRecord
from lexloop_eval.report.page import to_markdown
from lexloop_eval.report.summary import chosen, compare, loop_account, summarise, timings
from lexloop_eval.report.tables import escaped
from lexloop_eval.score import Unresolved
from lexloop_eval.statistics import Estimate

SILENT = {"unresolved": "the judge was silent"}
INFO = run_info("fixed", "k = 5")


def small_run() -> list[Record]:
    """Two variants over three questions; the second is better, and failed once."""
    return [
        record(id="q1", metrics={"similarity": 0.2, "correctness": SILENT}, context_tokens=100),
        record(id="q2", metrics={"similarity": 0.4, "correctness": 3.0}, question_type="vague"),
        record(id="q3", metrics={"similarity": 0.6, "correctness": 5.0}, complexity=2),
        record(
            id="q1", variant="k = 5", metrics={"similarity": 0.5, "correctness": 4.0}, seconds=2.0
        ),
        record(id="q2", variant="k = 5", error="ModelUnavailable: silent", answer=""),
        record(
            id="q3", variant="k = 5", metrics={"similarity": 0.8}, warning="Not good.", seconds=4.0
        ),
    ]


def test_figures_by_hand_and_the_order_of_records_changes_nothing() -> None:
    fixed, five = summarise(small_run(), INFO)["variants"]
    assert fixed["metrics"]["similarity"]["mean"] == pytest.approx(0.4)
    correctness = fixed["metrics"]["correctness"]
    assert (correctness["mean"], correctness["n"], correctness["unresolved"]) == (4.0, 2, 1)
    assert correctness["reasons"] == {"the judge was silent": 1}
    assert fixed["metrics"]["context_tokens"]["mean"] == pytest.approx(100 / 3, abs=1e-5)
    assert (five["questions"], five["failed"], five["warned"]) == (3, 1, 1)
    assert five["errors"] == {"ModelUnavailable: silent": 1}
    reasons = {"not measured": 1, "the question failed": 1}
    assert five["metrics"]["correctness"]["reasons"] == reasons
    # q1 gains 0.3 and q3 0.2; q2 failed. Two differences of one sign: p is 1/2
    assert "p" not in fixed["metrics"]["similarity"]
    assert five["metrics"]["similarity"]["difference"] == pytest.approx(0.25)
    assert five["metrics"]["similarity"]["p"] == pytest.approx(0.5, abs=0.02)
    counts = {name: group["questions"] for name, group in fixed["by_type"].items()}
    assert counts == {"simple": 2, "vague": 1}
    assert fixed["by_type"]["vague"]["metrics"]["similarity"]["mean"] == 0.4
    assert fixed["by_class"]["2"]["metrics"]["similarity"]["mean"] == 0.6
    slower = [{**entry, "seconds": 9.0} for entry in reversed(small_run())]
    assert json.dumps(summarise(slower, INFO)) == json.dumps(  # type: ignore[arg-type]
        summarise(small_run(), INFO)
    )


def test_dollars_are_shown_where_the_prices_are_known() -> None:
    free = summarise([record(id="q1"), record(id="q2")], INFO)["variants"][0]
    assert "usd_per_1000" not in free["metrics"]
    priced = [record(id="q1", cost_usd=0.003), record(id="q2", cost_usd=0.001)]
    [row] = summarise(priced, run_info("fixed"))["variants"]
    assert row["metrics"]["usd_per_1000"]["mean"] == pytest.approx(2.0)
    assert "US dollars for 1,000 questions" in to_markdown(summarise(priced, run_info("fixed")))


def test_the_answer_is_the_best_attempt() -> None:
    low, high, passed = attempt(0.2), attempt(0.6), attempt(0.5, passed=True)
    assert chosen([low, high, attempt(None)]) is high
    assert chosen([high, passed]) is passed
    assert chosen([low, attempt(0.2)]) is low
    assert chosen([attempt(0.9, verified=False), low]) is low
    silent = attempt(None, abstained=True)
    assert chosen([silent, high]) is silent
    assert chosen([high, silent]) is high


def test_the_account_of_the_loop_by_hand() -> None:
    better = [
        attempt(0.2, correctness=2.0, model_calls=1, tokens=40),
        attempt(0.8, correctness=4.0, passed=True, model_calls=4, tokens=90),
    ]
    worse = [
        attempt(0.1, correctness=5.0, model_calls=2),
        attempt(0.3, correctness=4.0, model_calls=5),
        attempt(0.2, model_calls=8),
    ]
    records = [
        record(attempts=better, model_calls=4, tokens_in=80, tokens_out=20),
        record(attempts=worse, model_calls=9),
        record(attempts=[attempt(0.9, correctness=5.0, passed=True)], model_calls=2),
        record(error="the model was silent"),
    ]
    account = loop_account(records)
    assert (account["questions"], account["retried"], account["retries"]) == (3, 2, 3)
    assert (account["passed_first"], account["passed_finally"]) == (1, 2)
    assert (account["improved"], account["worsened"]) == (1, 1)
    assert isinstance(account["correctness_gain"], Estimate)
    assert isinstance(account["lowest_gain"], Estimate)
    assert account["correctness_gain"].mean == pytest.approx((2 - 1) / 2)
    assert account["lowest_gain"].mean == pytest.approx((0.6 + 0.2) / 2)
    assert (account["model_calls"], account["tokens"]) == (3 + 6, 50)
    [row] = summarise(records, run_info("fixed"))["variants"]
    assert row["loop"]["correctness_gain"]["mean"] == 0.5
    assert row["metrics"]["retries"]["mean"] == pytest.approx(3 / 4)
    for nothing in ([], [record()], [record(attempts=[attempt(0.9)])]):
        account = loop_account(nothing)
        assert account["retried"] == account["retries"] == account["model_calls"] == 0
        assert isinstance(account["correctness_gain"], Unresolved)
        assert isinstance(account["correctness_p"], Unresolved)


def test_what_was_refused_is_counted_by_kind() -> None:
    refusals: list[RefusalRecord] = [
        {"variant": "fixed", "id": "n1", "kind": "jailbreak", "abstained": True},
        {"variant": "fixed", "id": "n2", "kind": "irrelevant", "abstained": False},
        {"variant": "other", "id": "n1", "kind": "jailbreak", "abstained": False},
    ]
    [row] = summarise([record()], run_info("fixed"), refusals)["variants"]
    assert row["refused"] is not None
    assert (row["refused"]["queries"], row["refused"]["refused"]) == (2, 1)
    assert row["refused"]["by_kind"] == {
        "irrelevant": {"queries": 1, "refused": 0},
        "jailbreak": {"queries": 1, "refused": 1},
    }


def test_timings_by_hand() -> None:
    took = timings(small_run(), INFO)["variants"][1]["seconds"]
    assert took["mean"]["mean"] == 3.0
    assert (took["median"], took["worst"], took["total"]) == (3.0, 4.0, 6.0)
    tries = [attempt(0.1), attempt(0.2), attempt(0.3)]
    [looped] = timings([record(attempts=tries, seconds=9.0)], run_info("fixed"))["variants"]
    assert looped["seconds"]["retries"] == pytest.approx(6.0)


def written(records: list[Record], *rows: str) -> str:
    info = run_info(*rows, skipped=[{"variant": "llm_only", "reason": "no model is configured"}])
    return to_markdown(summarise(records, info))


def test_tables_name_every_interval_and_unresolved_score() -> None:
    silent = {"unresolved": "no reference"}
    scores = (0.5, 0.5, silent)
    records = [record(id=f"{n}", metrics={"similarity": s}) for n, s in enumerate(scores)]
    text = written(records, "fixed")
    assert "| 1 | fixed | 0.500 \\[0.500, 0.500\\] (1) |" in text
    assert "| no reference | 1 | 1 | similarity to the reference |" in text
    assert "| llm\\_only | no model is configured |" in text


def test_what_others_wrote_is_no_markup() -> None:
    assert escaped("a|b\n<img src=x> `c` *d* $e$") == (
        "a\\|b \\<img src=x\\> \\`c\\` \\*d\\* \\$e\\$"
    )
    text = written([record(variant="x | <b>\n# y", question_type="a|b")], "x | <b>\n# y")
    assert "x \\| \\<b\\> \\# y" in text
    assert "<b>" not in text


def run_of(scores: dict[str, float], row: str = "fixed", **fields: object) -> list[Record]:
    return [
        record(id=name, variant=row, metrics={"similarity": score}, **fields)
        for name, score in scores.items()
    ]


def test_a_question_that_was_reworded_is_another_question() -> None:
    a = run_of({"q1": 0.2, "q2": 0.4})
    b = [*run_of({"q1": 0.3}), *run_of({"q2": 0.4}, question="Who else pays?")]
    [pair] = compare(a, b)["pairs"]
    assert (pair["questions"], pair["reworded"]) == (1, 1)


def test_rows_are_paired_by_name_by_choice_or_alone() -> None:
    a = [*run_of({"q1": 0.1}, "x"), *run_of({"q1": 0.2}, "y")]
    b = [*run_of({"q1": 0.3}, "y"), *run_of({"q1": 0.4}, "z")]
    comparison = compare(a, b)
    assert [(pair["variant_a"], pair["variant_b"]) for pair in comparison["pairs"]] == [("y", "y")]
    assert (comparison["variants_only_a"], comparison["variants_only_b"]) == (["x"], ["z"])
    [chosen] = compare(a, b, "x", "z")["pairs"]
    assert chosen["metrics"]["similarity"]["difference"]["mean"] == pytest.approx(0.3)
    assert compare(a, b, "y")["pairs"][0]["variant_b"] == "y"
    alone = compare(run_of({"q1": 0.1}, "x"), run_of({"q1": 0.2}, "z"))
    assert (alone["pairs"][0]["variant_a"], alone["pairs"][0]["variant_b"]) == ("x", "z")


def test_nothing_to_compare() -> None:
    a, b = run_of({"q1": 0.1}, "x"), run_of({"q2": 0.1}, "x")
    with pytest.raises(InputError, match="share no question"):
        compare(a, b)
    with pytest.raises(InputError, match="no variant 'w'"):
        compare(a, b, "w")
    with pytest.raises(InputError, match="no variant of the same name"):
        compare([*a, *run_of({"q1": 0.1}, "y")], run_of({"q1": 0.1}, "z"))
