"""A question as its parts, so that it can be put directly, indirectly, shortened, or of "it"."""

import re
from dataclasses import dataclass, replace

_DETERMINER = re.compile(r"(?:an?|the|any|each|every|all|my|your|our|their|his|her|such)\s", re.I)
_CUT = re.compile(
    r",|\s(?:of|for|with|in|on|by|under|from|to|at|that|which|who|whose|during|within|between|before"
    r"|after|against|about|as|or|and|whether|how|why|into|through|without|using|conducted|containing|required|based)\b"
)
_PLURAL_HEAD = re.compile(r"(?:[^su]s|people|children|data)$", re.IGNORECASE)
_VOWEL = re.compile(
    r"[AEIO]|[aeio](?!ne\b)|[Uu](?!ni|se|su|ti|\b)|[FHLMNRSX](?=[A-Z])|hour|honest|heir"
)
_MINE = re.compile(r"\bmy (?:[\w\-]+ ){1,20}(?P<noun>[\w\-]+)$")
_PERSONS = {"I": "I", "you": "you"}


@dataclass(frozen=True)
class Ask:
    """A question: "Under what conditions", "may", "an auditor" and "exclude a category".

    Args:
        opening: The question word or words.
        aux: The verb that changes places with the subject.
        subject: A noun phrase with its determiner.
        rest: What follows.
        front: A condition that comes first, "Where an AEDT scores candidates"; or empty.
    """

    opening: str
    aux: str
    subject: str
    rest: str = ""
    front: str = ""

    def direct(self) -> str:
        """The question: "What must the notice include?"."""
        asked = _joined(self.opening, self.aux, self.subject, self.rest)
        if self.front:
            asked = f"{self.front}, {lowered(asked)}"
        return asked[0].upper() + asked[1:] + "?"

    def indirect(self) -> str:
        """The question as a clause of another sentence: "what the notice must include"."""
        asked = _joined(lowered(self.opening), self.subject, self.aux, self.rest)
        if self.aux in ("do", "does", "did"):
            asked = _joined(lowered(self.opening), self.subject, _inflected(self.rest, self.aux))
        return f"{asked}, {lowered(self.front)}" if self.front else asked

    def of_it(self) -> str:
        """The question with a pronoun for its subject: "What must it include?"."""
        pronoun = _PERSONS.get(self.subject) or ("they" if self.is_plural else "it")
        return replace(self, subject=pronoun).direct()

    def vague(self) -> str:
        """The question without its front and without what qualifies its nouns."""
        opening = re.sub(r"^How (?:long|soon) (?:before|after) .*", "When", self.opening)
        rest = self.rest if len(self.rest.split()) < 3 else core(self.rest)
        rest = _MINE.sub(r"my \g<noun>", rest)
        subject = core_noun(self.subject)
        return Ask(opening, self.aux, subject, rest).direct()

    @property
    def is_plural(self) -> bool:
        """Whether the subject is spoken of as "they"."""
        if self.aux in ("is", "was", "does"):
            return False
        if re.search(r"\b(?:and|or)\b", core(self.subject, r"\s(?:of|for)\b")):
            return True
        return self.aux in ("are", "were", "do") or bool(_PLURAL_HEAD.search(core(self.subject)))


def is_many(subject: str) -> bool:
    """Whether a subject takes a plural verb: "employers", "the summary and the date"."""
    short = core(subject, r"\s(?:of|for|in|to|with|from|under|that|who|which)\b")
    return " and " in short or bool(_PLURAL_HEAD.search(short))


def core(phrase: str, cut: str | None = None) -> str:
    """A phrase up to its first preposition, relative or comma, two words at the least."""
    for found in re.finditer(cut, phrase) if cut else _CUT.finditer(phrase):
        if len(phrase[: found.start()].split()) >= 2:
            return phrase[: found.start()]
    return phrase


def core_noun(phrase: str) -> str:
    """The head of a noun phrase behind its determiner: "the notice" for "the written notice"."""
    short = core(phrase).split()
    if re.search(r"[A-Z\d]", short[-1]):
        return phrase
    if len(short) == 2 and _DETERMINER.match(phrase):
        return " ".join(short)
    if len(short) > 2 and _DETERMINER.match(phrase):
        article = short[0].lower()
        if article in ("a", "an"):
            article = with_article(short[-1]).split()[0]
        return f"{article} {short[-1]}"
    return " ".join(short[-1:]) if len(short) > 1 and not _DETERMINER.match(phrase) else phrase


def with_article(noun: str) -> str:
    """The noun behind "a" or "an"."""
    vowel = _VOWEL.match(noun)
    return f"an {noun}" if vowel else f"a {noun}"


def lowered(text: str) -> str:
    """The text with a small first letter, unless its first word is written in capitals."""
    first = text.split(" ", 1)[0]
    return text if first == "I" or sum(map(str.isupper, first)) > 1 else text[:1].lower() + text[1:]


def _inflected(rest: str, aux: str) -> str:
    """The verb without "do": "does have" is "has", "did take" is "took"."""
    verb, _, more = rest.partition(" ")
    if aux == "did":
        verb = {"take": "took"}.get(verb, f"{verb.removesuffix('e')}ed")
    elif aux == "does" and verb == "have":
        verb = "has"
    elif aux == "does":
        verb = re.sub(r"(?<![aeiou])y$", "ie", verb)
        verb += "es" if re.search(r"(?:s|sh|ch|x|o)$", verb) else "s"
    return _joined(verb, more)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
