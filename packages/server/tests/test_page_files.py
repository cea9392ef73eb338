"""The page: small files that ask nothing of any other host, words in files, functions for Node."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lexloop_eval.labelling import LABEL_PAGE
from lexloop_server.app import PAGE, create_app

FILES = sorted(path for path in PAGE.rglob("*") if path.is_file())
MOST_BYTES = 200_000
KINDS = {".html", ".css", ".js", ".json", ".svg"}
WORDS = {path.stem: json.loads(path.read_text("utf-8")) for path in (PAGE / "words").iterdir()}
_NAMESPACES = {"http://www.w3.org/2000/svg"}
_ADDRESS = re.compile(r"(?:\b[a-z][a-z+.-]*:)?//[\w.-]+\.\w[^\s\"'`)]*", re.IGNORECASE)
_FORBIDDEN = (
    r"\.(?:innerHTML|outerHTML|srcdoc|cssText)\b",
    r"\b(?:insertAdjacentHTML|setHTMLUnsafe|createContextualFragment|DOMParser|document\.write)\b",
    r"\beval\s*\(",
    r"\bnew\s+Function\b",
    r"\bset(?:Timeout|Interval)\s*\(\s*[\"'`]",
    r"javascript:",
    r"[\"']on[a-z]+[\"']\s*,",  # setAttribute("onclick", …)
)
_IMPORT = re.compile(r"""(?:\bfrom\s+|\bimport\s*\(?\s*)["'](\.[^"']+)["']""")
_AT_ONCE = re.compile(r"""\bfrom\s+["'](\.[^"']+)["']""")
_LINK = re.compile(r"""<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)\"""")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_what_opens_the_page_is_small_and_all_is_sent_in_less_than_half_of_its_size() -> None:
    html = PAGE / "index.html"
    opening = {html, *(PAGE / name for name in _LINK.findall(_text(html)))}
    opening = _reached(opening, _AT_ONCE)
    words = max((PAGE / "words").iterdir(), key=lambda path: path.stat().st_size)
    sizes = {path.name: path.stat().st_size for path in {*opening, words}}
    assert sum(sizes.values()) < MOST_BYTES, sizes
    assert {path.suffix for path in FILES} == KINDS
    client, sent = TestClient(create_app()), 0
    for path in FILES:
        reply = client.get(f"/{path.relative_to(PAGE).as_posix()}")
        assert reply.content == path.read_bytes()
        sent += int(reply.headers["content-length"])
    assert sent < MOST_BYTES / 2


def _reached(paths: set[Path], names: re.Pattern[str]) -> set[Path]:
    """Return these files and all that they import, by a pattern that finds the names."""
    found: set[Path] = set()
    waiting = [*paths]
    while waiting:
        path = waiting.pop().resolve()
        if path not in found:
            assert path.is_file(), path
            found.add(path)
            if path.suffix == ".js":
                waiting += [path.parent / name for name in names.findall(_text(path))]
    return found


@pytest.mark.parametrize("path", [*FILES, *LABEL_PAGE.iterdir()], ids=lambda path: path.name)
def test_no_file_names_another_host_or_makes_markup_of_text(path: Path) -> None:
    text = re.sub(r"^\s*//.*$", "", _text(path), flags=re.MULTILINE)
    assert set(_ADDRESS.findall(text)) <= _NAMESPACES
    assert "@import" not in text
    assert not re.search(r"url\(\s*[\"']?(?!#)", text)
    forbidden = _FORBIDDEN if path.suffix == ".js" else ()
    assert [found for found in forbidden if re.search(found, _text(path))] == []


@pytest.mark.parametrize("folder", [PAGE, LABEL_PAGE], ids=lambda folder: folder.name)
def test_the_page_has_no_script_style_or_handler_of_its_own(folder: Path) -> None:
    html = _text(folder / "index.html")
    assert not re.search(r"<style\b|\sstyle=|\son[a-z]+=", html)
    assert [body for body in re.findall(r"<script[^>]*>(.*?)</script>", html) if body] == []


def test_every_file_is_reached_and_there_is_every_file_that_is_named() -> None:
    html = PAGE / "index.html"
    named = {html, *(PAGE / name for name in _LINK.findall(_text(html)))}
    words = {path.resolve() for path in (PAGE / "words").iterdir()}
    assert {path.resolve() for path in FILES} == _reached(named, _IMPORT) | words


_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`\w])//[^\n]*", re.DOTALL)
_STRING = re.compile(r"""\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`""")
_OF_BROWSERS = {
    *("Enter", "Escape", "Home", "End", "Files"),
    *("Care", "Breadth", "The answer", "Which documents", "Advanced"),  # groups of the settings
    *("Content-Type", "Retry-After", "Unreachable", "Lexloop", "English", "Deutsch"),
}


def _strings() -> dict[str, str]:
    """Return every string of the scripts, with the name of a file that has it."""
    found = {}
    for path in FILES:
        if path.suffix == ".js":
            code = _COMMENT.sub("", _text(path))
            found |= {plain or template: path.name for plain, template in _STRING.findall(code)}
    return found


def test_each_language_has_the_same_words_for_the_same_values() -> None:
    english = WORDS["en"]
    assert set(WORDS) == {"en", "de"}
    for words in WORDS.values():
        assert words.keys() == english.keys()
        for key, said in words.items():
            assert said.strip() == said != "", key
            assert set(re.findall(r"\{\w+\}", said)) == set(re.findall(r"\{\w+\}", english[key])), (
                key
            )
            assert said.count("|") == key.startswith("count."), key


def test_every_word_is_used_and_there_is_every_word_that_is_named() -> None:
    strings = _strings()
    makes = [
        re.compile(re.sub(r"\\\$\\\{.*?\\\}", ".+", re.escape(one)))
        for one in strings
        if "${" in one
    ]
    named = {*strings, *(f"count.{one}" for one in strings)}
    unused = [
        key
        for key in WORDS["en"]
        if key not in named and not any(make.fullmatch(key) for make in makes)
    ]
    assert unused == []
    code = "".join(_COMMENT.sub("", _text(path)) for path in FILES if path.suffix == ".js")
    asked = re.findall(r'\bsay\(\s*(?:[^"`()]*\?\s*"([\w. ]+)"\s*:\s*)?"([\w. ]+)"', code)
    missing = {key for pair in asked for key in pair if key} - WORDS["en"].keys()
    assert missing == set()
    counted = re.findall(r'\bcounted\([^"`]*?,\s*"([\w. ]+)"\)', code)
    assert {f"count.{one}" for one in counted} <= WORDS["en"].keys()


def test_no_words_for_people_are_left_in_the_scripts() -> None:
    said = re.compile(r"[A-ZÄÖÜ][a-zäöü]+(?:[ .,:…]|$)|(?:\b[a-z]+ ){4}")
    drawn = re.compile(r"[MLHVCSQTAZz\d .,-]+")
    left = {
        one: name
        for one, name in _strings().items()
        if said.match(one) and one not in _OF_BROWSERS and not drawn.fullmatch(one)
    }
    assert left == {}


@pytest.mark.parametrize("name", ["page_ask", "page_source"])
def test_functions_of_the_page(name: str) -> None:
    node = shutil.which("node")
    said = subprocess.check_output([node, "--version"], text=True) if node else "none"
    if not node or tuple(map(int, re.findall(r"\d+", said)))[:2] < (20, 19):
        pytest.skip(f"needs a Node that reads modules without a package.json: {said.strip()}")
    tests = Path(__file__).with_name(f"{name}.test.mjs")
    command = [node, "--test", "--test-reporter=tap", str(tests)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"^# tests [1-9]", run.stdout, re.MULTILINE)
