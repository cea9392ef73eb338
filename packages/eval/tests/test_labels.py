"""Labels of people: who is asked what, what is kept however it ends, and what they say."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from run_records import record, run_info, write_run

from lexloop.core.errors import DataError, InputError
from lexloop_eval.labels import Labelling, RunAnswer, RunAnswers
from lexloop_eval.record import Record
from lexloop_eval.report.labels import as_text, summarise

CITED: list[Any] = [
    {"n": 1, "document": "law.txt", "section": "§ 1", "page": None, "start": 0, "end": 9,
     "quote": "The owner"},
]  # fmt: skip


def answered(name: str, kind: str, grade: float, variant: str = "fixed", **more: Any) -> Record:
    metrics = {"correctness": grade, "groundedness": 0.9, "faithfulness": 0.5}
    more = {"answer": f"{name} pays. [1]", "citations": CITED, "metrics": metrics, **more}
    return record(id=name, question=f"{name}?", question_type=kind, variant=variant, **more)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Twenty simple and ten vague questions under two variants, one of which repeats half."""
    records = [answered(f"s{n}", "simple", 1.0 + n % 5) for n in range(20)]
    records += [answered(f"v{n}", "vague", 4.4) for n in range(10)]
    for n in range(20):
        text = f"s{n} pays. [1]" if n % 2 else f"s{n} never pays. [1]"
        records.append(answered(f"s{n}", "simple", 2.0, "other", answer=text))
    records.append(answered("failed", "simple", 1.0, error="TooSlow: it took too long"))
    records.append(answered("none", "vague", 1.0, answer="Nothing.", abstained=True, citations=[]))
    return write_run(tmp_path / "run", records, run_info("fixed", "other"))


def names(answers: list[RunAnswer]) -> list[str]:
    return [answer.question for answer in answers]


def walk(run: Path, person: str, *labels: int, asked: Any = "correct", n: int = 200) -> list[str]:
    """Give labels, and return the questions in the order in which they were asked."""
    seen = []
    with Labelling(RunAnswers(run), person, asked, n, 7) as labelling:
        for label in labels:
            assert labelling.current is not None
            seen.append(labelling.current.question)
            labelling.give(label)
    return seen


def test_an_answer_is_asked_once_and_no_failed_question(run: Path) -> None:
    answers = RunAnswers(run)
    assert len(answers.each) == 20 + 10 + 10 + 1
    assert answers.by_key["other", "s1"] is answers.by_key["fixed", "s1"]
    assert answers.by_key["other", "s2"] is not answers.by_key["fixed", "s2"]
    # what abstains or cites nothing has no support to be judged
    assert len(answers.drawn("correct", 99, 7)) == 41
    assert len(answers.drawn("supported", 99, 7)) == 40


def test_a_draw_has_each_kind_by_its_share_and_fewer_are_a_part_of_more(run: Path) -> None:
    answers = RunAnswers(run)
    few, more = (answers.drawn("supported", n, 7) for n in (8, 20))
    kinds = Counter((answer.key[0], answer.question_type) for answer in few)
    assert kinds == {("fixed", "simple"): 4, ("fixed", "vague"): 2, ("other", "simple"): 2}
    assert names(more)[:8] == names(few)
    assert names(answers.drawn("supported", 8, 8)) != names(few)


def test_all_people_get_the_same_in_an_order_of_their_own(run: Path) -> None:
    ann, bob = walk(run, "ann", *[3] * 8, n=8), walk(run, "bob", *[3] * 8, n=8)
    assert sorted(ann) == sorted(bob)
    assert ann != bob


def test_labels_go_on_where_they_ended_and_are_taken_back(run: Path) -> None:
    whole = walk(run, "eve", *[1] * 41)
    first = walk(run, "ann", 5, 4)
    with Labelling(RunAnswers(run), "ann", "correct", 200, 7) as labelling:
        assert (labelling.done, labelling.labelled, labelling.total) == (2, 2, 41)
        assert not labelling.undo()
        labelling.skip()
        labelling.give(2)
        assert labelling.undo()
        labelling.give(1)
        assert labelling.undo()
        assert labelling.labelled == 2
        for bad in (0, 6):
            with pytest.raises(InputError, match="Give one of 1, 2, 3, 4, 5"):
                labelling.give(bad)
    assert len(set(first) & set(whole)) == 2
    kept = RunAnswers(run).labels()["ann"].values()
    assert Counter(line["correct"] for line in kept) == {5: 1, 4: 1, None: 1}


def test_both_questions_are_kept_beside_each_other(run: Path) -> None:
    walk(run, "ann", *[4] * 41)
    walk(run, "ann", *[1, 0] * 20, asked="supported")
    kept = RunAnswers(run).labels()["ann"].values()
    assert Counter(line["correct"] for line in kept) == {4: 41}
    assert Counter(line["supported"] for line in kept) == {True: 20, False: 20, None: 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "s99"}, "line 1, belongs to another run: this one has no such answer to 's99'"),
        ({"answer_sha256": "0" * 64}, "belongs to another run"),
        ({"correct": 6}, "line 1, is malformed: field correct"),
        ({"correct": True}, "line 1, is malformed: field correct"),
        ({"correct": "5"}, "line 1, is malformed: field correct"),
        ({"supported": 1}, "line 1, is malformed: field supported"),
    ],
)
def test_a_line_that_is_not_of_this_run_or_scale_is_named(
    run: Path, changes: dict[str, Any], message: str
) -> None:
    walk(run, "ann", 5)
    path = run / "labels" / "ann.jsonl"
    line = {**json.loads(path.read_text("utf-8")), **changes}
    path.write_text(json.dumps(line) + "\n", "utf-8")
    for use in (lambda: RunAnswers(run).labels(), lambda: walk(run, "ann", 5)):
        with pytest.raises(DataError, match=message):
            use()


def test_a_file_is_one_persons_and_one_process_writes_it(run: Path) -> None:
    with Labelling(RunAnswers(run), "ann", "correct", 9, 7):
        with pytest.raises(InputError, match="is being written by another process"):
            walk(run, "ann")
        walk(run, "bob", *range(1, 6))
    copy = run / "labels" / "carl.jsonl"
    copy.write_bytes((run / "labels" / "bob.jsonl").read_bytes())
    with pytest.raises(DataError, match=r"carl.jsonl and .*bob.jsonl are the same labels"):
        RunAnswers(run).labels()
    for name in ("", "../ann", "a/b", ".ann", "ann\n", "a" * 41):
        with pytest.raises(InputError, match="is not a valid name"):
            walk(run, name)


def test_what_has_no_answers_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no run in"):
        RunAnswers(tmp_path)
    failed = answered("failed", "simple", 1.0, error="TooSlow: it took too long")
    run = write_run(tmp_path / "run", [failed], run_info("fixed"))
    with pytest.raises(InputError, match="no answer to label"):
        RunAnswers(run)
    none = answered("none", "simple", 1.0, citations=[])
    run = write_run(tmp_path / "cites", [none], run_info("fixed"))
    with pytest.raises(InputError, match="none can be supported"):
        walk(run, "ann", asked="supported")


def test_a_report_by_hand(tmp_path: Path) -> None:
    grades = {"a": 4.6, "b": 1.2, "c": 2.5, "d": 3.9}
    run = write_run(
        tmp_path / "run",
        [answered(n, "simple" if n < "c" else "vague", grades[n]) for n in grades],
        run_info("fixed"),
    )
    people = {"ann": {"a": 5, "b": 1, "c": 3, "d": 4}, "bob": {"a": 5, "b": 2, "c": 3, "d": 5}}
    for person, grades_given in people.items():
        with Labelling(RunAnswers(run), person, "correct", 9, 7) as labelling:
            while labelling.current is not None:
                labelling.give(grades_given[labelling.current.key[1]])
        if person == "ann":
            alone = summarise(RunAnswers(run), RunAnswers(run).labels())
            assert alone["correct"]["between"] == []
            assert "Kappa is not given: it takes two people" in as_text(alone)
    summary = summarise(RunAnswers(run), RunAnswers(run).labels())
    assert summary["people"]["bob"] == {"correct": 4, "supported": 0}
    (between,) = summary["correct"]["between"]
    # two of four are equal; by chance one 5 meets two and one 3 one: 3 of 16
    assert (between["people"], between["answers"]) == (["ann", "bob"], 4)
    assert between["agreement"]["mean"] == 0.5
    assert between["kappa"]["mean"] == pytest.approx((0.5 - 3 / 16) / (1 - 3 / 16), abs=1e-6)
    whole, good, *parts = summary["correct"]["judges"]
    # grades 5, 1, 3, 4 are ann's four and two of bob's
    assert (whole["judge"], whole["answers"], whole["agreement"]["mean"]) == (
        "correctness",
        4,
        0.75,
    )
    assert (good["judge"], good["agreement"]["mean"]) == ("correctness >= 4", 0.75)
    assert [row["question_type"] for row in parts] == ["simple", "vague"] * 2
    assert "supported" not in summary
    assert "| ann and bob | 4 | 0.500 [" in as_text(summary)


def test_answers_of_another_system_are_labelled_where_they_were_judged(tmp_path: Path) -> None:
    line = {"id": "a1", "system": "b", "question": "Who?", "answer": "The owner.", "human": None,
            "document": None, "reference_answer": "The owner.", "contexts": ["The owner pays."],
            "scores": {"correctness": 4.8, "similarity": {"unresolved": "none"}}}  # fmt: skip
    (tmp_path / "judged.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    (answer,) = RunAnswers(tmp_path).each
    assert (answer.reference, answer.sources) == ("The owner.", ("The owner pays.",))
    walk(tmp_path, "ann", 5)
    judged = summarise(RunAnswers(tmp_path), RunAnswers(tmp_path).labels())["correct"]["judges"]
    assert [row["agreement"]["mean"] for row in judged] == [1.0, 1.0]
