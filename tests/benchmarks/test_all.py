"""The page of figures: what is put, and every figure has its place."""

import re
from pathlib import Path

import all as figures
import pytest
from all import Page, cell

ROOT = Path(__file__).parents[2]


def test_every_figure_has_its_block_and_every_block_its_figure() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text("utf-8")

    assert sorted(re.findall(r"<!-- figure: ([\w-]+) -->", page)) == sorted(
        figure.name for figure in figures.FIGURES
    )


@pytest.mark.parametrize("path", figures.QUOTING, ids=lambda path: path.name)
def test_what_a_page_quotes_stands_in_the_blocks(path: Path) -> None:
    page, quoting = Page(ROOT / "benchmarks" / "README.md"), Page(path)

    assert quoting.quoted()
    for (name, row, column), value in quoting.quoted().items():
        assert cell(page.block(name), row, column) == value


def test_a_command_is_put_with_its_day_and_without_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("<!-- figure: told -->\n<!-- end -->\n", encoding="utf-8")
    page = Page(path)
    told = figures.Figure("told", "python -c \"print('{data}/x')\"", "nothing")

    assert figures._measure(told, page, tmp_path)

    assert re.fullmatch(
        r"`python -c \"print\('DATA/x'\)\"`, \d{4}-\d\d-\d\d, commit `[0-9a-f]{8}`,"
        r" \d+ cores of .+, \d+ s\. Fitted on: nothing\.\n\n```text\nDATA/x\n```\n",
        page.block("told"),
    )


def test_a_failure_leaves_a_block_as_it_was(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.md"
    path.write_text("<!-- figure: told -->\nbefore\n<!-- end -->\n", encoding="utf-8")
    page = Page(path)

    assert figures._measure(figures.Figure("told", "python {engines}"), page, None)
    assert figures._measure(figures.Figure("told", "python", needs="no_such_package"), page, None)
    assert not figures._measure(figures.Figure("told", 'python -c "1/0"'), page, None)

    assert page.block("told") == "before\n"
    assert "left out told: there is no engines" in capfd.readouterr().out
