"""Noun phrases as the graph shows them, and the keys by which it joins them."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

PHRASE_CHARS = 120
DETERMINERS = frozenset(
    """a all an any both each either every her his its no my our said some such that the their
    these this those your""".split()
)
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060\ufeff\xad]")
_ACRONYM = re.compile(
    r"(?P<aside>\s\((?=[A-Z][A-Za-z]{1,9}\)))?(?<!\d\s)\b(?P<acronym>[A-Z][A-Za-z]{1,9})\b(?(aside)\))"
)
_WORD = re.compile(r"[^\W_]+(?:['.\-/][^\W_]+)*(?:\([^\W_]{1,4}\))*|§")
_SECTION_WORD = re.compile(r"(?:\bsections?|\bsec\.?|(?<!§)§+)\s*(?=\d)")
_ARTICLE_WORD = re.compile(r"\b(?:articles|art\.)\s*(?=\d)")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_JOINED_PREFIXES = frozenset({"anti", "co", "multi", "non", "pre", "re", "semi", "sub"})
_QUOTES = re.compile('["“”]')
_EDGES = " \t\n\r'‘’`.,;:–—-|*#"
_DANGLING = re.compile(
    r"(?<![\s,;:])[\s,;:]+(?:and|or|and/or|the|a|an|of|to|for|in|by|with|on|any|that"
    r"|if|when|where|unless|than|as|is|are|at|e\.g|i\.e)$"
)
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"), "-")
_APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u2032`\u00b4"), "'")
_UNSEEN = [*range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF, 0xAD]
_LETTERS = {**_DASHES, **_APOSTROPHES, **dict.fromkeys(_UNSEEN)}
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"))
_NOT_PLURAL = ("ss", "us", "is", "ous")
_IRREGULAR = {
    several: one
    for pair in """analyses/analysis appendices/appendix bonuses/bonus buses/bus children/child
        cookies/cookie criteria/criterion crises/crisis halves/half hypotheses/hypothesis
        indices/index knives/knife lives/life matrices/matrix men/man movies/movie people/person
        selves/self shelves/shelf statuses/status theses/thesis ties/tie viruses/virus wives/wife
        women/woman""".split()
    for several, _, one in [pair.partition("/")]
}
_SINGULAR = frozenset(
    """alias always atlas bias besides canvas diabetes economics electronics ethics forensics
    headquarters lens logistics mathematics means news overseas perhaps physics politics premises
    series species statistics towards whereas""".split()
)


def readable(text: str, limit: int = PHRASE_CHARS) -> str:
    """Return ``text`` on one line, without quotation marks and edge stops, cut between words."""
    text = _QUOTES.sub("", _INVISIBLE.sub("", text[: 8 * limit]))
    line = " ".join(text.split()).strip(_EDGES)
    if len(line) > limit:
        line = line[: limit + 1].rsplit(" ", 1)[0][:limit]
    while len(cut := _DANGLING.sub("", line)) < len(line):
        line = cut
    line = line.rstrip(_EDGES)
    if line.count("(") > line.count(")"):
        head = line.rpartition("(")[0].rstrip(_EDGES)
        line = head if len(head) > limit // 4 else line
    return line


def noun_phrase(text: str, aliases: Mapping[str, str] | None = None) -> str:
    """Return a short phrase without leading determiners, its acronyms written out.

    A capital that only opens a sentence is lowered; defined terms ("Relevant Person") keep theirs.
    """
    words = readable(text).split(" ")
    while len(words) > 1 and words[0].lower() in DETERMINERS:
        words.pop(0)
    phrase = written_out(" ".join(words).strip(_EDGES), aliases)
    first, _, rest = phrase.partition(" ")
    if rest and first[:1].isupper() and first[1:].islower() and not re.search(r"[A-Z]|\d", rest):
        phrase = phrase[0].lower() + phrase[1:]
    return readable(phrase)


def written_out(text: str, aliases: Mapping[str, str] | None) -> str:
    """Return ``text`` with each acronym replaced by its long form."""
    if not aliases:
        return text

    def expand(match: re.Match[str]) -> str:
        word = match["acronym"]
        long_form = aliases.get(word) or (aliases.get(word[:-1]) if word[-1] == "s" else None)
        if not long_form:
            return match.group()
        return "" if match["aside"] else long_form

    return _ACRONYM.sub(expand, text)


@lru_cache(maxsize=1 << 13)
def key_words(text: str) -> tuple[str, ...]:
    """Return the words by which two mentions of one entity are recognised.

    Number, case, articles, possessives, and the ways to write hyphens, quotation marks, initials
    and section signs make no difference: "the Employer's e-mails" and "employer email" are one.
    """
    line = _plain_letters(text).replace("&", " and ")
    if "sec" in line or "§" in line:
        line = _SECTION_WORD.sub("§ ", line)
    if "art" in line:
        line = _ARTICLE_WORD.sub("article ", line)
    singulars = [word for found in _WORD.findall(line) for word in _normal(found)]
    return tuple([word for word in singulars if word not in DETERMINERS] or singulars)


@lru_cache(maxsize=1 << 13)
def _normal(word: str) -> tuple[str, ...]:
    word = word.removesuffix("'s")
    if "." in word and _INITIALS.fullmatch(word):
        word = word.replace(".", "")
    if "-" in word and not any(letter.isdigit() for letter in word):
        return tuple(singular(part) for part in _split(word))
    return (singular(word),)


def _split(compound: str) -> Iterator[str]:
    """Yield the words of a compound; a prefix stays with its word, as it is written both ways."""
    held = ""
    for part in compound.split("-"):
        held += part
        if len(part) > 1 and part not in _JOINED_PREFIXES:
            yield held
            held = ""
    if held:
        yield held


def entity_key(text: str) -> str:
    """Return the name of an entity in the graph: lower case, singular, without determiners."""
    return " ".join(key_words(text))


def alternatives(phrase: str) -> list[str]:
    """Return the parts of a short coordination: "employer or agency" names two entities."""
    if not any(word in phrase for word in (",", " and", " or")):
        return [phrase]
    parts = re.split(r",\s*(?:and|or)\s+|,\s+|(?<!\s)\s+(?:and/or|and|or)\s+", phrase)
    short = all(0 < len(part.split()) <= 4 for part in parts)
    if not short or " of " in phrase or phrase.startswith("§"):
        return [phrase]
    return parts


def _plain_letters(text: str) -> str:
    """Return ``text`` in lower case, with one kind of hyphen and apostrophe."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_LETTERS)).translate(_LETTERS)
    return text.lower().replace("`", "'")


def singular(word: str) -> str:
    """Return the singular of an English word, by its ending; enough to join two mentions."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(_NOT_PLURAL) or word in _SINGULAR:
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending):
            return word[: -len(ending)] + replacement
    return word[:-1]
