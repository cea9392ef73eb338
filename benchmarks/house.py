"""How large the house is, and how far a question walks through it.

    python benchmarks/house.py [--against COMMIT]

Prints for every room of the heart and every package its lines, statements (as `budget.toml` counts
them), modules, public names, patterns, modules with one importer, functions of more than 40 lines
and modules of more than 600; what the heart installs; the circles of imports; and, of one question
put to the sample, how many of Lexloop's files it visits, how many of its functions it calls, the
longest way down from file to file and how often it climbs back up to an earlier room than it came
from. ``--against`` prints the rooms at another commit beside it.
"""

import argparse
import ast
import subprocess
import sys
import tempfile
import tomllib
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PATH = ("core", "prompts", "models", "documents", "knowledge", "store", "nodes", "graph")
"""What a question and a document flow through, in this order."""
PRODUCT = (*PATH, "apps")
PACKAGES = ("formats", "engines", "workbench", "server", "eval", "train")
"""The packages beside the heart, below `packages/`."""
ROOMS = (*PRODUCT, *PACKAGES)
BEFORE = {
    "corpus": "documents",
    "evaluation": "eval",
    "finetune": "train",
    "workbench": "workbench",
}
"""Rooms of earlier commits, beside which room of today they are shown."""
_LONG, _LARGE = 40, 600
_RUNNING = Path("core/running.py")
QUESTION = "At a minimum, what must a bias audit calculate?"


class Size(NamedTuple):
    """What is counted of one room, in the order of a row."""

    lines: int = 0
    statements: int = 0
    modules: int = 0
    public: int = 0
    patterns: int = 0
    single: int = 0
    long: int = 0
    large: int = 0


def total(sizes: Iterable[Size]) -> Size:
    """All of them together."""
    return Size(*map(sum, zip(Size(), *sizes, strict=True)))


def main() -> None:
    """Count, ask, and print both as Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="Count the rooms of a commit, too.")
    options = parser.parse_args()
    now = sizes(ROOT)
    before = _at(options.against) if options.against else None
    print("| room | lines | statements | modules | public names | patterns | ", end="")
    print("with one importer | functions over 40 lines | modules over 600 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ROOMS:
        print(_row(name, now[name], before[name] if before else None))
    for name, rooms in (("core to graph", PATH), ("the heart", PRODUCT), ("**all**", ROOMS)):
        whole = [total(found[room] for room in rooms) for found in (now, before or now)]
        print(_row(name, whole[0], whole[1] if before else None))
    print("\n| installed | packages named | with all that these require | MB |")
    print("|---|---|---|---|")
    for extra in ("", "torch"):
        names, size = installed("lexloop", extra)
        name = f"lexloop[{extra}]" if extra else "lexloop"
        print(f"| {name} | {len(dependencies(ROOT, extra))} | {len(names)} | {size / 1e6:,.0f} |")
    found = circles(ROOT)
    print(f"\nCircles of imports: {len(found)}")
    for names in found:
        print(f"- {', '.join(names)}")
    files, climbs, longest, calls = walked(QUESTION)
    way = f"the longest way down is {longest} files"
    print(f"A question visits {files} files, {way}, and it climbs")
    print(f"back to an earlier room {climbs} times; it calls {calls:,} of our functions.")


def sizes(root: Path) -> dict[str, Size]:
    """What each room below a folder holds."""
    texts = {name: path.read_text("utf-8") for name, path in modules(root)}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for target in imported(tree):
            if target in trees and target != name:
                importers[target].add(name)
    found: dict[str, list[Size]] = {room: [] for room in ROOMS}
    for name, tree in trees.items():
        room, text = room_of(name), texts[name]
        single = len(importers[name]) == 1 and len(tree.body) > 1  # no package of a docstring alone
        lines, long = text.count("\n"), _long(tree)
        counted = Size(
            *(lines, statements(tree), 1, _public(tree), text.count("re.compile(")),
            *(single, long, lines > _LARGE),
        )
        found[BEFORE.get(room, room)].append(counted)
    return {room: total(counted) for room, counted in found.items()}


def statements(tree: ast.Module) -> int:
    """Return the number of statements of a module, docstrings apart."""
    return sum(isinstance(node, ast.stmt) and not _is_text(node) for node in ast.walk(tree))


def _is_text(node: ast.stmt) -> bool:
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone and isinstance(node.value.value, str)


def _long(tree: ast.Module) -> int:
    """Return how many functions have more lines than 40, docstrings apart."""
    return sum(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _lines_of(node) > _LONG
        for node in ast.walk(tree)
    )


def _lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = [one for one in function.body if not _is_text(one)]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def dependencies(project: Path, extra: str = "") -> list[str]:
    """Return what the project of a folder requires with an extra, its own packages apart."""
    told = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    more = told["optional-dependencies"][extra] if extra else []
    return [one for one in (*told["dependencies"], *more) if not one.startswith("lexloop")]


def installed(name: str, extra: str = "") -> tuple[set[str], int]:
    """Return all distributions that one requires with an extra, and their bytes here."""
    from packaging.requirements import Requirement

    found: set[str] = set()
    left, size = [name], 0
    while left:
        one = left.pop()
        try:
            held = metadata.distribution(one)
        except metadata.PackageNotFoundError:
            continue
        for line in held.requires or []:
            needed = Requirement(line)
            wanted = {"extra": extra if one == name else ""}
            told = needed.marker is None or needed.marker.evaluate(wanted)
            if told and (plain := needed.name.lower().replace("_", "-")) not in found:
                found.add(plain)
                left.append(plain)
        if one != name:
            paths = [Path(str(file.locate())) for file in held.files or ()]
            size += sum(path.stat().st_size for path in paths if path.is_file())
    return found, size


def _public(tree: ast.Module) -> int:
    return sum(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        for node in tree.body
    )


def circles(root: Path) -> list[list[str]]:
    """Return the modules that import each other, directly or by others, circle by circle."""
    import networkx

    named = dict(modules(root))
    graph = networkx.DiGraph(
        (name, target)
        for name, path in named.items()
        for target in imported(ast.parse(path.read_bytes()))
        if target in named and target != name
    )
    joined = networkx.strongly_connected_components(graph)
    return sorted(sorted(names) for names in joined if len(names) > 1)


def walked(question: str) -> tuple[int, int, int, int]:
    """Files that a question visits, climbs to an earlier room, the longest way down, calls."""
    order = {room: place for place, room in enumerate(reversed(PRODUCT))}
    files: set[Path] = set()
    found = {"climbs": 0, "longest": 0, "calls": 0}

    def called(frame: types.FrameType, file: Path) -> None:
        files.add(file)
        found["calls"] += 1
        way: set[Path] = set()
        caller = frame.f_back
        while caller is not None:
            if above := _in_a_room(caller.f_code.co_filename):
                way.add(above)
            caller = caller.f_back
        found["longest"] = max(found["longest"], len(way) + 1)
        above = _above(frame)
        found["climbs"] += above is not None and order[file.parts[0]] < order[above.parts[0]]

    _followed(question, called)
    return len(files), found["climbs"], found["longest"], found["calls"]


def _above(frame: types.FrameType) -> Path | None:
    """The file that called; of what was handed to where work runs, the one that handed it over."""
    above = frame.f_back
    while above is not None and _in_a_room(above.f_code.co_filename) == _RUNNING:
        above = above.f_back
    return above and _in_a_room(above.f_code.co_filename)


@lru_cache(maxsize=1)
def visited(question: str) -> tuple[str, ...]:
    """Return the files of the product that a warm question visits, the first visited first.

    Args:
        question: Asked of the sample.
    """
    names: dict[str, None] = {}
    _followed(question, lambda _, file: names.setdefault(file.as_posix()))
    return tuple(names)


def _followed(question: str, called: Callable[[types.FrameType, Path], object]) -> None:
    """Ask a second time, and hear of every call of a function in a room."""
    import lexloop

    def told(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call" and (file := _in_a_room(frame.f_code.co_filename)):
            called(frame, file)

    lexloop.ask(question)
    sys.setprofile(told)
    try:
        lexloop.ask(question)
    finally:
        sys.setprofile(None)


@lru_cache(maxsize=1 << 12)
def _in_a_room(name: str) -> Path | None:
    """Return a file of the product by its room, wherever it is installed; None for another."""
    import lexloop

    path = Path(name).resolve()
    for root in (ROOT, Path(lexloop.__file__).resolve().parent):
        if path.is_relative_to(root) and path.relative_to(root).parts[0] in PRODUCT:
            return path.relative_to(root)
    return None


def _at(commit: str) -> dict[str, Size]:
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        return sizes(Path(folder))


def modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules of all rooms below a folder, each name with its file."""
    for room in (*PRODUCT, *BEFORE):
        yield from _modules(root / room, "lexloop")
    for room in PACKAGES:
        yield from _modules(root / "packages" / room / "src" / f"lexloop_{room}")


def _modules(folder: Path, *above: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        yield ".".join((*above, *parts)).removesuffix(".__init__"), path


def room_of(module: str) -> str:
    """Return the room or the package that a module is of: "nodes", "train"."""
    first, _, rest = module.partition(".")
    return first.removeprefix("lexloop_") if first != "lexloop" else rest.partition(".")[0]


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a module imports from, and what it takes from them as if one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _row(name: str, now: Size, before: Size | None) -> str:
    cells = [f"{count:,}" for count in now]
    if before:
        cells = [f"{was:,} -> {cell}" for was, cell in zip(before, cells, strict=True)]
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
