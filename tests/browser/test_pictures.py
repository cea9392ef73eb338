"""The pictures of the guide; ``pytest tests/browser --screenshots`` takes them anew."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chromium import PHONE, WIDE, Page
from fpdf import FPDF
from PIL import Image
from selenium.webdriver.common.by import By
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
def take(page: Page, tmp_path: Path, pytestconfig: pytest.Config) -> Callable[[str], Image.Image]:
    """``take("light")`` writes a picture of the page, to the guide where that was asked for."""
    folder = GUIDE if pytestconfig.getoption("--screenshots", False) else tmp_path
    folder.mkdir(exist_ok=True)

    def taken(name: str) -> Image.Image:
        page.script(
            "document.body.style.caretColor = 'transparent';"
            "if (document.activeElement.id === 'question') document.activeElement.blur()"
        )
        page.until(lambda: page.script("return document.getAnimations().length === 0"))
        image = Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
        few = image.quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(folder / f"{name}.png", optimize=True)
        assert (folder / f"{name}.png").stat().st_size < MOST_BYTES
        assert (GUIDE / f"{name}.png").is_file(), "run pytest tests/browser --screenshots"
        return image

    return taken


def only(page: Page, collection: str) -> None:
    """Let one collection be asked, whatever the browser remembers."""
    page.click("[data-testid=collections-menu] summary")

    def chosen() -> bool:  # each click may draw the choices anew
        found = {one.text.splitlines()[0]: one for one in page.all("#composer .choice")[1:]}
        # none chosen is no choice, so the wanted one comes first
        for name in sorted(found, key=lambda name: name != collection):
            box = found[name].find_element(By.CSS_SELECTOR, "input")
            if box.is_selected() != (name == collection):
                found[name].click()
                return False
        return collection in found

    page.until(chosen, f"{collection} alone")
    page.click("[data-testid=collections-menu] summary", collection)


def test_light(page: Page, take: Callable[[str], Image.Image]) -> None:
    only(page, "sample")
    page.ask(NOTICE)
    page.click("[data-testid=chip]")
    page.find("#side mark.quote")
    image = take("light")
    assert image.size == WIDE
    assert image.getpixel((640, 400)) > (240, 240, 240)


def test_dark(page: Page, take: Callable[[str], Image.Image]) -> None:
    page.colours("dark")
    only(page, "sample")
    page.ask("What is a bias audit?")
    page.click("[data-testid=behind] > summary")
    page.click("[role=tab]", "Relations")
    page.script("document.querySelector('.behind').scrollIntoView({block: 'start'})")
    assert take("dark").getpixel((640, 400)) < (60, 60, 60)


def test_phone(page: Page, take: Callable[[str], Image.Image]) -> None:
    page.size(PHONE, phone=True)
    page.open()
    page.find(".welcome")
    only(page, "sample")
    page.ask(NOTICE)
    assert take("phone").size == PHONE


def test_pdf(page: Page, take: Callable[[str], Image.Image]) -> None:
    only(page, "rule")
    page.ask(NOTICE)
    page.click("[data-testid=chip]")
    sheet = page.find("#side .sheet-of-paper img")
    page.until(lambda: page.script("return arguments[0].naturalWidth", sheet) > 0)
    assert page.find("#side .box")
    take("pdf")


def test_tree(page: Page, take: Callable[[str], Image.Image]) -> None:
    only(page, "sample")
    page.ask(NOTICE)
    page.click("[data-testid=chip]")
    page.find("#side mark.quote")
    page.click("#side .acts [title=Provisions]")
    page.find("#side [role=treeitem] [role=treeitem]")
    take("tree")
