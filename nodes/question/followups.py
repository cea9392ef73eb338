"""Rewriting follow-ups so that they stand alone.

A turn may need the topic of earlier turns: "What is it?". Or it may omit its question: "And where?"
asks the question before with another question word, "No, I meant a motor boat." and "And in
winter?" ask it about something else.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from lexloop.core.types import Turn
from lexloop.documents.text.tokens import COMPOUND_WORD, STOP_WORDS, term_set, words
from lexloop.models.embedding import Embed
from lexloop.nodes.question.parts import (
    ASKING,
    AUXILIARY,
    BEGINS,
    LEFT_OUT,
    PERSONAL,
    WH,
    asking_sentences,
    be_of,
    in_context,
    leans,
    opens_like_asking,
    without_context,
    without_preamble,
)
from lexloop.nodes.question.pointing import only_points, placed, provision_in

_EMPTY = STOP_WORDS | frozenset(
    """definition define defined meaning mean means purpose objective goal called name used apply
    applied included include includes included required requirement requirements rule rules thing
    one ones example examples happen happens say says does work works returned brought made done
    explain details detail information else example difference main important hello hi hey
    thanks thank please ok okay good morning afternoon evening must may might shall within much
    many long""".split()
)
_POINTER = re.compile(
    r"\b(?:this|that|these|those|such|there|then|the (?:former|latter)|another|others?|else|still"
    r"|afterwards?|instead|otherwise|again|as well|the same|either|both|ones?)\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:what(?! (?:is|are) (?:an? )?(?!the\b|\w+ed\b)\w+\W*$)|which|why|the|\w+\W*$)",
    re.IGNORECASE,
)
"""With one word of its own, "Which courts?" needs a topic; "What is rent?" does not."""
_POSSESSIVE = re.compile(r"\b(?:its|their|his|her)\s+(?!own\b)(\w+)", re.IGNORECASE)
_SUBJECTS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"what (?:is|are) (?P<subject>.+)$",
        r"what (?:do|does|did|can|may|must) (?P<subject>.+) do$",
        r"(?:(?:by )?(?:when|where|why|how) )?(?:can|may|must|shall|should|will) "
        r"(?P<subject>(?:an?|the|any) .{1,300}?) be .+$",
        r"who (?:(?:can|may|must|shall|should|will|has to|have to) )?\w+ (?P<subject>.+)$",
    )
]
_TOPIC_CHARS = 4000
"""How many characters of a turn are read for its topic; turns may be longer than questions."""
TURNS, _CONTEXT_CHARS = 24, 300
"""How many of the last turns are read, and how many of the first characters of a topic."""
_SHORT, _LONG = 4, 8
"""The most words of its own of a question that needs a topic: with a word such as "that", and
with a pronoun that has no referent before it."""
_CORRECTING = re.compile(
    r"(?:(?:no|nope|sorry|oops|wait|actually|rather|pardon|i (?:mean|meant)|make (?:it|that))\b"
    r"[\s,.:;!-]*)+",
    re.IGNORECASE,
)
"""How a turn begins that corrects the question before."""
_MEANT = re.compile(r"^([^?.!]{1,80}?),? i (?:mean|meant)\W*$", re.IGNORECASE)
GOING_ON = re.compile(
    r"(?:(?:and|but|or|also|so|then)\b[\s,]*|(?:what|how) about\b\s*)+", re.IGNORECASE
)
_NOT_BUT = re.compile(r"not (?P<old>[^,;]{1,80})[,;]\s*(?:but )?(?P<new>.+)", re.IGNORECASE)
_AGAIN = re.compile(
    r"(?:please|(?:can|could|would) you)?\s*(?:repeat(?: (?:that|it|the question))?|say (?:that|it)"
    r"|(?:once|one) more(?: time)?|again|come again)(?: (?:once more|again|please))*\W*",
    re.IGNORECASE,
)
_OTHERS = ("the other", "another", "the other one", "another one")
_IF_NOT = re.compile(
    r"(?:what )?if (?:not|(?:it|they|he|she|we|you|i) \w+(?: not|n['’]t))\W*",
    re.IGNORECASE,
)
_FRAME = re.compile(
    rf"(?:(?P<asked>(?:{ASKING})(?:\s+(?!(?:{AUXILIARY}|if)\b)[\w-]+){{0,6}}?)\s+)?"
    rf"(?P<verb>{AUXILIARY})\s+(?P<rest>.+)",
    re.IGNORECASE,
)
"""A question: its question word, its auxiliary verb and the rest."""
_DOES = re.compile(r"who\s+(?P<verb>[\w-]*[^\Wsu]s)\s+(?P<rest>.+)", re.IGNORECASE)
_WORD = re.compile(r"[\w][\w'’-]*")
_DETERMINER = frozenset("a an the my our your his her its their each every any no all".split())
_PREPOSITION = frozenset(
    """to for in under within by against at on from of until since with about through before after
    during without""".split()
)
_FORMAL = (
    (STOP_WORDS - frozenset(("once",)))
    | _DETERMINER
    | _PREPOSITION
    | frozenset(f"{AUXILIARY}|{WH}".split("|"))
)
_NO_PHRASE = frozenset(f"{AUXILIARY}|{WH}|if|i|it|they|he|she|we|you|that|this".split("|"))
_SOMEBODY = frozenset("i we you they he she it one somebody".split())
_VERBS = frozenset([*AUXILIARY.split("|"), "be"])
_BEING = frozenset("is are was were am".split())
_ALIKE = 0.27
"""The least cosine of the new phrase after "what about ..." with the one that it replaces.
"Pupils" do not replace a boat: that is another question."""
_MOST_WORDS = 10
"""The most words of a turn that replaces a phrase of the question before."""


def leans_on_history(question: str) -> bool:
    """Return whether a question refers to earlier turns or names nothing of its own."""
    if only_points(question):
        return False
    content = _content(question)
    if not content or (len(content) == 1 and _BARE.match(question)):
        return True
    if GOING_ON.match(question):
        return len(content) <= _LONG
    if (pronoun := PERSONAL.search(question) or _POSSESSIVE.search(question)) is not None:
        before = _content(question[: pronoun.start()])
        return len(content) <= (_LONG if len(before) < 3 else _SHORT)
    return _POINTER.search(question) is not None and len(content) <= _SHORT


def _content(text: str) -> list[str]:
    """Return the words of a text that name something."""
    return [word for word in words(text) if word not in _EMPTY]


class Pronoun(NamedTuple):
    """A pronoun that a question leans by.

    Args:
        of_a_person: Whether it stands for a person, as "he", "him", "she" and "her" do.
        led: Whether the question names something before it that it may stand for, or so much that
            it may stand for nothing: "How much does it cost to park?"
    """

    of_a_person: bool
    led: bool


def loose_pronoun(question: str) -> Pronoun | None:
    """Return the pronoun that a question cannot be understood without, or None if it has none."""
    found = PERSONAL.search(question) or _POSSESSIVE.search(question)
    if found is None or not leans(question):
        return None
    led = any(_phrases(question[: found.start()])) or len(_content(question)) > 1
    return Pronoun(found.group()[0].lower() in "hs", led)


@dataclass
class _Thread:
    """The state of a conversation."""

    topic: str | None = None  # of the user's last turn with a topic of its own, or None
    subject: str | None = None  # the words that replace a pronoun, or None if uncertain
    about: str = ""  # the heading of the provision of the last answer on the topic
    # the last provision named by its number, by the user or as the source of an answer
    at: str = ""
    asked: list[str] = field(default_factory=list)  # the user's turns as they stand alone


def _followed(history: list[Turn], embed: Embed | None) -> _Thread:
    """Return the state after the latest turns.

    The topic is the user's latest turn that names something and needs no earlier one, without its
    preamble; if all need one, the first that names something. A turn that omits its question takes
    it from the one before.
    """
    thread, named = _Thread(), ""
    for turn in history[-TURNS:]:
        text = turn["content"][:_TOPIC_CHARS]
        if turn["role"] == "assistant":
            thread.about = turn.get("about") or thread.about
            thread.at = named or provision_in(turn.get("at", "")) or thread.at
            continue
        named = provision_in(text)
        thread.at = named or thread.at
        asked = [*thread.asked, _resolved(text, thread, embed)]
        whole = _completed(text, thread, embed)
        text = text if whole is None else whole
        topic = _topic(text)
        if topic is not None and (thread.topic is None or not leans_on_history(text)):
            thread = _Thread(topic, _subject(topic), at=thread.at)
        thread.asked = asked
    return thread


def _topic(text: str) -> str | None:
    topic = without_preamble(text, least=1).strip(" .?!")
    return topic if _content(topic) else None


# carries, by benchmarks/rules.py, .27 of the GDPR's follow-ups found, .15 of LL144's correctness
def resolved(question: str, history: list[Turn], embed: Embed | None = None) -> str:
    """Return the question as it stands alone, or unchanged if it does already.

    "What is it?" after "I would like to know about bias audits" becomes "What are bias audits?". An
    omitted question comes from the turn before; ``embed`` finds the phrase of it to replace. If it
    is uncertain what a pronoun stands for, the heading of the last answer's provision is put after
    the question: the topic in the words of the documents.
    """
    return _resolved(question, _followed(history, embed), embed)


def _resolved(question: str, thread: _Thread, embed: Embed | None) -> str:
    question = placed(question, thread.at)
    if (whole := _completed(question, thread, embed)) is not None:
        return whole
    if thread.topic is None or not leans_on_history(question):
        return question
    named = _substituted(question, thread.subject) if thread.subject else question
    if named != question:
        return named
    about = thread.about or thread.subject or thread.topic
    return in_context(question, about[:_CONTEXT_CHARS])


def _completed(text: str, thread: _Thread, embed: Embed | None) -> str | None:
    """Return the whole question of a turn that is only a part of one; None for other turns."""
    asked = [turn for turn in thread.asked if _topic(turn) is not None]
    if not asked or only_points(text):
        return None
    *before, last = asked
    sentence = without_preamble(asking_sentences(without_context(last))[-1], least=1)
    return completed(text, [*before, sentence[:_CONTEXT_CHARS]], embed)


def _substituted(question: str, subject: str) -> str:
    """Replace the first pronoun of a question, if it has one."""
    if plural := re.match(r"(?P<wh>what|who|where|how) is it\b", question, re.IGNORECASE):
        return f"{plural['wh']} {be_of(subject)} {subject}{question[plural.end() :]}"
    named = _POSSESSIVE.sub(lambda its: f"the {its[1]} of {subject}", question, count=1)
    return named if named != question else PERSONAL.sub(lambda _: subject, question, count=1)


def _subject(topic: str) -> str | None:
    """Return the words of a topic that can replace a pronoun, or None if that is uncertain."""
    for pattern in _SUBJECTS:
        if (match := pattern.match(topic)) and _is_noun_phrase(match["subject"]):
            return match["subject"]
    return topic if _is_noun_phrase(topic) else only_thing(topic)


def _is_noun_phrase(topic: str) -> bool:
    """Return whether a topic can replace a pronoun: short, neither a clause nor a question."""
    clause = re.search(
        r"\b(?:is|are|was|were|can|could|may|must|should|will|has|have|does|do|^to|what|where|when"
        r"|how|who|which|whether|if)\b",
        topic,
        re.IGNORECASE,
    )
    return not clause and len(topic.split()) <= 8 and len(topic) <= _CONTEXT_CHARS


@dataclass(frozen=True)
class _Phrase:
    """Successive words that may name something, with the function words before them."""

    words: list[re.Match[str]]
    own: int  # how many of the words name something: the last may be the verb of the question
    determiner: re.Match[str] | None
    led: str  # the word before

    @property
    def preposition(self) -> str:
        return self.led if self.led in _PREPOSITION else ""

    @property
    def start(self) -> int:
        return (self.determiner or self.words[0]).start()

    @property
    def end(self) -> int:
        return self.words[self.own - 1].end()


class _Span(NamedTuple):
    """The part of a question to replace."""

    start: int
    end: int
    phrase: _Phrase
    cosine: float = 1.0


def completed(text: str, before: Sequence[str], embed: Embed | None = None) -> str | None:
    """Return the whole question of a turn that is only a part of one; None for other turns.

    Args:
        text: The turn.
        before: The questions before it as they stand alone, the latest last.
        embed: Finds the phrase of the question before that is like a new one. Without it, the last
            phrase is replaced.
    """
    if _AGAIN.fullmatch(text):
        return before[-1]
    text = _MEANT.sub(r"I mean \1", text)
    correcting = _CORRECTING.match(text)
    rest = text[correcting.end() if correcting else 0 :]
    if correcting and rest.lower().strip(" .,;:?!") in _OTHERS:
        return next((question for question in before[-2::-1] if question != before[-1]), None)
    question = before[-1].rstrip(" ?.!")
    lead = question[: max((begin.end() for begin in BEGINS.finditer(question)), default=0)]
    whole = _whole(rest, question[len(lead) :], embed, correcting is not None)
    return f"{lead}{whole[:1].lower()}{whole[1:]}" if lead and whole else whole


def _whole(text: str, question: str, embed: Embed | None, correcting: bool) -> str | None:
    """Return the question that a turn asks after another, given without its correcting words."""
    going_on = GOING_ON.match(text)
    rest = text[going_on.end() if going_on else 0 :].strip(" .?!,")
    if word := LEFT_OUT.match(rest):
        return _asked_by(word["asked"], question)
    if _IF_NOT.fullmatch(rest):
        return _if_not(question)
    if correcting and opens_like_asking(rest):
        return f"{rest}?"
    instead = _NOT_BUT.fullmatch(rest)
    if not (correcting or going_on or instead or _leads(rest, question)):
        return None
    old, new = instead.groups() if instead else ("", rest)
    if new.partition(" ")[0].lower() in _FORMAL:
        new = new[:1].lower() + new[1:]
    return _with_phrase(new, question, old, embed, 0.0 if correcting or instead else _ALIKE)


def only_thing(question: str) -> str | None:
    """Return the only thing that a question names; None if it names several or none."""
    things = [question[phrase.start : phrase.end] for phrase in _phrases(question)]
    return things[0] if len(things) == 1 and _FRAME.fullmatch(question) else None


def _leads(rest: str, question: str) -> bool:
    """Return whether a turn without an opening word continues the question before.

    It begins with a preposition, or names another thing by a noun of the question.
    """
    spoken = _WORD.findall(rest)
    if spoken and spoken[0].lower() in _PREPOSITION:
        return True
    return len(spoken) > 1 and bool(term_set(spoken[-1]) & term_set(question))


def _asked_by(word: str, question: str) -> str:
    """Return a question with another question word."""
    word = word[:1].upper() + word[1:]
    if does := _DOES.fullmatch(question):
        base = re.sub(r"(?<=[sxzho])es$|s$", "", re.sub(r"ies$", "y", does["verb"]))
        return f"{word} does somebody {base} {does['rest']}?"
    if word.lower() == "how much" and (things := [*_phrases(question)]):
        return f"{word} is {question[things[-1].start : things[-1].end]}?"
    frame = _FRAME.fullmatch(question)
    if frame is None or re.search(r"how many$|\bnot$", word, re.IGNORECASE):
        return in_context(word, question)
    if (frame["asked"] or "").lower() == "what" and frame["verb"].lower() in _BEING:
        return in_context(word, frame["rest"])
    return f"{word} {frame['verb'].lower()} {_somebody(frame)}?"


def _somebody(frame: re.Match[str]) -> str:
    """Return the words after the verb of a question, with "somebody" for an acting "who"."""
    does = (frame["asked"] or "").lower() == "who" and frame["verb"].lower() not in _BEING
    return f"{'somebody ' * does}{frame['rest']}"


def _if_not(question: str) -> str:
    """Return the question what happens otherwise."""
    frame = _FRAME.fullmatch(question)
    who, be, done = frame["rest"].partition(" be ") if frame else ("", "", "")
    if be:
        return f"What if {who} is not {done}?"
    rest = _somebody(frame) if frame and frame["verb"].lower() not in _BEING else ""
    first = next(_phrases(question), None)
    thing = question[first.start : first.end] if first else ""
    subject = "somebody" if rest.startswith("somebody ") else thing
    if subject and rest.startswith(f"{subject} "):
        return f"What if {subject} does not {rest[len(subject) :].strip()}?"
    return in_context("What if not", question)


def _with_phrase(
    text: str, question: str, old: str, embed: Embed | None, least: float
) -> str | None:
    """Return a question with a new phrase instead of one of its own, or after them.

    The replaced phrase is ``old``, or the most similar one, with a cosine of at least ``least``.
    """
    spoken = [word[0].lower() for word in _WORD.finditer(text)]
    new = next(_phrases(text), None)
    whole = len(spoken) <= _MOST_WORDS and re.search(r"[,:;!?]", text) is None
    if new is None or not whole or not _NO_PHRASE.isdisjoint(spoken):
        return None
    number, known = _number(text), _number(question)
    if number and known:
        return f"{question[: known.start()]}{number[0]}{question[known.end() :]}?"
    phrases = [] if number else list(_phrases(question))
    span = _of_noun(old or text, phrases) or _of_place(new, phrases, question, embed)
    if span is None:
        return f"{question} {text}?" if new.preposition or least == 0.0 else None
    if embed and not new.preposition and span.cosine < least:
        return None
    frame = _FRAME.fullmatch(question)
    if frame and span.start < frame.start("verb") and new.determiner:
        return f"What is {text}?"  # "how much notice" / "the rent"
    end, after = span.end, text[new.end :].split()[:1]
    for phrase in phrases:  # "of twenty" belongs to "a group"
        if after and after == question[end : phrase.start].split():
            end = phrase.end
    return f"{question[: span.start]}{_determined(text, new, span)}{question[end:]}?"


def _number(text: str) -> re.Match[str] | None:
    """Return the first number of a text, such as "30", "4.2" or "12/24"."""
    return next((word for word in COMPOUND_WORD.finditer(text) if word[0][0].isdigit()), None)


def _determined(text: str, new: _Phrase, span: _Span) -> str:
    """Return the new phrase; without a determiner, it gets the one of the phrase it replaces."""
    named, old = text[new.start :], span.phrase.determiner
    if new.determiner or old is None or span.start != span.phrase.start:
        return named
    if not (new.words[0][0][0].islower() and not named.endswith("s")):
        return named if named[0].islower() else f"the {named}"
    article = "an" if named[0] in "aeiou" else "a"
    return f"{article if old[0].lower() in ('a', 'an') else old[0]} {named}"


def _of_noun(text: str, phrases: Sequence[_Phrase]) -> _Span | None:
    """Return the phrase that has the noun of the new text."""
    new = next(_phrases(text), None)
    noun = term_set(new.words[-1][0]) if new else frozenset[str]()
    spans = (
        _Span(phrase.start, word.end(), phrase)
        for phrase in reversed(phrases)
        for word in phrase.words
        if noun & term_set(word[0])
    )
    return next(spans, None)


def _of_place(
    new: _Phrase, phrases: Sequence[_Phrase], question: str, embed: Embed | None
) -> _Span | None:
    """Return the phrase in the place of the new one that is most similar to it.

    After a preposition, only phrases after the same one count. A single word may replace a word.
    """
    alike = [p for p in phrases if not new.preposition or p.preposition == new.preposition]
    alike = [p for p in alike if bool(p.determiner) == bool(new.determiner)] or alike
    spans = [_Span(p.start, p.end, p) for p in alike]
    if not new.determiner and len(new.words) == 1:  # another verb
        spans += [_Span(p.words[-1].start(), p.end, p) for p in phrases if p.led == "if"]
    if not spans or embed is None:
        return spans[-1] if spans else None
    named = " ".join(word[0] for word in new.words)
    vector, *others = embed([named, *(question[span.start : span.end] for span in spans)])
    measured = (
        span._replace(cosine=float(vector @ other))
        for span, other in zip(spans, others, strict=True)
    )
    return max(measured, key=lambda span: span.cosine)


def _phrases(text: str) -> Iterator[_Phrase]:
    """Yield the runs of words that are not function words, without the verb of an action."""
    spoken = [*_WORD.finditer(text)]
    lower = [word[0].lower() for word in spoken]
    frame = _FRAME.fullmatch(text)
    verb = next((n for n, w in enumerate(spoken) if frame and w.start() == frame.start("verb")), -1)
    for formal, run in groupby(range(len(lower)), key=lambda place: lower[place] in _FORMAL):
        if formal:
            continue
        places = [*run]
        begin, end = places[0] + _is_verb(lower, verb, places[0]), places[-1] + 1
        if begin == end:
            continue
        determined = lower[begin - 1] in _DETERMINER if begin else False
        yield _Phrase(
            spoken[begin:end],
            _own(lower, verb, begin, end),
            spoken[begin - 1] if determined else None,
            lower[begin - 1 - determined] if begin > determined else "",
        )


def _is_verb(lower: Sequence[str], verb: int, begin: int) -> bool:
    """Return whether a run of words begins with an action, or a manner: "how often"."""
    if begin == 0:
        return False
    if begin == max(verb, 0) + 1 and lower[0] == "who":
        return lower[verb] not in _BEING
    if begin == 1 and lower[0] in ("how", "what"):
        return verb < 0 or lower[0] == "how"
    before = lower[begin - 1]
    return before in _SOMEBODY or (begin != verb + 1 and before in _BEING | {"be", "been"})


def _own(lower: Sequence[str], verb: int, begin: int, end: int) -> int:
    """Return how many words of a run name something, without a verb or predicate at its end.

    ``verb`` is the place of the auxiliary verb of the question, or -1.
    """
    words = end - begin
    if verb < 0 or words == 1 or _VERBS & {*lower[end : end + 1]}:
        return words
    first = begin - verb == 1 + (lower[begin - 1] in _DETERMINER)
    if lower[verb] in _BEING:
        predicate = lower[0] not in ("what", "which", "who") and (first or end == len(lower))
        return words - predicate
    with_object = words > 2 and lower[end - 1].endswith("s")
    return words - first * (1 + with_object)
