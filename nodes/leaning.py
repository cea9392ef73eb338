"""Later parts of a question that lean on the first: "for how long?", "and who issues it?".

What a follow-up goes back to is written behind it, and taken off where only it counts.
"""

import re

from lexloop.corpus.text.tokens import tokenize

AUXILIARY = (
    "can|could|does|do|did|is|are|was|were|must|should|may|will|would|has|have|shall|am|might|need"
)
WH = r"what|how|when|where|whom|whose|who|which|why"
_BEFORE = (
    r"(?:up\s+)?(?:to|for|in|under|within|by|against|at|on|from|of|until|till|since|with|about"
    r"|through|before|after)"
)
ASKING = rf"(?:{_BEFORE}\s+)?(?:{WH}|whether)"
"""How a question, or what is left of one, begins."""
IF_SO = r"(?:if\s+(?:so|not|yes|no)\b,?\s*)?"
ELLIPSIS = (
    rf"(?:{_BEFORE}\s+(?:what|which|whom|how|when|where)|how|when|where|why|whom)"
    rf"(?:\s+(?!(?:{AUXILIARY})\b)[\w-]+){{0,3}}"
)
"""A question word with what belongs to it and no verb: "for how many years"."""
_REGARDING = ", regarding "
_LEFT_OUT = re.compile(rf"(?:and\s+|or\s+)?(?:{ELLIPSIS}|who|what|which)\s*\??$", re.IGNORECASE)
_JOINT = re.compile(rf"^(?:(?:and|or|but|also)\b,?\s*)?{IF_SO}", re.IGNORECASE)
_NOBODY = re.compile(
    r"\bit(?=\s+(?:is\s+|be\s+)?(?:help|matter|suffic|enough|possible|necessary|allowed to"
    r"|lawful to|permitted to|make a difference)\w*\b)",
    re.IGNORECASE,
)
"""An "it" that stands for nothing: "would it help if ..."."""
_PRONOUN = re.compile(r"\b(?:it|they|them)\b", re.IGNORECASE)
_LEANS = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|hers?)\b"
    r"|^(?:is|are|was|were)\s+there(?:\s+(?:any|some))?\s+[\w-]+\s*\??$"
    r"|\b(?:this|these|those)(?=\s*(?:\?|$)|\s+(?:is|are|be|apply|take|happen|mean|work)\b)",
    re.IGNORECASE,
)
_YES_NO = re.compile(rf"(?:{AUXILIARY})\b", re.IGNORECASE)
_OF_TIME_OR_PLACE = re.compile(
    rf"(?:{_BEFORE}\s+\w+(?:\s+\w+)?|when|where|why|how(?:\s+(?:long|often|soon|much))?)\s+"
    rf"(?P<rest>(?:{AUXILIARY})\b.+)$",
    re.IGNORECASE,
)
_OF_SUBJECT = re.compile(
    rf"(?:what|which(?P<noun>(?:\s+(?!(?:{AUXILIARY})\b)[\w-]+){{1,4}}))\s+"
    r"(?P<verb>(?:is|are|was|were|(?:must|may|can|should|shall|will)(?=\s+(?:not\s+)?be\b)))\b"
    r"\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_WHO_MUST = re.compile(
    r"who\s+(?P<verb>must|may|can|should|shall|will|could)\b\s+(?P<rest>.+)$", re.IGNORECASE
)
_OF_OBJECT = re.compile(
    rf"(?:what|which)(?P<noun>(?:\s+(?!(?:{AUXILIARY})\b)[\w-]+){{1,4}})\s+"
    rf"(?P<rest>(?:{AUXILIARY})\s+(?:an?|the|my|your|our|i|you|we|they|he|she)\s+.+)$",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"(?:\b(?:definitions?|meaning|purpose|role) of |^what (?:is|are) "
    r"|^what do(?:es)? (?=[^?]{0,80} mean\b))"
    r"(?P<topic>(?:an? |the )?['\"‘“]?[\w\s\-]{2,60}?['\"’”]?)"
    r"(?=[,?;.]|\s(?:and|in|for|mean|when)\b|$)",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:an?|the|my|your|our)\s+(?:(?:new|full|first|second|next|last|other|[\w-]+(?:al|ive|ary|ory|ic|ous|ble|ful|ed|ing|en))\s+){0,2}"
    r"[\w-]+",
    re.IGNORECASE,
)
_PEOPLE = re.compile(r"^who\b", re.IGNORECASE)


def leans(part: str) -> bool:
    """Whether a part of a question names what only another part or sentence can say."""
    return _LEANS.search(_NOBODY.sub("", part)) is not None or bool(_LEFT_OUT.match(part))


def standing_alone(part: str, first: str) -> str:
    """A later part of a question as it can be understood without the first.

    What is left out of it is taken from the first, and a pronoun stands for the one thing that the
    first names; where that is not certain the first part is put before it.

    Args:
        part: The later part.
        first: The part that it may lean on.
    """
    bare = _JOINT.sub("", part).strip()
    if _LEFT_OUT.match(bare):
        whole = "" if _LEANS.search(bare) else _completed(bare.rstrip(" ?"), first.rstrip(" ?."))
        return whole or _joined(bare, first)
    if not leans(bare):
        return bare or part
    topic = _TOPIC.search(first)
    if topic and _PRONOUN.search(bare):
        return _PRONOUN.sub(lambda _: topic["topic"].strip(), bare, count=1)
    things = dict.fromkeys(_THING.findall(first))
    if len(things) == 1 and _PRONOUN.search(bare) and not _PEOPLE.match(first):
        return _PRONOUN.sub(lambda _: next(iter(things)), bare, count=1)
    return _joined(bare, first)


def _completed(asking: str, first: str) -> str:
    """The first part with another question word; nothing where its verb cannot be told."""
    if _YES_NO.match(first):
        return f"{asking} {first[0].lower()}{first[1:]}?"
    if found := _OF_TIME_OR_PLACE.match(first):
        return f"{asking} {found['rest']}?"
    if found := _WHO_MUST.match(first):
        return f"{asking} {found['verb']} they {found['rest']}?"
    if found := _OF_OBJECT.match(first):
        return f"{asking} {found['rest']}{found['noun']}?"
    if found := _OF_SUBJECT.match(first):
        return f"{asking} {found['verb']}{found['noun'] or ' it'} {found['rest']}?"
    return ""


def _joined(part: str, first: str) -> str:
    return f"{first.rstrip(' ,;?.')}, {part}"


def in_context(question: str, context: str) -> str:
    """A question that leans on a conversation, with what it goes back to behind it."""
    return f"{question.rstrip(' ?.!')}{_REGARDING}{context.rstrip(' ?.!')}?"


def without_context(question: str) -> str:
    """What is asked, without the context that ``in_context`` wrote behind it.

    The context finds the provision; inside it every statement shares those words, and what is asked
    tells them apart. Where what is asked names nothing of its own, the context stays.
    """
    asked, regarding, _ = question.partition(_REGARDING)
    return f"{asked}?" if regarding and tokenize(asked) else question
