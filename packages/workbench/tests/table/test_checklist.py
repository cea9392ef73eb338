"""Sets of questions, and what a playbook says of a cell."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import InputError
from lexloop.models.minilm import MiniLM
from lexloop_workbench.table.checklist import (
    Question,
    Rule,
    checklist_of,
    measured,
    read_checklist,
    shipped,
    shipped_checklist,
)


def test_periods_are_days_however_they_are_written() -> None:
    said = "thirty (30) days, two years, a twelve-month term, 6 weeks and 48 hours"
    assert measured(said, "period") == [30.0, 730.0, 365.0, 42.0]


@given(st.integers(0, 10**12), st.booleans())
def test_a_period_is_read_whole(count: int, grouped: bool) -> None:
    said = f"{count:,}" if grouped else str(count)
    assert measured(f"within {said} days", "period") == [count]
    assert measured(f"within {said} weeks of it, in {said} days", "period") == [count * 7, count]


def test_sums_and_shares_are_read_with_their_scale() -> None:
    assert measured("$1,000,000, US$2.5 million and EUR 300", "sum") == [1e6, 2.5e6, 300.0]
    assert measured("3% or 4.5 per cent of it", "share") == [3.0, 4.5]


@given(st.text(max_size=200))
def test_any_text_can_be_measured(text: str) -> None:
    for unit in ("period", "sum", "share"):
        assert all(value >= 0 for value in measured(text, unit))


def question(**rules: Rule) -> Question:
    return Question(id="q", title="Term", question="How long?", **rules)


def test_what_is_not_acceptable_counts_before_what_is_standard() -> None:
    asked = question(
        standard=Rule(least="2 years", most="5 years"),
        acceptable=Rule(most="7 years"),
        unacceptable=Rule(words=("perpetual",)),
    )
    assert asked.deviation(True, "for three years") == "standard"
    assert asked.deviation(True, "for one year") == "acceptable"
    assert asked.deviation(True, "for nine years") == ""
    assert asked.deviation(True, "for three years, and perpetually for secrets") == "deviates"


def test_a_bound_holds_of_every_quantity_and_of_none_not_at_all() -> None:
    rule = Rule(most="1 year")
    assert rule.holds(True, "six months or one year")
    assert not rule.holds(True, "six months or two years")
    assert not rule.holds(True, "for as long as the parties wish")
    assert not rule.holds(False, "six months")


def test_presence_is_decided_by_the_state() -> None:
    asked = question(unacceptable=Rule(stated=False))
    assert (asked.deviation(False, ""), asked.deviation(True, "Any.")) == ("deviates", "")


def test_words_stand_in_a_row_in_any_form() -> None:
    rule = Rule(words=("need to know",))
    assert rule.holds(True, "who needs to know it")
    assert not rule.holds(True, "who knows what they need")


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_checklist_can_be_read(name: str) -> None:
    held = shipped_checklist(name)
    assert held.title
    assert len(held.questions) >= 12
    assert all(one.like and one.question.endswith("?") for one in held.questions)


def test_the_same_question_has_the_same_id_in_every_list() -> None:
    alone = checklist_of(["Who pays?", " Who   pays? ", ""])
    behind = checklist_of(["Who pays?"], shipped_checklist("nda"))
    assert len(alone.questions) == 1
    assert behind.questions[-1] == alone.questions[0]


def test_a_question_as_a_shipped_one_is_asked_has_its_clauses() -> None:
    shipped = {q.id: q for q in shipped_checklist("commercial").questions}
    asked = ["Is there an anti-assignment clause?", "Non-compete?", "Who feeds the swans?"]
    first, second, other = checklist_of(asked).questions
    assert first.like == shipped["assignment"].like
    assert second.like == shipped["non-compete"].like
    assert first.standard is None  # whose playbook it is, its user has not said
    assert other.like == ()


def test_what_several_lists_ask_has_the_clauses_of_any_contract() -> None:
    [audit] = checklist_of(["What are the audit rights?"]).questions
    [own] = [q for q in shipped_checklist("commercial").questions if q.title == "Audit"]
    assert audit.like == own.like


def test_a_question_of_a_file_keeps_its_own_clauses(tmp_path: Path) -> None:
    file = tmp_path / "ours.toml"
    question = "[[questions]]\nid='{0}'\ntitle='{0}'\nquestion='Non-compete?'\n"
    file.write_text(f"{question.format('a')}like=['Ours.']\n{question.format('b')}", "utf-8")
    own, bare = checklist_of([], read_checklist(file)).questions
    assert own.like == ("Ours.",)
    assert "compete" in " ".join(bare.like)


def test_too_many_questions_are_refused_before_any_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MiniLM, "embed", lambda *_: pytest.fail("it was embedded"))
    with pytest.raises(InputError, match="There are 201 questions, and a table asks 200 at most"):
        checklist_of([f"Who pays {n}?" for n in range(201)])


@pytest.mark.parametrize("asked", ["x", "\u202e" * 2000, "<b>=1+1</b>", "wozu?" * 300])
def test_what_asks_nothing_has_no_clauses(asked: str) -> None:
    assert checklist_of([asked]).questions[0].like == ()


def test_a_text_file_has_a_question_a_line(tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text("# ours\nWho pays?\n\nWhen?\n", "utf-8")
    assert [one.question for one in read_checklist(file).questions] == ["Who pays?", "When?"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("questions = 3", "not a list of questions"),
        ("[[questions]]\nid='A b'\ntitle='x'\nquestion='y'", "questions.0.id"),
        ("[[questions]]\nid='a'\ntitle='x'\nquestion='y'\n[questions.standard]\n", "stated, least"),
        (
            "[[questions]]\nid='a'\ntitle='x'\nquestion='y'\nstandard={least='soon'}",
            "is not a period, sum or share",
        ),
        ("[[questions]]\nid='a'\ntitle='x'\nquestion='y'\nbait=1", "questions.0.bait"),
        ("[[questions]]\nid='a'\ntitle='x'\nquestion='y'\n" * 2, "is there twice"),
        ("[[", "not TOML"),
        ("", "not a list of questions"),
    ],
)
def test_a_file_that_says_something_else_is_told(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "list.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(InputError, match=said):
        read_checklist(file)


def test_nothing_asked_and_unknown_names_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no question\. Give a question"):
        checklist_of([" "])
    with pytest.raises(InputError, match="commercial, dpa, lease, nda, privacy"):
        shipped_checklist("../gold")
    with pytest.raises(InputError, match="cannot be read"):
        read_checklist(tmp_path / "none.toml")
