"""Greetings, thanks and questions about the assistant itself, which need no documents."""

from collections.abc import Sequence

from lexloop.core.state import Update
from lexloop.core.types import Evaluation
from lexloop.documents.text.tokens import words as words_of
from lexloop.nodes.markers import unmarked
from lexloop.nodes.question.parts import WH

UNSCORED: Evaluation = {
    "answer_relevance": None,
    "context_relevance": None,
    "groundedness": None,
    "citations_verified": True,
    "passed": False,
    "reasons": [],
}
"""The evaluation of an answer without scores."""
_MOST_NAMES = 5
_PLEASANT = frozenset(
    """a again all alright am and answer answers any appreciate are as at awesome back be been best
    bit brilliant but care chat clear cool could day days dear did doing done earlier enough evening
    everyone everything excellent exactly explained explanation explanations fantastic fine folks
    for friend from fully glad go going good got great had happy has have having help helped helpful
    helping helps hope how i i'll i'm information interesting is it it's its just kind know later
    learnt let lot lots lovely made makes many me meet moment much my need needed needs nice nicely
    night no nothing now of oh ok okay one only perfect perfectly please pleased pleasure pretty
    question questions quick quickly really rest right say see sense so soon still super talk team
    that that's that'll the then there there's this time to today tonight too understand understood
    useful very was way week weekend well what with wonderful wonderfully work worked yes yet you
    you're you've your yours yourself""".split()
)
_OPENS = {
    "Hello. {offered}": """afternoon evening greetings hello hey hi hiya howdy morning yo""",
    "You are welcome. You can ask on about {known}.": (
        "appreciate appreciated cheers grateful thank thankful thanks thx ty"
    ),
    "Goodbye. You can come back to {known}.": """bye bye-bye cya farewell goodbye goodnight later
    night soon tomorrow""",
}
_OFFERED = "I answer questions from these {kind}, and cite where it stands: {known}."
_ABOUT = frozenset(
    """a able about ai all am an and answer answered answering answers any anything are area areas
    ask asked asking assist assistant at available based bot built by can capabilities chatbot
    collection collections could cover covered covers database databases deal do document documents
    does else exactly examples explain field fields file files find for from function functions give
    good have help helpful here how human i in is it kind kinds know language languages
    laws like list look machine made main made make may me model more my name named not of offer on
    or our people person please purpose question questions read real robot search show so some
    something sort sorts source sources speak subject subjects support system talk tell that the
    there these they thing things this to tool topic topics type types understand up us
    we what what's which who who's with work works would you your yourself""".split()
)
_TO_ME = frozenset(
    """assistant bot capabilities chatbot collection collections help robot you your
    yourself""".split()
)


def small_talk(text: str, kind: str, names: Sequence[str]) -> str:
    """Return the reply to a greeting, to thanks, or to "what can I ask?"; "" for a question.

    Every word must be one of small talk: a question about a law has other words.

    Args:
        text: The user's turn.
        kind: What can be asked: ``documents`` or ``collections``.
        names: Their names.
    """
    spoken = words_of(text)
    words = frozenset(spoken)
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    known = unmarked(", ".join([*names[:_MOST_NAMES], *more]))
    offered = _OFFERED.format(kind=kind, known=known)
    opening = {reply: set(opens.split()) for reply, opens in _OPENS.items()}
    counts = "how" in words and not words.isdisjoint({"many", "much"})
    if words and words <= _PLEASANT.union(*opening.values()) and not counts:
        greeting, *_ = opening.values()
        asks = text.rstrip().endswith("?") or spoken[0] in WH.split("|")
        if asks and words.isdisjoint({"you", *greeting}):
            return ""
        for reply, opens in opening.items():
            if words & opens:
                return reply.format(known=known, offered=offered)
        return offered
    asks_me = words & _TO_ME or {"i", "ask"} <= words
    return offered if asks_me and words <= _ABOUT else ""


def replied(reply: str) -> Update:
    """Return the state keys of a reply that needs no documents."""
    return {
        "answer": reply,
        "abstained": False,
        "finding": "reply",
        "evaluation": {**UNSCORED, "passed": True, "reasons": ["No document was needed."]},
    }
