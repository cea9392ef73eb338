"""Questions that documents answer: for a document's profile, and to suggest at first.

Each question is asked of the graph, without a model, before it is offered.
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
"""Maximum number of documents whose questions are tried for suggestions."""
_GOLDEN = 0.618034
"""The fractional parts of its multiples are evenly spread, for any number of them."""


def described(graph: "Lexloop", settings: "Settings", view: "View", document: str) -> Profile:
    """Return a document's own description, with questions that it answers.

    Args:
        graph: Answers the questions.
        settings: The settings for the questions. Tasks of a model are done without one.
        view: The view of the person who asks.
        document: The document's name, or the end of it.

    Raises:
        InputError: No document matches, or several do.
    """
    source = Source.of(view, document)
    file = (view.access.source_of(source.name) or ("",))[0]
    files = {(view.access.source_of(name) or ("",))[0] for name in view.documents}
    without = {*settings.access.without, *files - {file}}
    alone = settings.changed(**{"access.without": tuple(without)})

    def answered(question: str) -> bool:
        return source.name in cited_if_passed(graph, alone, question)

    return profile(source, view.titles.get(source.name, ""), answered)


def suggested(
    graph: "Lexloop", settings: "Settings", view: "View", most: int, seconds: float
) -> list[str]:
    """Return a few questions that pass when all documents are asked, from each document in turn.

    They come from the documents' profiles. A question belongs to a document if its answer cites
    that document first.

    Args:
        graph: Answers the questions.
        settings: The settings for the questions. Tasks of a model are done without one.
        view: The view of the person who asks.
        most: The maximum number of questions.
        seconds: The processor time after which no further question is tried.
    """
    names, until = _spread(view.documents)[:_READ], thread_time() + seconds
    questions: list[list[str]] = []
    for at, name in enumerate(names):
        missing = most - sum(map(len, questions))
        if not missing or thread_time() >= until:
            break

        def answered(question: str, name: str = name) -> bool:
            over = thread_time() >= until
            return not over and [name] == cited_if_passed(graph, settings, question)[:1]

        share = ceil(missing / min(missing, len(names) - at))
        own_profile = profile(Source.of(view, name), view.titles.get(name, ""), answered, share)
        questions.append([item.said for item in own_profile.questions])
    in_turn = filter(None, chain.from_iterable(zip_longest(*questions)))
    return [*islice(dict.fromkeys(in_turn), most)]


def cited_if_passed(graph: "Lexloop", settings: "Settings", question: str) -> list[str]:
    """Return the documents that an answer cites, in order, or none if it does not pass."""
    give_way()
    offline = settings.changed(model=None, **EMBEDDED_ALONE, **{"loop.max_retries": 0})
    keys = ["abstained", "evaluation", "citations"]
    state = graph.invoke({"question": question}, context=offline, output_keys=keys)
    passed = not state["abstained"] and state["evaluation"]["passed"]
    return [citation["document"] for citation in state["citations"]] if passed else []


def _spread(names: Sequence[str]) -> list[str]:
    """Return names in an order whose first few are spread evenly, for any number of them."""
    return [names[at] for at in sorted(range(len(names)), key=lambda at: at * _GOLDEN % 1)]
