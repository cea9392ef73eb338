"""The rules of the house, read from the source of every room."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import house  # noqa: E402 - found through the line above

ORDER = ("core", "prompts", "models", "documents", "knowledge", "store", "nodes", "graph", "apps")
ROOMS = [name for name in (*ORDER, "data") if (ROOT / name).is_dir()]
USES: dict[str, set[str]] = {
    "engines": set(),
    "formats": set(),
    "workbench": {"server"},
    "server": set(),
    "eval": {"server"},
    "train": {"eval"},
}
"""The packages that each package beside the heart may use besides that."""
PLUGIN = ROOT / "packages" / "workbench" / "src" / "lexloop_workbench" / "serving"
"""What the workbench adds to a server: all of it that may use the server's package."""
OFFERED = {"plugins", "fields", "laid_out", "shapes"}
"""What the server's package offers to the code of plugins."""
PACKAGES = {name: sorted((ROOT / "packages" / name / "src").rglob("*.py")) for name in USES}
HEART = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
FILES = [*HEART, *(path for files in PACKAGES.values() for path in files)]
BESIDE = sorted(
    path
    for name in ("tests", "benchmarks", "training", "packages/*/tests")
    for folder in ROOT.glob(name)
    for path in folder.rglob("*.py")
)
WHOLE = {
    "folder.store", "folder.texts", "folder.lexical", "folder.dense.DenseIndex",
    "writer.IndexBuilder",
}  # fmt: skip
"""What holds the text of an index for whoever asks, below ``lexloop.store.folder``."""
MAINTENANCE = {"apps/cli/index.py"}
"""Opens, moves and brings up to date what others see by a view."""
STORES = (ROOT / "store", ROOT / "packages" / "engines" / "src")
"""The rooms of what an index holds, on this machine and in an engine."""
PICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, wherever in the file, and the names taken from it."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, "." * node.level + f"{node.module or ''}.{alias.name}"


def rooms_used(path: Path) -> Iterator[tuple[int, list[str]]]:
    for line, module in imports(path):
        parts = module.split(".")
        if parts[0] == "lexloop" and len(parts) > 1:
            yield line, parts[1:]


def node_room(parts: list[str]) -> str | None:
    """The room of one node, for what is or lies in a folder below nodes/; all read the question."""
    below = len(parts) > 1 and parts[0] == "nodes" and (ROOT / "nodes" / parts[1]).is_dir()
    below = below and parts[1] != "question"
    return parts[1] if below else None


def test_every_package_that_is_imported_is_declared() -> None:
    for_users = {"studio", "torch"}
    assert undeclared(HEART, for_users) == []
    for name, files in PACKAGES.items():
        assert undeclared(files, set(), name) == []
    tests = [path for path in BESIDE if not path.is_relative_to(ROOT / "benchmarks")]
    assert undeclared(tests, {*for_users, "test"}, "", *PACKAGES) == []


def undeclared(files: list[Path], extras: set[str], *packages: str) -> list[str]:
    """The packages that files import and that no dependency names.

    ``packages`` are those whose dependencies count, the heart's, with these extras, by the name "".
    """
    lines: list[str] = []
    for name in packages or ("",):
        folder = ROOT / "packages" / name if name else ROOT
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        lines += project["dependencies"]
        optional = project.get("optional-dependencies", {})
        lines += [line for extra in (optional if name else extras) for line in optional[extra]]
    declared = {_plain(re.split(r"[\[<>=]", line)[0]) for line in lines}
    makers = packages_distributions()
    beside = {path.stem for path in (*BESIDE, *(ROOT / "docs").glob("*.py"))}
    used = {module.partition(".")[0] for path in files for _, module in imports(path)}
    return [
        name
        for name in sorted(used - sys.stdlib_module_names - {"lexloop", "training"})
        if not name.startswith("lexloop_")
        and not declared & {_plain(maker) for maker in makers.get(name, [])}
        and name not in beside
    ]


def _plain(distribution: str) -> str:
    return distribution.strip().lower().replace("_", "-")


def test_a_package_uses_only_what_it_may() -> None:
    wrong = []
    for name, files in {"": HEART, **PACKAGES}.items():
        allowed = {f"lexloop_{name}", *(f"lexloop_{one}" for one in USES.get(name, ()))}
        wrong += [
            f"{name_of(path)}:{line} uses {module}"
            for path in files
            for line, module in imports(path)
            if (top := module.partition(".")[0]).startswith("lexloop_") and top not in allowed
        ]
    assert wrong == []


def test_a_plugin_uses_of_the_server_what_is_offered_and_nothing_else_needs_one() -> None:
    wrong = [
        f"{name_of(path)}:{line} uses {module}"
        for path in PACKAGES["workbench"]
        for line, module in imports(path)
        if (parts := module.split("."))[0] == "lexloop_server"
        and not (path.is_relative_to(PLUGIN) and parts[1] in OFFERED)
    ]
    assert wrong == []


def test_a_room_uses_only_those_before_it() -> None:
    wrong = []
    for path in HEART:
        own = path.relative_to(ROOT).parts[0]
        allowed = {"data"} if own == "data" else {*ORDER[: ORDER.index(own) + 1], "data"}
        wrong += [
            f"{name_of(path)}:{line} uses lexloop.{'.'.join(used)}"
            for line, used in rooms_used(path)
            if used[0] not in allowed
        ]
    assert wrong == []


def test_no_modules_import_each_other() -> None:
    assert house.circles(ROOT) == []


def test_the_rooms_of_the_nodes_never_use_each_other() -> None:
    wrong = []
    for path in (ROOT / "nodes").rglob("*.py"):
        own = node_room(list(path.relative_to(ROOT).parts))
        wrong += [
            f"{name_of(path)}:{line} uses lexloop.{'.'.join(used)}"
            for line, used in rooms_used(path)
            if node_room(used) not in (None, own)
        ]
    assert wrong == []


def test_only_maintenance_reads_an_index_without_saying_for_whom() -> None:
    found = set()
    for path in FILES:
        if any(map(path.is_relative_to, STORES)):
            continue
        for _, used in rooms_used(path):
            if used[0] == "store" and WHOLE & {".".join(used[1:3]), ".".join(used[1:4])}:
                found.add(name_of(path))
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and node.attr == "_store":
                own = isinstance(node.value, ast.Name) and node.value.id == "self"
                found |= set() if own else {name_of(path)}
    assert found == MAINTENANCE


def test_imports_are_absolute_and_start_with_the_package() -> None:
    bare = {name for name in ROOMS if name != "data"}
    wrong = [
        f"{name_of(path)}:{line} imports {module}"
        for path in [*FILES, *BESIDE]
        for line, module in imports(path)
        if module.startswith(".") or module.split(".")[0] in bare
    ]
    assert wrong == []


def test_nothing_is_pickled_and_no_code_of_a_model_is_trusted() -> None:
    wrong = []
    for path in FILES:
        wrong += [
            f"{name_of(path)}:{line} imports {module}"
            for line, module in imports(path)
            if PICKLES & set(module.split(".")) and module != "pickle.UnpicklingError"
        ]
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.keyword) and node.arg in ("trust_remote_code", "allow_pickle"):
                refused = isinstance(node.value, ast.Constant) and node.value.value is False
                wrong += [] if refused else [f"{name_of(path)}:{node.lineno} sets {node.arg}"]
    assert wrong == []


def test_every_folder_of_a_room_is_installed_and_says_what_it_holds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    table = project["tool"]["setuptools"]
    folders = {path.parent for path in HEART}
    names = {folder.relative_to(ROOT).as_posix().replace("/", ".") for folder in folders}
    assert set(table["packages"]) == {"lexloop", *(f"lexloop.{name}" for name in names)}
    mapped = {f"lexloop.{room}": room for room in ROOMS}
    assert table["package-dir"] == {"lexloop": "src/lexloop", **mapped}
    # for type checkers
    links = {path.name: path.resolve() for path in (ROOT / "typings" / "lexloop").iterdir()}
    assert {room: links.get(room) for room in ROOMS} == {room: ROOT / room for room in ROOMS}
    for folder in folders:
        opening = folder / "__init__.py"
        assert opening.is_file(), f"{name_of(folder)} has no __init__.py"
        assert ast.get_docstring(parsed(opening)), f"{name_of(opening)} is silent"
