"""The whole page walked through as a person would, at two widths and in two colours.

``pytest packages/server/tests/browser/test_walk.py --screenshots`` writes the guide's pictures
of it anew.
"""

import base64
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pypdfium2
import pytest
from chromium import PHONE, WIDE, Page
from fpdf import FPDF
from PIL import Image
from selenium.webdriver.common.keys import Keys
from serving import Serving

GUIDE = Path(__file__).parents[4] / "docs/screenshots"
COLOURS, MOST_BYTES = 128, 150_000
RULES = (
    "Harbour rules",
    "Article 1 Fees",
    "1. The owner of a boat shall pay a fee of 30 euros a year for a berth.",
    "2. The fee is due on 31 March. The harbour master keeps a list of those who have paid it.",
    "Article 2 Hardship",
    "1. Article 1(1) shall not apply to:\n(a) wrecks;\n(b) rafts.",
    "2. The harbour master may defer the fee where paying it would be a hardship.",
    "Article 3 Penalties",
    "Whoever does not pay the fee is liable to a fine of up to 100 euros.",
)
LATER = {"30 euros a year": "36 euros a year", "31 March": "30 April"}
TOOLS = {
    "search": ".found-documents mark",
    "register": ".long td",
    "table": ".cells .cell-words",
    "diff": ".change-list ins",
}
QUESTION = "Must the owner of a boat pay a fee for a berth?"


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF whose program gave it a title that nobody meant, and its later version beside it."""
    folder = tmp_path_factory.mktemp("rules")
    later = [RULES[0], *map(_amended, RULES[1:])]
    _write(later, folder / "harbour-rules-2027.pdf")
    _write(RULES, folder / "harbour-rules.pdf")
    (folder / "setup.exe").write_bytes(b"MZ")
    return folder / "harbour-rules.pdf"


def _amended(line: str) -> str:
    for old, new in LATER.items():
        line = line.replace(old, new)
    return line


def _write(lines: Sequence[str], file: Path) -> None:
    paper = FPDF(format="letter")
    paper.set_title("(anonymous)")
    paper.set_margins(25, 22)
    paper.add_page()
    for line in lines:
        headed = line.startswith(("Article", "Harbour")) and "." not in line
        paper.set_font("Times", "B" if headed else "", 13 if headed else 12)
        paper.multi_cell(0, 6.5, line, align="L")
        paper.ln(2)
    paper.output(str(file))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    with Serving(folder) as serving:
        yield serving


@pytest.fixture(params=["wide-light", "wide-dark", "phone-light", "phone-dark"])
def look(request: pytest.FixtureRequest, page: Page) -> str:
    """How wide the page is, and in which colours it shows."""
    name: str = request.param
    page.colours(name.partition("-")[2])
    page.size(PHONE if name.startswith("phone") else WIDE, phone=name.startswith("phone"))
    page.open()
    return name


@pytest.fixture
def take(
    page: Page, look: str, tmp_path: Path, pytestconfig: pytest.Config
) -> Callable[[str], None]:
    """``take("answer")`` finds nothing wrong, and takes a picture."""
    folder = GUIDE if pytestconfig.getoption("--screenshots", False) else tmp_path

    def taken(name: str) -> None:
        page.until(lambda: page.script("return document.getAnimations().length === 0"))
        assert page.violations() == [], (name, look)
        assert page.script("return document.documentElement.scrollWidth <= innerWidth")
        page.script("document.body.style.caretColor = 'transparent'")
        image = Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
        few = image.quantize(COLOURS, dither=Image.Dither.NONE)
        file = folder / f"{name}-{look}.png"
        few.save(file, optimize=True)
        assert file.stat().st_size < MOST_BYTES

    return taken


def test_from_the_first_screen_over_the_printed_answer_to_the_tools(
    page: Page, look: str, server: Serving, rules: Path, take: Callable[[str], None]
) -> None:
    page.find("[data-testid=examples] button")
    take("open")
    attach(page, rules, rules.parent / "setup.exe")
    page.find("[data-testid=file][data-state=ready]", "harbour-rules.pdf")
    page.find("[data-testid=file][data-state=refused]", "setup.exe")
    page.find("#composer .pick[aria-pressed=true]", "My documents")
    page.find("[data-testid=examples] button", "berth")
    take("files")
    page.click("#files button", "Dismiss all")
    page.ask(QUESTION)
    limits = page.find("[data-testid=limits]").text
    assert "rafts" in limits
    assert "30 euros" not in limits
    assert "every quote" in page.find("[data-testid=verdict]").text.lower()
    page.find("[data-testid=next] button")
    page.script("document.querySelector('.turn').scrollIntoView()")
    take("answer")
    page.click("[data-testid=sources] li button")
    sheet = page.find("#side .sheet-of-paper img")
    page.until(lambda: page.script("return arguments[0].naturalWidth", sheet) > 0)
    assert page.find("#side-title").text.startswith("harbour-rules.pdf")
    assert "(anonymous)" not in page.find("body").text
    take("source")
    page.press(Keys.ESCAPE)
    page.click("[data-testid=next] button", "Penalties")
    page.find("[data-testid=verdict]", count=2)
    assert "100 euros" in page.all("[data-testid=turn]")[-1].text
    assert "30 euros a year" in printed(page)
    for tool in TOOLS:
        use(page, tool, look, rules)
        take(tool)
    page.click("#documents-open")
    page.find("#side .rows .link", "harbour-rules.pdf")
    page.click("#side button", "Delete this collection")
    page.click("dialog[open] button", "Delete")
    page.until(lambda: len(page.all("#of-collection option")) == 1)
    assert page.statuses() == []


def use(page: Page, tool: str, look: str, rules: Path) -> None:
    """Open a tool, and have it show something."""
    if tool == "diff":
        attach(page, rules.with_name("harbour-rules-2027.pdf"))
    if look.startswith("phone"):
        page.click("#threads-toggle")
    page.click(f"#{tool}-open")
    if tool == "search":
        page.type("#sought", "fee" + Keys.ENTER)
    elif tool == "table":
        page.click(".making summary")
        fine = "How much is the fine for not paying the fee?"
        page.type("#table-questions", f"{QUESTION}\n{fine}\nIs there insurance?")
        page.click(".new-table button.solid")
        page.find(".told p", "stated 2")
        folded = page.script("return !document.querySelector('.filters').open")
        assert folded == look.startswith("phone")
    page.find(TOOLS[tool])
    if tool == "diff":  # the name that goes on with a year is the later version
        page.find(TOOLS[tool], "36")


def attach(page: Page, *files: Path) -> None:
    field = page.script("return document.querySelector('[data-testid=attach]')")
    field.send_keys("\n".join(map(str, files)))
    for file in files:
        page.find(":is([data-state=ready], [data-state=refused])[data-testid=file]", file.name)


def printed(page: Page) -> str:
    """Return the words of the page as it is printed, which has no field to ask in."""
    sheet = base64.b64decode(page.devtools("Page.printToPDF")["data"])
    with pypdfium2.PdfDocument(sheet) as document:
        said = " ".join(one.get_textpage().get_text_bounded() for one in document)
    assert "Ask about your documents" not in said
    assert "Sources" in said
    return " ".join(said.split())
