"""Documents and names that try HTML, scripts, images, links and CSS: all of it stays text."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Page
from selenium.webdriver.common.keys import Keys
from serving import Serving

ATTACK = (
    "<script>window.hacked=1;alert(1)</script>"
    "<img src=http://evil.example/x.png onerror=alert(1)>"
    "<a href=javascript:alert(1)>press</a>"
    "<style>body{background:url(http://evil.example/y.png)}</style>"
    "<iframe src=http://evil.example></iframe><svg onload=alert(1)>"
    "![i](http://evil.example/z.png) [l](http://evil.example/l)"
)
QUESTION = "What does a dog licence cost?"
SHORT = "<img src=x onerror=alert(1)>"
NAME = f"{SHORT} dogs.txt"
ARABIC = "يجب على مالك الكلب (owner) أن يدفع رسما قدره 40 يورو."
FOUND = """
const bad = 'img:not([src*="/api/"]), iframe, object, embed, style, [onerror], [onload], [onclick]';
const links = [...document.querySelectorAll('a[href]')].map((one) => one.href);
return [...document.querySelectorAll(bad)].map((one) => one.outerHTML)
  .concat([...document.querySelectorAll('script')].filter((one) => !one.src).map((one) => one.text))
  .concat(links.filter((one) => !one.startsWith(location.origin)));
"""


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    laws = folder / "laws"
    laws.mkdir()
    (laws / NAME).write_text(
        f"{SHORT} Dog ordinance\n\n§ 1 {SHORT} Licence\n\n"
        f"(1) A dog licence {ATTACK} costs 40 euros a year.\n\n"
        f"(2) See http://evil.example/l and § 2.\n\n§ 2 {SHORT} Leash\n\nDogs are on a leash.\n",
        "utf-8",
    )
    (laws / "arabic.txt").write_text(f"المادة 1\n\n{ARABIC}\n", "utf-8")
    with Serving(folder, "--collections", f"laws={laws}") as serving:
        yield serving


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    yield page
    # a dialog would have ended the test; what its policy forbids, Chromium writes to the console
    assert page.script("return window.hacked") is None
    assert page.script(FOUND) == []


def test_an_answer_its_source_its_tabs_and_all_lists_are_text(page: Page) -> None:
    assert SHORT in page.find("[data-testid=examples] button", SHORT).text
    assert SHORT in page.find(".titles button", SHORT).text
    assert ATTACK[:41] in page.ask(ATTACK).text
    page.find("[data-testid=threads] li", ATTACK[:30])
    page.ask(QUESTION)
    assert ATTACK[:41] in page.find("[data-testid=answer]").text
    assert NAME in page.find("[data-testid=sources]").text
    page.click("[data-testid=behind] > summary")
    assert SHORT in page.find("[data-testid=next] button").text
    page.find("[role=tab]", count=5)
    for tab in page.all("[role=tab]"):
        tab.click()
        page.find("[role=tabpanel]")
    first = page.all("[data-testid=chip]")[0]
    page.script("arguments[0].scrollIntoView({block: 'center'})", first)
    first.click()
    page.find("#side mark.quote", ATTACK[:41])
    page.click("#side .acts [title=Provisions]")
    page.find("#side [role=treeitem]", SHORT)
    page.press(Keys.ESCAPE)
    page.click("#documents-open")
    page.find("#side .rows", NAME)


def test_an_address_that_names_no_thread_is_said_as_text(page: Page) -> None:
    page.open(f"thread={SHORT}")
    page.find("#conversation [role=alert]", SHORT)
    assert page.statuses() == [404]


def test_names_of_files_and_collections_and_what_is_typed_anywhere_are_text(page: Page) -> None:
    page.script(
        "const held = new DataTransfer();"
        "held.items.add(new File(['x'], arguments[0]));"
        "const how = {bubbles: true, cancelable: true, dataTransfer: held};"
        "document.querySelector('#question').dispatchEvent(new DragEvent('drop', how))",
        f"{SHORT}.exe",
    )
    page.find("[data-testid=file][data-state=refused]", f"{SHORT}.exe")
    page.click("#files button[aria-label^=Dismiss]")
    page.click("#documents-open")
    page.click("#side button", "New collection")
    page.type("#collection-name", SHORT)
    page.click("#side form button", "Make")
    page.find("#side [role=alert]", SHORT)
    page.press(Keys.ESCAPE)
    page.ask(QUESTION)
    page.click(".asked-for button")
    page.type(".editing textarea", Keys.CONTROL + "a" + Keys.CONTROL + ATTACK + Keys.ENTER)
    page.find("[data-testid=verdict]", count=2)
    assert ATTACK in page.all("[data-testid=turn]")[-1].text
    page.click("[data-testid=thumb-up]")
    page.type(".opinion-more textarea", ATTACK)
    page.click(".opinion-more button[type=submit]")
    page.find(".opinion-more", "Thank you")
    assert page.statuses() == [400, 400]


def test_text_from_right_to_left_keeps_its_direction(page: Page) -> None:
    way = "return getComputedStyle(arguments[0]).direction"
    page.click(".titles button", "arabic.txt")
    page.click("#side [role=treeitem] [role=treeitem]", "From the beginning")
    assert page.script(way, page.find("#side .source-text p", "المادة")) == "rtl"
    assert page.script(way, page.find("#side-title")) == "ltr"
    page.press(Keys.ESCAPE)
    page.ask(ARABIC)
    assert page.script(way, page.find(".question")) == "rtl"
    assert page.script(way, page.find("[data-testid=verdict]")) == "ltr"
