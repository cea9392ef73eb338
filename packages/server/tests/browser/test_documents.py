"""A collection of one's own: made, filled, indexed, asked and removed in the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Page
from serving import Serving

FILE = "[data-testid=file]"
DOGS = "§ 1 Licence\n\n“Dog licence” means a permit costing 40 euros a year.\n"


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    """The page with its documents open, at a new collection."""
    page.click("#documents-open")
    page.click("#side button", "New collection")
    page.type("#collection-name", "Town")
    page.click("#side form button", "Make")
    page.find("#side .drop")
    page.note("#work-label")
    yield page
    page.click("#side button", "Delete this collection")
    page.click("dialog[open] button", "Delete")
    page.gone("#side .drop")


@pytest.fixture
def dogs(tmp_path: Path) -> Path:
    file = tmp_path / "dogs.txt"
    file.write_text(DOGS, "utf-8")
    return file


def add(page: Page, *files: Path) -> None:
    page.find("#side .drop")
    page.script("return document.querySelector('#side [data-testid=files]')").send_keys(
        "\n".join(map(str, files))
    )


def first(server: Serving) -> str:
    """Return the text of the first lines of the dogs' ordinance."""
    text: str = server.get("collections/Town/text?document=dogs.txt&start=0&end=60")["text"]
    return text


def test_files_are_sent_indexed_asked_replaced_and_removed(
    page: Page, server: Serving, dogs: Path, tmp_path: Path
) -> None:
    cats, other = tmp_path / "cats.md", tmp_path / "setup.exe"
    cats.write_text("# Cats\n\nCats may enter the town park.\n", "utf-8")
    other.write_bytes(b"MZ")
    add(page, dogs, cats)
    page.find("#side h3", "2 documents")
    page.find(f"{FILE}[data-state=ready]", count=2)
    assert page.violations() == []
    seen = page.noted()
    assert seen[0].startswith("Sending 2 files")
    # a stage of a small index may be over before it is shown
    stages = ("Waiting", "Getting ready", "Reading", "Learning", "Writing")
    assert any(one.startswith(stages) for one in seen), seen
    dogs.write_text(DOGS.replace("40", "45"), "utf-8")
    add(page, dogs, other)
    page.find(f"{FILE}[data-state=there]", "dogs.txt")
    assert ".exe" in page.find(f"{FILE}[data-state=refused]", "setup.exe").text
    assert page.violations() == []
    assert "40 euros" in first(server)
    page.click(f"{FILE}[data-state=there] button", "Replace it")
    page.until(lambda: "45 euros" in first(server))
    page.find(f"{FILE}[data-state=ready]", "dogs.txt")
    page.click("#composer .pick", "Town")  # one click is a choice
    pressed = page.script(
        "return [...document.querySelectorAll('.pick')].map((one) => one.ariaPressed)"
    )
    assert pressed == ["false", "false", "true"]
    page.ask("What does a dog licence cost?")
    assert "45 euros" in page.find("[data-testid=answer]").text
    page.click("#side .rows [aria-label*='cats.md']")
    page.click("dialog[open] button", "Remove")
    page.find("#side h3", "1 document")
    assert [one.text for one in page.all("#side .rows .link")] == ["dogs.txt"]
    assert page.statuses() == [409]


def test_why_a_file_was_not_taken_is_told_until_that_is_dismissed(
    page: Page, tmp_path: Path
) -> None:
    for name, sent, reason, status in (
        ("setup.exe", b"MZ\x00\x01" * 50, ".exe", 400),
        ("large.txt", b"A long sentence of a law. " * 20_000, "0.2 MB", 413),
        ("empty.txt", b"", "empty", 400),
    ):
        (tmp_path / name).write_bytes(sent)
        add(page, tmp_path / name)
        page.find(f"{FILE}[data-state=refused]", reason)
        page.find("#side .drop")
        assert not page.all("#side .rows li")
        assert page.statuses() == [status]
    page.open()
    page.find(FILE, count=3)
    page.click(f"{FILE} [aria-label='Dismiss setup.exe']")
    page.gone(FILE, "setup.exe")
    page.click("#files button", "Dismiss all")
    page.gone(FILE)
    page.open()
    page.click("#documents-open")
    page.find("#side select")
    page.script(
        "const select = document.querySelector('#of-collection'); select.value = 'Town';"
        "select.dispatchEvent(new Event('change'))"
    )
    page.find("#side .drop")
    assert not page.all(FILE)


def test_sending_that_is_stopped_leaves_the_page_as_it_was(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_bytes(b"A sentence of a law. " * 9_000)
    with page.slow(uploadThroughput=20_000):
        add(page, file)
        page.click("#side button", "Stop")
        page.gone("#work-label")
    page.find(f"{FILE}[data-state=refused]", "You stopped it.")
    page.find("#side .drop")
    assert not page.all("#side .rows li")


def test_a_file_that_is_dropped_on_the_page_can_be_asked_at_once(page: Page) -> None:
    page.click("#side-close")
    page.script(
        "const held = new DataTransfer();"
        "held.items.add(new File([arguments[0]], 'dogs.txt'));"
        "const how = {bubbles: true, cancelable: true, dataTransfer: held};"
        "for (const type of ['dragover', 'drop'])"
        "  document.querySelector('#question').dispatchEvent(new DragEvent(type, how))",
        DOGS,
    )
    page.find(f"{FILE}[data-state=ready]", "dogs.txt")
    page.find("#composer .pick[aria-pressed=true]", "Town")
    page.find("[data-testid=examples] button", "Dog licence")
    page.find(".titles button", "dogs.txt")
    page.click("[data-testid=examples] button", "Dog licence")
    page.find("[data-testid=verdict]")
    assert "40 euros" in page.find("[data-testid=answer]").text
    assert not page.all(FILE)
    page.click("#documents-open")
    page.find("#side .drop")
