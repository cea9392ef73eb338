"""A real Chromium for the tests of pages."""

from collections.abc import Iterator

import pytest
from chromium import BROWSER, DRIVER, chromium
from selenium.webdriver import Chrome


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser for all: what it keeps of a server's page, it keeps by the server's port."""
    if BROWSER is None or DRIVER is None:
        pytest.skip("needs chromium and chromium-driver")
    with chromium(tmp_path_factory.mktemp("downloads")) as driver:
        yield driver
