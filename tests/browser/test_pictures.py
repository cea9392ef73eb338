"""The pictures of the guide; ``pytest tests/browser --screenshots`` takes them anew."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chromium import PHONE, Page
from fpdf import FPDF
from PIL import Image
from serving import Serving

from lexloop.core.settings import SAMPLE_CORPUS

GUIDE = Path(__file__).parents[2] / "docs/screenshots"
SAMPLE = Path(__file__).parents[2] / "data/ll144"
NOTICE = "How long before an AEDT is used must candidates be notified?"
COLOURS, MOST_BYTES = 160, 150_000


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    laws = folder / "laws"
    laws.mkdir()
    paper = FPDF(format="letter")
    paper.set_margins(25, 22)
    paper.add_page()
    for line in (SAMPLE / "rule.txt").read_text("utf-8").splitlines():
        heading = line.startswith(("§", "The DCWP"))
        paper.set_font("Times", "B" if heading else "", 12 if heading else 11)
        if line.strip():
            text = line.encode("latin-1", "replace").decode("latin-1")
            paper.multi_cell(0, 5.6, text, align="L" if heading else "J")
            paper.ln(1.6)
    paper.output(str(laws / "rule.pdf"))
    with Serving(folder, "--collections", f"{SAMPLE_CORPUS},rule={laws}") as serving:
        yield serving


@pytest.fixture
def take(page: Page, tmp_path: Path, pytestconfig: pytest.Config) -> Callable[[str], None]:
    """``take("light")`` writes a picture of the page, to the guide where that was asked for."""
    folder = GUIDE if pytestconfig.getoption("--screenshots", False) else tmp_path

    def taken(name: str) -> None:
        page.script(
            "document.body.style.caretColor = 'transparent';"
            "if (document.activeElement.id === 'question') document.activeElement.blur()"
        )
        page.until(lambda: page.script("return document.getAnimations().length === 0"))
        image = Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
        few = image.quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(folder / f"{name}.png", optimize=True)
        assert (folder / f"{name}.png").stat().st_size < MOST_BYTES

    return taken


def ask(page: Page, collection: str, question: str = NOTICE) -> None:
    """Ask one collection alone."""
    page.script("localStorage.setItem('lexloop.collections', arguments[0])", f'["{collection}"]')
    page.open()
    page.find(".welcome")
    page.ask(question)


def test_an_answer_beside_its_source_and_the_tree(page: Page, take: Callable[..., None]) -> None:
    ask(page, "sample")
    page.click("[data-testid=chip]")
    page.find("#side mark.quote")
    take("light")
    page.click("#side .acts [title=Provisions]")
    page.find("#side [role=treeitem] [role=treeitem]")
    take("tree")


def test_the_relations_in_the_dark(page: Page, take: Callable[..., None]) -> None:
    page.colours("dark")
    ask(page, "sample", "What is a bias audit?")
    page.click("[data-testid=behind] > summary")
    page.click("[role=tab]", "Relations")
    page.script("document.querySelector('.behind').scrollIntoView({block: 'start'})")
    take("dark")


def test_a_phone(page: Page, take: Callable[..., None]) -> None:
    page.size(PHONE, phone=True)
    ask(page, "sample")
    take("phone")


def test_a_page_of_a_pdf(page: Page, take: Callable[..., None]) -> None:
    ask(page, "rule")
    page.click("[data-testid=chip]")
    sheet = page.find("#side .sheet-of-paper img")
    page.until(lambda: page.script("return arguments[0].naturalWidth", sheet) > 0)
    assert page.find("#side .box")
    take("pdf")
