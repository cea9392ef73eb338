"""Parsing a question: its parts, the kind of fact that answers each, and the names in it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from itertools import pairwise

from lexloop.core.types import Kind, ParsedQuestion, Part
from lexloop.documents.structure.references import find_references
from lexloop.documents.text.languages import small_words
from lexloop.documents.text.quantities import TIMES
from lexloop.documents.text.tokens import STOP_WORDS, sentence_spans, term_set, tokenize, words

AUXILIARY = (
    "can|could|does|do|did|is|are|was|were|must|should|may|will|would|has|have|shall|am|might|need"
)
WH = r"what|how|when|where|whom|whose|who|which|why"
_PREPOSITION = (
    r"(?:up\s+)?(?:to|for|in|under|within|by|against|at|on|from|of|until|till|since|with|about"
    r"|through|before|after)"
)
ASKING = rf"(?:{_PREPOSITION}\s+)?(?:{WH}|whether)"
"""The beginning of a question, or of a shortened one."""
IF_SO = r"(?:if\s+(?:so|not|yes|no)\b,?\s*)?"
ELLIPSIS = (
    rf"(?:{_PREPOSITION}\s+(?:what|which|whom|how|when|where)|how|when|where|why|whom)"
    rf"(?:\s+(?!(?:{AUXILIARY})\b)[\w-]+){{0,3}}"
)
"""A question word with its phrase and without a verb: "for how many years"."""
_REGARDING = ", regarding "
LEFT_OUT = re.compile(rf"(?:(?:and|or)\s+)?(?P<asked>{ELLIPSIS}|who|what|which)\W*$", re.IGNORECASE)
"""A question word without a question: "And where?"."""
BEGINS = re.compile(rf"[,;:]\s+(?=(?:{ASKING}|{AUXILIARY})\b)", re.IGNORECASE)
"""The beginning of a question within a sentence: "in the lease of Otto Lind, who ..."."""
_JOINT = re.compile(rf"^(?:(?:and|or|but|also)\b,?\s*)?{IF_SO}", re.IGNORECASE)
_NOBODY = re.compile(
    r"\bit(?=\s+(?:is\s+|be\s+)?(?:help|matter|suffic|enough|possible|necessary|allowed to"
    r"|lawful to|permitted to|make a difference)\w*\b)",
    re.IGNORECASE,
)
"""An "it" without a referent: "would it help if ..."."""
PERSONAL = re.compile(r"\b(?:it|they|them|he|him|she)\b(?!\s+own\b)", re.IGNORECASE)
_LEANS = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|hers?)\b"
    r"|^(?:is|are|was|were)\s+there(?:\s+(?:any|some))?\s+[\w-]+\s*\??$"
    r"|\b(?:this|these|those)(?=\s*(?:\?|$)|\s+(?:is|are|be|apply|take|happen|mean|work)\b)",
    re.IGNORECASE,
)
_TOPIC_OF = re.compile(
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


def leans(part: str) -> bool:
    """Return whether a part of a question needs another part or sentence to be understood."""
    return _LEANS.search(_NOBODY.sub("", part)) is not None or bool(LEFT_OUT.match(part))


def standing_alone(part: str, first: str) -> str:
    """Return a later part of a question as it can be understood without the first.

    Omitted words come from the first part, and a pronoun is replaced by the only thing that the
    first part names. If that is uncertain, the first part is put before it.
    """
    bare = _JOINT.sub("", part).strip()
    if not LEFT_OUT.match(bare):
        if not leans(bare):
            return bare or part
        if PERSONAL.search(bare):
            topic, things = _TOPIC_OF.search(first), dict.fromkeys(_THING.findall(first))
            if topic:
                return PERSONAL.sub(lambda _: topic["topic"].strip(), bare, count=1)
            if len(things) == 1 and first.lower().split()[:1] != ["who"]:
                return PERSONAL.sub(lambda _: next(iter(things)), bare, count=1)
    return f"{first.rstrip(' ,;?.')}, {bare}"


def in_context(question: str, context: str) -> str:
    """Return a question with the context that it needs after it."""
    return f"{question.rstrip(' ?.!')}{_REGARDING}{context.rstrip(' ?.!')}?"


def without_context(question: str) -> str:
    """Return a question without the context that ``in_context`` put after it.

    The context finds the provision. All statements within it share these words, so only the
    question distinguishes them. If the question has no search term, the context stays.
    """
    asked, regarding, _ = question.partition(_REGARDING)
    return f"{asked}?" if regarding and tokenize(asked) else question


def with_context_of(question: str, part: str) -> str:
    """Return a part of a question with the question's context after it."""
    _, _, context = question.partition(_REGARDING)
    return in_context(part, context) if context else part


MOST_PARTS = 16
_REQUESTS = tuple(
    "explain tell describe list define clarify confirm summarise summarize compare outline".split()
)
_ASKING_WORDS = frozenset((*WH.split("|"), "whether", *_REQUESTS))
_PREAMBLES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^as (?:an?|the|your)\b[^,?]{0,160},\s*",
        r"^(?:(?:hi|hello|hey|thanks|thank you|ok|okay|so|well|please)\b[,.!]?\s*)+",
        r"^(?:i|we)(?:'m| am|'d| would| want| need|'ve| have|'re| are)?\b[^,?]{0,60}?\b(?:to )?"
        r"(?:know|understand|learn|find out|ask|hear|confirm|question|looking at|reading"
        r"|interested)"
        r"\b\s*(?:about|if|that|more about|in)?\s*",
        r"^(?:can|could|would|will) you\b[^?]{0,25}?"
        r"\b(?:explain|tell|describe|clarify|provide|give|confirm|list|define|help)\b"
        r"\s*(?:me|us)?\b\s*(?:to understand|understand|with|about|if)?\s*",
        r"^(?:please )?(?:explain|tell me|describe|clarify|list|define|confirm)\b"
        r"\s*(?:about|if)?\s*",
    )
]
_FILLER = (
    r"(?:(?:anyway|so|but|well|now|quickly|also|please|then|actually|tell me|say|my question"
    rf"(?: is)?)\b[\s,:]*+){{0,8}}{IF_SO}"
)
_INDIRECT = (
    rf"(?:{ASKING})\s+(?:it|they|he|she|we|you|i|the|an?|this|that|these|those|such|its|their|his"
    rf"|her|our|your|my)\b|how\s+(?!(?:{AUXILIARY})\b)\w+\s+(?:it|they|he|she|we|you|i|the|an?)\b"
)
"""A clause in the order of a statement: "how it is paid"."""
_NEXT = rf"(?:(?:{ASKING}|{AUXILIARY})\s|{ELLIPSIS}\s*(?:[?,;.]|$))"
_NEW_PART = re.compile(
    rf"(?:[,;:]|(?<!\s)\s+-+)?(?<!\s)\s+(?:and|but|or|however|also)\s+(?:also,?\s+)?{_FILLER}"
    rf"(?={_NEXT})"
    rf"|[;:]\s+{_FILLER}(?={_NEXT})"
    rf"|,\s+so\s+{_FILLER}(?={_NEXT})"
    rf"|,\s+(?={ELLIPSIS}\s*(?:[?,;.]|\s(?:and|or)\b|$))",
    re.IGNORECASE,
)
_IS_INDIRECT = re.compile(rf"{_FILLER}(?:{_INDIRECT})", re.IGNORECASE)
_OPENS = re.compile(
    rf"{_FILLER}(?:(?:{ASKING}|{AUXILIARY})\b|{'|'.join(_REQUESTS)}|provide|give)",
    re.IGNORECASE,
)
# carries, by benchmarks/rules.py, .21 of the GDPR's lists that are answered whole
_SEVERAL = re.compile(
    r"\b(?:what|which)\s+(?:are|were)\b|\b(?:list|enumerate|name)\b"
    r"|\bwhich\s+(?:[\w-]+\s+){0,3}[\w-]*[^\Wsiu]s\b(?!\s+[\w-]+s\b)"
    r"|\b(?:in|under|on|for)\s+(?:which|what)\s+\w+s\b|\bwhat\s+(?:\w+\s+){0,3}\w+s\s+(?:must|may"
    r"|can|shall|does|do|did|has|have|are)\b|\bwhen\s+(?:may|can|must|need|is|are|does|do)\b"
    r"|\bwhat\s+(?:must|should|shall|does|do|may|can)\b|\bwhat\s+information\b",
    re.IGNORECASE,
)
# carries .024 of LL144's correct answers, beside the other rules that stay
_DUTIES = (
    ("must should shall do does can may", "do comply observe"),
    (
        "are is",
        "obligation obligations duty duties requirement requirements responsibility"
        " responsibilities",
    ),
)
"""The words after "what", and the words after these."""
# carries, by benchmarks/rules.py, .03 of the right verdicts on LL144
_BETWEEN = re.compile(
    r"\b(?:differ\w*|distinction\w*|distinguish\w*|relat\w+|compar\w+|similarit\w+|vs|versus)\b"
    r".{0,80}?\bbetween\s++(?P<left>.{1,200}?)(?<!\s)\s+and\s+(?P<right>[^,?;]+)",
    re.IGNORECASE,
)
_DIFFER = re.compile(
    r"^how (?:do|does|is|are)\s+(?P<left>[^?,;]{1,120}?)(?<!\s)\s+(?:and\s+(?P<both>[^?,;]{1,120}?)"
    r"(?<!\s)\s+(?:differ\w*|compare\w*|relate\w*)\b|(?:differ\w*|compare\w*|relate\w*)\s+"
    r"(?:from|to|with)\s+(?P<right>[^?,;]{1,120}))",
    re.IGNORECASE,
)
_NAMELESS = frozenset(f"{WH}|whether|that|those|this|these|it|them|one|each".split("|"))
_ASKED_TERM = re.compile(
    r"(?:definitions? of|meanings? of|what (?:is|are)|what do(?:es)?|what constitutes"
    r"|how (?:is|are)|\bdefine)\s++"
    r"(?:(?:the )?(?:terms?|phrase|word|definition of|meaning of)\s++)?(?:an? |the )?"
    r"(?P<open>['\"‘“])?(?P<term>[\w\-,/ ]{3,60}?)['\"’”]?"
    r"(?=(?<!\s)\s+(?:mean|refer|is\b|in the|according|that\b|defined|under\b|for\b|signif|here\b"
    r"|and\s+(?:wh\w+|how|is|are|do|does|can|could|must|should|may|the|its|their|in)\b)"
    r"|[?,.;:]|$)",
    re.IGNORECASE,
)
_SURELY = re.compile(r"defin|meaning|\bmeans?\b|refers? to|constitutes|\bthe term", re.IGNORECASE)
_PLAIN = re.compile(
    r"what (?:is an? |(?:are |is (?=[\w\-]+ ))"
    r"(?!(?:the|my|your|our|his|her|its|their|it|this|that|these|those)\b))[\w\- ]{3,40}\??$",
    re.IGNORECASE,
)
_MAX_WORDS = 6
_ASKED_OF = (
    r"\b(?:what|which) (?:(?:is|are|was|were) )?(?:(?!(?:"
    rf"{AUXILIARY}|of|for|in|on|to|if|when|with)\b)[\w’'-]+ ){{0,4}}?"
)
"""The words before the thing that a question asks for: "what is the yearly [fee] for ..."."""
# carries, by benchmarks/rules.py, .20 of the GDPR's and .33 of us_cfr's questions not answered
_ASKED_KINDS: list[tuple[Kind, str]] = [
    (
        "duration",
        r"\bhow long\b(?! (?:has|have|had)\b)|\bhow often\b"
        rf"|\bhow (?:many|much) (?:\w+ )?(?:{TIMES}|time)\b"
        r"|\bhow (?:soon|quickly|early|late|far in advance)\b|\bwithin what\b|\bdeadline\b"
        r"|\btime ?(?:frame|limit|period)\b"
        rf"|{_ASKED_OF}(?:period|duration)\b",
    ),
    (
        "percentage",
        rf"{_ASKED_OF}(?:percent|percentage|proportion|share|interest)\b|\btax rate\b",
    ),
    (
        "money",
        r"\bhow much (?:money|does|do|is|are|would|will|must|can)\b"
        rf"|{_ASKED_OF}(?:fees?|costs?|price|salary|budget|fine|rent|deposit|toll)\b"
        r"|\bwhat (?:do|does|did|would|will)\b(?P<thing>[^?]{1,60}) cost\b"
        r"|^(?:the )?(?:fees?|costs?|price|charge) (?:for|of|to)\b",
    ),
    (
        "measure",
        r"\bhow (?:large|big|small|high|tall|wide|deep|far|heavy|fast|loud|close|thick)\b"
        r"(?!.{0,300}\b(?:fees?|fines?|penalt\w+|costs?|prices?|rents?|tax\w*|damages|compensation)\b)"
        r"|\b(?:what|which) (?:\w+ )?(?:size|height|width|distance|weight|temperature|speed)\b",
    ),
    ("number", r"\bhow many\b|\baverage\b|\bwhat number\b"),
    (
        "contact",
        r"\b(?:phone|telephone|e-?mail) (?:number|address)\b|\bmailing address\b"
        r"|\bwhat is the (?:address|url|website address|phone|e-?mail)\b",
    ),
    (
        "name",
        r"\b(?:name|names) of\b|\bnamed\b"
        r"|\bwho (?:developed|wrote|invented|founded|drafted|signed|created|built|made|leads"
        r"|heads)\b",
    ),
]
_ANYBODY = term_set("people persons individuals times")
"""Terms that texts express by many words."""
_HOW_MANY = re.compile(
    r"\bhow many (?P<what>(?:[\w-]+ ){0,3}?[\w-]+)"
    r"(?=[?,.]| (?:of|in|on|at|for|does|do|did|may|must|can|will|should|shall|is|are|was|were|has"
    r"|have|had|to|a|an|the|we|you|i|it|they|count\w*)\b)",
    re.IGNORECASE,
)
_KINDS: list[tuple[Kind, re.Pattern[str]]] = [
    (kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKED_KINDS
]
_NAMED = re.compile(r"(?<=[a-z,'’)\]] )[A-Z][\w\-]*[\w]")
_YEAR = 4
_GENERIC = frozenset("document documents file version section article chapter page".split())
"""Words that people capitalise when they refer to a text; they are not names."""


def parse(question: str) -> ParsedQuestion:
    """Return a question that stands alone as it is understood, without what to search for.

    A context that was added to the question is left out of its parts: the context finds the
    provision, and every statement within that shares its words.
    """
    asked = without_context(question)
    first = without_preamble(next(iter(asking_sentences(asked)), question))
    needs_rest = asked == question and leans(first)
    return {
        "text": question,
        "parts": [part_of(part) for part in question_parts(asked)],
        "bare": question if needs_rest else what_asks(question),
        "pointing": None,
        "documents": [],
        "called": [],
        "inside": question,
        "queries": [],
        "keywords": [],
    }


def what_asks(question: str) -> str:
    """Return only the asking sentences of a question, with the context that was added to it."""
    asked = without_context(question)
    if _REGARDING in question and asked == question:
        return question  # without the context, no search term is left
    asking = " ".join(map(without_preamble, asking_sentences(asked)))
    return with_context_of(question, asking) if asking else question


def part_of(text: str) -> Part:
    """Return one part of a question with what it asks for."""
    steps = [reference.steps[0] for reference in find_references(text)]
    # four digits are a year, as in "Regulations 2017"
    numbers = [step.number for step in steps if step.key == "provision"]
    numbers = [n for n in numbers if not (n.isdigit() and len(n) == _YEAR)]
    names = [*_NAMED.findall(text), *numbers]
    return {
        "text": text,
        "kind": expected_kind(text),
        "counted": sorted(counted(text)),
        "term": asked_definition(text),
        "several": asks_for_several(text),
        "duties": asks_for_duties(text),
        "named": [name for name in names if name.lower() not in _GENERIC],
    }


# carries, by benchmarks/rules.py, .10 of the GDPR's definitions
def asked_definition(part: str) -> str | None:
    """Return the term that a question certainly asks to define, or None.

    "What is a bias audit?" asks for a definition; "What are the requirements?" does not.
    """
    match = _ASKED_TERM.search(part)
    term = match["term"].strip() if match else ""
    if match is None or not term:
        return None
    first = term.split()[0].lower()
    if len(term.split()) > _MAX_WORDS or first in STOP_WORDS or term.lower() in ("term", "word"):
        return None  # "the term that describes ..." asks for a name
    certain = match["open"] is not None or _SURELY.search(part) or _PLAIN.match(part.strip())
    return term if certain else None


def expected_kind(question: str) -> Kind | None:
    """Return the kind of fact that a question asks for, if its words say so."""
    return next((kind for kind, pattern in _KINDS if pattern.search(question.strip())), None)


def kind_words(question: str) -> frozenset[str]:
    """Return the words, in lower case, that tell the kind of fact that a question asks for."""
    matches = (pattern.search(question.strip()) for _, pattern in _KINDS)
    return frozenset(word for match in matches if match for word in words(_asking_part(match)))


def _asking_part(match: re.Match[str]) -> str:
    """Return a match without the thing that is asked about: "what does a goat cost"."""
    thing = match.groupdict().get("thing") or ""
    return match.group().replace(thing, " ", 1) if thing else match.group()


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    source = resources.files("lexloop.data") / "asking.txt"
    return frozenset(source.read_text(encoding="utf-8").split())


def words_of_asking(question: str) -> frozenset[str]:
    """Return the words of a question, in lower case, that only ask.

    They tell the kind of fact, open the question, are stop words of a language, or were learned
    from questions (``training/asking.py``). Documents that answer need not have them.
    """
    opening = _OPENS.match(question.strip())
    first = words(opening.group()) if opening else ()
    return (kind_words(question) | _asking() | small_words(())).union(first) & frozenset(
        words(question)
    )


def counted(question: str) -> frozenset[str]:
    """Return the search terms of the things to count; empty if the question asks for no number."""
    match = _HOW_MANY.search(question)
    return frozenset(tokenize(match["what"])[-1:]) - _ANYBODY if match else frozenset()


def asks_for_several(part: str) -> bool:
    """Return whether a list may answer: "which ...s", "what must ...", "when may ..."."""
    return _SEVERAL.search(part) is not None


def opens_like_asking(text: str) -> bool:
    """Return whether a text begins like a question or a request."""
    return _OPENS.match(text) is not None


def asks_for_duties(part: str) -> bool:
    """Return whether a question asks for all duties of a party; several lists may answer it."""
    return any(_asks_for(asked, *duties) for asked in part.split("?") for duties in _DUTIES)


def _asks_for(sentence: str, opening: str, after: str) -> bool:
    """Return whether a word of ``opening`` follows "what", and one of ``after`` comes later."""
    spoken, opens = words(sentence), opening.split()
    pairs = enumerate(pairwise(spoken))
    first = next((n for n, (word, second) in pairs if word == "what" and second in opens), None)
    return first is not None and not {*after.split()}.isdisjoint(spoken[first + 2 :])


# carries, by benchmarks/rules.py, .15 of ConditionalQA's found, .10 of the sample's correctness
def asking_sentences(question: str) -> list[str]:
    """Return the sentences that ask, or all if none is marked as a question.

    If some end with a question mark, a sentence without one must open like a request. Otherwise
    any question word is enough.
    """
    sentences = [question[start:end] for start, end in sentence_spans(question)]
    if any(sentence.endswith("?") for sentence in sentences):
        return [
            s
            for s in sentences
            if s.endswith("?") or s.lower().removeprefix("please ").startswith(_REQUESTS)
        ]
    return [s for s in sentences if not _ASKING_WORDS.isdisjoint(words(s))] or sentences


def without_preamble(sentence: str, least: int = 2) -> str:
    """Return the sentence without polite phrases and words about the asker.

    A preamble is only removed if ``least`` words of three letters are left.
    """
    text = sentence.strip()
    for pattern in _PREAMBLES * 2:
        shorter = pattern.sub("", text, count=1)
        if shorter != text and sum(len(word) > 2 for word in words(shorter)) >= least:
            text = shorter
    return text


def question_parts(question: str) -> list[str]:
    """Return the parts of a question, in order: joined questions and the sides of comparisons.

    Repeated parts count once, and parts after ``MOST_PARTS`` are left out: each part is embedded
    and compared with every statement.
    """
    parts: dict[str, str] = {}
    for part in _parts(question):
        parts.setdefault(part.rstrip(" ?.").lower(), part)
        if len(parts) == MOST_PARTS:
            break
    return [*parts.values()]


def _parts(question: str) -> Iterator[str]:
    first = ""
    for sentence in asking_sentences(question):
        pieces = [without_preamble(piece) for piece in _pieces(sentence)]
        asked = [piece for piece in pieces if _OPENS.match(piece)] or pieces
        for place, piece in enumerate(asked):
            alone = piece.strip(" ,;")
            alone = standing_alone(alone, first) if first else alone
            first = first if place and first else alone
            yield from _sides(alone)


# carries, by benchmarks/rules.py, .08 of the sample's correctness
def _pieces(sentence: str) -> list[str]:
    """Return the joined questions of a sentence.

    An indirect question, "... and how it is paid", belongs to the piece before unless that is
    indirect too.
    """
    pieces: list[str] = []
    begin = 0
    for joint in _NEW_PART.finditer(sentence):
        piece = sentence[begin : joint.start()]
        direct = not _IS_INDIRECT.match(without_preamble(piece))
        if not (direct and _IS_INDIRECT.match(sentence, joint.end())):
            pieces.append(piece)
            begin = joint.end()
    return [piece for piece in (*pieces, sentence[begin:]) if piece.strip()]


def _sides(part: str) -> list[str]:
    """Return a part and, if it compares two named things, a question for each of them."""
    match = _BETWEEN.search(part) or _DIFFER.search(part)
    if match is None:
        return [part]
    groups = match.groupdict("")
    sides = [groups["left"].strip(), (groups.get("right") or groups.get("both", "")).strip()]
    named = all(words(side)[:1] and words(side)[0] not in _NAMELESS for side in sides)
    named = named and not any(side.lower().startswith("the other") for side in sides)
    return [part, *(f"What {be_of(side)} {side}?" for side in sides)] if named else [part]


def be_of(subject: str) -> str:
    """Return "are" for a subject in the plural, else "is"."""
    noun = re.split(r" (?:of|for|in|on|to) ", subject.strip(), maxsplit=1)[0]
    singular = noun.lower().startswith(("a ", "an ")) or noun.endswith(("ss", "is", "us"))
    return "are" if noun.endswith("s") and not singular else "is"
