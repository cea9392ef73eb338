"""The page's own functions that need no browser, which Node runs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")
_MODULES_WITHOUT_PACKAGE = (20, 19)


@pytest.mark.parametrize("name", ["page_ask", "page_source"])
def test_functions_of_the_page(name: str) -> None:
    if NODE is None:
        pytest.skip("Node is not installed.")
    said = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, re.findall(r"\d+", said)))
    if version[:2] < _MODULES_WITHOUT_PACKAGE:
        pytest.skip(f"Node {said.strip()} reads no modules without a package.json.")
    tests = Path(__file__).with_name(f"{name}.test.mjs")
    command = [NODE, "--test", "--test-reporter=tap", str(tests)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"^# fail 0$", run.stdout, re.MULTILINE)
    assert not re.search(r"^# tests 0$", run.stdout, re.MULTILINE)
