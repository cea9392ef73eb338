"""ask_back: one short question with choices, if what is asked fits several documents or parties.

LangGraph runs the node again from its start when the reply comes. What it asks is read off the
state and the documents alone, so that it asks the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from textwrap import shorten
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from lexloop.core.conversation import typed
from lexloop.core.errors import tell_loss
from lexloop.core.folding import folded
from lexloop.core.running import computed
from lexloop.core.settings_groups import Care
from lexloop.core.state import State, Update
from lexloop.core.types import DEFINING, Clarified, OpenTurn, Pointed, Turn
from lexloop.documents.text.parties import parties_of
from lexloop.documents.text.tokens import PIECE, term_set
from lexloop.nodes.alignment import aligned, read_words
from lexloop.nodes.context import Context
from lexloop.nodes.generate.conflicts import are_apart
from lexloop.nodes.generate.extractive import ExtractiveGenerator
from lexloop.nodes.pausing import can_pause
from lexloop.nodes.question.followups import Pronoun, loose_pronoun
from lexloop.nodes.question.naming import terms_called
from lexloop.nodes.question.parts import WH, in_context
from lexloop.store.view import View

_MOST = 8
"""The most choices: whoever has to read more is better off with an answer that names its source."""
_SHOWN = 100
"""The characters of a statement that a choice shows."""


class Choice(NamedTuple):
    """Something that a question may mean.

    Args:
        label: It, in words.
        document: The document that answers then.
        subject: What a pronoun of the question stands for then, or "".
    """

    label: str
    document: str
    subject: str = ""


class Doubt(NamedTuple):
    """What is asked back, and what may be meant."""

    question: str
    choices: list[Choice]

    def shown(self) -> dict[str, Any]:
        """Return it as plain data; a choice's id is its number, from "1"."""
        numbered = enumerate(self.choices, 1)
        choices = [{"id": str(n), "label": choice.label} for n, choice in numbered]
        return {"question": self.question, "choices": choices}


async def ask_back(state: State, runtime: Runtime[Context]) -> Update:
    """Ask one short question with choices if several documents or parties may be meant."""
    view, settings = runtime.context.view, runtime.context.settings
    doubt = await computed(doubt_of, state, view, settings.loop.care) if view else None
    if doubt is not None and can_pause():
        reply = str(interrupt(doubt.shown()))
        return _clarified(state, doubt, reply, settings.max_question_chars)
    if doubt is not None:
        why = "The graph has no checkpointer, without which no run can be resumed."
        tell_loss("a question to the asker", "nothing", why)
    return {"turn": {"clarified": {}}}


def doubt_of(state: State, view: View, care: Care) -> Doubt | None:
    """Return what is unclear about the question of a turn, or None if nothing is."""
    asked, parsed = state["asked"], state["parsed"]
    found = [*dict.fromkeys(passage["document"] for passage in state["passages"])]
    scope = parsed["documents"] or parsed["called"] or found
    first = not any(turn["role"] == "user" for turn in state["history"])
    pronoun = loose_pronoun(asked) if first else None
    if pronoun is not None and pronoun.of_a_person and (doubt := _parties(asked, scope, view)):
        return doubt
    if len(scope) < 2 or _names(asked, scope, view):
        return None
    if named := _pointed_to(parsed.get("pointed")):
        return _documents(sorted(named), view)
    return _of_several(state, scope, pronoun, view, care)


def _of_several(
    state: State, scope: Sequence[str], pronoun: Pronoun | None, view: View, care: Care
) -> Doubt | None:
    """Return which document may be meant if several may answer, or if "it" may be any of them."""
    fits = ExtractiveGenerator(view, care=care).each(state["parsed"], state["passages"])
    if pronoun is not None and not pronoun.led and len(fits) != 1:
        return _documents(sorted(fits or scope), view)
    if len(set(map(_plain, fits.values()))) < 2:
        return None
    rivals = _rivals(fits, fits, view)
    if any(DEFINING in passage["signals"] for passage in state["passages"]):
        return _meanings(rivals, fits)
    # whoever asks may mean another one of them, in which the answer was overlooked
    return _documents(_rivals(scope, rivals, view), view) or _documents(rivals, view)


def _rivals(names: Iterable[str], others: Iterable[str], view: View) -> list[str]:
    """Return the documents that are of one kind with others, but of other things, as two leases.

    What a law leaves open, the rules made for it say: both answer together.
    """
    return [n for n in sorted(names) if any(n != o and _are_rivals(n, o, view) for o in others)]


def _are_rivals(one: str, other: str, view: View) -> bool:
    """Return whether documents have parties of their own, or titles that differ in one place."""
    between = all(parties_of(view.text_of(name) or "") for name in (one, other))
    laid = aligned(view.titles[one], view.titles[other]).spans
    in_one_place = [kind for kind, *_ in laid if kind != "equal"] == ["replace"]
    return (between or in_one_place) and are_apart(one, other, view)


def _pointed_to(pointed: Pointed | None) -> list[str]:
    """Return the documents of what a question names by its number, or is told of structure."""
    if pointed is None:
        return []
    told = [citation["document"] for line in pointed["told"] for citation in line["citations"]]
    return [*dict.fromkeys([*told, *(unit["document"] for unit in pointed["units"])])]


def _documents(names: Sequence[str], view: View) -> Doubt | None:
    choices = [
        Choice(name if view.titles[name] in ("", name) else f"{name}: {view.titles[name]}", name)
        for name in names
    ]
    return _asked("Which document do you mean?", choices)


def _meanings(names: Iterable[str], statements: Mapping[str, str]) -> Doubt | None:
    choices = [
        Choice(f"{shorten(statements[name], _SHOWN, placeholder='…')} ({name})", name)
        for name in names
    ]
    return _asked("Which meaning do you ask for?", choices)


def _parties(asked: str, scope: Iterable[str], view: View) -> Doubt | None:
    """Return the parties of documents as choices, unless the question itself names one."""
    every = [(name, party) for name in scope for party in parties_of(view.text_of(name) or "")]
    said = term_set(asked)
    if any(said & term_set(f"{party.name} {party.role}") for _, party in every):
        return None
    choices = [
        Choice(f"{party.name}, {party.role} ({name})", name, f"the {party.role}")
        for name, party in every
        if party.role
    ]
    return _asked("Who is meant?", choices)


def _asked(question: str, choices: list[Choice]) -> Doubt | None:
    return Doubt(question, choices) if 1 < len(choices) <= _MOST else None


def _names(asked: str, scope: Sequence[str], view: View) -> bool:
    """Return whether a question says which of some documents it means: one of them, or several.

    It names one by a word that is of its title or name alone, and means several if a word that
    their titles share is in another form, or stands behind "which" or "each".
    """
    called = [f"{name} {view.titles[name]}" for name in scope]
    titles, said = [*map(terms_called, called)], term_set(asked)
    if any(sum(term in title for title in titles) == 1 for title in titles for term in said):
        return True
    shared = frozenset().union(*titles)
    forms = {word.lower() for word in PIECE.findall(" ".join(called))}
    return any(
        word.text not in forms or before.kind == "quantifier" or before.text in WH.split("|")
        for before, word in pairwise(read_words(asked))
        if term_set(word.text) & shared
    )


def _plain(said: str) -> str:
    return " ".join(said.split()).casefold()


def _clarified(state: State, doubt: Doubt, reply: str, limit: int) -> Update:
    """Return the question as the reply makes it: a choice, or else other words for it."""
    said = folded(typed(reply))[:limit]
    choice = _chosen(said, doubt)
    if not any(map(str.isalnum, said)):
        return {"turn": {"clarified": {}}}
    clarified: Clarified = {"question": doubt.question, "reply": said, "documents": []}
    settled: Update = {}
    if choice is None:
        before: Turn = {"role": "user", "content": state["asked"]}
        back: Turn = {"role": "assistant", "content": doubt.question}
        settled = {"asked": said, "history": [*state["history"], before, back]}
    else:
        clarified["documents"] = [choice.document]
        said = in_context(state["turn"].get("typed", state["asked"]), choice.label)
        if choice.subject:
            subject: Turn = {"role": "user", "content": choice.subject}
            settled["history"] = [*state["history"], subject]
    lines = [doubt.question, *(f"{n}. {c.label}" for n, c in enumerate(doubt.choices, 1))]
    messages: list[AnyMessage] = [AIMessage("\n".join(lines)), HumanMessage(said)]
    turn: OpenTurn = {"clarified": clarified, "typed": said}
    return {**settled, "turn": turn, "messages": messages}


def _chosen(reply: str, doubt: Doubt) -> Choice | None:
    """Return the choice that a reply is: its number, its label, or words that it alone has."""
    for n, choice in enumerate(doubt.choices, 1):
        if reply.casefold() in (str(n), choice.label.casefold()):
            return choice
    terms = terms_called(reply)
    having = [one for one in doubt.choices if terms and terms <= terms_called(one.label)]
    return having[0] if len(having) == 1 else None
