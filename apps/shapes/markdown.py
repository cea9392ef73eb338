"""Answers as Markdown, in which what documents and models wrote is text and nothing else."""

import re
from collections.abc import Iterator, Sequence

from lexloop.apps.shapes.outline import Aside, Block, Facts, Heading, Line, Outline, Run

# what opens markup anywhere in a line; angle brackets and ampersands become entities, which also
# readers that do not unescape a backslash before them take for text
_MARKUP = re.compile(r"[\\`*_\[\]{}|~$^#]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ENTITY = re.compile("[&<>]")
# what opens a block at the start of a line: a list, a rule, a definition; a numbered list
_OPENING = re.compile(r"^(\s*)([+\-=:])")
_ORDINAL = re.compile(r"^(\s*\d+)([.)])(?=\s|$)")
# addresses that readers make links of by themselves
_ADDRESS = re.compile(r"(?i)(?<=[a-z])(:)(?=/)|(?<=www)(\.)|@|(?<=mailto)(:)|(?<=xmpp)(:)")


def as_markdown(outline: Outline) -> str:
    """Return an outline as Markdown with footnotes."""
    parts = [f"# {escaped(outline.title)}"]
    after_item = False
    for block in outline.blocks:
        text = _block(block)
        item = isinstance(block, Line) and block.item
        if item and after_item:
            parts[-1] += f"\n{text}"
        else:
            parts.append(text)
        after_item = item
    parts += [_note(number, lines) for number, lines in outline.notes.items()]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Return a line of text as Markdown that shows it, and makes no markup, link or HTML of it."""
    text = _MARKUP.sub(r"\\\g<0>", text)
    text = _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)
    text = _ADDRESS.sub(lambda found: f"&#{ord(found[0])};", text)
    return _ORDINAL.sub(r"\1\\\2", _OPENING.sub(r"\1\\\2", text))


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * (block.level + 1)} {escaped(block.text)}"
    if isinstance(block, Facts):
        return "\n".join(f"- **{escaped(name)}:** {escaped(said)}" for name, said in block.rows)
    if isinstance(block, Aside):
        return "\n".join(f"> {line}" for line in _broken(block.lines))
    said = "".join(run if isinstance(run, str) else f"[^{run}]" for run in _escaped(block))
    return f"- {said}" if block.item else said


def _escaped(line: Line) -> Iterator[Run]:
    for run in line.runs:
        yield escaped(run) if isinstance(run, str) else run


def _note(number: int, lines: Sequence[str]) -> str:
    """Return a footnote; its further lines are indented, as readers of footnotes want them."""
    return f"[^{number}]: " + "\n    ".join(_broken(lines))


def _broken(lines: Sequence[str]) -> list[str]:
    """Return escaped lines, each but the last with the two blanks that break it there."""
    shown = [escaped(line) for line in lines]
    return [*(f"{line}  " for line in shown[:-1]), *shown[-1:]]
