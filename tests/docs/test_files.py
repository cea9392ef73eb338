"""What pages name and link to is there; the pictures can be drawn; the built pages need nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "benchmarks")]

import _promise_tests  # noqa: E402
import draw  # noqa: E402

BESIDE = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md")
]
PAGES = [*BESIDE, *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*(?:/|\.(?:py|toml|md|json|yml|svg))$")
MADE = {
    *("lexloop.toml", "settings.json", "summary.json", "summary.md", "timings.json", "run.json"),
    *("manifest.json", "card.json", "figures.svg", "server.toml", "internal_users.yml"),
}
"""What Lexloop or a reader writes, by its name."""
ROOMS = {path.name for path in ROOT.iterdir() if path.is_dir()}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def file_names() -> set[str]:
    """The names of all files but of what tools leave behind."""
    rooms = [ROOT / room for room in ROOMS if room[0] != "." and room not in {"build", "site"}]
    inside = (path.name for room in rooms for path in room.rglob("*") if path.is_file())
    return {*inside, *(path.name for path in ROOT.iterdir())}


def test_the_map_of_promises_names_every_file_of_tests() -> None:
    named = {file for _, files in _promise_tests.promised() for file in files}
    folders = (ROOT / "tests", *(ROOT / "packages").glob("*/tests"))
    there = [path for folder in folders for path in folder.rglob("test_*.py")]
    assert {path.relative_to(ROOT).as_posix() for path in there} == {
        name for name in named if Path(name).name.startswith("test_")
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    names = file_names()
    lost = []
    for said in CODE.findall(prose(page)):
        if not PATH.fullmatch(said) or said in MADE:
            continue
        rooted = said.split("/")[0] in ROOMS
        there = (ROOT / said).exists() if rooted else "/" in said or said in names
        lost += [] if there else [said]
    assert lost == []


@pytest.mark.parametrize("page", BESIDE, ids=name_of)
def test_every_link_of_what_is_no_page_of_the_guide_leads_to_a_file(page: Path) -> None:
    links = (link for link in LINK.findall(prose(page)) if "://" not in link)
    assert [link for link in links if not (page.parent / link.partition("#")[0]).exists()] == []


def test_the_picture_of_the_loop_is_that_of_the_graph() -> None:
    assert (ROOT / "docs" / "loop.svg").read_text(encoding="utf-8") == draw.loop()


def test_the_built_pages_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings_handlers.python")
    made = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 12
    loaded = re.compile(r"<(?:script|img|link|iframe)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^>]*>")
    assert [found for page in pages for found in loaded.findall(page.read_text("utf-8"))] == []
    styles = [path.read_text("utf-8") for path in tmp_path.rglob("*.css")]
    assert not [
        one for one in styles if re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", one)
    ]
