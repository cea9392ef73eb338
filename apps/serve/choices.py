"""The settings that a caller may choose, and no others: no folder, no host and no model."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo

from lexloop.apps.offered import HEADINGS, heading_of, title_of
from lexloop.core.configuration import described
from lexloop.core.errors import SettingsError
from lexloop.core.settings import METHODS, Settings

_PLAIN = (
    *("plan.Q", "plan.K", "plan.S"),
    *("retrieval.knowledge_graph", "retrieval.candidates"),
    *("answer.statements", "answer.statement_words", "answer.words"),
    *("loop.max_retries", "loop.min_answers", "loop.min_answer_relevance"),
    *("loop.min_context_relevance", "loop.min_groundedness"),
    *("access.as_of", "access.jurisdictions", "access.kinds", "access.hosts"),
)
_OF_A_MODEL = ("answer.generator", "loop.evaluator", "loop.prompt_engineer")
_NARROWED: dict[str, Any] = {
    "retrieval.rewriter": Literal["auto", "embedded", "none"],
    "retrieval.reranker": Literal["embedded", "none"],
    "plan.k": Literal["class"] | Annotated[int, Field(ge=1, le=50)],
    **dict.fromkeys(_OF_A_MODEL, Literal["auto", "embedded"]),
}
"""Settings of which a caller may choose a part."""
EMBEDDED_ALONE: dict[str, str] = dict.fromkeys(("retrieval.rewriter", *_OF_A_MODEL), "embedded")
"""With these a question is answered without the model that the operator has set."""
_Schema = dict[str, Any]
_SHOWN = 100


def choices(settings: Settings) -> dict[str, _Schema]:
    """Return what a caller may set, as JSON Schema by the settings' flat names.

    Each has the heading that the page shows it under as its ``group``.

    Args:
        settings: The operator's, which are the defaults and the bounds.
    """
    found = {name: dict(schema) for name, schema in _choices().items()}
    if settings.model.name is None:
        found = {name: schema for name, schema in found.items() if name not in _OF_A_MODEL}
        found["retrieval.rewriter"]["enum"] = ["auto", "embedded", "none"]
    found["deadline_s"]["maximum"] = settings.deadline_s
    held = settings.flat()
    for name, schema in found.items():
        if name in held:
            schema["default"] = held[name]
    return found


def chosen(settings: Settings, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a caller sets, checked to be theirs to set.

    Values are checked where the settings are changed by them.

    Args:
        settings: The operator's.
        wanted: By flat name.

    Raises:
        SettingsError: One is not for a caller to set, or has a value that is not.
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
            said = repr(value)[:_SHOWN]
            raise SettingsError(f"{name} is {said}.", f"Use one of {', '.join(among)}.")
    deadline = wanted.get("deadline_s", settings.deadline_s)
    if isinstance(deadline, (int, float)) and deadline > settings.deadline_s:
        raise SettingsError(
            f"deadline_s is {deadline:g}.", f"The server allows at most {settings.deadline_s:g}."
        )
    return dict(wanted)


@cache
def _choices() -> dict[str, _Schema]:
    names = (*_PLAIN, *_NARROWED, "deadline_s", "fusion.method")
    found = {name: _schema(name) for name in names}
    for kind in METHODS["fusion"].values():
        for field, info in kind.model_fields.items():
            if field != "method":
                found.setdefault(f"fusion.{field}", _of_field(f"fusion.{field}", info))
    order = list(HEADINGS)
    return dict(sorted(found.items(), key=lambda one: order.index(one[1]["group"])))


def _schema(name: str) -> _Schema:
    annotation, description, default = described(name)
    annotation = _NARROWED.get(name, annotation)
    group, _, field = name.partition(".")
    kept = Settings.model_fields[group]
    info = type(kept.default).model_fields.get(field) if field else kept
    if info is None or info.annotation is not annotation:
        info = FieldInfo.from_annotation(annotation)
        info.description, info.default = description, default
    return _of_field(name, info)


def _of_field(name: str, info: FieldInfo) -> _Schema:
    kind: Any = info.annotation
    for limit in info.metadata:
        kind = Annotated[kind, limit]
    schema = TypeAdapter(kind).json_schema()
    schema["title"], schema["group"] = title_of(name), heading_of(name)
    schema["description"] = info.description or ""
    if not info.is_required():
        schema["default"] = info.default
    return schema
