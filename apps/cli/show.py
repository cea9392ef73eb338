"""``lexloop show`` and ``graph show``: provisions of a document, and relations of an entity.

Drawn texts were written by others, so they are escaped, and neither file has a script, a style
sheet or a reference to anything outside itself.
"""

import os.path
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.sax.saxutils import escape

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import Part, Progress, note, plain, result_console, say, write_json
from lexloop.apps.shapes.text import first_of, one_line, places, shortened
from lexloop.core.errors import SettingsError
from lexloop.core.metadata import Filters
from lexloop.core.settings import SAMPLE_CORPUS

if TYPE_CHECKING:
    from lexloop.store.graph import KnowledgeGraph, Relation
    from lexloop.store.provisions import Source

_WORDS = 70
_MOST_DOUBTS, _DEEPEST = 10, 99
_MOST, _MOST_ASKED = 30, 200
"""Relations to look for by default, and the maximum."""
_BESIDE = 5
"""Lines of the screen for text above and below the relations, and the next prompt."""
_NOT_XML = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_LABEL_CHARS = 34
_CHAR_WIDTH = 6.6  # of the 12 px font below, in px
_HEIGHT = 22
_ROW, _BETWEEN = 26, 48
"""From label to label of a column, and between columns, in px."""
_DRAWN, _WIDEST = 18, 1280
"""Relations that a screen of that width has room for, in px."""
_FONT = 'font-family="sans-serif" font-size="12"'
# a white rim, so that the lines behind a word do not cross it
_RIMMED = ' stroke="#fff" stroke-width="4" paint-order="stroke" fill="#245"'
_Place = tuple[float, float, float]
"""The middle of a label, and its width."""
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


@options.taking("corpus", "index.embedder", *options.ACCESS)
def show(
    *,
    context: typer.Context,
    document: Annotated[
        str,
        typer.Argument(
            help="A document, as citations name it, or the end of its name; without --corpus "
            "also a file."
        ),
    ],
    provision: Annotated[
        list[str] | None,
        typer.Argument(help="E.g. 'Article 5(1)(a)', '§ 5-303', 4.2, 'Annex III' or a heading."),
    ] = None,
    depth: Annotated[
        int, option("How many levels below provisions are listed.", min=0, max=_DEEPEST)
    ] = 0,
    outline: Annotated[
        bool, option("The whole tree: every unit with its kind, and each doubt of the reading.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Print the provisions of a document, or one with its headings, lead-in and references."""
    depth = _DEEPEST if outline else depth
    command = shlex.join(["lexloop", "show", document, *options.typed(context.params)])
    settings = options.chosen_settings(context.params)
    if settings.corpus == SAMPLE_CORPUS and os.path.isfile(document):
        settings, document = settings.changed(corpus=document), os.path.basename(document)
    connection = options.chosen_connection(context.params)
    with Progress() as progress:
        collection, _ = open_resources(settings, connection, progress)[0].collection(settings)
        view = collection.seen_by(Filters.of(settings))
    from lexloop.store.provisions import Source

    source = Source.of(view, document)
    places = source.places(" ".join(provision), f"See `{command}`.") if provision else []
    records = [source.provision(place) for place in places]
    if as_json and provision:
        write_json({"document": source.name, "provisions": records})
    elif as_json:
        write_json(source.outline(depth))
    elif provision:
        for place, record in zip(places, records, strict=True):
            _print_provision(source, place, record, depth)
    else:
        _print_outline(source, depth, whole=outline)


def _print_outline(source: "Source", depth: int, whole: bool) -> None:
    """Print a document's outline and doubts about its reading, completely if ``whole``."""
    units = source.listed(range(len(source.tree)), depth)
    identifier = f" · {one_line(source.identifier)}" if source.identifier else ""
    say((source.name, "bold"), (identifier, "dim"))
    _print_units(source, units, kinds=whole)
    if not units:
        say("It has no provisions; --depth 1 lists its paragraphs.", style="dim")
    doubts = source.doubts()
    for doubt in doubts if whole else first_of(doubts, _MOST_DOUBTS):
        say(f"Doubt: {doubt}", style="yellow")


def _print_provision(source: "Source", place: int, record: dict[str, Any], depth: int) -> None:
    """Print a provision with the headings above it, its lead-in and what it refers to."""
    from lexloop.documents.structure.telling import UNRESOLVED

    kind = record["kind"]
    location = " · ".join(["", source.name, *places({**record, "section": ""})])
    say(*_title(record), (location, "dim"))
    for above in record["above"]:
        say(("in ", "dim"), *_title(above))
    say()
    for line in record["lead_in"]:
        result_console().print(plain(line, "italic"))
    if kind == "part":
        _print_units(source, source.listed(source.tree.below(place), depth))
    else:
        result_console().print(plain(record["text"]))
        say()
    for mention in record["refers_to"] if kind != "part" else ():
        labels = mention["labels"]
        there = UNRESOLVED if not labels else ", ".join((labels[0], *labels[1:][-1:]))
        say(f"Refers to {mention['said']}: {there}", style="dim")
    say()


def _title(record: dict[str, Any]) -> list[Part]:
    heading = record["heading"] if record["heading"] != record["label"] else ""
    label = one_line(record["label"] or record["kind"])
    return [(label, "bold"), f"  {one_line(heading)}" if heading else ""]


def _print_units(source: "Source", listed: Sequence[tuple[int, int]], kinds: bool = False) -> None:
    from lexloop.store.provisions import HEADS

    for place, level in listed:
        unit, record = source.tree.units[place], source.record(place)
        short = ""
        if unit.kind not in HEADS:
            words = one_line(source.text[unit.body : unit.end][: 2 * _WORDS])
            short = words if len(words) <= _WORDS else words[:_WORDS].rsplit(" ", 1)[0] + " …"
            short = f"  {short}"
        location = "".join(f"  {detail}" for detail in places({**record, "section": ""}))
        kind = f"  [{unit.kind}]" if kinds else ""
        say("  " * level, *_title(record), (short, "dim"), (kind, "cyan"), (location, "dim"))


commands = typer.Typer(name="graph", no_args_is_help=True, help="Look into the knowledge graph.")


@commands.callback()
def _top() -> None:
    """Look into the knowledge graph."""


@commands.command("show")
@options.taking("corpus", "index.embedder", *options.ACCESS)
def show_graph(
    *,
    context: typer.Context,
    entity: Annotated[
        str, typer.Argument(help="A term, an acronym or a section, e.g. 'bias audit' or '§ 5-301'.")
    ],
    depth: Annotated[int, option("How many entities away to look.", min=1, max=2)] = 1,
    limit: Annotated[
        int | None,
        option(
            "Maximum number of relations. Default: as many as the screen has room for.",
            min=1,
            max=_MOST_ASKED,
        ),
    ] = None,
    svg: Annotated[Path | None, option("Draw them into this file.", "FILE")] = None,
    html: Annotated[
        Path | None, option("Write the drawing and the table as a page.", "FILE")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the relations around an entity, each with the place that states it."""
    graph, corpus = _open(context.params)
    from lexloop.store.provisions import neighbourhood

    described, elsewhere = corpus, ""
    if corpus == SAMPLE_CORPUS:
        described, elsewhere = "the bundled sample", "--corpus names other documents."
    around = neighbourhood(
        graph, entity, depth, limit or _MOST, where=described, elsewhere=elsewhere
    )
    name, _, degree, relations = around
    more = max(0, degree - len(relations)) if depth == 1 else 0
    _draw(name, relations, more, svg, html)
    if as_json:
        write_json(around.record())
        return
    _print_relations(name, degree, relations, limit)
    for file in filter(None, (svg, html)):
        note(f"Drawn in {file}")


def _open(given: dict[str, Any]) -> "tuple[KnowledgeGraph, str]":
    """Return the knowledge graph, and the documents that it is of."""
    settings = options.chosen_settings(given)
    with Progress() as progress:
        resources, _ = open_resources(settings, options.chosen_connection(given), progress)
        view = resources(settings).view
        if view is None or settings.retrieval.knowledge_graph == "none":
            raise SettingsError(
                f"The settings leave the knowledge graph out (variant {settings.variant}, "
                f"knowledge_graph {settings.retrieval.knowledge_graph}).",
                "Leave these settings at their defaults.",
            )
        return view.graph, settings.corpus


def _draw(
    name: str, relations: "Sequence[Relation]", more: int, svg: Path | None, html: Path | None
) -> None:
    if svg is None and html is None:
        return
    from lexloop.core.jsonl import write_checked

    drawing = as_svg(name, relations, more)
    if svg is not None:
        write_checked(svg, drawing)
    if html is not None:
        write_checked(html, as_page(name, relations, drawing))


def _print_relations(
    name: str, degree: int, relations: "Sequence[Relation]", limit: int | None
) -> None:
    """Print two lines for each relation: the statement, and its source with the quote."""
    console = result_console()
    # pipes have no height or width
    room = max(1, (console.size.height - _BESIDE) // 2) if console.is_terminal else len(relations)
    shown = relations if limit else relations[:room]
    say(
        f"{name}: {'1 relation' if degree == 1 else f'{degree} relations'} of its own", style="bold"
    )
    for entry in shown:
        subject, relation, target, source, quote = row(entry)
        statement, source_line = f"{subject} {relation} {target}", f"    {source}: “{quote}”"
        for text, style in ((statement, ""), (source_line, "dim")):
            line = plain(text, style)
            if console.is_terminal:
                line.truncate(console.size.width, overflow="ellipsis")
            console.print(line)
    if (hidden := max(degree, len(relations)) - len(shown)) > 0:
        say(f"{hidden} more: --limit shows up to {_MOST_ASKED}", style="dim")


def row(found: "Relation") -> list[str]:
    """Return subject, relation, object, source and quote of a relation, each on one line.

    The source is the document, with the place that states the relation.
    """
    from lexloop.knowledge.relations import reading

    triplet = found.triplet
    source = ", ".join([triplet["document"], *places(triplet)])
    relation = reading(triplet["predicate"])
    fields = (triplet["subject"], relation, triplet["object"], source, triplet["quote"])
    return [one_line(text) for text in fields]


def as_page(name: str, relations: "Sequence[Relation]", drawing: str) -> str:
    """Return a page with the drawing and the table of relations."""
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{_escaped(text)}</td>' for text in row(relation))}</tr>"
        for relation in relations
    )
    return _PAGE.format(title=_escaped(name), drawing=drawing, rows=rows)


def as_svg(name: str, relations: "Sequence[Relation]", more: int = 0) -> str:
    """Draw entities as boxes and each relation as a word between two of them, to fit a screen.

    Args:
        name: The entity on the left.
        relations: Around it; the first are drawn.
        more: How many further ones there are.
    """
    more += max(0, len(relations) - _DRAWN)
    relations = relations[:_DRAWN]
    places, width, height = _layout(name, relations)
    lines: list[str] = []
    words = [_word(width / 2, height - _HEIGHT, f"{more} more")] if more else []
    for i, relation in enumerate(relations):
        word = places[i]
        lines.append(_line(places[relation.subject], word, ""))
        lines.append(_line(word, places[relation.object], ' marker-end="url(#to)"'))
        if relation.reached not in (relation.subject, relation.object):
            lines.append(_line(places[relation.reached], word, ' stroke-dasharray="4 4"'))
        words.append(_word(word[0], word[1], row(relation)[1]))
    boxes = [
        _box(place, node, "#ffe9a8" if node == name else "#e8eef7")
        for node, place in places.items()
        if isinstance(node, str)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{min(width, _WIDEST)}" height="{height}" role="img">',
            f"<title>{_escaped(name)}</title>",
            '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            *lines,
            *boxes,
            *words,
            "</svg>\n",
        ]
    )


def _layout(name: str, relations: "Sequence[Relation]") -> tuple[dict[str | int, _Place], int, int]:
    """Place entities, by name, and relations, by number, in columns by how far they are away.

    Returns:
        The places, and the width and height of the whole.
    """
    import networkx as nx

    graph: Any = nx.Graph()
    graph.add_node(name)
    for i, relation in enumerate(relations):
        graph.add_edges_from(
            (end, i) for end in (relation.subject, relation.object, relation.reached)
        )
    for i in range(len(relations)):
        if not nx.has_path(graph, name, i):  # what leads to it is not among those that are drawn
            graph.add_edge(name, i)
    columns = [*nx.bfs_layers(graph, [name])]
    most, x = max(map(len, columns)), _BETWEEN / 2
    places: dict[str | int, _Place] = {}
    for column in columns:
        labels = [node if isinstance(node, str) else row(relations[node])[1] for node in column]
        widths = [round(16 + _CHAR_WIDTH * min(len(label), _LABEL_CHARS), 1) for label in labels]
        for place, node in enumerate(column):
            y = most * _ROW * (place + 0.5) / len(column)
            places[node] = round(x + max(widths) / 2, 1), round(y, 1), widths[place]
        x += max(widths) + _BETWEEN
    return places, int(x), most * _ROW + 2 * _HEIGHT


def _line(start: _Place, end: _Place, more: str) -> str:
    """Return a line between the sides of two labels that face each other."""
    side = 0.5 if start[0] < end[0] else -0.5
    ends = f'x1="{start[0] + side * start[2]:.1f}" y1="{start[1]}" '
    ends += f'x2="{end[0] - side * end[2]:.1f}" y2="{end[1]}"'
    return f'<line {ends} stroke="#667"{more}/>'


def _box(place: _Place, text: str, fill: str) -> str:
    x, y, width = place
    shape = (
        f'<rect x="{x - width / 2:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{width}" '
        f'height="{_HEIGHT}" rx="6" fill="{fill}" stroke="#667"/>'
    )
    return f"<g><title>{_escaped(text)}</title>{shape}{_word(x, y, text, '')}</g>"


def _word(x: float, y: float, text: str, look: str = _RIMMED) -> str:
    label = _escaped(shortened(text, _LABEL_CHARS))
    return f'<text x="{x}" y="{y + 4:.1f}" text-anchor="middle" {_FONT}{look}>{label}</text>'


def _escaped(text: str) -> str:
    return escape(_NOT_XML.sub("", one_line(text)), {'"': "&quot;", "'": "&#39;"})
