"""The page of figures: what is put, quoted, named by its commit; and every figure has its place."""

import re
from pathlib import Path

import all as figures
import pytest
from all import Page, cell

ROOT = Path(__file__).parents[2]
TABLE = """`python x.py`, 2026-01-02, commit `0123abcd`, 2 cores of a machine, 3 s.

| # | variant | share \\[low, high\\] |
|---|---|---|
| 1 | hypa | 0.5 \\[0.4, 0.6\\] |
| 2 | pa | – |"""
PAGE = f"""# Figures

<!-- figure: one -->
{TABLE}
<!-- end -->

Words between.

<!-- figure: two -->
<!-- end -->
"""


@pytest.fixture
def page(tmp_path: Path) -> Page:
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return Page(path)


def test_blocks_are_read_with_their_commits(page: Page) -> None:
    assert page.block("one") == TABLE + "\n"
    assert page.block("two") == ""
    assert page.commit("one") == "0123abcd"
    assert page.commit("two") is None
    with pytest.raises(KeyError, match="no block for the figure three"):
        page.block("three")


def test_cells_are_quoted_elsewhere(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "front.md"
    path.write_text(
        "a <!-- one | hypa | share [low, high] -->0.9<!-- --> b"
        " <!-- one | lost | share [low, high] -->0.8<!-- -->",
        encoding="utf-8",
    )
    front = Page(path)

    front.quote(page)

    assert front.quoted() == {
        ("one", "hypa", "share [low, high]"): "0.5 [0.4, 0.6]",
        ("one", "lost", "share [low, high]"): "0.8",
    }


def test_every_figure_has_its_block_and_every_block_its_figure() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text("utf-8")

    assert sorted(re.findall(r"<!-- figure: ([\w-]+) -->", page)) == sorted(
        figure.name for figure in figures.FIGURES
    )


def test_what_the_readme_quotes_stands_in_the_blocks() -> None:
    page, front = Page(ROOT / "benchmarks" / "README.md"), Page(ROOT / "README.md")

    assert front.quoted()
    for (name, row, column), value in front.quoted().items():
        assert cell(page.block(name), row, column) == value


def test_a_command_is_put_with_its_day_and_without_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("<!-- figure: told -->\n<!-- end -->\n", encoding="utf-8")
    page = Page(path)
    told = figures.Figure("told", "python -c \"print('{data}/x')\"", "nothing")

    assert figures._measure(told, page, tmp_path)

    assert re.fullmatch(
        r"`python -c \"print\('DATA/x'\)\"`, \d{4}-\d\d-\d\d, commit `[0-9a-f]{8}`,"
        r" \d+ cores of .+, 0 s\. Fitted on: nothing\.\n\n```text\nDATA/x\n```\n",
        page.block("told"),
    )


def test_what_is_missing_or_fails_leaves_a_block_as_it_was(
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
