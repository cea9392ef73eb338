"""Quotes of answers, followed from one version of a document into another."""

import json
from pathlib import Path
from typing import Any

import pytest
from compared import comparison
from hypothesis import given
from hypothesis import strategies as st
from sets import whole_text

from lexloop.core.errors import InputError
from lexloop_workbench.touched import Report, cited_in, read_cited, touched

OLD = whole_text("touched_old.txt")
NEW = whole_text("touched_new.txt")


def cited(
    quote: str, question: str = "", document: str = "rules.txt", at: int | None = None
) -> Any:
    start = OLD.index(quote) if at is None else at
    span = {"start": start, "end": start + len(quote)}
    citation = {"document": document, "section": "Article 1", **span, "quote": quote}
    return {"question": question, "citations": [citation]}


def became(*records: Any) -> list[tuple[Any, ...]]:
    found = touched(comparison(OLD, NEW), cited_in([*records]))
    return [
        (one.was.section, " ".join(one.kinds), one.became, one.now and one.now.section)
        for one in found
    ]


def test_what_became_of_a_quote_and_its_provision() -> None:
    assert became(
        cited("The fee is due on the first day of May."),
        cited("pay a fee of 10 euro"),
        cited("for each boat"),
        cited("The harbour may lower the fee of a raft."),
        cited("give notice of a sale"),
    ) == [
        ("Article 1(1)", "changed", "changed", "Article 1(1)"),
        ("Article 1(1)", "changed", "same", "Article 1(1)"),
        ("Article 1(3)", "gone", "gone", None),
        ("Article 2", "renumbered", "same", "Article 3"),
    ]
    (changed,) = touched(comparison(OLD, NEW), cited_in(cited("pay a fee of 10 euro", "How much?")))
    assert changed.question == "How much?"
    assert changed.now is not None
    assert NEW[changed.now.start : changed.now.end] == "pay a fee of 12 euro"
    assert [part.text for part in changed.parts if part.op != "same"] == ["10", "12"]


def test_quotes_are_of_the_old_version_wherever_they_are_said_to_stand() -> None:
    elsewhere = cited("fee of 10 euro", at=3)
    assert became(elsewhere)[0][:3] == ("Article 1(1)", "changed", "changed")
    assert became(cited("fee of 10 euro", document="sub/rules.txt"))
    assert became(cited("fee of 10 euro", document="other.txt")) == []
    unknown = cited("The fee is 99 euro.", at=0)
    assert became(unknown) == [("Article 1", "", "unknown", None)]
    assert became(cited("The fee is 99 euro.", at=-(10**30)), {"citations": "none"}, [], 3) == [
        ("Article 1", "", "unknown", None)
    ]


def test_citations_are_found_in_answers_conversations_and_tables(tmp_path: Path) -> None:
    answer = cited("fee of 10 euro", "How much?")
    answer["attempts"] = [{"citations": [cited("the first day of May")["citations"][0]]}]
    (tmp_path / "ask.json").write_text(json.dumps(answer))
    (tmp_path / "eval.jsonl").write_text(f"{json.dumps(answer)}\n\n{json.dumps(answer)}\n")
    cell = {"value": "10", "citations": answer["citations"]}
    table = {"rows": [{"document": "rules.txt", "cells": {"fee": cell}}]}
    (tmp_path / "table.json").write_text(json.dumps(table))
    read = [read_cited(tmp_path / name) for name in ("ask.json", "table.json", "eval.jsonl")]
    assert [[(one.question, one.quote) for one in each] for each in read] == [
        [("How much?", "fee of 10 euro")],
        [("", "fee of 10 euro")],
        [("How much?", "fee of 10 euro")] * 2,
    ]
    found = Report.of(comparison(OLD, NEW), read[0])
    assert (len(found.changes), len(found.answers)) == (5, 1)


@pytest.mark.parametrize("text", ["no JSON", '{"a": 1}\n{', "[" * 100_000, "\udcff"])
def test_a_file_of_no_answers_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "answers.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=r"answers\.json"):
        read_cited(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_cited(tmp_path / "gone.json")


@given(st.integers(0, len(OLD)), st.integers(1, 80))
def test_a_quote_that_is_the_same_is_quoted_where_it_stands(start: int, length: int) -> None:
    quote = OLD[start : start + length]
    record = {"document": "rules.txt", "start": start, "end": start + len(quote), "quote": quote}
    for one in touched(comparison(OLD, NEW), cited_in(record)):
        assert (one.now is None) == (one.became == "gone")
        if one.became == "same":
            assert one.now is not None
            assert one.now.quote.split() == quote.split()
            assert not one.parts
