"""Settings from files and the environment. Later sources override earlier ones.

1. the defaults
2. ``lexloop.toml`` in the user's configuration folder, or the file that ``LEXLOOP_CONFIG`` names
3. ``lexloop.toml`` beside the documents, or in the folder of an index
4. the environment: ``LEXLOOP_GROUP__FIELD``, as in ``LEXLOOP_FUSION__BM25_BOOST=0.3``
5. what the caller names: options of a command, arguments of a function, the context of a run

The file beside the documents may come from whoever wrote them. It may say how they are cut and
searched, but not who may see them or which host receives text.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, create_model

from lexloop.core.errors import SettingsError
from lexloop.core.settings import (
    METHODS,
    SAMPLE_CORPUS,
    VARIANTS,
    Settings,
    Variant,
    every_name,
    slip_of,
)

FILE = "lexloop.toml"
_MOST_BYTES = 1024 * 1024
_WHOSE = ("corpus", "access", "user", "model", "deadline_s", "prices", "max_cost", "retention")
_HARMLESS = {
    "index.embedder": ("embedded", "minilm"),
    "index.triplets": ("embedded",),
    "plan.classifier": ("embedded",),
    "retrieval.reranker": ("embedded", "none"),
}
"""The values that documents may choose. Other values could load a model or send text to one."""
_PREFIX = "LEXLOOP_"
_NO_SETTINGS = (
    *("API_KEY", "BASE_URL", "CACHE", "COLLECTIONS", "CONFIG", "DATA_DIR", "DEBUG", "PAPERS"),
    "SERVER",
    *("ENGINE_USER", "ENGINE_PASSWORD", "ENGINE_API_KEY"),
    *("ENGINE_CA", "ENGINE_AWS_REGION", "ENGINE_AWS_SERVICE"),
)
"""The variables that the process reads in addition to those of settings."""
_SLIP = 0.9
"""difflib's ratio above which a variable counts as misspelt. LEXLOOP_CORPSU has 0.93."""


def configured(*named: Mapping[str, Any] | Path) -> Settings:
    """Return the settings of files and environment, overridden by those named.

    Args:
        named: Settings by name, or a file of them. Later ones override earlier ones.

    Raises:
        SettingsError: A file cannot be read, a setting is unknown or its value is not allowed, or
            a variable of the environment is misspelt.
    """
    user = _user_file()
    sources = [
        (f"{user}: ", _of_file(user)),
        ("", _of_environment()),
        *(
            (f"{source}: ", read_file(source)) if isinstance(source, Path) else ("", source)
            for source in named
        ),
    ]
    corpora = (str(values["corpus"]) for _, values in reversed(sources) if values.get("corpus"))
    sources.insert(1, _beside(next(corpora, SAMPLE_CORPUS)))
    settings = Settings()
    for where, values in sources:
        try:
            settings = settings.changed(**values)
        except SettingsError as error:
            raise SettingsError(f"{where}{error.what}", error.hint) from error
    return settings


def names_corpus() -> bool:
    """Return whether the user's settings file or the environment names a corpus."""
    return bool(_of_environment().get("corpus") or _of_file(_user_file()).get("corpus"))


def described(name: str) -> tuple[Any, str, Any]:
    """Return a setting's annotation, description and default, for option lists and help.

    Args:
        name: The setting's name, or ``variant``.
    """
    if name == "variant":
        return Variant, VARIANTS, "hypa"
    group, _, field = name.partition(".")
    info = Settings.model_fields[group]
    if not field:
        return info.annotation, info.description or "", info.default
    if group in METHODS and field == "method":
        description = f"{(info.description or '').rstrip('.')}; the sizes and weights are settings."
        return Literal[tuple(METHODS[group])], description, info.default.method
    own = type(info.default).model_fields[field]
    return own.annotation, own.description or "", own.default


def read_value(name: str, text: str) -> Any:
    """Return a setting's value, parsed from text as JSON.

    The text is returned unchanged if the setting is a text or the text is not JSON. For a setting
    that is a list, text that is not JSON becomes its only item.

    Args:
        name: The setting's name.
        text: The value as typed, or as found in the environment.
    """
    if name in _TEXTS:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return [text] if name in _LISTS else text


def read_file(path: Path) -> dict[str, Any]:
    """Return the settings of a TOML or JSON file. Their values are not checked here.

    Raises:
        SettingsError: The file cannot be read, or holds something else.
    """
    hint = "Give TOML, or a JSON object such as `lexloop tune --out FILE` writes."
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise SettingsError(f"{path} is larger than {_MOST_BYTES} bytes.", hint)
        if path.suffix == ".toml":
            return tomllib.loads(path.read_text(encoding="utf-8"))
        settings = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"The settings in {path} cannot be read: {error}.", hint) from error
    if not isinstance(settings, dict):
        raise SettingsError(f"{path} holds a {type(settings).__name__}, not an object.", hint)
    return settings


def data_folder() -> Path:
    """Return the folder of a user's data, which ``LEXLOOP_DATA_DIR`` overrides."""
    from platformdirs import user_data_path

    return Path(os.environ.get("LEXLOOP_DATA_DIR") or user_data_path("lexloop"))


def _of_file(path: Path) -> dict[str, Any]:
    # not the path's own is_file: under another's home, as after `su`, that raises
    return read_file(path) if os.path.isfile(path) else {}


def _user_file() -> Path:
    from platformdirs import user_config_path

    return Path(os.environ.get("LEXLOOP_CONFIG") or user_config_path("lexloop") / FILE)


def _beside(corpus: str) -> tuple[str, dict[str, Any]]:
    """Return the settings of the file beside a corpus, with its path as a prefix for messages.

    Raises:
        SettingsError: The file sets who may see what, or where text is sent.
    """
    if corpus == SAMPLE_CORPUS or "\0" in corpus:
        return "", {}
    place = Path(os.path.expanduser(corpus))
    file = (place if place.is_dir() else place.parent) / FILE
    settings = _of_file(file)
    try:
        others = _not_of_documents(settings)
    except SettingsError as error:
        raise SettingsError(f"{file}: {error.what}", error.hint) from error
    if others:
        raise SettingsError(
            f"{file} sets {others[0]}, which documents do not say.",
            "Set it in your own configuration, in the environment or by an option.",
        )
    return f"{file}: ", settings


def _not_of_documents(settings: Mapping[str, Any]) -> list[str]:
    """Return the settings that documents must not choose: access, hosts, models to load."""
    named = [name for name in settings if name.partition(".")[0] in _WHOSE]
    chosen = Settings().changed(**settings).flat()
    return named + [name for name, allowed in _HARMLESS.items() if chosen[name] not in allowed]


def _of_environment() -> dict[str, Any]:
    """Return the environment's settings. Case matters: the plan has both k and K."""
    from pydantic_settings import BaseSettings, EnvSettingsSource  # 60 ms that `--help` can spare

    _refuse_misspelt(os.environ)
    variables: dict[str, Any] = {
        f"{_PREFIX}{name}".upper(): (dict[str, Any] | str | None, None)
        for name in (*Settings.model_fields, "variant")
    }
    known_as = create_model("Environment", __base__=BaseSettings, **variables)
    source = EnvSettingsSource(
        known_as, case_sensitive=True, env_nested_delimiter="__", env_ignore_empty=True
    )
    values, settings = source(), dict[str, Any]()
    for variable, info in known_as.model_fields.items():
        name, value = variable.removeprefix(_PREFIX).lower(), values.get(variable)
        if not isinstance(value, dict | None):
            settings[name] = str(value) if name in _TEXTS else value
            value = source.explode_env_vars(variable, info, source.env_vars)
        for field, raw in (value or {}).items():
            known = field if field in _FIELDS[name] else field.lower()
            is_text = isinstance(raw, str)
            settings[f"{name}.{known}"] = read_value(f"{name}.{known}", raw) if is_text else raw
    return settings


def _refuse_misspelt(environ: Mapping[str, str]) -> None:
    """Refuse a variable that looks like a misspelt one of ours.

    Other variables with the prefix are allowed: Kubernetes sets some for a service called lexloop,
    and compose files have their own. Unknown fields of a group are refused later, as settings.
    """
    groups = {f"{_PREFIX}{name}".upper() for name in Settings.model_fields}
    known = {f"{_PREFIX}{name.replace('.', '__')}".upper() for name in every_name()}
    known |= {f"{_PREFIX}{name}" for name in _NO_SETTINGS}
    for name, value in environ.items():
        group, joint, _ = name.partition("__")
        if not value or not name.upper().startswith("LEX") or name in known or group in groups:
            continue
        meant = slip_of(name.upper(), known, _SLIP)
        if meant or (joint and name.startswith(_PREFIX)):
            raise SettingsError(
                f"The variable {name} of the environment is read by nothing.",
                f"Did you mean {meant}?" if meant else "Correct or unset it.",
            )


def _fields(name: str) -> dict[str, Any]:
    """Return the annotations of a group's fields, over all its methods."""
    annotation = Settings.model_fields[name].annotation
    kinds = [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]
    models = [kind for kind in kinds if issubclass(kind, BaseModel)]
    return {field: info.annotation for kind in models for field, info in kind.model_fields.items()}


_FIELDS = {name: _fields(name) for name in Settings.model_fields}
_TEXTS = {"corpus"} | {
    f"{name}.{field}"
    for name, fields in _FIELDS.items()
    for field, annotation in fields.items()
    if annotation in (str, str | None)
}
_LISTS = {
    f"{name}.{field}"
    for name, fields in _FIELDS.items()
    for field, annotation in fields.items()
    if get_origin(annotation) is tuple
}
