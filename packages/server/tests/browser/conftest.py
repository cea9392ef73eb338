"""A real Chromium, a server and its page; pictures of the page for the guide."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Page
from selenium.webdriver import Chrome
from serving import Serving


@pytest.fixture(scope="session")
def sample_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server of the sample, which takes small uploads, for all that need no other."""
    small = "[limits]\nupload_mb = 0.2\n"
    with Serving(tmp_path_factory.mktemp("sample"), settings=small) as serving:
        yield serving


@pytest.fixture(scope="module")
def server(sample_server: Serving) -> Serving:
    """The server that a module asks; who needs another has a fixture of this name."""
    return sample_server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a server."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture
def page(browser: Chrome, server: Serving) -> Iterator[Page]:
    """The page as it opens; whatever a test does, nothing but the server is asked for anything."""
    page = Page(browser, server.address)
    page.colours("light")
    page.open()
    page.find(".welcome")
    yield page
    page.script("localStorage.clear()")  # what was chosen is none of the next one's
    assert page.foreign() == []
    assert page.problems() == []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the guide's pictures be taken anew by ``test_walk.py --screenshots``."""
    parser.addoption(
        "--screenshots", action="store_true", help="Write the pictures in docs/screenshots anew."
    )
