"""The English texts that Lexloop may tell people, as templates, read off its source.

A template is a text with ``{}`` in place of each value. Where a text is put together from constants
and from what functions of Lexloop return, all that can come of it are given.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[2]
_DEEPEST = 6
_KEEPING = frozenset(("strip", "rstrip", "lstrip", "capitalize", "get"))
_PLACES = re.compile(r"(?:\{\})+")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def normal(template: str) -> str:
    """Return a template with one ``{}`` for each run of placeholders, named or not."""
    return _PLACES.sub("{}", re.sub(r"\{\w*\}", "{}", template))


@cache
def errors() -> frozenset[str]:
    """The names of all kinds of errors."""
    names = {"LexloopError"}
    for node in ast.parse((ROOT / "core/errors.py").read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            names |= {node.name} if bases & names else set()
    return frozenset(names)


@cache
def source(path: Path) -> "Source":
    """Return the module of a file."""
    return Source(path)


def called(node: ast.AST) -> str:
    """Return the name of what a node calls; "" if it is no call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _assigned(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        pairs: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            pairs = [(node.target, node.value)]
        for target, value in pairs:
            if isinstance(target, ast.Name) and value is not None:
                found.setdefault(target.id, []).append(value)
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for one, held in zip(target.elts, value.elts, strict=False):
                    if isinstance(one, ast.Name):
                        found.setdefault(one.id, []).append(held)
    return found


@cache
def _local(function: Function | None) -> dict[str, list[ast.expr]]:
    return _assigned(ast.walk(function)) if function else {}


class Source:
    """A module, and what its expressions can come to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = ast.parse(path.read_text("utf-8"))
        self.names = _assigned(self.tree.body)

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Its functions and methods by their names."""
        return {n.name: n for n in ast.walk(self.tree) if isinstance(n, Function)}

    @cached_property
    def _imports(self) -> dict[str, tuple["Source", str]]:
        found: dict[str, tuple[Source, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lexloop"):
                first, _, rest = str(node.module).partition(".")
                package = f"packages/{first.removeprefix('lexloop_')}/src/{first}"
                base = ROOT / ("" if first == "lexloop" else package) / rest.replace(".", "/")
                files = [base.with_suffix(".py"), base / "__init__.py"]
                if file := next((file for file in files if file.exists()), None):
                    found |= {a.asname or a.name: (source(file), a.name) for a in node.names}
        return found

    def walk(self) -> Iterator[tuple[ast.AST, Function | None]]:
        """Yield each node with the function that it is in."""
        yield from self._walked

    @cached_property
    def _walked(self) -> list[tuple[ast.AST, Function | None]]:
        found: list[tuple[ast.AST, Function | None]] = [(self.tree, None)]
        for node, within in found:  # which grows
            inner = node if isinstance(node, Function) else within
            found += [(child, inner) for child in ast.iter_child_nodes(node)]
        return found

    @cached_property
    def constants(self) -> set[str]:
        """All texts in it but docstrings, whatever they are for."""
        found: set[str] = set()
        for node, within in self.walk():
            if isinstance(node, (ast.Constant, ast.JoinedStr)):
                found |= self.templates(node, within)
        return found

    def templates(
        self, node: ast.AST | None, within: Function | None = None, depth: int = 0
    ) -> set[str]:
        """Return what an expression can come to; nothing if that cannot be told."""
        if node is None or depth > _DEEPEST:
            return set()
        found: set[str] = set()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = {node.value}
        elif isinstance(node, ast.JoinedStr):
            pieces = [self._piece(value, within, depth) for value in node.values]
            found = {normal("".join(some)) for some in product(*pieces)}
        elif isinstance(node, ast.Name):
            found = self._named(node.id, within, depth)
        elif isinstance(node, ast.Call):
            found = self._returned(node, within, depth)
        for way in _ways(node):
            found |= self.templates(way, within, depth + 1)
        return found

    def _named(self, name: str, within: Function | None, depth: int) -> set[str]:
        own = _local(within)
        if name in own:
            return set().union(*(self.templates(one, within, depth + 1) for one in own[name]))
        at, known = self._imports.get(name, (self, name))
        values = at.names.get(known, [])
        return set().union(*(at.templates(one, None, depth + 1) for one in values))

    def _returned(self, node: ast.Call, within: Function | None, depth: int) -> set[str]:
        match node.func:
            case ast.Attribute(value=value, attr=name) if name in _KEEPING:
                return self.templates(value, within, depth + 1)
            case ast.Attribute(value=value, attr="format"):
                return {normal(one) for one in self.templates(value, within, depth + 1)}
            case ast.Attribute(attr="join"):
                some = (self.templates(one, within, depth + 1) for one in node.args)
                return set().union(*some)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                at = self
            case ast.Name(id=name):
                at, name = self._imports.get(name, (self, name))
            case _:
                return set()
        function = at.functions.get(name)
        nodes = ast.walk(function) if function else ()
        said = [one.value for one in nodes if isinstance(one, (ast.Return, ast.Yield))]
        return set().union(*(at.templates(one, function, depth + 1) for one in said))

    def _piece(self, node: ast.AST, within: Function | None, depth: int) -> set[str]:
        """Return what a piece of an f-string comes to: constants as they are, else ``{}``."""
        if isinstance(node, ast.FormattedValue):
            return self._piece(node.value, within, depth)
        if isinstance(node, ast.IfExp):
            both = (self._piece(one, within, depth) for one in (node.body, node.orelse))
            return set().union(*both)
        held = self._constant(node, within)
        return self.templates(held, within, depth + 1) if held is not None else {"{}"}

    def _constant(self, node: ast.AST, within: Function | None) -> ast.AST | None:
        """Return the text that a node is or that the module or another names so; else None."""
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            held = self._of_module(node.value, within)
            place = node.slice.value
            return held.elts[place] if isinstance(held, ast.Tuple) else None
        held = self._of_module(node, within) or node
        if isinstance(held, ast.Constant) and not isinstance(held.value, str):
            return None
        return held if isinstance(held, (ast.Constant, ast.JoinedStr)) else None

    def _of_module(self, node: ast.AST, within: Function | None) -> ast.expr | None:
        if not isinstance(node, ast.Name) or node.id in _local(within):
            return None
        at, known = self._imports.get(node.id, (self, node.id))
        return next(iter(at.names.get(known, [])), None)


def _ways(node: ast.AST) -> Sequence[ast.AST]:
    """Return the expressions of which an expression is one, or has some."""
    found: Sequence[ast.AST] = ()
    match node:
        case ast.IfExp(body=body, orelse=other):
            found = [body, other]
        case ast.BoolOp(values=values) | ast.Dict(values=values):
            found = values
        case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
            found = values
        case ast.Starred(value=value) | ast.NamedExpr(value=value):
            found = [value]
        case ast.ListComp(elt=value) | ast.GeneratorExp(elt=value):
            found = [value]
        case ast.Subscript(value=ast.Name() as value):
            found = [value]
    return found
