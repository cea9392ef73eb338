"""Labels by the keys and buttons of a page, in which hostile answers stay text."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Page
from run_records import record, run_info, write_run
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

ATTACK = "<img src=http://evil.example/x.png onerror=alert(1)><script>window.hacked=1</script>"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    records = [
        record(id=name, question=f"{name}? {ATTACK}", answer=f"{name} pays. {ATTACK}")
        for name in ("one", "two", "three")
    ]
    return write_run(tmp_path / "run", records, run_info("fixed"))


@pytest.fixture
def labelling(run: Path) -> Iterator[subprocess.Popen[str]]:
    """The command as a process of its own, its page's address said."""
    command = [sys.executable, "-m", "lexloop.apps.cli", "label", str(run), "--person", "ann"]
    with subprocess.Popen([*command, "--page"], stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.fixture
def page(browser: Chrome, labelling: subprocess.Popen[str]) -> Page:
    assert labelling.stdout is not None
    address = labelling.stdout.readline()
    return Page(browser, address.partition("at ")[2].partition(" ")[0])


def test_a_person_labels_by_keys_and_buttons(
    page: Page, run: Path, labelling: subprocess.Popen[str]
) -> None:
    page.open()
    page.find(".to-read", "1 of 3")
    assert ATTACK in page.find("[data-testid=answer]").text
    assert page.violations() == []
    page.find("body").send_keys("4")
    page.find(".to-read", "2 of 3")
    page.find("body").send_keys("u")
    page.find(".to-read", "1 of 3")
    page.click(".keys button", "5")
    page.find(".to-read", "2 of 3")
    page.click(".keys button", "Skip")
    page.find(".to-read", "3 of 3")
    page.press(Keys.TAB)
    page.find("body").send_keys("2")
    page.find(".to-read", "Nothing is left to label")
    assert page.script("return window.hacked") is None
    assert page.script("return document.querySelectorAll('img').length") == 0
    assert (page.foreign(), page.problems()) == ([], [])
    labelling.send_signal(signal.SIGINT)
    assert labelling.stdout is not None
    assert "2 of 3 labelled" in labelling.stdout.read()
    assert labelling.wait(30) == 0
    lines = (run / "labels" / "ann.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["correct"] for line in lines] == [4, None, 5, 2]
