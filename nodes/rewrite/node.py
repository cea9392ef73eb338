"""rewrite: a question that stands alone, up to Q sub-queries and up to K keywords."""

from langgraph.runtime import Runtime

from lexloop.core.running import computed
from lexloop.core.state import State, Update
from lexloop.core.types import Turn
from lexloop.nodes.context import Context
from lexloop.nodes.markers import MARKER
from lexloop.nodes.pointing import read_pointing
from lexloop.store.view import View

_TURNS, _TURN_CHARS = 24, 4000
"""The last turns of a conversation that are read, and the first characters of each."""


async def rewrite(state: State, runtime: Runtime[Context]) -> Update:
    """Write the question as it is understood, with sub-queries and keywords.

    Slips are mended first, so that all that follows is made of words that the documents have; words
    of another language are no slips. On a retry the engineered question replaces the one asked, and
    its advice is followed.
    """
    rewriter, wording = runtime.context.rewriter, runtime.context.wording
    advice = state.get("advice")
    if advice:
        question, history = advice["question"], []
    else:
        question, history = state["asked"], state["history"][-_TURNS:]
    update: Update = {
        "read_as": state.get("read_as", []),
        "untranslated": state.get("untranslated", ""),
    }
    if wording is not None and not advice:
        question, history, told = await computed(
            _worded, question, history, wording, rewriter.translates
        )
        update = {**update, **told}
    parsed = await rewriter.rewrite(question, history, state["plan"], advice)
    backend = runtime.context.backend
    titles = backend.titles if backend is not None else {}
    parsed["pointing"] = await computed(read_pointing, parsed["text"], titles)
    return {
        **update,
        "parsed": parsed,
        "meant": state["meant"] if advice else parsed,
    }


def _worded(
    question: str, history: list[Turn], wording: View, translates: bool
) -> tuple[str, list[Turn], Update]:
    """Return question and history in words that the documents have, and what is to be told."""
    told: Update = {}
    language = wording.other_language(question)
    if not language:
        question, told["read_as"] = wording.read(question)
    elif not translates:
        told["untranslated"] = _untranslated(language, wording.languages())
    return question, _read(history, wording), told


def _untranslated(language: str, languages: list[str]) -> str:
    return (
        f"The question seems to be in {language}, and the documents are in "
        f"{' and '.join(languages)}. It was not translated, and so not answered: ask it in their "
        "language, or set a model, which translates it."
    )


def _read(history: list[Turn], wording: View) -> list[Turn]:
    """Read slips in the user's turns, and the place that the last quoting answer is from."""
    quoting = [t for t in history if t["role"] == "assistant" and MARKER.search(t["content"])]
    turns: list[Turn] = []
    for turn in history:
        said = turn["content"][:_TURN_CHARS]
        if turn["role"] == "user":
            read = said if wording.other_language(said) else wording.read(said)[0]
            turns.append({"role": "user", "content": read})
        elif quoting and turn is quoting[-1]:
            about, at = wording.place_of(MARKER.split(said, maxsplit=1)[0].strip())
            turns.append({**turn, "about": about, "at": at})
        else:
            turns.append(turn)
    return turns
