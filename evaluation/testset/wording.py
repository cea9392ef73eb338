"""Phrases of a document made fit to stand in a question, or turned down."""

import re

from lexloop.corpus.triplets.phrases import readable
from lexloop.evaluation.testset.ask import lowered, with_article

_OWN_NAME = re.compile(
    r"\b(?:this|the present)\s+(agreement|contract|policy|law|act|rule|statute|code|lease"
    r"|licen[cs]e|plan|scheme|ordinance|regulation|rulebook|subchapter|chapter|website|site"
    r"|service|platform|product|document|guide|handbook|manual|local law)\b",
    re.IGNORECASE,
)
_UNCLEAR = re.compile(
    r"\b(?:this|these|those|such|it|they|them|thereof|therein|thereto|herein|hereto|hereunder|said"
    r"|aforesaid|former|latter|following|above|below|same|foregoing|he|she|we|us|our|likewise|so)\b"
    r"|\b(?:subdivision|(?:sub)?paragraph|subsection|subclause)s?\b|(?:section|clause)s?\s+\(|[:;\"“”|=•]"
    r"|\bnot later\b|\bshall\b|\bthat is\b|\bfor example\b|\be\.g|\bi\.e|\bexample\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"\s(?:and|or|of|to|for|in|by|with|on|at|from|the|an?|that|which|who|as|any|not|be|is|are|only|than"
    r"|least|under|when|where|if|but|within|its|their|also|both|either|do)$",
    re.IGNORECASE,
)
_QUANTIFIED = re.compile(r"(?:any|each|every)\s+(?=\w)", re.IGNORECASE)
_DETERMINER = re.compile(r"(?:an?|the|all|both|your|my|our|their|its|his|her)\s", re.IGNORECASE)
_LABEL = re.compile(r"^[A-Z][\w/.,\- ]{1,60}:\s+(?=[a-z])")
_ASIDE = re.compile(r"\s\((?!\w{1,3}\))[^()]*\)")
_TO_READER = {
    "we": "you", "us": "you", "our": "your", "ours": "yours", "ourselves": "yourselves",
    "you": "I", "your": "my", "yours": "mine", "yourself": "myself",
}  # fmt: skip
_TOLD = re.compile(rf"\b(?:{'|'.join(_TO_READER)})\b", re.IGNORECASE)
_OBJECT = re.compile(
    r"\b(to|for|from|with|about|by|tell|give|show|send|notify|inform|charge|refund|contact|provide"
    r"|between|offer|ask|affects?|keeps?|concerns?|allows?|help|identify|allow|enable|require)\sI\b"
)
_ACTOR = re.compile(
    r"(?:er|or|ee|ant|ent|ian|ist|agency|person|people|party|parties|bank|firm|body|counsel|committee"
    r"|board|company|individual|authority|department|minister|controller|tribunal|council)s?$",
    re.IGNORECASE,
)
_NO_ACTOR = re.compile(
    r"(?:number|order|letter|paper|matter|agreement|document|amendment|(?:pay|require|treat|assess|invest"
    r"|employ|docu|judg|arrange|settle|state|instru|environ|ship|equip|measure)ment|component|content|extent"
    r"|percent|factor|error|offer|register|consent|quarter|chapter|event|incident|grant|newsletter|account"
    r"|fee|server|computer|folder|header|monitor|sensor|amount|patent|rent|power|member state"
    r"|colou?r)s?$",
    re.IGNORECASE,
)
MOST_WORDS = 34


def without_label(body: str) -> str:
    """A list item without the label before its sentence: "Job posting: the notice is"."""
    label = _LABEL.match(body)
    states = label and re.search(
        r"\b(?:is|are|must|may|shall|will|has|have|one|two)\b", label.group()
    )
    return _LABEL.sub("", body) if not states else body


def settled(phrase: str) -> str:
    """A phrase on one line, without asides, whose "this Agreement" is "the Agreement"."""
    plain = _ASIDE.sub("", " ".join(phrase.split()))
    plain = re.sub(r"\b(?:each|any|every|all) such\b", "the", plain)
    return _OWN_NAME.sub(r"the \1", readable(plain, 400))


def from_reader(phrase: str) -> str:
    """What a notice tells "you", as that reader asks: your data is mine, and "we" are you."""
    turned = _TOLD.sub(lambda found: _TO_READER[found.group().lower()], phrase)
    turned = _OBJECT.sub(r"\1 me", re.sub(r"\bI are\b", "I am", turned))
    return re.sub(r"\bI were\b", "I was", turned)


def is_clear(*phrases: str) -> bool:
    """Whether the phrases can be understood where nothing stands around them."""
    text = " ".join(filter(None, phrases))
    unclear = any(_UNCLEAR.search(phrase) or _DANGLING.search(" " + phrase) for phrase in phrases)
    return not unclear and len(text.split()) <= MOST_WORDS and text.count("(") == text.count(")")


def subject_of(phrase: str) -> str:
    """A subject as a question names it: "an employer" for "any employer"; "" where it cannot be.

    "This notice of use" is named "the notice of use", and "this notice" alone says too little.
    """
    text = settled(phrase)
    if re.match(r"(?:this|that|these|those)\s", text, re.IGNORECASE):
        text = "the " + text.split(" ", 1)[1] if len(text.split()) > 3 else ""
    if re.match(r"no\s", text, re.IGNORECASE):
        text = with_article(text[3:])
    if found := _QUANTIFIED.match(text):
        text = with_article(text[found.end() :])
    if re.search(
        r"\b(?:its|their)\b|^(?:if|when|where|that|and|or|but|than|as)\b", text, re.IGNORECASE
    ):
        return ""
    first, _, rest = text.partition(" ")
    if re.fullmatch(r"(?:[A-Z][a-z]*(?:tion|data)|Notices?|Records)", text):
        text = text.lower()
    if _DETERMINER.match(text) or (first.istitle() and rest and not re.search("[A-Z]", rest)):
        text = lowered(text)
    return from_reader(text)


def as_statement(text: str) -> str:
    """A sentence of a document as an answer: one line, a capital first, a full stop last."""
    line = " ".join(without_label(text).split()).rstrip(" ,;:")
    line = re.sub(r"[;,]?\s(?:and|or|and/or)$", "", line)
    line = line[:1].upper() + line[1:]
    return line if line.endswith((".", "!", "?", ".”", '."')) else f"{line}."


def is_actor(subject: str) -> bool:
    """Whether a noun phrase names somebody who acts, as far as its head tells."""
    if subject in ("I", "you"):
        return True
    head = re.split(r"\s(?:of|for|in|to|with|that|who|which)\s", subject)[0]
    return bool(_ACTOR.search(head)) and not _NO_ACTOR.search(head)
