"""The options that set settings, made of the settings themselves, and settings made of options."""

import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperGroup

from lexloop.apps.cli.terminal import Command, reported
from lexloop.apps.offered import heading_of
from lexloop.core.configuration import configured, described, read_file, read_value
from lexloop.core.errors import InputError, SettingsError
from lexloop.core.settings import SAMPLE_CORPUS, Connection, Settings, shaping

if TYPE_CHECKING:
    from lexloop.apps.shapes.outline import Layout


def option(
    said: str,
    metavar: str | None = None,
    *,
    flag: str | None = None,
    panel: str | None = None,
    **limits: Any,
) -> Any:
    """Return an option of a command.

    Args:
        said: The help text.
        metavar: The name of its value in the help.
        flag: The flag, or None for the parameter's own name.
        panel: The heading in the help.
        limits: ``min`` and ``max`` of a number.
    """
    flags = [flag] if flag else []
    return typer.Option(*flags, metavar=metavar, help=said, rich_help_panel=panel, **limits)


_FLAGS = {
    "corpus": ("--corpus",),
    "model.name": ("--model",),
    "model.fallback": ("--fallback",),
    "index.embedder": ("--embedder",),
    "chunking.method": ("--chunker",),
    "variant": ("--variant",),
    "plan.classes": ("--classes",),
    "plan.k": ("--k", "-k"),
    "plan.Q": ("--rewrites", "-Q"),
    "plan.K": ("--keywords", "-K"),
    "plan.S": ("--path-length", "-S"),
    "fusion.method": ("--fusion",),
    "access.tags": ("--tag",),
    "access.as_of": ("--as-of",),
    "access.jurisdictions": ("--jurisdiction",),
    "access.kinds": ("--kind",),
    "access.only": ("--document",),
    "access.passage": ("--passage",),
    "loop.max_retries": ("--max-retries",),
    "loop.care": ("--care",),
    "loop.rubrics": ("--rubrics",),
    "max_cost": ("--max-cost",),
    "deadline_s": ("--deadline",),
}
MODEL = ("model.name", "index.embedder")
ACCESS = ("access.tags", "access.as_of", "access.jurisdictions", "access.kinds")
PLAN = ("variant", "plan.classes", "plan.k", "plan.Q", "plan.K", "plan.S", "fusion.method")
LOOP = ("loop.care", "loop.max_retries", "max_cost", "deadline_s")
SELECTION = ("access.only", "access.passage")
ANSWER = ("corpus", *MODEL, "model.fallback", *ACCESS, *PLAN, *LOOP)
"""The settings of every command that answers a question."""
_FIRST = ("corpus", "collections", "model__name", "access__as_of", "as_json")
"""The options that a person needs, by their parameters: help begins with them."""
_BASE_URL = Annotated[
    str | None,
    option(
        "An OpenAI-compatible endpoint. Its key is read from LEXLOOP_API_KEY.",
        "URL",
        panel="Documents and model",
        envvar="LEXLOOP_BASE_URL",
    ),
]
AsJson = Annotated[bool, option("Print one JSON object and nothing else.", flag="--json")]
_HEAD = {
    "to": ("--to", "Whom the memorandum is for."),
    "sender": ("--from", "Whom it is from."),
    "date": ("--date", "Its date."),
    "re": ("--re", "What it is about."),
}
_MEMO = "Memorandum"
LAYOUT: dict[str, Any] = {
    "style": Annotated[
        str | None,
        option("How --out cites. Default: plain.", "plain|oscola|bluebook", flag="--style"),
    ],
    "memo": Annotated[
        bool | None, option("Lay --out out as a memorandum.", flag="--memo", panel=_MEMO)
    ],
    **{
        name: Annotated[str | None, option(help_text, flag=flag, panel=_MEMO)]
        for name, (flag, help_text) in _HEAD.items()
    },
}
"""The options of every command that writes a file with footnotes; see ``chosen_layout``."""
Index = Annotated[
    str,
    typer.Argument(metavar="INDEX", help="The folder of the index, or its address in an engine."),
]
Collections = Annotated[
    str | None,
    option("The collections to ask, e.g. sample,contracts=/srv/contracts.", "NAME[=PATH],..."),
]
_FILE = Annotated[
    Path | None,
    option(
        "A TOML or JSON file of settings, e.g. of `lexloop tune`; other options count more.",
        "FILE",
        flag="--settings",
        panel="Settings",
    ),
]
_SET = Annotated[
    list[str] | None,
    option(
        "Any setting, e.g. --set retrieval.reranker=none. May be repeated.",
        "NAME=VALUE",
        flag="--set",
        panel="Settings",
    ),
]


def with_default(command: str) -> type[TyperGroup]:
    """Return a class for a group of commands that runs ``command`` if none is named."""

    class CommandGroup(TyperGroup):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if args and args[0] not in {*self.commands, "-h", "--help"}:
                args = [command, *args]
            return super().parse_args(ctx, args)

    return CommandGroup


def taking(*settings: str, **others: Any) -> Callable[[Command], Command]:
    """Give a command the options of these settings, ``--settings`` and ``--set``.

    A command that asks a model takes ``--base-url`` as well. The command itself does not receive
    these options: ``chosen_settings`` and ``chosen_connection`` read them from its context. Its
    errors are ``reported``.

    Args:
        settings: The names of settings in ``_FLAGS``.
        others: Further options by the parameter's name, annotated. Missing ones are None.
    """
    if {"index.embedder", "deadline_s"} & {*settings}:
        others = {"base_url": _BASE_URL, **others}
    by_setting = {name: _option(name) for name in settings}
    last = {
        _parameter(name): by_setting.pop(name)
        for name in settings
        if heading_of(name) == "Advanced"
    }
    first = {_parameter(name): option for name, option in by_setting.items()}
    offered = {**first, **others, "settings_file": _FILE, "assignments": _SET, **last}

    def give(command: Command) -> Command:
        def run(**given: Any) -> Any:
            own = {name: value for name, value in given.items() if name not in offered}
            return reported(command)(**own)

        signature = inspect.signature(command)
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for name, option in offered.items()
        ]
        run.__doc__, run.__name__ = command.__doc__, command.__name__
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=sorted(
                [*signature.parameters.values(), *added],
                key=lambda parameter: [*_FIRST, parameter.name].index(parameter.name),
            )
        )
        run.__annotations__ = {**command.__annotations__, **offered}
        return run  # type: ignore[return-value]

    return give


def _parameter(setting: str) -> str:
    return setting.replace(".", "__")


def _option(setting: str) -> Any:
    annotation, description, default = described(setting)
    several = get_origin(annotation) is tuple
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    kind: Any = list[str] | None if several else bool | None if annotation is bool else str | None
    flags = _FLAGS[setting]
    if annotation is bool:
        flags = (f"{flags[0]}/--no-{flags[0][2:]}",)
    default_text = f" Default: {default}." if default not in (None, (), False) else ""
    return Annotated[
        kind,
        typer.Option(
            *flags,
            metavar="|".join(map(str, choices)) or None,
            help=f"{description}{' May be repeated.' * several}{default_text}",
            rich_help_panel=None if _parameter(setting) in _FIRST else heading_of(setting),
        ),
    ]


def chosen_settings(given: Mapping[str, Any], *before: Mapping[str, Any]) -> Settings:
    """Return the settings that a command's parameters choose.

    Args:
        given: Parameters by name. Those that are None or not settings are ignored. The others
            override ``settings_file``, and ``assignments`` (``NAME=VALUE``) override them.
        before: Settings that parameters override, and that override files and environment.

    Raises:
        SettingsError: A value is not allowed, a setting is unknown, or the file cannot be used.
    """
    from_options = {
        name: read_value(name, value) if isinstance(value, str) else value
        for name in _FLAGS
        if (value := given.get(_parameter(name))) is not None
    }
    file = given.get("settings_file")
    filed = read_file(file) if file else {}
    assigned = dict(_assignment(text) for text in given.get("assignments") or [])
    settings = configured(*before, *([file] if file else []), from_options | assigned)
    _refuse_other(settings, filed | from_options | assigned)
    return settings


def typed(given: Mapping[str, Any]) -> list[str]:
    """Return a command's options for settings in the form in which they are typed."""
    flags = {_parameter(name): flags[0] for name, flags in _FLAGS.items()}
    flags |= {"base_url": "--base-url", "settings_file": "--settings", "assignments": "--set"}
    words: list[str] = []
    for name, flag in flags.items():
        value = given.get(name)
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
        elif value:
            values = value if isinstance(value, list) else [value]
            words += [part for item in values for part in (flag, str(item))]
    return words


def _refuse_other(settings: Settings, given_settings: Mapping[str, Any]) -> None:
    """Refuse settings that the index to be asked was not made with, default values included."""
    chosen = {
        name: value
        for name, value in shaping(settings.flat()).items()
        if name in given_settings or name.partition(".")[0] in given_settings
    }
    if chosen:
        from lexloop.store.opening import refuse_other

        refuse_other(settings.corpus, chosen)


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise SettingsError(f"--set {text!r} has no '='.", "Write --set NAME=VALUE.")
    return name.strip(), read_value(name.strip(), value)


def chosen_connection(given: Mapping[str, Any]) -> Connection:
    """Return the connection to the model. Its key comes from the environment only.

    Raises:
        SettingsError: The address is not an http(s) URL.
    """
    base_url = given.get("base_url") or ""
    return Connection.from_environment({**os.environ, "LEXLOOP_BASE_URL": base_url})


def chosen_layout(given: Mapping[str, Any], out: Path | None) -> "Layout":
    """Return the layout of a file, from a command's parameters.

    Raises:
        InputError: The style is unknown, there is no file, or options of a memorandum are given
            without one.
    """
    from lexloop.apps.shapes.citing import Style
    from lexloop.apps.shapes.outline import PLAIN, Layout, Memo

    styles: dict[str, Style] = {name: name for name in get_args(Style)}
    style, memo = given["style"] or "plain", Memo(*(given[name] or "" for name in _HEAD))
    if style not in styles:
        raise InputError(f"--style is {style!r}.", f"Use one of {', '.join(styles)}.")
    if not given["memo"] and memo != Memo():
        raise InputError("--to, --from, --date and --re are of a memorandum.", "Add --memo.")
    layout = Layout(styles[style], memo if given["memo"] else None)
    if out is None and layout != PLAIN:
        raise InputError("--memo and --style are about a file.", "Name it with --out.")
    return layout


def settings_of_each(given: Mapping[str, Any]) -> dict[str, Settings]:
    """Return the settings of each collection that a command's parameters name; may be empty.

    Raises:
        SettingsError: A corpus is given as well, or a setting is outside its allowed values.
        InputError: A collection has no name or no documents, or a name is given twice.
    """
    if given["collections"] is None:
        return {}
    assigned = dict(map(_assignment, given.get("assignments") or []))
    if given.get("corpus") is not None or "corpus" in assigned:
        raise SettingsError("A corpus and --collections are both given.", "Give one of them.")
    paths = named_collections(given["collections"], SAMPLE_CORPUS) or {}
    return {name: chosen_settings({**given, "corpus": path}) for name, path in paths.items()}


def named_collections(said: str | None, corpus: str) -> dict[str, Any] | None:
    """Return the collections named on the command line, or None if there are none.

    Args:
        said: NAME=PATH or PATH, separated by commas.
        corpus: The only collection if none is named, unless it is the sample.

    Raises:
        InputError: A collection has no name or no documents, or a name is given twice.
    """
    if said is None:
        if corpus == SAMPLE_CORPUS:
            return None
        name = Path(corpus).expanduser().resolve().name if "/" in corpus else Path(corpus).stem
        return {name: corpus}
    from lexloop.graph.collections import named_collections as read

    return {**read(said)}
