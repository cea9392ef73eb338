"""Questions that documents are found to answer: a document's profile, and what to suggest at first.

Each is asked of the graph itself, without a model, before it is offered.
"""

from collections.abc import Sequence
from itertools import chain, islice, zip_longest
from math import ceil
from time import thread_time
from typing import TYPE_CHECKING

from lexloop.apps.offered import EMBEDDED_ALONE
from lexloop.core.running import give_way
from lexloop.store.provisions import Source
from lexloop_workbench.profile import Profile, profile

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.graph.compiled import Lexloop
    from lexloop.store.view import View

_READ = 20
"""The most documents whose questions are tried to suggest some."""
_GOLDEN = 0.618034
"""Multiples of the golden ratio, less their whole parts, lie evenly however many there are."""


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
    file = (view.source_of(source.name) or ("",))[0]
    files = {(view.source_of(name) or ("",))[0] for name in view.documents}
    without = {*settings.access.without, *files - {file}}
    alone = settings.changed(**{"access.without": tuple(without)})

    def answered(question: str) -> bool:
        return source.name in cited_if_passed(graph, alone, question)

    return profile(source, view.titles.get(source.name, ""), answered)


def suggested(
    graph: "Lexloop", settings: "Settings", view: "View", most: int, seconds: float
) -> list[str]:
    """Return a few questions that pass when they are asked of all documents, by each in turn.

    They are those of the documents' profiles. A question is a document's own if its answer cites
    that document first.

    Args:
        graph: Answers.
        settings: With which questions are asked; what a model would do is done without it.
        view: What the asker may see.
        most: The most questions.
        seconds: After so many of the processor's no further question is tried.
    """
    names, until = _spread(view.documents)[:_READ], thread_time() + seconds
    found: list[list[str]] = []
    for at, name in enumerate(names):
        wanted = most - sum(map(len, found))
        if not wanted or thread_time() >= until:
            break

        def answered(question: str, name: str = name) -> bool:
            over = thread_time() >= until
            return not over and [name] == cited_if_passed(graph, settings, question)[:1]

        share = ceil(wanted / min(wanted, len(names) - at))
        made = profile(Source.of(view, name), view.titles.get(name, ""), answered, share)
        found.append([one.said for one in made.questions])
    in_turn = filter(None, chain.from_iterable(zip_longest(*found)))
    return [*islice(dict.fromkeys(in_turn), most)]


def cited_if_passed(graph: "Lexloop", settings: "Settings", question: str) -> list[str]:
    """Return the documents that an answer cites, in order; none if it does not pass."""
    give_way()
    asked = settings.changed(model=None, **EMBEDDED_ALONE, **{"loop.max_retries": 0})
    keys = ["abstained", "evaluation", "citations"]
    state = graph.invoke({"question": question}, context=asked, output_keys=keys)
    passed = not state["abstained"] and state["evaluation"]["passed"]
    return [one["document"] for one in state["citations"]] if passed else []


def _spread(names: Sequence[str]) -> list[str]:
    """Return names in an order in which the first few, however many, come from all over."""
    return [names[at] for at in sorted(range(len(names)), key=lambda at: at * _GOLDEN % 1)]
