"""Lexloop: cited, checked answers to questions about laws, rules and policies."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexloop.apps.checking import CitationGuard, check
    from lexloop.apps.library import (
        Index,
        aask,
        as_tool,
        ask,
        build_agent,
    )
    from lexloop.apps.retriever import as_retriever
    from lexloop.core.errors import (
        BudgetError,
        CorpusError,
        DataError,
        DeadlineExceeded,
        EngineError,
        EngineUnavailable,
        InputError,
        LexloopError,
        ModelAuthError,
        ModelError,
        ModelReplyError,
        ModelUnavailable,
        QuestionError,
        SettingsError,
        ThreadBusy,
        retry_on,
    )
    from lexloop.core.settings import Settings
    from lexloop.graph.build import build_graph
    from lexloop_eval.library import evaluate
    from lexloop_workbench.library import as_tools, describe, diff, register, search, table

__all__ = [
    "BudgetError",
    "CitationGuard",
    "CorpusError",
    "DataError",
    "DeadlineExceeded",
    "EngineError",
    "EngineUnavailable",
    "Index",
    "InputError",
    "LexloopError",
    "ModelAuthError",
    "ModelError",
    "ModelReplyError",
    "ModelUnavailable",
    "QuestionError",
    "Settings",
    "SettingsError",
    "ThreadBusy",
    "aask",
    "as_retriever",
    "as_tool",
    "as_tools",
    "ask",
    "build_agent",
    "build_graph",
    "check",
    "describe",
    "diff",
    "evaluate",
    "register",
    "retry_on",
    "search",
    "table",
]

# Read by the libraries when they are imported, and nothing of Lexloop is imported before this.
# Who has set one keeps it. LangSmith sends nothing unless LANGSMITH_TRACING says so.
_QUIET = (
    "ORT_DISABLE_TELEMETRY",  # onnxruntime looks up its maker's host once it is loaded
    "HF_HUB_DISABLE_TELEMETRY",  # huggingface_hub tells which libraries ask it, and how
    "DISABLE_SAFETENSORS_CONVERSION",  # transformers posts a model's name and the hub's token
)
for _name in _QUIET:
    os.environ.setdefault(_name, "1")

# by the name of what is offered, where it lies: importing lexloop alone costs nothing
_ERRORS = (
    *("LexloopError", "InputError", "QuestionError", "SettingsError", "BudgetError"),
    *("CorpusError", "DataError", "EngineError", "EngineUnavailable", "ThreadBusy"),
    *("ModelError", "ModelAuthError", "ModelUnavailable", "ModelReplyError", "DeadlineExceeded"),
)
_OFFERED = {
    **dict.fromkeys((*_ERRORS, "retry_on"), "lexloop.core.errors"),
    "CitationGuard": "lexloop.apps.checking",
    "as_retriever": "lexloop.apps.retriever",
    "check": "lexloop.apps.checking",
    "Index": "lexloop.apps.library",
    "Settings": "lexloop.core.settings",
    "aask": "lexloop.apps.library",
    "as_tool": "lexloop.apps.library",
    "as_tools": "lexloop_workbench.library",
    "ask": "lexloop.apps.library",
    "build_agent": "lexloop.apps.library",
    "build_graph": "lexloop.graph.build",
    "describe": "lexloop_workbench.library",
    "diff": "lexloop_workbench.library",
    "evaluate": "lexloop_eval.library",
    "register": "lexloop_workbench.library",
    "search": "lexloop_workbench.library",
    "table": "lexloop_workbench.library",
}


def __getattr__(name: str) -> Any:
    if name not in _OFFERED:
        raise AttributeError(f"module 'lexloop' has no attribute {name!r}")
    try:
        module = import_module(_OFFERED[name])
    except ModuleNotFoundError as error:
        package = _OFFERED[name].partition(".")[0]
        if error.name != package:
            raise
        from lexloop.core.packages import package_missing

        told = package_missing(f"lexloop.{name}", package.removeprefix("lexloop_"))
        raise AttributeError(str(told)) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_OFFERED])
