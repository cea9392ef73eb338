"""A neighbourhood of the knowledge graph as SVG and as a page.

What is drawn was written by others: every text is escaped, and neither file has a script, a style
sheet or a reference to anything outside itself.
"""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from lexloop.apps.shapes.text import one_line, shortened
from lexloop.knowledge.relations import reading
from lexloop.store.graph import Relation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_NOT_XML = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_LABEL_CHARS = 34
_CHAR_WIDTH = 6.6  # of the 12 px font below, in px
_HEIGHT = 22
_GAP = 6
_PUSHES = 400
_DRAWN, _WIDEST = 18, 1280
"""Relations that a screen of that width has room for, in px."""
_SEED = 1
_FONT = 'font-family="sans-serif" font-size="12"'
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<title>{title}</title>
</head>
<body>
<h1>{title}</h1>
{drawing}
<table border="1" cellpadding="4">
<thead>
<tr><th>subject</th><th>relation</th><th>object</th><th>source</th><th>quote</th></tr>
</thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""


def row(found: Relation) -> list[str]:
    """Return subject, relation, object, source and quote of a relation, each on one line.

    The source is the provision, the document and the page.
    """
    triplet = found.triplet
    page = f"p. {triplet['page']}" if triplet["page"] is not None else ""
    source = ", ".join(part for part in (triplet["section"], triplet["document"], page) if part)
    relation = reading(triplet["predicate"])
    said = (triplet["subject"], relation, triplet["object"], source, triplet["quote"])
    return [one_line(text) for text in said]


def as_page(name: str, relations: Sequence[Relation], drawing: str) -> str:
    """Return a page with the drawing and the table of relations."""
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{_escaped(text)}</td>' for text in row(found))}</tr>"
        for found in relations
    )
    return _PAGE.format(title=_escaped(name), drawing=drawing, rows=rows)


def as_svg(name: str, relations: Sequence[Relation], more: int = 0) -> str:
    """Draw entities as boxes and each relation as a word between two of them, to fit a screen.

    Args:
        name: The entity in the middle.
        relations: Around it; the first are drawn.
        more: How many further ones there are.
    """
    more += max(0, len(relations) - _DRAWN)
    relations = relations[:_DRAWN]
    places, width, height = _layout(name, relations)
    if more:
        height += _HEIGHT
    lines: list[str] = []
    words: list[str] = []
    for i, found in enumerate(relations):
        middle = places[i]
        lines.append(_line(places[found.subject], middle, ""))
        lines.append(_line(middle, places[found.object], ' marker-end="url(#to)"'))
        if found.reached not in (found.subject, found.object):
            lines.append(_line(places[found.reached], middle, ' stroke-dasharray="4 4"'))
        words.append(_word(middle, reading(found.triplet["predicate"])))
    boxes = [
        _box(place, node, "#ffe9a8" if node == name else "#e8eef7")
        for node, place in places.items()
        if isinstance(node, str)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">',
            f"<title>{_escaped(name)}</title>",
            '<defs><marker id="to" viewBox="0 0 8 8" refX="14" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            *lines,
            *boxes,
            *words,
            *([_word((width / 2, height - _HEIGHT), f"{more} more")] if more else []),
            "</svg>\n",
        ]
    )


def _layout(
    name: str, relations: Sequence[Relation]
) -> tuple[dict[str | int, tuple[float, float]], int, int]:
    """Place each entity, by name, and each relation, by number; return width and height as well."""
    import networkx as nx
    import numpy as np

    graph: Any = nx.Graph()
    graph.add_node(name)
    for i, found in enumerate(relations):
        graph.add_edges_from((end, i) for end in (found.subject, found.object, found.reached))
    side = math.sqrt(len(graph))
    placed = nx.spring_layout(graph, k=2.2 / side, seed=_SEED, iterations=200)
    labels = [
        node if isinstance(node, str) else reading(relations[node].triplet["predicate"])
        for node in placed
    ]
    widths = np.array([_width(label) for label in labels])
    width = min(_WIDEST, int(480 + 170 * side))
    x = (1 + np.array([place[0] for place in placed.values()])) / 2 * width
    y = np.array([place[1] for place in placed.values()]) * 45 * side
    x = np.clip(x, widths / 2 + _GAP, width - widths / 2 - _GAP)
    y = _apart(x, y, widths)
    y = y - y.min() + _HEIGHT
    places = zip(placed, x.round(1).tolist(), y.round(1).tolist(), strict=True)
    return {node: (left, top) for node, left, top in places}, width, int(y.max()) + _HEIGHT


def _apart(x: "Floats", y: "Floats", widths: "Floats") -> "Floats":
    """Move labels up and down until none covers another; return their heights."""
    import numpy as np

    beside = np.abs(x[:, None] - x) >= (widths[:, None] + widths) / 2 + _GAP
    upper = np.sign(np.arange(len(y))[:, None] - np.arange(len(y)))
    for _ in range(_PUSHES):
        away = y[:, None] - y
        missing = _HEIGHT + _GAP - np.abs(away)
        missing[beside | (missing <= 0) | (upper == 0)] = 0
        if not missing.any():
            break
        y = y + (np.where(away == 0, upper, np.sign(away)) * missing).sum(axis=1) / 2
    return y


def _width(text: str) -> float:
    return round(16 + _CHAR_WIDTH * len(shortened(text, _LABEL_CHARS)), 1)


def _line(one: tuple[float, float], other: tuple[float, float], more: str) -> str:
    ends = f'x1="{one[0]}" y1="{one[1]}" x2="{other[0]}" y2="{other[1]}"'
    return f'<line {ends} stroke="#667"{more}/>'


def _box(place: tuple[float, float], text: str, fill: str) -> str:
    x, y = place
    label = shortened(text, _LABEL_CHARS)
    width = _width(text)
    shape = (
        f'<rect x="{round(x - width / 2, 1)}" y="{round(y - _HEIGHT / 2, 1)}" width="{width}" '
        f'height="{_HEIGHT}" rx="6" fill="{fill}" stroke="#667"/>'
    )
    said = f'<text x="{x}" y="{y + 4:.1f}" text-anchor="middle" {_FONT}>{_escaped(label)}</text>'
    return f"<g><title>{_escaped(text)}</title>{shape}{said}</g>"


def _word(place: tuple[float, float], text: str) -> str:
    x, y = place
    # a white rim, so that the lines behind it do not cross it
    look = 'stroke="#fff" stroke-width="4" paint-order="stroke" fill="#245"'
    said = _escaped(shortened(text, _LABEL_CHARS))
    return f'<text x="{x}" y="{y + 4:.1f}" text-anchor="middle" {_FONT} {look}>{said}</text>'


def _escaped(text: str) -> str:
    return escape(_NOT_XML.sub("", one_line(text)), {'"': "&quot;", "'": "&#39;"})
