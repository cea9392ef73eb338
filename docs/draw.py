"""Draw the two pictures of the documentation.

    python docs/draw.py [--to FOLDER] [--check]

``loop.svg`` shows the nodes of the graph and its edges, as LangGraph lists them of the graph that
``graph/build.py`` makes. ``architecture.svg`` shows the rooms in the order of their imports with
their lines, in hundreds, and modules, how many modules of a room import from which other, and the
files of each node that a question visits, with the imports between them. ``--check`` writes
nothing, and fails if a drawing is out of date; CI runs it.
"""

import argparse
import ast
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "benchmarks"))

import house  # noqa: E402 - found through the line above

ORDER = (
    "core", "prompts", "models", "documents", "knowledge", "store", "nodes", "graph",
    "apps", "formats", "engines", "server", "workbench", "eval", "train",
)  # fmt: skip
HOLDS = {
    "core": "types, state, settings, errors",
    "prompts": "one file per model call",
    "models": "chat and embedding models",
    "documents": "files, trees of provisions, chunks",
    "knowledge": "relations, the graph, its walks",
    "store": "where chunks are kept and searched",
    "nodes": "the eight steps of a question",
    "graph": "chooses, wires and runs the nodes",
    "apps": "command line and library",
    "formats": "sheets, slides, mail, XML, scans",
    "engines": "Elasticsearch, OpenSearch, Ray",
    "workbench": "tables, versions, registers",
    "server": "page, HTTP, MCP",
    "eval": "what answers are worth",
    "train": "trains parts",
}
DOES = {
    "classify": "how much to retrieve",
    "rewrite": "parts and keywords",
    "hybrid_retrieve": "words and vectors",
    "kg_retrieve": "related provisions",
    "rerank": "the best come first",
    "generate": "quotes and cites",
    "evaluate": "checks and scores",
    "engineer_prompt": "what to try next",
}
INK, FAINT, LINE, BOX, BACK = "#1f2937", "#6b7280", "#4b5563", "#e8eef9", "#ffffff"


def main() -> None:
    """Draw both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--to", type=Path, default=DOCS, metavar="FOLDER")
    parser.add_argument("--check", action="store_true", help="Fail if a drawing is out of date.")
    options = parser.parse_args()
    for name, drawing in (("loop.svg", loop()), ("architecture.svg", architecture())):
        file = options.to / name
        if not options.check:
            file.write_text(drawing, encoding="utf-8")
        elif file.read_text(encoding="utf-8") != drawing:
            sys.exit(f"{file} is out of date: run python docs/draw.py.")


def loop() -> str:
    """Return the picture of the graph that answers a question; what asks a person is left out."""
    from lexloop.graph.build import build_graph

    graph = build_graph(lambda *_: None).get_graph()
    graph.remove_node(graph.nodes["ask_back"])
    edges = sorted((edge.source, edge.target, edge.conditional) for edge in graph.edges)
    straight = ["__start__"]
    while straight[-1] != "__end__":  # each step's next one that was not passed yet
        ahead = [target for source, target, _ in edges if source == straight[-1]]
        names = [name for name in graph.nodes if name in ahead and name not in straight]
        straight.append(names[0] if names[0] != "engineer_prompt" else "__end__")
    x = {name: 42 + 148 * place for place, name in enumerate(straight[1:-1])}
    x |= {"__start__": 8, "__end__": x[straight[-2]] + 150}
    y = dict.fromkeys(straight, 60) | {"engineer_prompt": 168}
    x["engineer_prompt"] = (x["rewrite"] + x["evaluate"]) // 2
    parts = []
    for name in graph.nodes:
        if name.startswith("__"):
            parts.append(f'<circle cx="{x[name] + 6}" cy="86" r="6" fill="{INK}"/>')
            continue
        parts.append(_box(x[name], y[name], 128, 52))
        parts.append(_text(x[name] + 64, y[name] + 22, name, "middle", bold=True))
        parts.append(
            _text(x[name] + 64, y[name] + 40, DOES.get(name, ""), "middle", fill=FAINT, size=11)
        )
    for source, target, conditional in edges:
        parts += _edge(source, target, conditional, x, straight)
    parts.append(
        _text(x["engineer_prompt"] + 140, 210, "at most max_retries times", "start", fill=FAINT)
    )
    said = "The nodes of the graph: " + " ".join(f"{a} to {b}." for a, b, _ in edges)
    return _svg(x["__end__"] + 22, 236, "How Lexloop answers a question", said, parts)


def _edge(
    source: str,
    target: str,
    conditional: bool,
    x: dict[str, int],
    straight: Sequence[str],
) -> Iterator[str]:
    """An arrow: along the row, over it where it skips a node, or under it and back."""
    right = x[source] + (12 if source == "__start__" else 128)
    if target == "engineer_prompt":
        yield _arrow([(x[source] + 64, 112), (x[source] + 64, 194), (x[target] + 129, 194)], True)
        yield _text(x[source] + 72, 150, "low score", "start", fill=FAINT, size=11)
    elif source == "engineer_prompt":
        yield _arrow([(x[source], 194), (x[target] + 64, 194), (x[target] + 64, 113)])
    elif straight.index(target) == straight.index(source) + 1:
        yield _arrow([(right, 86), (x[target] - 1, 86)], conditional)
    else:
        yield _arrow(
            [
                (x[source] + 64, 60),
                (x[source] + 64, 34),
                (x[target] + 64, 34),
                (x[target] + 64, 59),
            ],
            conditional,
        )
        middle = (x[source] + x[target]) // 2 + 64
        yield _text(middle, 26, "nothing new was found", "middle", fill=FAINT, size=11)


def architecture() -> str:
    """Return the picture of the rooms and of a question's way through the nodes."""
    parts = [_text(16, 24, "Rooms: each imports from those below it alone", bold=True, size=14)]
    sizes, uses = house.sizes(house.ROOT), _uses()
    rows = list(reversed(ORDER))
    columns = {room: 660 + 58 * place for place, room in enumerate(rows[1:])}
    parts.append(_text(660, 24, "modules that import from", fill=FAINT))
    parts += [
        _text(columns[room] + 25, 44, room, "middle", fill=FAINT, size=11) for room in columns
    ]
    for place, room in enumerate(rows):
        top = 52 + 27 * place
        parts += [_box(16, top, 610, 24), _text(26, top + 16, room, bold=True)]
        parts.append(_text(120, top + 16, HOLDS[room], fill=FAINT))
        size = sizes[room]
        counted = f"{round(size.lines, -2):,} lines · {size.modules} modules"
        parts.append(_text(616, top + 16, counted, "end"))
        for other, left in columns.items():
            if count := len(uses.get((room, other), ())):
                parts.append(_box(left, top, 50, 24, "#cfe0fb"))
                parts.append(_text(left + 25, top + 16, str(count), "middle"))
    y = 52 + 27 * len(rows) + 24
    said = "A question's way: the files of each node that it visits"
    parts.append(_text(16, y, said, bold=True, size=14))
    parts.append(_text(560, y, "an arrow is an import", fill=FAINT))
    bottom = _way(parts, y + 14)
    wide = max(660 + 58 * len(columns), 16 + 160 * len(DOES))
    return _svg(wide, bottom + 16, "The rooms of Lexloop", "Rooms, imports and files.", parts)


def _uses() -> dict[tuple[str, str], set[str]]:
    """The modules of each room that import from each other room."""
    found: dict[tuple[str, str], set[str]] = {}
    for name, tree in _trees().items():
        room = house.room_of(name)
        for target in house.imported(tree):
            other = house.room_of(target)
            if target.startswith("lexloop") and other in ORDER and other != room:
                found.setdefault((room, other), set()).add(name)
    return found


@lru_cache(maxsize=1)
def _trees() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_bytes()) for name, path in house.modules(house.ROOT)}


def _is_of(path: Path, node: str) -> bool:
    """Return whether a file is of a node; the folder ``question`` is of rewrite."""
    folder = "question" if node == "rewrite" else node
    return path.parts[:2] in {("nodes", folder), ("nodes", f"{folder}.py")}


def _way(parts: list[str], top: int) -> int:
    """Draw the nodes in the order of a question with their files; where the drawing ends."""
    visited = [Path(path) for path in house.visited(house.QUESTION)]
    of = {node: [p for p in visited if _is_of(p, node)] for node in DOES}
    trees, bottom = _trees(), 0
    for place, (node, own) in enumerate((node, own) for node, own in of.items() if own):
        left = 16 + 160 * place
        height = 34 + 19 * len(own)
        parts += [_box(left, top, 144, height), _text(left + 10, top + 18, node, bold=True)]
        if place:
            parts.append(_arrow([(left - 16, top + 14), (left - 1, top + 14)]))
        stems: dict[int, int] = {}
        for row, (path, depth) in enumerate(_below(own, trees)):
            y, x = top + 38 + 19 * row, left + 13 + 11 * (depth - 1)
            if depth:
                parts.append(_arrow([(x, stems[depth - 1]), (x, y - 4), (x + 8, y - 4)]))
            stems[depth] = y + 3
            parts.append(_text(left + 10 + 12 * depth, y, path.name))
        bottom = max(bottom, top + height)
    drawn = {path for own in of.values() for path in own}
    shared = [path.name for path in visited if path.parent == Path("nodes") and path not in drawn]
    others = len(visited) - sum(path.parts[0] == "nodes" for path in visited)
    lines = [
        f"Shared by the nodes: {', '.join(shared[:9])},",
        f"{', '.join(shared[9:])}. In other rooms the question visits {others} files.",
    ]
    for line in lines:
        bottom += 20
        parts.append(_text(16, bottom, line, fill=FAINT))
    return bottom


def _below(files: Sequence[Path], trees: dict[str, ast.Module]) -> Iterator[tuple[Path, int]]:
    """Files, each below the first that imports it, and how deep it lies there."""
    uses = {
        path: [other for other in files if _module(other) in house.imported(trees[_module(path)])]
        for path in files
    }
    used = {other for others in uses.values() for other in others}
    left = [(path, 0) for path in reversed(files) if path not in used]
    placed: set[Path] = set()
    while left:
        path, depth = left.pop()
        if path not in placed:
            placed.add(path)
            yield path, depth
            left += [(other, depth + 1) for other in reversed(uses[path])]


def _module(path: Path) -> str:
    return ".".join(("lexloop", *path.with_suffix("").parts))


def _box(x: int, y: int, width: int, height: int, fill: str = BOX) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" '
        f'stroke="{LINE}" stroke-width="0.8"/>'
    )


def _text(
    x: int,
    y: int,
    said: str,
    anchor: str = "start",
    *,
    fill: str = INK,
    size: int = 12,
    bold: bool = False,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{fill}" font-size="{size}"{weight}>'
        f"{escape(said)}</text>"
    )


def _arrow(points: Sequence[tuple[int, int]], dashed: bool = False) -> str:
    """A line through points with a head at its end."""
    way = " ".join(f"{x},{y}" for x, y in points)
    dashes = ' stroke-dasharray="5 3"' if dashed else ""
    return (
        f'<polyline points="{way}" fill="none" stroke="{LINE}" stroke-width="1.2"{dashes} '
        'marker-end="url(#head)"/>'
    )


def _svg(width: int, height: int, title: str, said: str, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif">\n'
        f"<title>{escape(title)}</title>\n<desc>{escape(said)}</desc>\n"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{LINE}"/></marker></defs>'
        f'\n<rect width="{width}" height="{height}" rx="8" fill="{BACK}"/>\n'
    )
    return head + "\n".join(parts) + "\n</svg>\n"


if __name__ == "__main__":
    main()
