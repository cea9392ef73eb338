"""Documents -> chunks that cover every character: by provisions, sentences, topics, a pattern."""

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import SettingsError
from lexloop.core.settings_groups import (
    ByCharacters,
    ByMeaning,
    ByPattern,
    ByProvisions,
    Chunking,
)
from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Kind, Tree
from lexloop.documents.text.tokens import UNBROKEN, sentence_spans
from lexloop.models.embedding import Embedder

Span = tuple[int, int]
"""Start and end, half-open, in code points of the document's text."""
Chunker = Callable[[Document], list[Chunk]]

_LEAD_CHARS = 400
"""The most of a lead-in that is repeated for the chunks below it."""

_WHOLE_CHARS, MAX_CHARS = 300, 1500
"""Lengths in characters. A provision up to the first is one chunk, and short neighbours are joined
up to it. A paragraph up to the second is one chunk; a longer one is cut between its points or
sentences.
"""
_SCRAP_CHARS = 150
_FEWEST_PROVISIONS = 2
"""A single heading is as a rule the document's title."""
_CHARS_PER_PROVISION = 20_000
"""About eight pages. If headings are farther apart, they divide a book into parts, not a law into
provisions.
"""
_CONTAINERS: frozenset[Kind] = frozenset(("part", "annex", "provision", "table"))
_LOOSE: frozenset[Kind] = frozenset(("text", "row", "columns", "closing"))
_CHARS_PER_TOKEN = 16
"""A word piece model counts one token for any word it does not know, however long. This many
characters a token limit the chunks of a text without words.
"""
TOPIC_CHARS = 3000
"""About 512 tokens, the size in the paper; a longer topic is cut between sentences."""
_BATCH = 512  # sentences a call; an embedder holds the token ids of one call in memory
_BLANK = re.compile(r"\s")
_MAX_PROGRAM = 5000  # instructions; if RE2 simulates them, each character costs as many steps
_BASE_S, _S_PER_MB = 1.0, 4.0
"""Each match is found in linear time, but a pattern that looks far ahead and then matches little
may search the same text again and again. Such a pattern is refused after this much processor time.
"""
_CLOCK_EVERY = 64
_PROBES = ("", "a", "a 1\n\n§ 2.")
_HINT = (
    r"Give what opens a chunk in RE2 syntax, such as `\n§` or `^Article \d+$`: it must match at "
    "least one character, and knows no look-around and no back-reference."
)


def chunker_name(chunking: Chunking) -> str:
    """Return the chunker's name with the settings it reads, as an index records it."""
    read = [f"{field}={value!r}" for field, value in chunking if field != "method"]
    return f"{chunking.method}({', '.join(read)})"


def chunker_for(chunking: Chunking, embedder: Embedder) -> Chunker:
    """Return the chunker that the settings name.

    Args:
        chunking: The strategy and its parameters.
        embedder: Counts tokens, and makes the vectors of the semantic chunker.

    Raises:
        SettingsError: The pattern cannot be used.
    """
    if isinstance(chunking, ByProvisions):
        return chunk_document
    if isinstance(chunking, ByMeaning):
        share, buffer = chunking.dissimilarity, chunking.buffer
        return partial(chunk_by_meaning, dissimilarity=share, buffer=buffer, embedder=embedder)
    if isinstance(chunking, ByPattern):
        compile_pattern(chunking.pattern)  # refused before the first document is read
        return partial(chunk_by_pattern, pattern=chunking.pattern)
    if isinstance(chunking, ByCharacters):
        return partial(chunk_by_characters, chars=chunking.chars, overlap=chunking.chars_overlap)
    by_sentences = partial(
        chunk_by_sentences,
        tokens=chunking.tokens,
        overlap=chunking.overlap,
        count_tokens=embedder.count_tokens_many,
    )

    def as_recognised(document: Document) -> list[Chunk]:
        return chunk_document(document) if is_divided(document) else by_sentences(document)

    return by_sentences if chunking.method == "sentence" else as_recognised


def _to_chunks(document: Document, spans: Iterable[Span]) -> list[Chunk]:
    """Make a chunk of each span, with the label and the headings of the unit around it.

    The spans are in order and none is blank. Their starts are unique, because they name the chunks.
    """
    text, tree = document.text, document.tree
    version = document.metadata.version
    chunks: list[Chunk] = []
    for start, end in spans:
        first = _next_ink(text, start)
        last = start + len(text[start:end].rstrip())
        place = tree.around(_after_headings(tree, text, first, last), last)
        chunk: Chunk = {
            "id": f"{document.name}#{start}",
            "document": document.name,
            "title": document.title,
            "section": tree.units[place].label if place >= 0 else "",
            "page": document.page_at(start),
            "start": start,
            "end": end,
            "text": text[start:end],
        }
        if context := _context(tree, text, first):
            chunk["context"] = context
        if place >= 0 and not tree.operative(place):
            chunk["supporting"] = True
        if version:
            chunk["version"] = version
        chunks.append(chunk)
    return chunks


def _after_headings(tree: Tree, text: str, first: int, last: int) -> int:
    """Return where the text of a span begins, after the headings that open it."""
    at = first
    while (place := tree.at(at)) >= 0 and tree.units[place].start == at:
        body = _next_ink(text, tree.units[place].body)
        if not at < body < last:
            break
        at = body
    return at


def _context(tree: Tree, text: str, first: int) -> str:
    """Return the headings above a chunk, and the lead-in that it completes."""
    place = tree.at(first)
    words: list[str] = []
    while place >= 0:
        unit = tree.units[place]
        if unit.start < first:
            if tree.leads(place, text) and tree.own_end(place) <= first:
                words.append(" ".join(text[unit.body : tree.own_end(place)].split())[:_LEAD_CHARS])
            if unit.heading:
                words.append(unit.heading)
        place = unit.parent
    return "\n".join(reversed(words))


def between(text: str, starts: Iterable[int]) -> list[Span]:
    """Return the spans from each start to the next; together they cover the whole text.

    The starts are ascending offsets of words, including the first word.
    """
    borders = [0, *list(starts)[1:], len(text)]
    return list(pairwise(borders)) if text.strip() else []


def _next_ink(text: str, offset: int) -> int:
    """Return the first character that is not blank, from ``offset`` on; else the end."""
    match = UNBROKEN.search(text, offset)
    return match.start() if match else len(text)


def _cut_to_fit(text: str, span: Span, fits: Callable[[str], bool]) -> Iterator[Span]:
    """Halve a span until each part fits: between words, or within a word too long for a part.

    The span begins and ends with a character that is not blank. The parts leave out only blanks. A
    single character always fits.
    """
    start, end = span
    if end - start <= 1 or fits(text[start:end]):
        yield span
        return
    cut = _middle(text, start, end)
    yield from _cut_to_fit(text, (start, start + len(text[start:cut].rstrip())), fits)
    yield from _cut_to_fit(text, (cut, end), fits)


def _middle(text: str, start: int, end: int) -> int:
    """Return the start of a word near the middle, or the middle if no word starts before it."""
    middle = (start + end) // 2
    if text[middle - 1].isspace() or text[middle].isspace():
        return _next_ink(text, middle)
    words = text[start:middle].rsplit(None, 1)
    return middle - len(words[1]) if len(words) == 2 else middle


def is_divided(document: Document) -> bool:
    """Return whether a document is a numbered statute or is otherwise divided into sections.

    A document is divided if it has at least two provisions, and one for every 20,000 characters. A
    provision is a line such as "§ 5", "Article 12 Fees" or "RULE 3.2", a Markdown heading, or a
    heading that the format marks.
    """
    provisions = sum(unit.kind in ("provision", "annex") for unit in document.tree.units)
    return provisions >= max(_FEWEST_PROVISIONS, len(document.text) / _CHARS_PER_PROVISION)


def chunk_document(document: Document) -> list[Chunk]:
    """Cut one document into chunks along its tree of provisions.

    A chunk is a paragraph of a provision with its points, a definition, a recital, or some rows of
    a table. Headings belong to the first chunk below them. Together the chunks cover every
    character; a blank document has no chunks.
    """
    text, tree = document.text, document.tree
    starts = sorted({0, *(_next_ink(text, start) for start in _starts(tree, text))})
    spans = list(zip(starts, [*starts[1:], len(text)], strict=True))
    return _to_chunks(document, _attach_blanks(text, spans))


def _attach_blanks(text: str, spans: list[Span]) -> list[Span]:
    """Join each blank span to the one before it, or to the next one at the beginning."""
    joined: list[Span] = []
    for start, end in spans:
        blank = not text[start:end].strip()
        if joined and (blank or not text[slice(*joined[-1])].strip()):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [span for span in joined if text[slice(*span)].strip()]


def _starts(tree: Tree, text: str) -> Iterator[int]:
    """Yield where chunks begin; the headings above a unit belong to its chunk."""
    stack = list(reversed(tree.children(-1)))
    heading: int | None = None
    scrap: int | None = None
    while stack:
        place = stack.pop()
        unit, children = tree.units[place], tree.children(place)
        size = unit.end - unit.start
        container = unit.kind in _CONTAINERS or _defines(tree, children)
        limit = _WHOLE_CHARS if container else MAX_CHARS
        begin = unit.start if heading is None else heading
        heading = None
        if size > limit and children and container:
            scrap = None
            if text[unit.body : tree.own_end(place)].strip():
                yield begin
            else:
                heading = begin
            stack += reversed(children)
        elif scrap is None or unit.kind not in _LOOSE or unit.end - scrap > _WHOLE_CHARS:
            scrap = begin if unit.kind in _LOOSE and size < _SCRAP_CHARS else None
            yield from _within(tree, place, begin, text) if size > limit else [begin]


def _defines(tree: Tree, children: Sequence[int]) -> bool:
    """Return whether all that stands below a unit are definitions."""
    return bool(children) and all(tree.units[p].kind == "definition" for p in children)


def _within(tree: Tree, place: int, begin: int, text: str) -> Iterator[int]:
    """Yield where the pieces of a long unit begin: at points up to the limit, or at sentences."""
    start = last = begin
    for end in _ends(tree, place, text):
        if end <= begin:
            continue
        if last > start and end - start > MAX_CHARS:
            yield start
            start = last
        last = end
    yield start


def _ends(tree: Tree, top: int, text: str) -> Iterator[int]:
    """Yield where a long unit may be cut: after points, and after sentences in long points."""
    stack = [top]
    while stack:
        place = stack.pop()
        unit = tree.units[place]
        if place != top and unit.end - unit.start <= MAX_CHARS:
            yield unit.end
            continue
        own_end, leads = tree.own_end(place), tree.leads(place, text)
        if not leads or own_end - unit.start > MAX_CHARS:
            spans = sentence_spans(text[unit.start : own_end])
            # a lead-in is not cut from the first of its points
            yield from (unit.start + stop for _, stop in (spans[:-1] if leads else spans))
        stack += reversed(tree.children(place))


def chunk_by_sentences(
    document: Document, tokens: int, overlap: int, count_tokens: Callable[[list[str]], list[int]]
) -> list[Chunk]:
    """Cut one document into chunks of at most ``tokens`` tokens (HyPA-RAG section 6).

    A sentence longer than ``tokens`` is cut between words, and a longer word within itself. Blanks
    around a chunk do not count. A chunk's tokens are the sum of its sentences' tokens, which is
    exact for models that split text at blanks. The next chunk repeats up to ``overlap`` tokens,
    fewer than ``tokens``.
    """
    text, longest = document.text, tokens * _CHARS_PER_TOKEN

    def fits(piece: str) -> bool:
        return len(piece) <= longest and count_tokens([piece])[0] <= tokens

    units: list[Span] = []
    costs: list[int] = []
    spans = [*between(text, [start for start, _ in sentence_spans(text)])]
    counts = iter(count_tokens([text[a:b] for a, b in spans if b - a <= longest]))  # all at once
    for start, end in spans:
        cost = next(counts) if end - start <= longest else tokens + 1
        if cost <= tokens:
            units.append((start, end))
            costs.append(cost)
        else:
            # a long sentence in pieces, together with the blanks around it
            inner = _next_ink(text, start), start + len(text[start:end].rstrip())
            borders = [begin for begin, _ in _cut_to_fit(text, inner, fits)]
            pieces = list(pairwise([start, *borders[1:], end]))
            units += pieces
            costs += count_tokens([text[slice(*piece)] for piece in pieces])
    apart = [bool(start) and not text[start - 1].isspace() for start, _ in units]
    return _to_chunks(document, _pack(units, costs, apart, tokens, overlap))


def _pack(
    units: list[Span], costs: list[int], apart: list[bool], tokens: int, overlap: int
) -> Iterator[Span]:
    """Yield runs of units up to the limit; each repeats units of the run before, never its first.

    A unit that begins within a word is ``apart`` and begins a run, because the tokens of the two
    halves do not add up to those of the word. A unit alone may exceed the limit if blanks surround
    it.
    """
    spent = [0, *accumulate(costs)]
    first = reached = 0
    while reached < len(units):
        end = reached + 1
        while end < len(units) and not apart[end] and spent[end + 1] - spent[first] <= tokens:
            end += 1
        yield units[first][0], units[end - 1][1]
        if end == len(units):
            return
        room = min(overlap, max(tokens - costs[end], 0))
        shared = end if apart[end] else bisect_left(spent, spent[end] - room, hi=end)
        first, reached = max(first + 1, shared), end


def chunk_by_meaning(
    document: Document, dissimilarity: float, buffer: int, embedder: Embedder
) -> list[Chunk]:
    """Cut one document at the places where neighbouring sentences differ most (HyPA-RAG section 6).

    Each sentence is embedded together with ``buffer`` neighbours on either side. The distance
    between two adjoining sentences is 1 - the cosine of their vectors. A chunk ends at each
    distance above the ``dissimilarity`` quantile of the document's distances: 0.9 cuts at about one
    place in ten, 1 nowhere, 0 nearly everywhere. A quantile means the same for every embedder and
    document; a cosine would not.
    """
    text = document.text
    parts = [
        part
        for span in sentence_spans(text)
        for part in _cut_to_fit(text, span, lambda piece: len(piece) <= TOPIC_CHARS)
    ]
    distances = _distances(text, parts, buffer, embedder)
    threshold = np.quantile(distances, dissimilarity) if len(distances) else 0.0
    starts: list[int] = []
    for number, (start, end) in enumerate(parts):
        apart = not number or distances[number - 1] > threshold
        if apart or end - starts[-1] > TOPIC_CHARS:
            starts.append(start)
    return _to_chunks(document, between(text, starts))


def _distances(
    text: str, parts: list[Span], buffer: int, embedder: Embedder
) -> NDArray[np.float64]:
    """Return the cosine distance from each part to the next, shape (parts - 1,)."""
    last = len(parts) - 1
    if last < 1:
        return np.zeros(0)
    groups = [
        text[parts[max(i - buffer, 0)][0] : parts[min(i + buffer, last)][1]]
        for i in range(len(parts))
    ]
    vectors = np.concatenate(
        [embedder.embed(groups[i : i + _BATCH]) for i in range(0, len(groups), _BATCH)]
    ).astype(np.float64)
    # rounded, so that equal sentences have one distance however they were batched
    rounded: NDArray[np.float64] = np.round(1.0 - (vectors[:-1] * vectors[1:]).sum(axis=1), 6)
    return rounded


def chunk_by_characters(document: Document, chars: int, overlap: int) -> list[Chunk]:
    """Cut one document into chunks of at most ``chars`` characters (Sultania et al., table 1).

    A chunk ends with the last sentence that ends in its second half, or else with the last word, or
    else after ``chars`` characters. It begins with a word of the chunk before and repeats up to
    ``overlap`` of its characters, fewer than ``chars``. Blanks around a chunk do not count.
    """
    return _to_chunks(document, _spans(document.text, chars, overlap))


def _spans(text: str, chars: int, overlap: int) -> Iterator[Span]:
    ends = [end for _, end in sentence_spans(text)]
    last = len(text.rstrip())
    start, stop, begin = _next_ink(text, 0), 0, 0
    while start < last:
        stop = _stop(text, ends, start, stop, chars) if start + chars < last else last
        following = _next_ink(text, stop)
        yield begin, following
        if following == len(text):
            return
        start = _word_after(text, max(stop - overlap, start + 1), stop)
        if following >= start + chars:  # blanks alone would fill the next chunk
            start = following
        begin = start


def _stop(text: str, ends: list[int], start: int, reached: int, chars: int) -> int:
    """Return the end of the chunk that begins at ``start``; it is after ``reached``."""
    least, most = max(start + chars // 2, reached), start + chars
    sentence = ends[bisect_right(ends, most) - 1] if ends and ends[0] <= most else 0
    if sentence > least:
        return sentence
    if text[most].isspace():
        return start + len(text[start:most].rstrip())
    words = text[start:most].rsplit(None, 1)
    word = start + len(words[0]) if len(words) == 2 else 0
    return word if word > least else most


def _word_after(text: str, offset: int, end: int) -> int:
    """Return the start of the first word from ``offset`` on, or a place after ``end``.

    So a chunk begins within a word only if the chunk before it had to end there.
    """
    if offset < end and text[offset - 1].isspace():
        return _next_ink(text, offset)
    blank = _BLANK.search(text, offset, end)
    return _next_ink(text, blank.start() if blank else end)


def chunk_by_pattern(document: Document, pattern: str) -> list[Chunk]:
    r"""Cut one document before each match of a regular expression.

    ``^`` and ``$`` match at every line. Blanks at the beginning of a match go to the chunk before,
    so that ``\n§`` and ``^§`` cut alike. Without a match the document is one chunk.

    Raises:
        SettingsError: The pattern is invalid, too large, matches an empty string, or takes more
            than linear time on this text.
    """
    text = document.text
    starts = [_next_ink(text, 0)]
    for offset in _matches(text, pattern):
        if offset > starts[-1] and (start := _next_ink(text, offset)) > starts[-1]:
            starts.append(start)
    if starts[-1] == len(text):
        starts.pop()
    return _to_chunks(document, between(text, starts))


@lru_cache(maxsize=8)
def compile_pattern(pattern: str) -> Any:
    """Compile a pattern in RE2's syntax.

    Raises:
        SettingsError: The pattern is invalid, too large, or matches an empty string.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeEncodeError) as error:
        raise SettingsError(f"chunking.pattern is {pattern!r}: {error}.", _HINT) from error
    size = max(compiled.programsize, compiled.reverseprogramsize)
    if size > _MAX_PROGRAM:
        raise SettingsError(
            f"chunking.pattern is {pattern!r}, which needs {size} steps a character, more than "
            f"{_MAX_PROGRAM}.",
            "Repeat or list less in it.",
        )
    if any(match.start() == match.end() for probe in _PROBES for match in compiled.finditer(probe)):
        raise _matches_nothing(pattern)
    return compiled


def _matches(text: str, pattern: str) -> Iterator[int]:
    """Yield the starts of matches, ascending."""
    began = time.thread_time()
    # a lone surrogate has no UTF-8; a question mark keeps the offsets
    encoded = text.encode("utf-8", "replace")
    allowed = _BASE_S + _S_PER_MB * len(encoded) / 1e6
    for number, match in enumerate(compile_pattern(pattern).finditer(encoded.decode())):
        if match.start() == match.end():
            raise _matches_nothing(pattern)
        if number % _CLOCK_EVERY == 0 and time.thread_time() - began > allowed:
            raise SettingsError(
                f"chunking.pattern is {pattern!r}, which takes more than {allowed:.0f} s on a "
                f"document of {len(encoded)} bytes.",
                "Keep it from looking far ahead, for instance with [^\\n]* in place of .*.",
            )
        yield match.start()


def _matches_nothing(pattern: str) -> SettingsError:
    return SettingsError(f"chunking.pattern is {pattern!r}, which matches no character.", _HINT)
