"""A document's profile, whose questions are asked of it first: without a model, of it alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from lexloop.apps.offered import EMBEDDED_ALONE
from lexloop.core.running import give_way
from lexloop.workbench.profile import Profile, profile
from lexloop.workbench.provisions import Source

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.graph.compiled import Lexloop
    from lexloop.store.view import View


def described(graph: "Lexloop", settings: "Settings", view: "View", document: str) -> Profile:
    """Return what a document says that it is, with questions that it was found to answer.

    Args:
        graph: Answers.
        settings: With which questions are asked; what a model would do is done without it.
        view: What the asker may see.
        document: Its name, or the end of it.

    Raises:
        InputError: No document or several are meant.
    """
    source = Source.of(view, document)
    answered = _answered_from(graph, settings, view, source.name)
    return profile(source, view.titles.get(source.name, ""), answered)


def _answered_from(
    graph: "Lexloop", settings: "Settings", view: "View", document: str
) -> Callable[[str], bool]:
    """Return what tells whether a question is answered from a document, all checks passed."""
    file = (view.source_of(document) or ("",))[0]
    files = {(view.source_of(name) or ("",))[0] for name in view.documents}
    without = {*settings.access.without, *files - {file}}
    chosen = settings.changed(
        model=None, **EMBEDDED_ALONE, **{"loop.max_retries": 0, "access.without": tuple(without)}
    )

    def answered(question: str) -> bool:
        give_way()
        keys = ["abstained", "evaluation", "citations"]
        state = graph.invoke({"question": question}, context=chosen, output_keys=keys)
        cited = any(one["document"] == document for one in state["citations"])
        return cited and not state["abstained"] and bool(state["evaluation"]["passed"])

    return answered
