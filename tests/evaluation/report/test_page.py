"""The page: whole, escaped, and without anything that runs or loads."""

import random
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from run_records import record, run_info

from lexloop.evaluation.record import Record
from lexloop.evaluation.report.drawing import cost_against_quality
from lexloop.evaluation.report.figures import figure
from lexloop.evaluation.report.page import to_html
from lexloop.evaluation.report.summary import summarise, timings

EVIL = '<script>alert(1)</script> & "quoted" $\\frac{1}{2}$ 法'
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Tags(HTMLParser):
    """What a browser sees: elements with their attributes, and whether they are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


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
def seen() -> tuple[str, Tags]:
    rows = [EVIL, "k = 5"]
    page = page_of(a_run(rows, 12, more=True), *rows)
    tags = Tags()
    tags.feed(page)
    tags.close()
    return page, tags


def test_nothing_runs_and_nothing_is_loaded(seen: tuple[str, Tags]) -> None:
    page, tags = seen
    assert not {"script", "img", "iframe", "object", "embed", "link", "form", "image"} & {
        *tags.names
    }
    assert not [name for name, _ in tags.attributes if name.startswith("on") or name == "src"]
    links = [value for name, value in tags.attributes if name in ("href", "xlink:href")]
    assert links
    assert all(value.startswith("#") for value in links)
    assert "default-src 'none'" in page
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page


def test_every_element_is_closed_and_others_text_stays_text(seen: tuple[str, Tags]) -> None:
    page, tags = seen
    assert tags.open == []
    assert "<script" not in page
    assert any(EVIL in text for text in tags.text)


def test_no_two_elements_share_an_identifier(seen: tuple[str, Tags]) -> None:
    identifiers = [value for name, value in seen[1].attributes if name == "id"]
    assert len(identifiers) == len(set(identifiers))
    targets = {value[1:] for name, value in seen[1].attributes if "href" in name}
    assert targets <= {*identifiers}


def test_the_same_run_has_the_same_page() -> None:
    records = a_run(["fixed"], questions=2)
    assert page_of(records, "fixed") == page_of(records[::-1], "fixed")


def test_rows_at_one_place_share_a_label() -> None:
    near, far = figure([0.5, 0.5]), figure([0.9, 0.9])
    points = [(near, near), (far, far), (near, near), (figure([]), near)]
    plot = ElementTree.fromstring(cost_against_quality("correctness", {"tokens": points}))
    texts = [element.text for element in plot.iter() if element.tag.endswith("text")]
    assert {"1, 3", "2"} < {*texts}
    assert "4" not in texts


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
