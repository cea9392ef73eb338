"""The embedded router: which collections a question is for, and which part of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lexloop.core.types import Turn
from lexloop.corpus.index.view import View
from lexloop.nodes.question import question_parts
from lexloop.nodes.rewrite.rules import resolved

_LEAST = 0.45


@dataclass(frozen=True)
class Routing:
    """Whom to ask what: ``ways`` has "" for a collection that is asked the whole question.

    ``reply`` answers what no documents are needed for; without ways and reply the question is about
    none of the collections.
    """

    standalone: str
    ways: dict[str, str] = field(default_factory=dict)
    reply: str = ""


def route(question: str, history: Sequence[Turn], views: Mapping[str, View]) -> Routing:
    """Choose the collections that a question is for."""
    if reply := small_talk(question, list(views)):
        return Routing(question, reply=reply)
    standalone, _ = resolved(question, list(history))
    parts = question_parts(standalone)
    chosen: dict[str, list[str]] = {}
    for part in parts:
        score, name = max((_near(part, view), name) for name, view in views.items())
        if score >= _LEAST:
            chosen.setdefault(name, []).append(part)
    ways = {name: " ".join(chosen[name]) for name in views if name in chosen}
    if len(ways) == 1:
        ways = dict.fromkeys(ways, "")
    return Routing(standalone, ways)


def _near(part: str, view: View) -> float:
    lexical, vector = view.search_lexical([part], 10)[0], view.search_vector([part], 10)[0]
    ids = list(dict.fromkeys(hit.chunk_id for hit in [*lexical, *vector]))
    close = view.closeness(part, ids)
    if close is None or not ids:
        return max((hit.score for hit in vector), default=0.0)
    return float(close.mean(axis=0).max())


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PLEASANT = frozenset(
    """a again all am and answer answers any appreciate are as at awesome be been bit brilliant but
    clear cool day dear did evening everyone everything excellent explanation fine folks for friend
    from fully glad going got good great have help helped helpful helps hope how i information
    interesting is it it's its just kind later lot lots lovely made makes me meet morning much my
    need needed nice night no now of oh ok okay one perfect please quick rest right sense so soon
    that that's the then there this time to today tomorrow understand understood very was week
    weekend well what with wonderful worked yes you your you're""".split()
)
_OPENS = {
    "hello": """afternoon evening greetings hello hey hi howdy morning""",
    "thanks": """appreciate cheers grateful thank thanks thx""",
    "bye": """bye cya farewell goodbye goodnight later night tomorrow""",
}
_ABOUT = re.compile(
    r"(?:(?:so|and|ok|okay|please)\W+)*(?:what (?:can|do|could|are|else can) (?:you|this|it)"
    r"(?: (?:do|know|able to do|for|good at|cover|answer|help(?: me)? with))?(?: for me)?"
    r"(?: about)?|who are you|what is this|what can i ask(?: you)?(?: about)?"
    r"|(?:(?:can|could|will) you )?help(?: me)?|how (?:do|can) i use (?:you|this)"
    r"|how does this work|how do you work|(?:what|which) (?:documents|collections|sources|laws"
    r"|files) (?:do you (?:have|know|use|cover)|are (?:there|available|here)|can i ask))\W*",
    re.IGNORECASE,
)


def small_talk(said: str, names: Sequence[str]) -> str:
    """Return the reply to a greeting, thanks, or what can be asked; "" for a question."""
    words = [word.lower() for word in _WORD.findall(said)]
    known = ", ".join(names)
    offered = f"I answer questions from these collections, and cite where it stands: {known}."
    if _ABOUT.fullmatch(said.strip()):
        return offered
    pleasant = _PLEASANT.union(*(opens.split() for opens in _OPENS.values()))
    if not words or not set(words) <= pleasant:
        return ""
    for reply, opens in _OPENS.items():
        if set(words) & set(opens.split()):
            return {
                "hello": f"Hello. {offered}",
                "thanks": f"You are welcome. Ask on about {known}.",
                "bye": f"Goodbye. You find here again: {known}.",
            }[reply]
    return f"{offered}" if "you" in words else ""
