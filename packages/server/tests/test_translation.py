"""What people are told is in the language that they ask for, all of it."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest
from english import ROOT, Source, called, errors, normal, source

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
_FORMATS, _SERVER, _WORKBENCH = (
    f"packages/{name}/src/lexloop_{name}" for name in ("formats", "server", "workbench")
)
_ROOMS = (
    *"core models documents knowledge store nodes graph apps".split(),
    *(_FORMATS, _SERVER, _WORKBENCH),
)
_ELSEWHERE = (
    *("apps/cli", f"{_SERVER}/commands", f"{_WORKBENCH}/commands", f"{_WORKBENCH}/library.py"),
    *(
        "apps/library.py",
        "apps/feedback.py",
        f"{_SERVER}/forgetting.py",
        "store/forgetting.py",
        f"{_SERVER}/audit.py",
    ),  # the command line
    *(f"{_SERVER}/mcp.py", f"{_SERVER}/mcp_transports.py", f"{_SERVER}/shapes/tools.py"),  # MCP
    *(f"{_WORKBENCH}/serving/tools.py", f"{_WORKBENCH}/serving/results.py"),
    *(f"{_SERVER}/openai.py", "core/jsonl.py"),  # another protocol, files of records
    *(
        "apps/shapes/files.py",
        f"{_WORKBENCH}/shapes/review.py",
        f"{_SERVER}/settings.py",
    ),  # at the start
    *("core/settings.py", "core/configuration.py", "core/workers.py", "graph/budget.py"),
    *(f"{_WORKBENCH}/touched.py", f"{_FORMATS}/vocabularies.py", f"{_FORMATS}/sheet.py"),
    *("core/files.py", "core/packages.py", "core/text_cache.py"),
    *("documents/chunks", "graph/served.py", "graph/collections.py"),
    *("models/encoders.py", "models/local_model.py", "models/minilm.py", "nodes/classify.py"),
    *("store/address.py", "store/engines.py", "store/opening.py", "knowledge/columns.py"),
    *(
        "core/state.py",
        "graph/build.py",
        "graph/permit.py",
        "models/object_embedder.py",
        "models/objects.py",
        "nodes/checking.py",
    ),  # programs
)
"""What the page's people never read: told where a server starts, at other places, or by others."""
_HIDDEN = frozenset(("CorpusError", "DataError", "EngineError", "OutdatedIndexError"))
"""Kinds of errors of which a server tells only that the documents cannot be read."""
_SHOWING = (
    *("documents/reading", "core/metadata.py", _FORMATS, _WORKBENCH, _SERVER, "apps"),
    *(
        "store/writer.py",
        "store/scan.py",
        "store/folder",
        "store/manifest.py",
        "documents/document.py",
    ),
)
"""Where these are told: what uploads are refused for, and what indexing them failed for."""
_SAYING = (
    *(
        "nodes/evaluate",
        "nodes/generate",
        "nodes/question/rewrite.py",
        "nodes/question/lookups.py",
        "nodes/question/provisions.py",
        "nodes/question/pointing.py",
    ),
    *("nodes/question/small_talk.py", "nodes/engineer_prompt.py", "nodes/alignment.py"),
    *("graph/combine.py", "graph/node.py", "graph/resources.py", "store/naming.py"),
    *("apps/shapes/record.py", "apps/withdrawing.py", f"{_SERVER}/asking.py"),
    *(f"{_SERVER}/collections.py", f"{_SERVER}/uploads.py", f"{_WORKBENCH}/serving/tables.py"),
    *(f"{_SERVER}/errors.py", f"{_SERVER}/limits.py", "documents/structure/telling.py"),
    *("documents/reading", _FORMATS, f"{_WORKBENCH}/table/run.py", f"{_WORKBENCH}/table/store.py"),
)
"""Where texts are made that are no errors."""
_TELLING = frozenset(("failed_reply", "tell_loss", "heed_deadline"))
"""What else is called with texts that people are told."""
_SILENT = frozenset(
    (
        *(
            "compile",
            "Field",
            "heed_deadline",
            "split",
            "info",
            "error",
            "warning",
            "sub",
            "search",
        ),
        "removeprefix",
        "package_missing",
    )
)
"""What is called with texts that nobody is told."""
_TEXT = re.compile(r"[A-Za-z]{2,}[^ ]* [\w{(“\[]|^\{\} [a-z]|: \{\}|^[A-Z][a-z]+:$|[a-z]\.$")
_NO_TEXT = re.compile(r"\\[bswdn(]|\(\?|[|<>=^$\n]|^\S+$(?<![.:])|\w\[|^(?:[A-Z]{5,6} )+")
_UNTOLD = frozenset(
    """\
need not
nothing of it
or both
name named company person people list made called {}
Resume with {"approve": true}, {"answer": "..."} or {"passages": [...]}.
point (\\1)
[removed: it quoted a document that has been forgotten]
What is a bias audit?
Who conducts it?
PowerPoint Document
Cannot allocate memory
out of memory
exit code {}
exit {}
Office.
from {}
Message{}, {}
Slide {}
Slide {}: {}
Notes to slide {}
Sheet “{}”
Note {}: {}
not found in this document
and {} more
and {} more places
`lexloop` in the context is a {}, not settings.
Pass Settings or a mapping of settings.
question: {}
queries: {}
answer: {}
note: {}
answer relevance
context relevance
citations verified: {}
must shall may can should
business calendar working full consecutive percent
come count find get give go happen keep make many need put take use
{} than
in part
not stated
Left out:
In {}: {}:
more {}
{} of {}
{} in {}
another version of Lexloop made it
afternoon evening greetings hello hey hi hiya howdy morning yo
appreciate appreciated cheers grateful thank thankful thanks thx ty\
""".split("\n")
)
"""What the modules hold besides: words for models, of documents, of files; pieces of texts."""


def _files(*places: str) -> list[Path]:
    found: list[Path] = []
    for place in places:
        at = ROOT / place
        found += sorted(at.rglob("*.py")) if at.is_dir() else [at]
    return found


def _is_of(file: Path, places: tuple[str, ...]) -> bool:
    name = file.relative_to(ROOT).as_posix()
    return any(name == place or name.startswith(f"{place}/") for place in places)


@cache
def _of_errors() -> dict[str, str]:
    """Return what errors say that a server may tell, each with where it stands."""
    found: dict[str, str] = {}
    for file in _files(*_ROOMS):
        if _is_of(file, _ELSEWHERE):
            continue
        read = source(file)
        shown = _is_of(file, _SHOWING)
        for node, within in read.walk():
            name = called(node)
            if (
                isinstance(node, ast.Call)
                and name in errors() | _TELLING
                and (shown or name not in _HIDDEN)
            ):
                for argument in node.args:
                    for text in read.templates(argument, within):
                        found.setdefault(text, f"{file.relative_to(ROOT)}:{node.lineno}")
    return found


@cache
def _of_sayings() -> dict[str, str]:
    """Return the texts of the modules that make some, each with where it stands."""
    found: dict[str, str] = {}
    for file in _files(*_SAYING):
        if _is_of(file, _ELSEWHERE):
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
        quiet = called(node) in _SILENT | errors() or isinstance(node, ast.Expr)
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
    said = {_bare(one) for file in _files(*_ROOMS) for one in source(file).constants}
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
