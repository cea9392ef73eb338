"""A real Chromium for each module of tests, and pictures of the page for the guide."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import BROWSER, DRIVER, chromium
from selenium.webdriver import Chrome


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser whose downloads lie in a folder ``downloads`` of its own."""
    if BROWSER is None or DRIVER is None:
        pytest.skip("needs chromium and chromium-driver")
    with chromium(tmp_path_factory.mktemp("downloads")) as driver:
        yield driver


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a server."""
    return tmp_path_factory.mktemp("server")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the guide's pictures be taken anew: ``pytest tests/browser --screenshots``."""
    parser.addoption(
        "--screenshots", action="store_true", help="Write the pictures in docs/screenshots anew."
    )
