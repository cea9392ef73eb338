"""Sources beside the answer: boxed words on a page of a PDF, versions by day, the tree."""

from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest
from chromium import Page
from fpdf import FPDF
from selenium.webdriver.common.keys import Keys
from serving import Serving

PARKING = "The fee for a resident parking permit is 31 euros a year."
ORDINANCE = """\
---
title: Dog ordinance
in_force_from: {first}
{last}{supersedes}---
§ 1 Licence

(1) A dog licence costs {fee} euros a year.

(2) The fee is due on 31 March.
"""


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a PDF of two pages, and an ordinance in two versions."""
    folder = tmp_path_factory.mktemp("laws")
    paper = FPDF()
    paper.set_font("Helvetica", size=12)
    paper.add_page()
    paper.multi_cell(0, 8, "Parking ordinance\n\n§ 1 Purpose\n\nThis ordinance orders parking.")
    paper.add_page()
    paper.multi_cell(90, 8, f"§ 2 Fees\n\n{PARKING} It is due when the permit is issued.")
    paper.output(str(folder / "parking.pdf"))
    earlier = {"first": "2015-01-01", "last": "in_force_to: 2019-12-31\n", "supersedes": ""}
    later = {"first": "2020-01-01", "last": "", "supersedes": "supersedes: dogs-2015.md\n"}
    (folder / "dogs-2015.md").write_text(ORDINANCE.format(fee=30, **earlier), "utf-8")
    (folder / "dogs-2020.md").write_text(ORDINANCE.format(fee=40, **later), "utf-8")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path, laws: Path) -> Iterator[Serving]:
    with Serving(folder, "--collections", f"laws={laws}") as serving:
        yield serving


def boxed(page: Page, file: Path) -> str:
    """Return the words that a PDF has where boxes are drawn on the shown page."""
    shares = page.script(
        "const sheet = document.querySelector('.sheet-of-paper').getBoundingClientRect();"
        "return [...document.querySelectorAll('.sheet-of-paper .box')].map((box) => {"
        "  const at = box.getBoundingClientRect();"
        "  return [(at.left - sheet.left) / sheet.width, (at.top - sheet.top) / sheet.height,"
        "    (at.right - sheet.left) / sheet.width, (at.bottom - sheet.top) / sheet.height];"
        "});"
    )
    number = int(page.find(".page-tools .place").text.split()[0])
    with pypdfium2.PdfDocument(file) as document:
        sheet = document[number - 1]
        width, height = sheet.get_size()
        text = sheet.get_textpage()
        words = [
            text.get_text_bounded(x0 * width, (1 - y1) * height, x1 * width, (1 - y0) * height)
            for x0, y0, x1, y1 in shares
        ]
    return " ".join(" ".join(words).split())


def test_a_chip_of_a_pdf_shows_its_page_with_the_quoted_words_boxed(page: Page, laws: Path) -> None:
    page.ask("What is the fee for a resident parking permit?")
    page.click("[data-testid=chip]")
    image = page.find("#side .sheet-of-paper img")
    page.until(lambda: page.script("return arguments[0].naturalWidth", image) > 0)
    quote = page.find("[data-testid=sources] blockquote").text
    assert PARKING in quote
    assert boxed(page, laws / "parking.pdf") == quote
    assert page.find(".page-tools .place").text == "2 of 2"
    box = page.find("#side .box").rect
    assert 0 <= box["y"] < 800
    assert page.violations() == []
    page.click("#side .switch button", "Text")
    page.find("#side mark.quote")
    assert "".join(one.text for one in page.all("#side mark.quote")) == quote


def test_the_day_that_is_chosen_decides_which_version_answers(page: Page) -> None:
    question = "What does a dog licence cost?"
    page.ask(question)
    assert "40 euros" in page.find("[data-testid=answer]").text
    page.click("[data-testid=as-of-menu] summary")
    page.type("#as-of", "05012016")  # in the order in which an American browser asks for it
    assert page.find("#as-of").get_attribute("value") == "2016-05-01"
    page.press(Keys.ESCAPE)
    page.find("[data-testid=as-of-menu] summary", "2016")
    turn = page.ask(question)
    assert "30 euros" in turn.text
    assert "40 euros" not in turn.text
    assert "2016" in turn.text
    page.all("[data-testid=chip]")[-1].click()
    page.find("#side .version", "2015")


def test_versions_stand_side_by_side_and_the_tree_leads_to_provisions(page: Page) -> None:
    page.ask("What does a dog licence cost?")
    page.click("[data-testid=chip]")
    page.find("#side mark.quote")
    page.click("#side .acts [title=Versions]")
    page.find("#side del", "30")
    page.find("#side ins", "40")
    assert page.violations() == []
    page.press(Keys.ESCAPE)
    page.click("[data-testid=chip]")
    page.find("#side mark.quote")
    page.click("#side .acts [title=Provisions]")
    said = "return document.activeElement.getAttribute('aria-label')"
    page.until(lambda: page.script(said) == "§ 1(1)")
    page.press(Keys.ARROW_UP, Keys.ENTER)
    assert page.find("#side-title").text == "dogs-2020.md · § 1"
    page.find("#side .source-text", "due on 31 March")
