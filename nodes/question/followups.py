"""Turns that leave a question out, written into the question before them.

"And where?" asks the question before by another question word, "No, I meant a motor boat." and "And
in winter?" ask it of something else.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from lexloop.documents.text.tokens import COMPOUND_WORD, STOP_WORDS, term_set
from lexloop.models.embedding import Embed
from lexloop.nodes.question.parts import (
    ASKING,
    AUXILIARY,
    BEGINS,
    LEFT_OUT,
    WH,
    in_context,
    opens_like_asking,
)

_CORRECTING = re.compile(
    r"(?:(?:no|nope|sorry|oops|wait|actually|rather|pardon|i (?:mean|meant)|make (?:it|that))\b"
    r"[\s,.:;!-]*)+",
    re.IGNORECASE,
)
"""How a turn opens that puts right what the question before it said."""
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
"""A question as its question word, its auxiliary verb and the rest."""
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
"""The least cosine of what "what about ..." names with what it takes the place of: "pupils" are no
boat, and the question is another one."""
_MOST_WORDS = 10
"""The most words of a turn that stands for a phrase of the question before."""


@dataclass(frozen=True)
class _Phrase:
    """A run of words that may name something, with the words of form before it."""

    words: list[re.Match[str]]
    own: int  # how many of the words are its own: the last may be the verb of the question
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


@dataclass(frozen=True)
class _Span:
    """What of a question is replaced."""

    start: int
    end: int
    phrase: _Phrase
    cosine: float = 1.0


def completed(said: str, before: Sequence[str], embed: Embed | None = None) -> str | None:
    """Return the whole question of a turn that says only a part of it; None for other turns.

    Args:
        said: The turn.
        before: The questions before it as they stand alone, the latest last.
        embed: Tells which phrase of the question before is of the kind of another; without it that
            is the last one.
    """
    if _AGAIN.fullmatch(said):
        return before[-1]
    said = _MEANT.sub(r"I mean \1", said)
    correcting = _CORRECTING.match(said)
    rest = said[correcting.end() if correcting else 0 :]
    if correcting and rest.lower().strip(" .,;:?!") in _OTHERS:
        return next((one for one in before[-2::-1] if one != before[-1]), None)
    question = before[-1].rstrip(" ?.!")
    lead = question[: max((found.end() for found in BEGINS.finditer(question)), default=0)]
    whole = _whole(rest, question[len(lead) :], embed, correcting is not None)
    return f"{lead}{whole[:1].lower()}{whole[1:]}" if lead and whole else whole


def _whole(said: str, question: str, embed: Embed | None, correcting: bool) -> str | None:
    """Return what is asked by a turn, without the words by which it corrects, after a question."""
    going_on = GOING_ON.match(said)
    rest = said[going_on.end() if going_on else 0 :].strip(" .?!,")
    if asked := LEFT_OUT.match(rest):
        return _asked_by(asked["asked"], question)
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
    """Return the thing that a question names; None unless it names exactly one."""
    things = [question[phrase.start : phrase.end] for phrase in _phrases(question)]
    return things[0] if len(things) == 1 and _FRAME.fullmatch(question) else None


def _leads(rest: str, question: str) -> bool:
    """Return whether a turn without an opening word is a part of the question before.

    It begins with a preposition, or names another thing by the noun of one there.
    """
    spoken = _WORD.findall(rest)
    if spoken and spoken[0].lower() in _PREPOSITION:
        return True
    return len(spoken) > 1 and bool(term_set(spoken[-1]) & term_set(question))


def _asked_by(asked: str, question: str) -> str:
    """Return a question by another question word."""
    asked = asked[:1].upper() + asked[1:]
    whose = _DOES.fullmatch(question)
    if whose:
        return f"{asked} does somebody {_base(whose['verb'])} {whose['rest']}?"
    if asked.lower() == "how much" and (things := [*_phrases(question)]):
        return f"{asked} is {question[things[-1].start : things[-1].end]}?"
    frame = _FRAME.fullmatch(question)
    if frame is None or re.search(r"how many$|\bnot$", asked, re.IGNORECASE):
        return in_context(asked, question)
    if (frame["asked"] or "").lower() == "what" and frame["verb"].lower() in _BEING:
        return in_context(asked, frame["rest"])
    return f"{asked} {frame['verb'].lower()} {_somebody(frame)}?"


def _somebody(frame: re.Match[str]) -> str:
    """Return what stands behind the verb of a question, where "who" is somebody."""
    does = (frame["asked"] or "").lower() == "who" and frame["verb"].lower() not in _BEING
    return f"{'somebody ' * does}{frame['rest']}"


def _base(verb: str) -> str:
    """Return a verb as it stands behind "does"."""
    return re.sub(r"(?<=[sxzho])es$|s$", "", re.sub(r"ies$", "y", verb))


def _if_not(question: str) -> str:
    """Return what a question asks if it is not done."""
    frame = _FRAME.fullmatch(question)
    who, be, done = frame["rest"].partition(" be ") if frame else ("", "", "")
    if be:
        return f"What if {who} is not {done}?"
    rest = _somebody(frame) if frame and frame["verb"].lower() not in _BEING else ""
    subject = "somebody" if rest.startswith("somebody ") else _subject(question)
    if subject and rest.startswith(f"{subject} "):
        return f"What if {subject} does not {rest[len(subject) :].strip()}?"
    return in_context("What if not", question)


def _subject(question: str) -> str:
    first = next(_phrases(question), None)
    return question[first.start : first.end] if first else ""


def _with_phrase(
    said: str, question: str, old: str, embed: Embed | None, least: float
) -> str | None:
    """Return a question with what was said in place of its phrase of that kind, or behind it.

    That phrase is the one of ``old``, or at least so like what was said.
    """
    spoken = [word[0].lower() for word in _WORD.finditer(said)]
    new = next(_phrases(said), None)
    whole = len(spoken) <= _MOST_WORDS and re.search(r"[,:;!?]", said) is None
    if new is None or not whole or not _NO_PHRASE.isdisjoint(spoken):
        return None
    number, known = _number(said), _number(question)
    if number and known:
        return f"{question[: known.start()]}{number[0]}{question[known.end() :]}?"
    phrases = [] if number else list(_phrases(question))
    span = _of_noun(old or said, phrases) or _of_place(new, phrases, question, embed)
    if span is None:
        return f"{question} {said}?" if new.preposition or least == 0.0 else None
    if embed and not new.preposition and span.cosine < least:
        return None
    frame = _FRAME.fullmatch(question)
    if frame and span.start < frame.start("verb") and new.determiner:
        return f"What is {said}?"  # "how much notice" / "the rent"
    end, behind = span.end, said[new.end :].split()[:1]
    for phrase in phrases:  # "of twenty" goes with "a group"
        if behind and behind == question[end : phrase.start].split():
            end = phrase.end
    return f"{question[: span.start]}{_determined(said, new, span)}{question[end:]}?"


def _number(text: str) -> re.Match[str] | None:
    """Return the first number of a text, as "30", "4.2" or "12/24"."""
    return next((word for word in COMPOUND_WORD.finditer(text) if word[0][0].isdigit()), None)


def _determined(said: str, new: _Phrase, span: _Span) -> str:
    """Return what was said, with the determiner of what it replaces if it has none."""
    named, held = said[new.start :], span.phrase.determiner
    if new.determiner or held is None or span.start != span.phrase.start:
        return named
    if not (new.words[0][0][0].islower() and not named.endswith("s")):
        return named if named[0].islower() else f"the {named}"
    article = held[0]
    if article.lower() in ("a", "an"):
        article = "an" if named[0] in "aeiou" else "a"
    return f"{article} {named}"


def _of_noun(said: str, phrases: Sequence[_Phrase]) -> _Span | None:
    """Return the phrase that ends in the noun of what was said."""
    new = next(_phrases(said), None)
    noun = term_set(new.words[-1][0]) if new else frozenset[str]()
    for phrase in reversed(phrases):
        for word in phrase.words:
            if noun & term_set(word[0]):
                return _Span(phrase.start, word.end(), phrase)
    return None


def _of_place(
    new: _Phrase, phrases: Sequence[_Phrase], question: str, embed: Embed | None
) -> _Span | None:
    """Return what stands where the new phrase does and is the most like it.

    Behind a preposition that is what stands behind the same one. A single word may take the place
    of a word.
    """
    found = [p for p in phrases if not new.preposition or p.preposition == new.preposition]
    found = [p for p in found if bool(p.determiner) == bool(new.determiner)] or found
    spans = [_Span(p.start, p.end, p) for p in found]
    if not new.determiner and len(new.words) == 1:  # another verb
        spans += [_Span(p.words[-1].start(), p.end, p) for p in phrases if p.led == "if"]
    if not spans or embed is None:
        return spans[-1] if spans else None
    named = " ".join(word[0] for word in new.words)
    asked, *others = embed([named, *(question[span.start : span.end] for span in spans)])
    alike = [
        replace(s, cosine=float(asked @ other)) for s, other in zip(spans, others, strict=True)
    ]
    return max(alike, key=lambda span: span.cosine)


def _phrases(text: str) -> Iterator[_Phrase]:
    """Yield the runs of words of a text that are no words of form, without what is done."""
    spoken = [*_WORD.finditer(text)]
    lower = [word[0].lower() for word in spoken]
    frame = _FRAME.fullmatch(text)
    verb = next((n for n, w in enumerate(spoken) if frame and w.start() == frame.start("verb")), -1)
    for first, end in _runs(lower):
        begin = first + _is_verb(lower, verb, first)
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
    """Return whether a run of words begins with what somebody does, or how: "how often"."""
    if begin == 0:
        return False
    if begin == max(verb, 0) + 1 and lower[0] == "who":
        return lower[verb] not in _BEING
    if begin == 1 and lower[0] in ("how", "what"):
        return verb < 0 or lower[0] == "how"
    before = lower[begin - 1]
    return before in _SOMEBODY or (begin != verb + 1 and before in _BEING | {"be", "been"})


def _runs(lower: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each run of words begins and ends that are no words of form."""
    for formal, run in groupby(range(len(lower)), key=lambda place: lower[place] in _FORMAL):
        if not formal:
            places = [*run]
            yield places[0], places[-1] + 1


def _own(lower: Sequence[str], verb: int, begin: int, end: int) -> int:
    """Return how many words of a run name something; what is done or is so does not.

    ``verb`` is the place of the auxiliary verb of the question; -1 where it has none.
    """
    words = end - begin
    if verb < 0 or words == 1 or _VERBS & {*lower[end : end + 1]}:
        return words
    first = begin - verb == 1 + (lower[begin - 1] in _DETERMINER)
    if lower[verb] in _BEING:
        is_so = lower[0] not in ("what", "which", "who") and (first or end == len(lower))
        return words - is_so
    object_too = words > 2 and lower[end - 1].endswith("s")
    return words - first * (1 + object_too)
