"""The files of the page: small, whole, and asking nothing of any other host."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lexloop.apps.serve.app import PAGE, create_app

FILES = sorted(path for path in PAGE.rglob("*") if path.is_file())
MOST_BYTES = 150_000
KINDS = {".html", ".css", ".js", ".svg"}
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
_LINK = re.compile(r"""<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)\"""")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _scripts() -> list[Path]:
    return [path for path in FILES if path.suffix == ".js"]


def test_the_page_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in FILES}
    assert sum(sizes.values()) < MOST_BYTES, sizes
    assert {path.suffix for path in FILES} == KINDS


def test_the_page_is_sent_in_less_than_half_of_its_size() -> None:
    client, sent = TestClient(create_app()), 0
    for path in FILES:
        reply = client.get(f"/{path.relative_to(PAGE).as_posix()}")
        assert reply.content == path.read_bytes()
        sent += int(reply.headers["content-length"])
    assert sent < MOST_BYTES / 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_names_another_host(path: Path) -> None:
    text = re.sub(r"^\s*//.*$", "", _text(path), flags=re.MULTILINE)
    assert set(_ADDRESS.findall(text)) <= _NAMESPACES
    assert "@import" not in text
    assert not re.search(r"url\(\s*[\"']?(?!#)", text)


@pytest.mark.parametrize("path", _scripts(), ids=lambda path: path.name)
def test_scripts_make_no_markup_and_no_code_of_text(path: Path) -> None:
    text = _text(path)
    assert [found for found in _FORBIDDEN if re.search(found, text)] == []


def test_the_page_has_no_script_style_or_handler_of_its_own() -> None:
    html = _text(PAGE / "index.html")
    assert not re.search(r"<style\b|\sstyle=|\son[a-z]+=", html)
    assert [body for body in re.findall(r"<script[^>]*>(.*?)</script>", html) if body] == []


def test_every_file_is_reached_and_there_is_every_file_that_is_named() -> None:
    found = {PAGE / "index.html"}
    waiting = [PAGE / name for name in _LINK.findall(_text(PAGE / "index.html"))]
    while waiting:
        path = waiting.pop().resolve()
        if path in found:
            continue
        assert path.is_file(), path
        found.add(path)
        if path.suffix == ".js":
            waiting += [path.parent / name for name in _IMPORT.findall(_text(path))]
    assert {path.name for path in FILES} == {path.name for path in found}
    assert len(found) == len(FILES)
