"""Documents -> chunks: the paragraphs of provisions, covering every character."""

from collections.abc import Iterator

from lexloop.core.types import Chunk
from lexloop.documents.chunks.spans import Span, next_ink, to_chunks
from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Kind, Tree
from lexloop.documents.text.sentences import sentence_spans

WHOLE_CHARS, MAX_CHARS = 300, 1500
"""A provision up to the first is one chunk, and so are neighbouring scraps of text; a paragraph is
one up to the second, and is cut between its points, or its sentences, beyond it."""
_SCRAP_CHARS = 150
_FEWEST_PROVISIONS = 2
"""A single heading is as a rule the document's title."""
_CHARS_PER_PROVISION = 20_000
"""About eight pages; headings farther apart divide a book into its parts, not a law into its
provisions."""
_CONTAINERS: frozenset[Kind] = frozenset(("part", "annex", "provision", "table"))
_LOOSE: frozenset[Kind] = frozenset(("text", "row", "columns", "closing"))


def is_divided(document: Document) -> bool:
    """Return whether a document is a numbered statute or is otherwise divided into sections.

    It is when it has at least two provisions (a line such as "§ 5", "Article 12 Fees" or
    "RULE 3.2", a Markdown heading, or a heading that the format marks), and at least one for
    every 20,000 characters.
    """
    provisions = sum(unit.kind in ("provision", "annex") for unit in document.tree.units)
    return provisions >= max(_FEWEST_PROVISIONS, len(document.text) / _CHARS_PER_PROVISION)


def chunk_document(document: Document) -> list[Chunk]:
    """Cut one document into chunks along its tree.

    A chunk is a paragraph of a provision with its points, a definition, a recital, or some rows of
    a table; the headings above it belong to the first chunk below them. Together the chunks cover
    every character; a blank document has none.
    """
    text, tree = document.text, document.tree
    starts = sorted({0, *(next_ink(text, start) for start in _starts(tree, text))})
    spans = list(zip(starts, [*starts[1:], len(text)], strict=True))
    return to_chunks(document, _attach_blanks(text, spans))


def _attach_blanks(text: str, spans: list[Span]) -> list[Span]:
    """Join each blank span to the one before it, or after it at the beginning."""
    joined: list[Span] = []
    for start, end in spans:
        blank = not text[start:end].strip()
        if joined and (blank or not text[slice(*joined[-1])].strip()):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [span for span in joined if text[slice(*span)].strip()]


def _starts(tree: Tree, text: str) -> Iterator[int]:
    """Yield where chunks begin; what heads a unit belongs to its chunk."""
    left = list(reversed(tree.children(-1)))
    heading: int | None = None
    scrap: int | None = None
    while left:
        place = left.pop()
        unit, children = tree.units[place], tree.children(place)
        size = unit.end - unit.start
        limit = WHOLE_CHARS if unit.kind in _CONTAINERS else MAX_CHARS
        begin = unit.start if heading is None else heading
        heading = None
        if size > limit and children and unit.kind in _CONTAINERS:
            scrap = None
            if text[unit.body : tree.own_end(place)].strip():
                yield begin
            else:
                heading = begin
            left += reversed(children)
        elif scrap is None or unit.kind not in _LOOSE or unit.end - scrap > WHOLE_CHARS:
            scrap = begin if unit.kind in _LOOSE and size < _SCRAP_CHARS else None
            yield from _within(tree, place, begin, text) if size > limit else [begin]


def _within(tree: Tree, place: int, begin: int, text: str) -> Iterator[int]:
    """Yield where the pieces of a long unit begin: its points up to the limit, or sentences."""
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
    """Yield where a long unit may be cut: after points, and in long points after sentences."""
    left = [top]
    while left:
        place = left.pop()
        unit = tree.units[place]
        if place != top and unit.end - unit.start <= MAX_CHARS:
            yield unit.end
            continue
        own_end, leads = tree.own_end(place), tree.leads(place, text)
        if not leads or own_end - unit.start > MAX_CHARS:
            spans = sentence_spans(text[unit.start : own_end])
            # a lead-in is not cut from the first of its points
            yield from (unit.start + stop for _, stop in (spans[:-1] if leads else spans))
        left += reversed(tree.children(place))
