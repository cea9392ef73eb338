""".txt and .md: the text as shown, and the YAML front matter at its head."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import accumulate, pairwise
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, FileRun, encode_file_runs
from lexloop.documents.reading.cuts import Cuts
from lexloop.documents.reading.hyphens import breaks
from lexloop.documents.reading.markdown import rendered
from lexloop.documents.reading.metadata import read_fields
from lexloop.documents.reading.origins import in_written, words_from
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import decode, whole_text
from lexloop.documents.reading.title import chosen_title, own_title
from lexloop.documents.structure.markers import page_numbers
from lexloop.documents.structure.tree import Hung

_OPENING = re.compile(r"\s*^---[ \t]*\n", re.MULTILINE)
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_FIELD = re.compile(r"\s*[\"']?[A-Za-z][\w -]*+[\"']?\s*+:")
_SHORTEST_BORDER = 10
_RULE = re.compile(
    r"^[ \t]*(?P<sign>[-=_~*#])(?P=sign){3,}[ \t]*$|(?<=[ \t])-{4,}(?=[ \t]+[^\W\d_])",
    re.MULTILINE,
)
_UNDERLINED = re.compile(
    r"(?:\A\s*|\n[ \t]*\n)(?:[^\w\s]{4,}\n)?(?P<indent> {0,8})"
    r"(?P<title>[^\s|*+-](?:(?! {3}|\t)[^\n|]){1,159}) *\n"
    r"(?P=indent)(?P<rule>(?P<sign>[-=~^*#\"'`])(?P=sign){3,})[ \t]*(?=\n|$)"
)
_FEWEST_RUNNING = 3
_PAGE_END = 3
"""Blank lines at the end of a page without a number; paragraphs are fewer apart."""
_MOST = 1 << 16
_DEEPEST = 32


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document]:
    """Read the one document of a text file.

    Raises:
        CorpusError: The file is not text of one encoding, is empty, or its front matter cannot be
            read.
    """
    written = decode(data)
    shown = whole_text(written)
    fields, text = split_front_matter(shown)
    try:
        metadata = read_fields(fields)
    except CorpusError as error:
        raise CorpusError(f"Its front matter: {error.what}", error.hint) from error
    if not text.strip():
        raise CorpusError("It holds front matter but no text.", "Remove it or fill it.")
    text = without_boxes(text)
    headings = _underlined(text)
    source = text = without_rules(text)
    words: Iterable[FileRun] = [FileRun(0, 0, len(text))]
    notes: tuple[Hung, ...] = ()
    if PurePosixPath(name).suffix.lower() == ".md":
        text, headings, starts, notes = rendered(source, headings)
        words = words_from(text, source, starts)
    lines = Cuts(furniture(text))
    text, words = lines.blanked(text), lines.kept(words)
    cuts = Cuts(breaks(text))
    text, words = cuts.without(text), cuts.runs(words)
    headings = tuple((cuts.moved(at), level) for at, level in headings)
    notes = tuple((cuts.moved(at), cuts.moved(a), cuts.moved(b)) for at, a, b in notes)
    if not text.strip():
        raise CorpusError("It holds rules and boxes but no text.", "Remove it or fill it.")
    stem, heading_title = PurePosixPath(name).stem, own_title(text, headings)
    title = metadata.title or chosen_title("", heading_title, text, stem)
    places = encode_file_runs(in_written(words, written, len(shown) - len(source)))
    yield Document(name, title, text, metadata, (), headings, places, notes)


def _underlined(text: str) -> tuple[tuple[int, int], ...]:
    """Return the offset and level of each underlined heading.

    The line is at least as long as the heading, below a blank line. The signs rank as they come.
    """
    ranks: dict[str, int] = {}
    return tuple(
        (match.start("title"), ranks.setdefault(match["sign"], len(ranks) + 1))
        for match in _UNDERLINED.finditer(text)
        if len(match["title"].rstrip()) <= len(match["rule"])
    )


def furniture(text: str) -> list[tuple[int, int]]:
    """Return the lines that number pages or run along them, in order, each with its line end.

    If a sentence continues after one, the blank lines around it are among them, and so are the
    blank lines of a page's end without a number.
    """
    ends = [*accumulate(len(line) + 1 for line in text.split("\n"))]
    lines = [line.strip() for line in text.split("\n")]
    numbers = page_numbers(lines)
    along, often = numbers | _running_lines(lines, numbers), Counter(lines)
    gone: list[tuple[int, int]] = []
    first = 0
    for place, line in enumerate([*lines, "."]):
        if place < len(lines) and (not line or place in along):
            continue
        between = [n for n in range(first, place) if n in along]
        before = lines[first - 1] if first else "."
        ends_page = place - first >= _PAGE_END and often[before] == 1
        if (between and line[:1].islower() and _is_open(before)) or (
            ends_page and _goes_on(before, line)
        ):
            gone.append((ends[first - 1] if first else 0, min(ends[place - 1], len(text))))
            between = []
        gone += [(ends[n - 1] if n else 0, min(ends[n], len(text))) for n in between]
        first = place + 1
    return gone


def _running_lines(lines: Sequence[str], numbers: Set[int]) -> set[int]:
    """Return the indices of lines that come again, alone, and have cut two sentences apart."""
    often = Counter(line for line in lines if any(map(str.isalpha, line)))
    alone = {
        n
        for n, line in enumerate(lines)
        if often[line] >= _FEWEST_RUNNING
        and not any([*lines[max(0, n - 1) : n], *lines[n + 1 : n + 2]])
    }
    said = [n for n, line in enumerate(lines) if line and n not in numbers and n not in alone]
    cut = Counter[str]()
    for before, after in pairwise(said):
        if _goes_on(lines[before], lines[after]):
            cut.update({lines[n] for n in range(before + 1, after) if n in alone})
    return {n for n in alone if cut[lines[n]] > 1}


def _is_open(line: str) -> bool:
    """Return whether a line ends no sentence."""
    return not line.endswith(tuple(".:;!?"))


def _goes_on(before: str, line: str) -> bool:
    """Return whether a line begins with a word, no mark of an item, that continues a sentence."""
    first = line.partition(" ")[0].rstrip(",")
    return len(first) > 1 and first.isalpha() and first.islower() and _is_open(before)


def without_rules(text: str) -> str:
    """Replace drawn rules by spaces, such as the line under a heading; offsets stay.

    A rule is a line of one sign, repeated at least four times, or such hyphens between words: in
    flattened filings the line under a heading has come up into the paragraph.
    """
    return _RULE.sub(lambda rule: " " * len(rule[0]), text)


def without_boxes(text: str) -> str:
    """Replace drawn boxes by spaces; offsets stay, so places in the text are the file's.

    A box of stars or number signs has a border of at least ten above and below, and each line
    between begins and ends with the sign.
    """
    lines = text.split("\n")
    top: int | None = None
    for number, line in enumerate(lines):
        if not _is_border(line):
            if top is not None and not _within(line, lines[top].strip()[0]):
                top = None
        elif top is None or lines[top].strip()[0] != line.strip()[0]:
            top = number
        else:
            if number > top + 1:
                lines[top : number + 1] = map(_unframed, lines[top : number + 1])
            top = None
    return "\n".join(lines)


def _is_border(line: str) -> bool:
    signs = line.strip(" \t")
    return len(signs) >= _SHORTEST_BORDER and signs[0] in "*#" and not signs.strip(signs[0])


def _within(line: str, sign: str) -> bool:
    inner = line.strip()
    return len(inner) > 1 and inner[0] == inner[-1] == sign


def _unframed(line: str) -> str:
    if _is_border(line):
        return " " * len(line)
    start, end = len(line) - len(line.lstrip()), len(line.rstrip())
    return f"{line[:start]} {line[start + 1 : end - 1]} {line[end:]}"


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields of the front matter, if there is any, and the text without it.

    Two rules around prose are not front matter, because prose is not a mapping.

    Raises:
        CorpusError: A block has no end, is not valid YAML, or names a field twice.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return {}, text
    looks_so = _FIELD.match(text, opening.end()) is not None
    closing = _CLOSING.search(text, opening.end(), opening.end() + _MOST)
    if closing is not None:
        fields = _fields(text[opening.end() : closing.start()], looks_so)
        return ({}, text) if fields is None else (fields, text[closing.end() :])
    if looks_so:
        message = f"Its front matter has no end within {_MOST >> 10} KiB."
        raise CorpusError(message, "Close it by ---.")
    return {}, text


def _fields(block: str, looks_so: bool) -> dict[str, Any] | None:
    """Return the front matter's mapping; None if the block is prose."""
    import yaml

    try:
        _refuse_ambiguous(block)
        parsed = yaml.safe_load(block)
        repr(parsed)  # raises if a number has more digits than Python writes
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if not looks_so:
            return None
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 2}" if mark else ""
        message = f"Its front matter is not YAML ({problem}{place})."
        raise CorpusError(message, "Write `field: value` lines.") from error
    if parsed is None:
        return {}
    return {str(key): value for key, value in parsed.items()} if isinstance(parsed, dict) else None


def _refuse_ambiguous(block: str) -> None:
    """Refuse YAML that readers mistake: repeated keys, references, and very deep nesting.

    Raises:
        CorpusError: A key occurs twice, or a value refers to another.
        YAMLError: Values are nested so deep that reading them takes quadratic time.
    """
    import yaml

    depth = 0
    for event in yaml.parse(block, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise CorpusError("Its front matter refers to itself.", "Write the values out.")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise yaml.YAMLError(f"more than {_DEEPEST} values are nested in each other")
    node = yaml.compose(block, Loader=yaml.SafeLoader)
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    keys: set[str] = set()
    for key in (key.value for key, _ in pairs if isinstance(key, yaml.ScalarNode)):
        if key in keys:
            raise CorpusError(f"Its front matter gives {key!r} twice.", "Keep one of them.")
        keys.add(key)
