"""Every regular expression of the package, and the ways in which each is used."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import house
from house import ROOT as _ROOT

_WAYS = {
    **{"match": "match", "fullmatch": "fullmatch", "search": "search", "finditer": "finditer"},
    **dict.fromkeys(("findall", "sub", "subn", "split"), "finditer"),
}
"""Methods by what they try: ``match`` one place of a text, ``search`` every place up to the first
match, ``finditer`` those after it too."""
_PASSED = ("search", "finditer")
"""How a pattern may be used that is given to a function."""
_ANY_WORD = "x"
"""Stands for the part of a pattern that only the running code knows."""
_DEEPEST = 4
_Pattern = re.Pattern[Any]


class Use(NamedTuple):
    """A pattern used in one way, and the place where it is written."""

    place: str
    way: str
    pattern: _Pattern


def every_use(root: Path = _ROOT) -> tuple[list[Use], list[str]]:
    """Import the modules that use patterns and find the ways in which each pattern is used.

    Returns:
        Each pattern in each way once, and the calls whose pattern is made of a user's words.
    """
    modules = [
        _Module(name, path, root)
        for name, path in house.modules(root)
        if b"import re\n" in path.read_bytes()
    ]
    ways: dict[_Pattern, set[str]] = defaultdict(set)
    for module in modules:
        for pattern, way in module.ways():
            ways[pattern].add(way)
    uses: dict[tuple[_Pattern, str], Use] = {}
    made: list[str] = []
    for module in modules:
        for place, pattern in module.held():
            for way in ways.get(pattern, _PASSED):
                uses.setdefault((pattern, way), Use(place, way, pattern))
        for place, way, written in module.calls():
            if written is None:
                made.append(place)
            else:
                uses.setdefault((written, way), Use(place, way, written))
    return list(uses.values()), made


class _Module:
    """A module and its source, as far as they deal with patterns."""

    def __init__(self, name: str, path: Path, root: Path) -> None:
        self._file = path.relative_to(root).as_posix()
        self._live = import_module(name)
        self._tree = ast.parse(path.read_bytes())

    def ways(self) -> Iterator[tuple[_Pattern, str]]:
        """Patterns that a name stands for, in the module or in a loop, each with a way of use."""
        loops = self._loops()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute) and node.attr in _WAYS:
                looped = loops.get(node.value.id, ()) if isinstance(node.value, ast.Name) else ()
                for pattern in (*_inside(self._value(node.value), 0), *looped):
                    yield pattern, _WAYS[node.attr]

    def _loops(self) -> dict[str, list[_Pattern]]:
        """The patterns that each variable of the module's loops stands for in turn."""
        loops: dict[str, list[_Pattern]] = defaultdict(list)
        for node in ast.walk(self._tree):
            if isinstance(node, (ast.For, ast.comprehension)):
                patterns = [*_inside(self._value(node.iter), _DEEPEST)]
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name):
                        loops[name.id] += patterns
        return loops

    def held(self) -> Iterator[tuple[str, _Pattern]]:
        """Patterns that the module holds once it is imported, also inside of what it holds."""
        for name, value in vars(self._live).items():
            own = not isinstance(value, type) or value.__module__ == self._live.__name__
            if own and not name.startswith("__"):
                for pattern in _inside(value, _DEEPEST):
                    yield f"{self._file} {name}", pattern

    def calls(self) -> Iterator[tuple[str, str, _Pattern | None]]:
        """Calls of ``re`` inside functions, with None for a pattern that only these know."""
        functions = [node for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef)]
        for node in {inner for function in functions for inner in ast.walk(function)}:
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and self._value(called.value) is re:
                way = "search" if called.attr == "compile" else _WAYS.get(called.attr)
                if way:
                    assert isinstance(node, ast.Call)
                    yield f"{self._file}:{node.lineno}", way, self._written(node)

    def _written(self, call: ast.Call) -> _Pattern | None:
        """The pattern of a call of ``re``, with its flags."""
        pattern, *others = call.args
        written = self._value(pattern)
        if written is None and isinstance(pattern, ast.JoinedStr):
            written = "".join(map(self._part, pattern.values))
        flags = 0
        for one in (*others, *(keyword.value for keyword in call.keywords)):
            flags |= flag if isinstance(flag := self._value(one), re.RegexFlag) else 0
        return re.compile(written, flags) if isinstance(written, (str, bytes)) else None

    def _part(self, part: ast.expr) -> str:
        value = self._value(part.value) if isinstance(part, ast.FormattedValue) else None
        constant = part.value if isinstance(part, ast.Constant) else value
        return _ANY_WORD if constant is None else str(constant)

    def _value(self, node: ast.expr) -> Any:
        """What an expression stands for in the module; None if only its functions know."""
        if isinstance(node, (ast.Constant, ast.Name, ast.Attribute, ast.JoinedStr, ast.BinOp)):
            with suppress(Exception):  # a name inside a function, or what is made of one
                return eval(ast.unparse(node), dict(vars(self._live)))
        return None


def _inside(value: Any, deepest: int) -> Iterator[_Pattern]:
    """The patterns in a value: itself, those of a collection, a class, or in one of these."""
    if isinstance(value, re.Pattern):
        yield value
    elif deepest and isinstance(value, (Mapping, list, tuple, set, frozenset, type)):
        inner = vars(value) if isinstance(value, type) else value
        for one in (*inner, *inner.values()) if isinstance(inner, Mapping) else inner:
            yield from _inside(one, deepest - 1)
