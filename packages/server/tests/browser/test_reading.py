"""Whoever uses a screen reader, a phone, the dark, or a long conversation."""

import json
import time
import urllib.request

import pytest
from chromium import PHONE, Page
from selenium.webdriver.common.keys import Keys
from serving import Serving

from lexloop.apps.threads import FILE_NAME, ThreadStore

QUESTION = "What is a bias audit?"
TURNS = 200
QUICK_S = 4.0  # a busy machine is no defect


@pytest.fixture(scope="module")
def long_thread(server: Serving) -> str:
    """The id of a conversation of 200 turns."""
    body = json.dumps({"question": QUESTION}).encode()
    request = urllib.request.Request(
        f"{server.address}api/ask", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        answer = json.load(reply)
    store = ThreadStore(server.data / FILE_NAME)
    for number in range(TURNS):
        turn = {**answer, "id": f"turn-{number}", "thread": "long", "question": f"Turn {number}?"}
        store.keep("local", turn, (), begins=number == 0)
    store.close()
    return "long"


def test_a_title_opens_its_provisions(page: Page) -> None:
    page.click(".titles button", "law.txt")
    shown = page.find("#side [role=treeitem][aria-expanded=true]")
    assert shown.text.startswith("law.txt")
    assert "NYC Local Law 144" in shown.text
    assert "§ 20-870" in shown.text


def test_axe_finds_nothing_wrong_in_the_light_or_in_the_dark(page: Page) -> None:
    def right(where: str) -> None:
        assert page.violations() == [], where
        page.colours("dark")  # which differs by its colours alone
        assert page.violations("color-contrast") == [], f"{where}, dark"
        page.colours("light")

    right("at first")
    page.ask(QUESTION)
    page.find("[data-testid=next] button")
    page.click("[data-testid=verdict] summary")
    page.click("[data-testid=turn] .asked-for button")
    page.click("[data-testid=behind] > summary")
    page.find("[role=tab]", count=5)
    for tab in page.all("[role=tab]"):
        tab.click()
        assert page.violations() == [], tab.text
    for menu in ("[data-testid=as-of-menu]", ".save", "[data-testid=threads] li .menu"):
        page.click(f"{menu} summary")
    page.click("[data-testid=threads] li button", "Delete")
    page.find("dialog[open]")
    assert page.violations() == []
    page.press(Keys.ESCAPE)
    page.gone("dialog[open]")
    page.click("[data-testid=chip]")
    page.find("#side mark.quote")
    right("answer and source")
    page.click("#side .acts [title=Provisions]")
    page.find("#side [role=treeitem]")
    right("tree")
    page.press(Keys.ESCAPE)
    page.click("#documents-open")
    page.find("#side h3", "documents")
    assert page.violations() == []
    page.click("#side-close")
    page.click("#settings-open")
    page.find("dialog[open] fieldset")
    assert "How bad a wrong answer would be" in page.find("dialog[open]").text
    assert "(Q)" not in page.find("dialog[open]").text  # the papers' letters are closed away
    page.click("dialog[open] summary", "tune searches")
    assert "(Q)" in page.find("dialog[open]").text
    right("settings")


def test_nothing_is_wider_than_a_phone_and_the_source_takes_its_place(page: Page) -> None:
    page.size(PHONE, phone=True)
    page.open()
    page.find(".welcome")
    page.ask(QUESTION)
    wide = "return document.documentElement.scrollWidth"
    assert page.script(wide) == PHONE[0]
    assert page.violations() == []
    page.click("[data-testid=chip]")
    assert page.find("#side mark.quote").is_displayed()
    assert page.find("#side").rect["width"] == PHONE[0]
    assert page.script(wide) == PHONE[0]
    page.click("#side-close")
    assert page.find("[data-testid=chip]").is_displayed()
    small = page.script(
        "return [...document.querySelectorAll('button:not(.chip, .link), summary, a, input')]"
        ".filter((one) => one.checkVisibility({visibilityProperty: true}))"
        ".map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])"
        ".filter(([, at]) => at.width && (at.height < 24 || at.width < 24) && at.bottom > 0)"
        ".map(([html]) => html)"
    )
    assert small == []


def test_two_hundred_turns_stay_quick(page: Page, long_thread: str) -> None:
    turns = "return document.querySelectorAll('[data-testid=turn]').length"
    began = time.perf_counter()
    page.open(f"thread={long_thread}")
    page.until(lambda: page.script(turns) > 0)
    opened = time.perf_counter() - began
    assert f"Turn {TURNS - 1}?" in page.all("[data-testid=turn]")[-1].text
    while (shown := page.script(turns)) < TURNS:
        page.click("button.earlier")
        page.until(lambda: page.script(turns) > shown)
    began = time.perf_counter()
    page.type("#question", QUESTION + Keys.ENTER)
    page.until(lambda: page.script(f"{turns} === {TURNS + 1}"))
    page.until(lambda: page.script("return !!document.querySelector('.turn:last-child .verdict')"))
    asked = time.perf_counter() - began
    assert max(opened, asked) < QUICK_S, (opened, asked)
