"""Two people with keys in two browsers at once: nothing of one reaches the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from chromium import Page, chromium
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys
from serving import Serving, person

KEYS = {"Anna": "anna-key-4f7d2c91", "Ben": "ben-key-0a83e55b"}
SETTINGS = f"""
[collections]
sample = "sample"

[collections.dogs]
corpus = "%s"
title = "Dogs"

{person("Anna", KEYS["Anna"], may_upload=True)}
{person("Ben", KEYS["Ben"], collections=["sample"])}
"""


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    (folder / "dogs.txt").write_text(
        "# Dog ordinance\n\n§ 1 Licence. A dog licence costs 40 euros a year.\n", "utf-8"
    )
    with Serving(folder, settings=SETTINGS % (folder / "dogs.txt")) as serving:
        yield serving


@pytest.fixture(scope="module")
def second(browser: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("second")) as driver:
        yield driver


@contextmanager
def visiting(driver: Chrome, server: Serving) -> Iterator[Page]:
    """The page as somebody meets it who has given no key."""
    page = Page(driver, server.address)
    driver.delete_all_cookies()
    page.open()
    page.find("#key")
    yield page
    driver.delete_all_cookies()
    assert page.foreign() == []
    assert {401} <= set(page.statuses()) <= {401, 404}


def signed_in(page: Page, name: str) -> Page:
    page.type("#key", KEYS[name] + Keys.ENTER)
    page.find(".welcome:not(.signin)")
    return page


@pytest.fixture
def stranger(browser: Chrome, server: Serving) -> Iterator[Page]:
    with visiting(browser, server) as page:
        yield page


@pytest.fixture
def anna(stranger: Page) -> Page:
    return signed_in(stranger, "Anna")


@pytest.fixture
def ben(second: Chrome, server: Serving) -> Iterator[Page]:
    with visiting(second, server) as page:
        yield signed_in(page, "Ben")


def test_a_wrong_key_is_told_and_the_form_stays(stranger: Page) -> None:
    page = stranger
    page.type("#key", "not-a-key" + Keys.ENTER)
    assert page.until(lambda: page.find("#key-problem").text)
    assert page.find("#key").get_attribute("aria-invalid") == "true"
    assert page.violations() == []
    page.type("#key", KEYS["Anna"] + Keys.ENTER)
    page.find("#composer")
    (cookie,) = page.driver.get_cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert KEYS["Anna"] not in cookie["value"]
    page.click("#sign-out")
    page.find("#key")
    assert page.until(lambda: not page.driver.get_cookies())


def test_both_ask_at_once_and_see_their_own(anna: Page, ben: Page) -> None:
    anna.find("#composer .pick", "Dogs")
    assert not ben.all("#composer .pick")
    assert "Dogs" not in ben.find("body").text
    for page in (anna, ben):
        page.type("#question", "What does a dog licence cost?" + Keys.ENTER)
    anna.find("[data-testid=verdict]")
    ben.find("[data-testid=verdict]")
    assert "40 euros" in anna.find("[data-testid=answer]").text
    assert "40 euros" not in ben.find("body").text
    hers, his = anna.thread, ben.thread
    assert hers != his
    assert [one.get_attribute("data-id") for one in anna.all("[data-testid=threads] li")] == [hers]
    assert [one.get_attribute("data-id") for one in ben.all("[data-testid=threads] li")] == [his]
