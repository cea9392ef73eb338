"""How settings are offered: their headings, their names, and which of them callers may choose.

Commands and the page offer the same settings. Callers of the server may not choose a folder, a host
or a model.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from lexloop.core.configuration import described
from lexloop.core.errors import SettingsError
from lexloop.core.settings import METHODS, Settings

HEADINGS = {
    "Documents and model": ("corpus", "model", "index", "chunking"),
    "Which documents": ("access",),
    "Breadth": ("plan.k", "retrieval.candidates"),
    "Care": ("loop.max_retries", "loop.care", "max_cost", "deadline_s"),
    "The answer": ("answer",),
    "Advanced": (),
}
"""Settings and groups that people choose. All others, with the papers' names, come last."""
TITLES = {
    "plan.k": "passages that are read",
    "retrieval.candidates": "passages that are compared",
    "loop.max_retries": "further tries",
    "loop.care": "how much a wrong answer costs",
    "deadline_s": "longest time, in seconds",
    "plan.Q": "sub-queries (Q)",
    "plan.K": "keywords for the graph (K)",
    "plan.S": "path length in the graph (S)",
}
"""Labels of settings whose names say too little."""
_Schema = dict[str, Any]
_PLAIN = (
    *("plan.Q", "plan.K", "plan.S"),
    *("retrieval.knowledge_graph", "retrieval.candidates"),
    *("answer.statements", "answer.statement_words", "answer.words"),
    *("loop.max_retries", "loop.care", "loop.min_answer_relevance"),
    *("loop.min_context_relevance", "loop.min_groundedness"),
    *("access.as_of", "access.jurisdictions", "access.kinds", "access.hosts"),
    "deadline_s",
)
_OF_A_MODEL = ("answer.generator", "loop.evaluator", "loop.prompt_engineer")
_NARROWED: dict[str, _Schema] = {
    "retrieval.rewriter": {"enum": ["auto", "embedded", "none"]},
    "retrieval.reranker": {"enum": ["embedded", "none"]},
    "plan.k": {
        "anyOf": [
            {"enum": ["auto", "class"], "type": "string"},
            {"type": "integer", "minimum": 1, "maximum": 50},
        ]
    },
    **{name: {"enum": ["auto", "embedded"]} for name in _OF_A_MODEL},
    "fusion.method": {"enum": [*METHODS["fusion"]], "type": "string"},
}
"""Settings that a caller may choose in part."""
EMBEDDED_ALONE: dict[str, str] = dict.fromkeys(("retrieval.rewriter", *_OF_A_MODEL), "embedded")
"""With these a question is answered without the model that the operator has set."""
_SHOWN = 100


def heading_of(setting: str) -> str:
    """Return the heading that a setting is offered under."""
    group = setting.partition(".")[0]
    among = (title for title, names in HEADINGS.items() if setting in names or group in names)
    return next(among, "Advanced")


def choices(settings: Settings) -> dict[str, _Schema]:
    """Return the settings that a caller may choose, as JSON Schema by their flat names.

    Each has the heading of the page as its ``group``.

    Args:
        settings: The operator's settings, which are the defaults and the bounds.
    """
    schemas = {name: dict(schema) for name, schema in _choices().items()}
    if settings.model.name is None:
        schemas = {name: schema for name, schema in schemas.items() if name not in _OF_A_MODEL}
        schemas["retrieval.rewriter"]["enum"] = ["auto", "embedded", "none"]
    schemas["deadline_s"]["maximum"] = settings.deadline_s
    values = settings.flat()
    for name, schema in schemas.items():
        if name in values:
            schema["default"] = values[name]
    return schemas


def chosen(settings: Settings, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a caller sets, after checking that callers may set them.

    Their values are checked later, when the settings are changed.

    Args:
        settings: The operator's settings.
        wanted: The caller's settings by flat name.

    Raises:
        SettingsError: A caller may not set this setting, or not to this value.
    """
    allowed = choices(settings)
    for name, value in wanted.items():
        if name not in allowed:
            raise SettingsError(
                f"{name[:_SHOWN]!r} is nothing that a caller may set.",
                "See /api/settings for what is.",
            )
        among = allowed[name].get("enum")
        if among and value not in among:
            shown = repr(value)[:_SHOWN]
            raise SettingsError(
                f"The setting {name} is {shown}.", f"Use one of {', '.join(among)}."
            )
    deadline = wanted.get("deadline_s", settings.deadline_s)
    if isinstance(deadline, (int, float)) and deadline > settings.deadline_s:
        raise SettingsError(
            f"deadline_s is {deadline:g}.", f"The server allows at most {settings.deadline_s:g}."
        )
    return dict(wanted)


@cache
def _choices() -> dict[str, _Schema]:
    properties = {**Settings.model_json_schema()["properties"]}
    for group, info in Settings.model_fields.items():
        for kind in METHODS.get(group, {"": type(info.default)}).values():
            if issubclass(kind, BaseModel):
                for field, schema in kind.model_json_schema()["properties"].items():
                    properties.setdefault(f"{group}.{field}", schema)
    _, description, default = described("fusion.method")
    properties["fusion.method"] = {"description": description, "default": default}
    names = dict.fromkeys(
        (*_PLAIN, *_NARROWED, *(name for name in properties if name.startswith("fusion.")))
    )
    schemas = {name: {**properties[name], **_NARROWED.get(name, {})} for name in names}
    for name, schema in schemas.items():
        schema["title"] = TITLES.get(name) or name.rpartition(".")[2].replace("_", " ")
        schema["group"] = heading_of(name)
    order = list(HEADINGS)
    return dict(sorted(schemas.items(), key=lambda item: order.index(item[1]["group"])))
