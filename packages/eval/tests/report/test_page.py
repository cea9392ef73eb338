"""The page: whole, escaped, and without anything that runs or loads."""

import random
import re

import pytest
from bs4 import BeautifulSoup
from run_records import record, run_info

from lexloop_eval.record import Record
from lexloop_eval.report.page import to_html
from lexloop_eval.report.summary import summarise, timings

EVIL = '<script>alert(1)</script> & "quoted" $\\frac{1}{2}$ 法'


def a_run(rows: list[str], questions: int, more: bool = False) -> list[Record]:
    chance = random.Random(2)
    return [
        record(
            variant=row,
            id=f"q{number:02d}",
            question=f"{EVIL} {number}?",
            question_type=("simple", EVIL, "vague")[number % 3],
            complexity=number % 3,
            answer=EVIL,
            metrics={
                "correctness": 1 + 4 * chance.random(),
                "bleu": {"unresolved": EVIL},
                **({"similarity": 0.5, "human": float(1 + number % 5)} if more else {}),
            },
            context_tokens=chance.randint(100, 500),
            seconds=chance.random(),
        )
        for row in rows
        for number in range(questions)
    ]


def page_of(records: list[Record], *rows: str) -> str:
    info = run_info(*rows, gold=EVIL, skipped=[{"variant": EVIL, "reason": EVIL}])
    return to_html(summarise(records, info), timings(records, info), records)


@pytest.fixture(scope="module")
def page() -> str:
    rows = [EVIL, "k = 5"]
    return page_of(a_run(rows, 12, more=True), *rows)


def test_nothing_runs_and_nothing_is_loaded_and_others_text_stays_text(page: str) -> None:
    seen = BeautifulSoup(page, "html.parser")
    # the two main metrics by variant, and human
    assert len(seen.find_all("svg")) == 2 + 1
    loading = ("script", "img", "iframe", "object", "embed", "link", "form", "image")
    assert seen.find_all(loading) == []
    attributes = [pair for tag in seen.find_all() for pair in tag.attrs.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name == "src"]
    links = {str(value) for name, value in attributes if name in ("href", "xlink:href")}
    identifiers = [value for name, value in attributes if name == "id"]
    assert len(identifiers) == len(set(identifiers))
    assert links
    assert links <= {f"#{name}" for name in identifiers}
    assert "default-src 'none'" in page
    assert not re.search(r"url\((?!#)|@import|<script", page)
    assert EVIL in seen.get_text()


def test_the_same_run_has_the_same_page() -> None:
    records = a_run(["fixed"], questions=2)
    assert page_of(records, "fixed") == page_of(records[::-1], "fixed")


@pytest.mark.parametrize(
    "records",
    [
        [],
        [record(error="silent", answer="")],
        [record(metrics={"correctness": {"unresolved": "silent"}}, question_type="")],
        [record(metrics={"correctness": 3.0}, complexity=None)],
    ],
)
def test_a_poor_run_still_has_a_page(records: list[Record]) -> None:
    assert "</html>" in page_of(records, "fixed")
