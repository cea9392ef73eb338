"""The graph over a folder, without a model, with parts of it put in place of others."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from lexloop.core.settings import Settings
from lexloop.documents.reading.folder import load_documents
from lexloop.graph.build import build_graph
from lexloop.graph.resources import build_context
from lexloop.models.minilm import load_shipped
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection
from lexloop_eval.case import Case
from lexloop_eval.graph_runs import state_after


def indexed(folder: Path, settings: Settings, ending: str = "") -> Collection:
    """Return a folder's documents whose names have an ending, indexed in memory.

    Raises:
        CorpusError: The folder holds no documents.
    """
    documents = [
        document for document in load_documents(folder)[0] if document.name.endswith(ending)
    ]
    return build_collection(documents, tools_for(settings, load_shipped()))


def ask_graph(
    collection: Collection, settings: Settings, case: Case, **parts: Any
) -> dict[str, Any]:
    """Return the state after the graph answered a case without a model.

    ``parts`` are implementations in place of those that the settings choose.
    """
    chosen = replace(build_context(settings, collection), **parts)
    return state_after(build_graph(lambda *_: chosen), case)
