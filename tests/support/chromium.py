"""Chromium without a window, which reaches nothing but this machine, and the page in it."""

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
WIDE, PHONE = (1280, 800), (390, 844)
_DEADLINE_S = 30.0
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    # nothing but this machine has an address
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    f"--window-size={WIDE[0]},{WIDE[1]}",
)


@contextmanager
def chromium(downloads: Path) -> Iterator[Chrome]:
    """Start Chromium, with a log of every request of its pages.

    Args:
        downloads: Where it keeps what is downloaded.
    """
    options = ChromeOptions()
    options.binary_location = BROWSER or ""
    for argument in (*_ARGUMENTS, f"--user-data-dir={downloads / 'profile'}"):
        options.add_argument(argument)
    options.add_experimental_option(
        "prefs", {"download.default_directory": str(downloads), "translate.enabled": False}
    )
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = Chrome(options, Service(DRIVER))
    try:
        driver.get("about:blank")
        driver.get_log("performance")  # of the tab that the browser opened by itself
        yield driver
    finally:
        process = driver.capabilities["goog:processID"]
        driver.quit()
        with suppress(ProcessLookupError):  # the driver gives up on one that is slow to end
            os.kill(process, signal.SIGKILL)


class Page:
    """The page of a server, as a person uses it; every wait has a deadline.

    Args:
        driver: The browser.
        address: The server's.
    """

    def __init__(self, driver: Chrome, address: str) -> None:
        self.driver, self.address = driver, address
        driver.get("about:blank")  # a page that is still open goes on asking its own server
        self.foreign(), self.problems()  # and what it wrote is none of this page's
        self.size(WIDE)
        self._wait = WebDriverWait(
            driver, _DEADLINE_S, 0.05, (StaleElementReferenceException, LookupError)
        )

    def open(self, place: str = "") -> None:
        """Load the page anew, at a place behind ``#``."""
        self.driver.get("about:blank")  # where only the place differs nothing would be loaded
        self.driver.get(self.address + (f"#{place}" if place else ""))

    @property
    def thread(self) -> str:
        """The id of the conversation that is open, as its address has it."""
        return self.driver.current_url.partition("#thread=")[2]

    def all(self, selector: str, said: str = "") -> list[WebElement]:
        """Return the shown elements of a selector whose text holds ``said``."""
        found = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return [one for one in found if one.is_displayed() and said in one.text]

    def find(self, selector: str, said: str = "", count: int = 1) -> WebElement:
        """Return the last shown element of a selector, once there are so many."""

        def last() -> WebElement | None:
            found = self.all(selector, said)
            return found[-1] if len(found) >= count else None

        element: WebElement = self.until(last, f"{selector} {said}")
        return element

    def gone(self, selector: str, said: str = "") -> None:
        """Wait until no element of a selector is shown."""
        self.until(lambda: not self.all(selector, said), f"no {selector} {said}")

    def until(self, holds: Any, what: str = "") -> Any:
        """Wait until a condition holds, and return its value."""
        return self._wait.until(lambda _: holds(), what)

    def click(self, selector: str, said: str = "") -> None:
        """Click the last element of a selector, once it is shown; one drawn anew meanwhile, too."""

        def clicked() -> bool:
            found = self.all(selector, said)
            if found:
                found[-1].click()
            return bool(found)

        self.until(clicked, f"{selector} {said}")

    def ask(self, question: str) -> WebElement:
        """Ask by the keyboard, and return the answer's turn when it is there."""
        before = len(self.all("[data-testid=verdict]"))
        self.type("#question", question + Keys.ENTER)
        self.find("[data-testid=verdict]", count=before + 1)
        return self.all("[data-testid=turn]")[-1]

    def type(self, selector: str, text: str) -> None:
        """Type into a field, once it is shown."""
        self.find(selector).send_keys(text)

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def script(self, body: str, *arguments: Any) -> Any:
        """Return what a script returns."""
        return self.driver.execute_script(body, *arguments)

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Run a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(command, parameters)

    def size(self, size: tuple[int, int], phone: bool = False) -> None:
        """Give the page a size, perhaps as a phone has it."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            **{"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": phone},
        )
        self.devtools("Emulation.setTouchEmulationEnabled", enabled=phone)

    def colours(self, scheme: str) -> None:
        """Let the system ask for ``light`` or ``dark``, and for no motion."""
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    @contextmanager
    def slow(self, **limits: int) -> Iterator[None]:
        """Let the page's line be slow: ``downloadThroughput`` or ``uploadThroughput`` in bytes."""
        usual = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.devtools("Network.emulateNetworkConditions", offline=False, **{**usual, **limits})
        try:
            yield
        finally:
            self.devtools("Network.emulateNetworkConditions", offline=False, **usual)

    def note(self, selector: str) -> None:
        """Note every text that an element shows from now on, however short; see ``noted``."""
        self.script(
            "window.noted = [];"
            "new MutationObserver(() => {"
            f"  const said = document.querySelector({json.dumps(selector)})?.innerText;"
            "  if (said && said !== window.noted.at(-1)) window.noted.push(said);"
            "}).observe(document.body, {subtree: true, childList: true, characterData: true});"
        )

    def noted(self) -> list[str]:
        """Return the texts that were noted."""
        found: list[str] = self.script("return window.noted")
        return found

    def foreign(self) -> list[str]:
        """Return what pages asked others than the server for since the last call."""
        own = (self.address, "about:blank", "data:", "blob:" + self.address.rstrip("/"))
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                sent = message["params"]
                found.append(sent["request"]["url"] if "request" in sent else sent["url"])
        return [address for address in found if not address.startswith(own)]

    def problems(self) -> list[str]:
        """Return what the page wrote to its console as errors since the last call."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]

    def statuses(self) -> list[int]:
        """Return the statuses of the answers among ``problems``; 0 for what is none."""
        found = [re.search(r" responded with a status of (\d+) ", one) for one in self.problems()]
        return [int(one[1]) if one else 0 for one in found]

    def violations(self, *rules: str) -> list[str]:
        """Return what axe finds wrong with the page: the rule and where; of all rules or these."""
        if not self.script("return typeof axe === 'object'"):
            source = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
            # its policy lets the page load no further script, but not DevTools
            self.devtools("Runtime.evaluate", expression=source)
        found = self.driver.execute_async_script(
            "const [rules, done] = arguments;"
            "const wanted = rules.length ? {runOnly: rules} : {};"
            "axe.run({...wanted, resultTypes: ['violations']})"
            "  .then((found) => done(found.violations));",
            rules,
        )
        return [
            f"{rule['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
            for rule in found
            for node in rule["nodes"]
        ]
