"""Letters and endings of words, so that two spellings of one word become the same."""

import unicodedata

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"), "-")
_APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u2032`\u00b4"), "'")
_INVISIBLE = [*range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF, 0xAD]
_LETTERS = {**_DASHES, **_APOSTROPHES, **dict.fromkeys(_INVISIBLE)}
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"))
_NOT_PLURAL = ("ss", "us", "is", "ous")
_IRREGULAR = {
    "analyses": "analysis",
    "appendices": "appendix",
    "bonuses": "bonus",
    "buses": "bus",
    "children": "child",
    "cookies": "cookie",
    "criteria": "criterion",
    "crises": "crisis",
    "halves": "half",
    "hypotheses": "hypothesis",
    "indices": "index",
    "knives": "knife",
    "lives": "life",
    "matrices": "matrix",
    "men": "man",
    "movies": "movie",
    "people": "person",
    "selves": "self",
    "shelves": "shelf",
    "statuses": "status",
    "theses": "thesis",
    "ties": "tie",
    "viruses": "virus",
    "wives": "wife",
    "women": "woman",
}
_SINGULAR = frozenset(
    """alias always atlas bias besides canvas diabetes economics electronics ethics forensics
    headquarters lens logistics mathematics means news overseas perhaps physics politics premises
    series species statistics towards whereas""".split()
)


def plain_letters(text: str) -> str:
    """``text`` in lower case, with one kind of hyphen and apostrophe and nothing invisible."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_LETTERS)).translate(_LETTERS)
    return text.lower().replace("`", "'")


def singular(word: str) -> str:
    """The singular of an English word, by its ending; good enough to join two mentions."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(_NOT_PLURAL) or word in _SINGULAR:
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending):
            return word[: -len(ending)] + replacement
    return word[:-1]
