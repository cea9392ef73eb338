"""Follow-ups: a question that leans on the conversation, made to stand alone."""

import re

from lexloop.core.types import Turn
from lexloop.corpus.structure.pointing import only_points, placed
from lexloop.corpus.text.tokens import STOP_WORDS, words
from lexloop.nodes.question import without_preamble

_EMPTY = STOP_WORDS | frozenset(
    """definition define defined meaning mean means purpose objective goal called name used apply
    applied included include includes included required requirement requirements rule rules thing
    one ones example examples happen happens say says does work works returned brought made done
    explain details detail information else example difference main important hello hi hey
    thanks thank please ok okay good morning afternoon evening""".split()
)
_POINTER = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|she|such|there|the (?:former|latter))\b",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?:what|which|why|the|\w+\W*$)", re.IGNORECASE)
"""With one word of its own, "Which courts?" leans, "Who can sue?" does not."""
_POSSESSIVE = re.compile(r"\b(?:its|their)\s+(\w+)")
_PRONOUN = re.compile(r"\b(?:it|they|them|this|that)\b")
_WHAT_IS = re.compile(r"what (?:is|are) (?P<subject>.+)$", re.IGNORECASE)
_TOPIC_CHARS = 4000
"""What is read of a turn to find its topic; a history is not limited as a question is."""
_OPENING = re.compile(r"(?:and|but|so|then|what about|how about|also|or)\b", re.IGNORECASE)


def leans_on_history(question: str) -> bool:
    """Whether a question points outside itself or names nothing of its own."""
    if only_points(question):
        return False
    content = [word for word in words(question) if word not in _EMPTY]
    if not content or (len(content) == 1 and _BARE.match(question)):
        return True
    pointed = bool(_POINTER.search(question)) and len(content) <= 4
    return pointed or (bool(_OPENING.match(question)) and len(content) <= 5)


def topic_of(history: list[Turn]) -> str | None:
    """What the user last spoke of: their latest turn that names something, without preamble."""
    for turn in reversed(history):
        if turn["role"] == "user":
            topic = without_preamble(turn["content"][:_TOPIC_CHARS], least=1).strip(" .?!")
            if any(word not in _EMPTY for word in words(topic)):
                return topic
    return None


def standalone_question(question: str, history: list[Turn]) -> str:
    """The question with what it leans on written out; unchanged where it stands alone.

    "What is it?" after "I would like to know about bias audits" becomes
    "What are bias audits?".
    """
    said = [turn["content"][:_TOPIC_CHARS] for turn in history if turn["role"] == "user"]
    question = placed(question, said)
    topic = topic_of(history)
    if topic is None or not leans_on_history(question):
        return question
    if not any(word not in _EMPTY for word in words(question)) and (asked := _as_question(topic)):
        return asked
    if (about := _WHAT_IS.match(topic)) and _is_noun_phrase(about["subject"]):
        topic = about["subject"]
    if _is_noun_phrase(topic):
        if plural := re.match(r"(?P<wh>what|who|where|how) is it\b", question, re.IGNORECASE):
            verb = "are" if re.search(r"[^s]s$", topic.split(" of ")[0]) else "is"
            return f"{plural['wh']} {verb} {topic}{question[plural.end() :]}"
        possessive = _POSSESSIVE.sub(lambda its: f"the {its[1]} of {topic}", question, count=1)
        if possessive != question:
            return possessive
        named = _PRONOUN.sub(lambda _: topic, question, count=1)
        if named != question:
            return named
    return f"{question.rstrip(' ?.!')}, regarding {topic}?"


def _as_question(topic: str) -> str | None:
    """A topic that is itself what was asked, as a question.

    "the definition of 'test data'" or "where a penalty can be recovered", when the follow-up adds
    nothing of its own.
    """
    if re.match(r"(?:what|where|when|who|which|how|why|whether)\b", topic, re.IGNORECASE):
        return f"{topic[0].upper()}{topic[1:]}?"
    attribute = re.match(r"the (?P<noun>\w+) (?:of|for|to|under)\b", topic, re.IGNORECASE)
    if attribute is None:
        return None
    verb = "are" if re.search(r"[^s]s$", attribute["noun"]) else "is"
    return f"What {verb} {topic}?"


def _is_noun_phrase(topic: str) -> bool:
    """Whether a topic can take a pronoun's place: short, and neither a clause nor a question."""
    clause = re.search(
        r"\b(?:is|are|was|were|can|could|may|must|should|will|has|have|does|do|to|what|where|when"
        r"|how|who|which|whether|if)\b",
        topic,
        re.IGNORECASE,
    )
    return not clause and len(topic.split()) <= 8
