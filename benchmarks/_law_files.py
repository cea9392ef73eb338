"""The text of a law as a DOCX and a PDF, laid out as offices and printers lay them out."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import _shared  # noqa: F401 - by which typeset is found
from typeset import Sheet, Style, typeset

_NUMBERED = re.compile(r"(?:CHAPTER|TITLE|PART|ANNEX|Article|Section) [\dIVXLC]{1,7}$")
_LONGEST_HEADING = 200
_HEAD, _FOOT = "Official text of the law", "Page {page}"


def paragraphs(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a text, each with the level of the heading that it is; 0 for none.

    A heading is a line that holds a keyword and a number alone, or the line after it.
    """
    level = 0
    for line in filter(None, map(str.strip, text.splitlines())):
        if _NUMBERED.match(line):
            level = 3 if line.startswith("Article") else 2 if line.startswith("Section") else 1
            yield line, level
        else:
            yield line, level if len(line) < _LONGEST_HEADING else 0
            level = 0


def write_docx(text: str, path: Path) -> None:
    """A paragraph a line, headings by their styles, a running head and a foot."""
    from docx import Document

    made = Document()
    made.sections[0].header.paragraphs[0].text = _HEAD
    made.sections[0].footer.paragraphs[0].text = _FOOT.format(page=1)
    for line, level in paragraphs(text):
        made.add_paragraph(line, style=f"Heading {level}" if level else None)
    made.save(str(path))


def write_pdf(text: str, path: Path) -> None:
    """Justified, hyphenated lines between a running head and the number of the page."""
    # what a PDF's own fonts cannot show is a question mark
    plain = text.encode("windows-1252", "replace").decode("windows-1252")
    headings = {line for line, level in paragraphs(plain) if level}

    def style(line: str) -> Style:
        return Style(bold=True, align="C", space=2) if line in headings else Style(space=1)

    path.write_bytes(typeset(plain, style, Sheet(head=_HEAD, foot=_FOOT, hyphens=True)))


WRITERS: dict[str, Callable[[str, Path], None]] = {"docx": write_docx, "pdf": write_pdf}


def as_format(law: Path, kind: str, folder: Path) -> Path:
    """A corpus of the law in one format: given beside its text, or made from it.

    Args:
        law: Its text, UTF-8; a page lies beside it under the same name.
        kind: ``txt``, ``html``, ``docx`` or ``pdf``.
        folder: Where the corpus is put.
    """
    corpus = folder / kind
    corpus.mkdir(parents=True, exist_ok=True)
    path = corpus / f"{law.stem}.{kind}"
    if kind in WRITERS:
        WRITERS[kind](law.read_text(encoding="utf-8"), path)
    else:
        shutil.copy(law.with_suffix(f".{kind}"), path)
    return corpus
