"""What people are told is in the language that they ask for, all of it."""

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from english import ROOT, Source, called, errors, normal, source
from sets import DATA

from lexloop.apps.offered import choices
from lexloop.core.settings import Settings
from lexloop.knowledge.relations import PREDICATES, reading
from lexloop_server.app import PAGE
from lexloop_server.translation import Catalogue, tables_of

TABLES = tables_of("de")
_EDGES = " ,;"


def _bare(template: str) -> str:
    return normal(template).strip(_EDGES)


GERMAN = {_bare(text) for table in TABLES.values() for text in table}
"""The English templates that have a German one, without the names of their placeholders."""
TOLD: dict[str, Any] = tomllib.loads((DATA / "told.toml").read_text("utf-8"))
_UNTOLD = frozenset(TOLD["untold"].splitlines())
_TEXT = re.compile(r"[A-Za-z]{2,}[^ ]* [\w{(“\[]|^\{\} [a-z]|: \{\}|^[A-Z][a-z]+:$|[a-z]\.$")
_NO_TEXT = re.compile(r"\\[bswdn(]|\(\?|[|<>=^$\n]|^\S+$(?<![.:])|\w\[|^(?:[A-Z]{5,6} )+")


def _files(*places: str) -> list[Path]:
    found: list[Path] = []
    for place in places:
        at = ROOT / place
        found += sorted(at.rglob("*.py")) if at.is_dir() else [at]
    return found


def _is_of(file: Path, places: list[str]) -> bool:
    name = file.relative_to(ROOT).as_posix()
    return any(name == place or name.startswith(f"{place}/") for place in places)


@cache
def _of_errors() -> dict[str, str]:
    """Return what errors say that a server may tell, each with where it stands."""
    found: dict[str, str] = {}
    for file in _files(*TOLD["rooms"]):
        if _is_of(file, TOLD["elsewhere"]):
            continue
        read = source(file)
        shown = _is_of(file, TOLD["showing"])
        for node, within in read.walk():
            name = called(node)
            if (
                isinstance(node, ast.Call)
                and name in errors().union(TOLD["telling"])
                and (shown or name not in TOLD["hidden"])
            ):
                for argument in node.args:
                    for text in read.templates(argument, within):
                        found.setdefault(text, f"{file.relative_to(ROOT)}:{node.lineno}")
    return found


@cache
def _of_sayings() -> dict[str, str]:
    """Return the texts of the modules that make some, each with where it stands."""
    found: dict[str, str] = {}
    for file in _files(*TOLD["saying"]):
        if _is_of(file, TOLD["elsewhere"]):
            continue
        read = source(file)
        silent = _silent(read)
        for node, within in read.walk():
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in silent:
                for text in read.templates(node, within):
                    if _TEXT.search(text) and not _NO_TEXT.search(text):
                        found.setdefault(text, f"{file.relative_to(ROOT)}:{node.lineno}")
    return found


def _silent(read: Source) -> set[int]:
    """Return the nodes that are no texts for people: docstrings, patterns, parts of others."""
    found: set[int] = set()
    for node, _ in read.walk():
        quiet = called(node) in errors().union(TOLD["silent"]) or isinstance(node, ast.Expr)
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
            quiet = False
        if quiet:
            found |= {id(one) for one in ast.walk(node)}
        elif isinstance(node, ast.JoinedStr):
            found |= {id(one) for one in node.values}
    return found


def _untranslated(texts: dict[str, str]) -> list[str]:
    spoken = re.compile(r"[A-Za-z]{2,}")
    return [
        f"{place}: {text}"
        for text, place in texts.items()
        if spoken.search(text.replace("{}", "")) and _bare(text) not in GERMAN | _UNTOLD
    ]


def test_every_english_text_for_people_has_a_german_one() -> None:
    found, sayings = _of_errors(), _of_sayings()
    assert len(found) > 400
    assert len(sayings) > 200
    assert _untranslated(found) == []
    assert _untranslated(sayings) == []
    assert _UNTOLD - {_bare(text) for text in {**found, **sayings}} == set()


def test_what_settings_and_relations_are_called_has_a_german_name() -> None:
    asked = choices(Settings()).values()
    told = {one[part] for one in asked for part in ("title", "description")}
    plain = _page_words()
    told -= {one["title"] for name, one in choices(Settings()).items() if name in plain}
    told -= {one["description"] for name, one in choices(Settings()).items() if name in plain}
    told |= {reading(predicate) for predicate in PREDICATES}
    assert told - TABLES["texts"].keys() == set()


def _page_words() -> set[str]:
    """Return the settings that the page names itself."""
    words = json.loads((PAGE / "words" / "de.json").read_text("utf-8"))
    return {name.removeprefix("setting.") for name in words if name.startswith("setting.")}


@pytest.mark.parametrize("table", TABLES)
def test_a_translation_has_the_placeholders_of_its_text(table: str) -> None:
    for english, german in TABLES[table].items():
        names = re.findall(r"\{(\w+)\}", english)
        assert sorted(names) == sorted(re.findall(r"\{(\w+)\}", german)), english
        assert len(set(names)) == len(names), english
        assert "}{" not in english, english
        assert german.strip(), english


def test_no_translation_is_of_a_text_that_is_said_no_more() -> None:
    said = {_bare(one) for file in _files(*TOLD["rooms"]) for one in source(file).constants}
    known = {reading(predicate) for predicate in PREDICATES} | _OF_STARLETTE
    known |= {one[part] for one in choices(Settings()).values() for part in one if part in _NAMES}
    stale = [one for name in ("texts", "lines") for one in TABLES[name] if _bare(one) not in said]
    assert [one for one in stale if one not in known] == []


_NAMES = ("title", "description")
_OF_STARLETTE = {"Not Found.", "There is no such method here."}


CATALOGUE = Catalogue(TABLES)


@pytest.mark.parametrize("table", ["texts", "lines"])
def test_each_text_with_values_is_read_as_itself(table: str) -> None:
    """The values of parts are such as the source has: a number of articles, a line of its own."""
    for english, german in TABLES[table].items():
        kinds = {
            "told": ("empty", "leer"),
            "line": ("Except:", "Außer:"),
            "number": ("7.5", "7,5"),
            "text": ("X9.", "X9."),
        }
        names = re.findall(r"\{(\w+)\}", english)
        values = {name: kinds.get(name.rstrip("0123456789"), ("x9",) * 2) for name in names}
        said = english.format(**{name: value[0] for name, value in values.items()})
        told = german.format(**{name: value[1] for name, value in values.items()})
        read = CATALOGUE.text(said) if table == "texts" else CATALOGUE.line(said)
        assert read == told, english
