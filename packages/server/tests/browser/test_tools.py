"""Search, the register, two versions, tables and shared links in the page, over hostile texts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from chromium import Page, chromium
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys
from serving import Serving, person

SHORT = "<img src=x onerror=alert(1)>"
ORDINANCE = """\
Dog ordinance {short}

§ 1 Licence {short}

(1) The owner of a dog must pay a fee of {fee} euros {short} by 31 March.

(2) The owner must not lend the licence to anybody else.

§ 2 Leash

Every dog is on a leash in the town park.
"""
KEYS = {"Anna": "anna-key-4f7d2c91", "Ben": "ben-key-0a83e55b"}


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    laws = folder / "laws"
    laws.mkdir()
    for name, fee in (("dogs-2015.txt", 30), ("dogs-2020.txt", 40)):
        (laws / name).write_text(ORDINANCE.format(fee=fee, short=SHORT), "utf-8")
    with Serving(folder, "--collections", f"laws={laws}") as serving:
        yield serving


def opened(page: Page, tool: str) -> None:
    """Open a tool from the list beside the conversation."""
    page.click(f"#{tool}-open")
    page.find(f".work[data-tool={tool}]")


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    yield page
    assert page.violations() == []
    assert page.script("return [...document.querySelectorAll('.work img, dialog img')].length") == 0


def test_exact_words_are_found_in_documents_and_conversations(page: Page) -> None:
    page.ask("When is the fee due?")
    opened(page, "search")
    page.until(lambda: page.script("return document.activeElement.id") == "sought")
    page.type("#sought", '"the town park"' + Keys.ENTER)
    page.find(".found-documents mark", "the town park")
    assert page.all(".found-documents h3")[0].text.startswith("dogs-20")
    page.click(".found-documents .passage")
    page.find("#side mark.quote", "the town park")
    page.press(Keys.ESCAPE)
    page.type("#sought", Keys.CONTROL + "a" + Keys.CONTROL + "fee" + Keys.ENTER)
    page.find(".found-documents .passage", SHORT)
    page.click(".found-turns a", "When is the fee due?")
    page.find("[data-testid=verdict]")


def test_a_document_is_asked_alone_until_it_is_let_go(page: Page) -> None:
    page.click("#documents-open")
    page.click("#side [aria-label='Ask dogs-2015.txt alone']")
    page.find("#composer #alone", "dogs-2015.txt")
    turn = page.ask("How much is the fee for a dog?")
    assert "30 euros" in turn.text
    assert "40 euros" not in turn.text
    page.click("#alone")
    page.gone("#alone")


def test_the_register_lists_who_must_do_what_and_is_narrowed(page: Page) -> None:
    opened(page, "register")
    page.find(".long td", "The owner of a dog")
    assert page.find(".long td", "31 March")
    page.script(
        "const select = document.querySelector('#register-kind'); select.value = 'prohibition';"
        "select.dispatchEvent(new Event('change'))"
    )
    page.gone(".long td", "31 March")
    page.find(".long td", "lend the licence")
    assert page.find(".told a", "Calendar").get_attribute("href").endswith("format=ics")
    page.click(".long td button")
    page.find("#side mark.quote", "lend the licence")


def test_two_versions_are_compared_by_their_provisions(page: Page) -> None:
    opened(page, "diff")
    page.find(".change-list del", "30")
    page.find(".change-list ins", "40")
    page.click(".told .pick", "changed")
    page.find(".told .pick[aria-pressed=true]", "changed")
    assert SHORT in page.find(".change-list .words").text
    page.click(".change-list button", "dogs-2020.txt")
    page.find("#side mark.quote", "40 euros")


def test_a_table_is_made_filled_corrected_and_deleted(page: Page) -> None:
    opened(page, "table")
    page.click(".making summary")
    page.type("#table-title", SHORT)
    page.type("#table-questions", "What is the fee for a dog?\nIs there a right to a refund?")
    page.click(".new-table button.solid")
    page.find(".cells .cell-words", "30 euros")
    page.find(".cells .cell-words", "40 euros")
    page.gone(".told progress")
    assert page.find(".work h3").text == SHORT
    page.click(".cells tr:last-child td:nth-child(2) .cell-foot button")
    page.type("#cell-answer", Keys.CONTROL + "a" + Keys.CONTROL + f"Forty {SHORT}")
    assert page.violations() == []
    page.click(".correcting button.solid")
    page.find(".cells td", f"Forty {SHORT}")
    page.find(".cells .tag[data-kind=corrected]")
    page.click(".cells .cell-words")
    page.find("#side mark.quote")
    page.press(Keys.ESCAPE)
    page.click(".work button", "All tables")
    page.click(".work .rows button[aria-label^=Delete]")
    page.click("dialog[open] button", "Delete")
    page.gone(".work .rows li")


@contextmanager
def signed_in(driver: Chrome, server: Serving, name: str) -> Iterator[Page]:
    page = Page(driver, server.address)
    driver.delete_all_cookies()
    page.open()
    page.type("#key", KEYS[name] + Keys.ENTER)
    page.find("#composer")
    yield page
    driver.delete_all_cookies()
    assert page.foreign() == []


def test_a_conversation_is_read_by_its_link_until_that_is_withdrawn(
    browser: Chrome, tmp_path: Path
) -> None:
    people = [person(name, key, collections=["sample"]) for name, key in KEYS.items()]
    settings = "\n".join(['[collections]\nsample = "sample"\n', *people])
    with (
        Serving(tmp_path, settings=settings) as server,
        chromium(tmp_path) as second,
        signed_in(browser, server, "Anna") as anna,
        signed_in(second, server, "Ben") as ben,
    ):
        anna.ask("What is a bias audit?")
        row = f"[data-testid=threads] li[data-id='{anna.thread}']"
        anna.click(f"{row} summary")
        anna.click(f"{row} button", "Share by a link")
        link = str(anna.find("#share-link").get_attribute("value"))
        assert anna.violations() == []
        ben.open(link.partition("#")[2])
        assert "Anna" in ben.find(".shared-head").text
        assert "independent auditor" in ben.find("[data-testid=answer]").text
        assert not ben.all("#composer")
        assert not ben.all("[data-testid=thumb-up]")
        assert ben.violations() == []
        ben.click("[data-testid=chip]")
        ben.find("#side mark.quote")
        anna.click("dialog[open] button", "Withdraw the link")
        anna.gone("dialog[open]")
        ben.open(link.partition("#")[2])
        ben.find("#conversation [role=alert]")
