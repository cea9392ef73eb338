"""The options that settings have in common, and settings made of them.

A parameter of a command that is named like a field of ``Settings`` sets that field; its values
are checked in one place, by ``Settings``.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli.settings_file import read_settings, unknown_setting

if TYPE_CHECKING:
    from lexloop.core.settings import Connection, Settings

_SOURCES = "Documents and model"
_PLAN = "Retrieval"
_FILTERS = "Which documents"
_LOOP = "The loop"

Corpus = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="A folder of documents, one document, or an index. Default: the bundled sample.",
        rich_help_panel=_SOURCES,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help="A chat model, e.g. openai:gpt-4o-mini. Without one everything runs on this machine.",
        rich_help_panel=_SOURCES,
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        envvar="LEXLOOP_BASE_URL",
        metavar="URL",
        help="An OpenAI-compatible endpoint. Its key is read from LEXLOOP_API_KEY.",
        rich_help_panel=_SOURCES,
    ),
]
Fallback = Annotated[
    bool,
    typer.Option(
        "--fallback",
        help="When the model fails, answer without it and say so.",
        rich_help_panel=_SOURCES,
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="embedded, sentence-transformers:NAME or openai:NAME.",
        rich_help_panel=_SOURCES,
    ),
]
Variant = Annotated[
    str | None,
    typer.Option(
        "--variant",
        metavar="hypa|pa|fixed|llm_only",
        help="Adaptive with or without the knowledge graph, fixed k, or the model alone.",
        rich_help_panel=_PLAN,
    ),
]
Classes = Annotated[
    int | None,
    typer.Option(
        "--classes", metavar="2|3", help="Complexity classes. Default: 3.", rich_help_panel=_PLAN
    ),
]
PassageCount = Annotated[
    int | None, typer.Option("--k", "-k", help="Fix k, the passages.", rich_help_panel=_PLAN)
]
RewriteCount = Annotated[
    int | None,
    typer.Option("--rewrites", "-Q", help="Fix Q, the sub-queries.", rich_help_panel=_PLAN),
]
KeywordCount = Annotated[
    int | None,
    typer.Option("--keywords", "-K", help="Fix K, the graph's keywords.", rich_help_panel=_PLAN),
]
PathLength = Annotated[
    int | None,
    typer.Option("--path-length", "-S", help="Fix S, the graph's paths.", rich_help_panel=_PLAN),
]
Fusion = Annotated[
    str | None,
    typer.Option(
        "--fusion",
        metavar="linear|rrf|weighted_rrf",
        help="How BM25 and vectors are fused. Default: linear.",
        rich_help_panel=_PLAN,
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag",
        metavar="TAG",
        help="An access tag of yours; documents with none are public. May be repeated.",
        rich_help_panel=_FILTERS,
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DAY",
        help="Answer from the law in force on YYYY-MM-DD, today or any day. Default: today.",
        rich_help_panel=_FILTERS,
    ),
]
Jurisdictions = Annotated[
    list[str] | None,
    typer.Option(
        "--jurisdiction",
        metavar="NAME",
        help="Only documents of this jurisdiction. May be repeated.",
        rich_help_panel=_FILTERS,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="statute|rule|guidance|case",
        help="Only documents of this kind. May be repeated.",
        rich_help_panel=_FILTERS,
    ),
]
MaxRetries = Annotated[
    int | None,
    typer.Option(
        "--max-retries", help="Retries after a low score. Default: 2.", rich_help_panel=_LOOP
    ),
]
Deadline = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        help="How long one question may take. Default: 120.",
        rich_help_panel=_LOOP,
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="A JSON file of settings, e.g. of `lexloop tune`; other options count more.",
        rich_help_panel=_SOURCES,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting, e.g. --set reranker=none. May be repeated.",
        rich_help_panel=_LOOP,
    ),
]


def chosen_settings(
    given: Mapping[str, Any], stored: Mapping[str, Any] | None = None
) -> "Settings":
    """The settings that a command's parameters choose.

    Args:
        given: Parameters by name; those that are None, a flag not raised or no setting are left
            out. ``settings_file`` is a file of settings, and counts less; ``assignments`` holds
            the ``NAME=VALUE`` texts, which count more.
        stored: Settings to start from in place of the defaults.

    Raises:
        SettingsError: A value is not allowed, a name is no setting, or the file cannot be used.
    """
    from lexloop.core.settings import Settings

    fields = Settings.model_fields
    file = given.get("settings_file")
    filed = read_settings(file, fields) if file is not None else {}
    named = {
        name: value
        for name, value in given.items()
        if name in fields and value is not None and value is not False
    }
    assigned = dict(_assignment(text, fields) for text in given.get("assignments") or [])
    settings = Settings(**{**(stored or {}), **filed, **named, **assigned})
    _refuse_other(settings, {**filed, **named, **assigned})
    return settings


def _refuse_other(settings: "Settings", wanted: Mapping[str, Any]) -> None:
    """Refuse settings that the index to be asked was not made with, default values included."""
    from lexloop.core.settings_index import IndexSettings

    shaping = wanted.keys() & IndexSettings.model_fields.keys() - {"corpus"}
    if shaping:
        from lexloop.corpus.opening import refuse_other

        refuse_other(settings.corpus, settings.model_dump(mode="json", include=shaping))


def _assignment(text: str, fields: Mapping[str, Any]) -> tuple[str, Any]:
    from lexloop.core.errors import SettingsError

    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals:
        raise SettingsError(f"--set {text!r} has no '='.", "Write --set NAME=VALUE.")
    if name not in fields:
        raise unknown_setting(name, fields)
    if fields[name].annotation in (str, str | None):
        return name, value
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def chosen_connection(base_url: str | None) -> "Connection":
    """Where the model is reached; the key comes from the environment alone.

    Raises:
        SettingsError: The address is no http(s) URL.
    """
    from lexloop.core.settings import Connection

    return Connection.from_environment({**os.environ, "LEXLOOP_BASE_URL": base_url or ""})
