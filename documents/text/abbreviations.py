"""Whether a full stop ends an abbreviation or a sentence, by the text around it.

A list of abbreviations is never complete: those of law, companies, titles and ordinals differ in
every language. Instead an abbreviation is recognised by its shape, by what follows it, and by the
same word elsewhere in the text.
"""

import re
import unicodedata
from functools import cached_property, lru_cache
from unicodedata import combining

from lexloop.documents.structure.references import ends_in_reference
from lexloop.documents.text.languages import languages_of, small_words

LISTED = frozenset(
    """art arts cf ch cl co corp dept dr ed eds eg e.g est etc fig gov ie i.e inc int jr ltd mr mrs
    ms no nos op p para paras pp prof pt reg regs sec secs sr st subd supp v viz vol vs u.s u.s.c
    c.f.r u.k e.u n.y d.c a.m p.m l.l nr abs jan feb apr aug sept oct nov dec""".split()
)
_ENDS_NAMES = frozenset("inc co corp ltd jr sr etc a.m p.m u.s u.k e.u n.y d.c".split())
"""Abbreviations that may end a sentence."""
_LAST = re.compile(r"(?<![\w.])([\w.]+)\.[\"'”’)\]]*$")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}\.?")
_WORD = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*\.?")
_GOES_ON = re.compile(r"[^\W\d_]{1,6}(?=\.(?:[,;]|\s+(?![ivx]+\W)[^\W\d_A-Z]))")
_COUNTED = re.compile(r"\d|(?:Art|Nr|No|Sec)\.\s|[^\W\d_](?:\.[^\W\d_])+")
"""What follows words that cannot end a sentence: a figure, its word, letters with stops."""
_COUNTS = re.compile(r"\d{1,3}(?:[.)]|(?:\.\d{1,3})+\.?)\s|\d{1,4}\s*(?:\n|$)")
_ASIDE = re.compile(r"[(\[][\"'“‘]?(?=[^\W\d_A-Z])(?:[^\W\d_]{2,}(?![\w)\].])|[^\W\d_]\s)")
"""Words in brackets within a sentence. The mark of an item, "(a)", is not meant."""
_BRACKETS, _REACH = "()[]", 80
_STANDING = re.compile(r"(?<![\w.])[^\W\d_]++(?![\w.])")
_LONGEST, _LONGEST_TITLE, _LONGEST_ARTICLE, _LONGEST_NUMBER, _LONGEST_ROMAN = 6, 3, 4, 3, 5
_VOWELS = frozenset("aeiouy")


class Abbreviations:
    """The evidence that a text gives of its abbreviations.

    Args:
        text: The available text: a document, or a paragraph of it.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def ends_one(self, before: str, after: str) -> bool:
        """Return whether a full stop ends an abbreviation or a number within a sentence.

        The stop of a reference, as in "Annex I.", ends its sentence.

        Args:
            before: The sentence up to the stop, or the end of that.
            after: The beginning of the text after the stop, which is not in lower case.
        """
        word = _LAST.search(before)
        if word is None:
            return False
        token = word[1].lower()
        if _is_within_brackets(before, after) or _ASIDE.match(after):
            goes_on = True
        elif token in LISTED:
            goes_on = token not in _ENDS_NAMES or not self._opens(after)
        elif _is_mark(token):
            counts = after[:1].isdigit() and not _COUNTS.match(after)
            goes_on = counts or not ends_in_reference(before[: word.end(1)])
        elif token.isdecimal() and len(token) <= _LONGEST_NUMBER:
            goes_on = self._is_ordinal(before[: word.start()], after)
        elif self._shortens(word[1]):
            goes_on = not self._begins(after)
        else:
            goes_on = self._is_unknown(word[1], after, len(before.split()) > 1)
        return goes_on

    def _is_unknown(self, word: str, after: str, within: bool) -> bool:
        """Return whether a short word that never occurs without a stop is an abbreviation.

        An abbreviation comes before a figure, or it is a title before a name ``within`` a sentence.
        """
        length, small = len(word), word.lower()
        if not word.isalpha() or small in self._words_without_stop or small in self._little:
            return False
        if _COUNTED.match(after):
            return length <= _LONGEST and not _COUNTS.match(after)
        titles = within and word.istitle() and length <= _LONGEST_TITLE
        short = titles or (word.islower() and length < _LONGEST_TITLE)
        return short and after[:1].isupper() and not self._begins(after)

    def _shortens(self, word: str) -> bool:
        """Return whether a word is an abbreviation by its shape, or is continued elsewhere."""
        if _DOTTED.fullmatch(word) or word.lower() in self._continued_words:
            return True
        plain = [c for c in unicodedata.normalize("NFD", word.lower()) if not combining(c)]
        short = 1 < len(word) <= _LONGEST and word.isalpha() and not word.isupper()
        return short and "".join(plain).isascii() and _VOWELS.isdisjoint(plain)

    def _begins(self, after: str) -> bool:
        """Return whether a sentence begins: with a small word, or one in lower case elsewhere."""
        return self._opens(after) or _first(after) in self._small

    def _opens(self, after: str) -> bool:
        """Return whether a small word begins a sentence."""
        return _first(after) in self._little

    def _is_ordinal(self, before: str, after: str) -> bool:
        """Return whether a number counts the noun after it, as in "das 16. Lebensjahr"."""
        article = before.rstrip().rpartition(" ")[2]
        short = article.isalpha() and len(article) <= _LONGEST_ARTICLE
        return short and after[:1].isupper() and self._is_german and not self._opens(after)

    @cached_property
    def _small(self) -> frozenset[str]:
        """The words that are written small."""
        return frozenset(word for word in _STANDING.findall(self._text) if word[0].islower())

    @cached_property
    def _words_without_stop(self) -> frozenset[str]:
        """The words that occur somewhere without a stop."""
        return frozenset(word.lower() for word in _STANDING.findall(self._text))

    @cached_property
    def _continued_words(self) -> frozenset[str]:
        """The words whose stop is followed somewhere by a comma or a lower-case letter."""
        words = {word.lower() for word in _GOES_ON.findall(self._text)}
        return frozenset(words - self._words_without_stop)

    @cached_property
    def _little(self) -> frozenset[str]:
        """The small words of the language that the text is in."""
        return small_words(self._languages[:1])

    @cached_property
    def _is_german(self) -> bool:
        return self._languages[:1] == ["German"]

    @cached_property
    def _languages(self) -> list[str]:
        return languages_of([self._text])


@lru_cache(maxsize=32)
def abbreviations_of(text: str) -> Abbreviations:
    """Return the evidence of a document, read once however many of its sentences are asked for."""
    return Abbreviations(text)


def _is_within_brackets(before: str, after: str) -> bool:
    """Return whether a bracket is open at a place and closed after it."""
    last = next((sign for sign in reversed(before) if sign in _BRACKETS), ")")
    following = next((sign for sign in after[: _REACH + 1] if sign in _BRACKETS), "(")
    return last in "([" and following in ")]"


def _is_mark(token: str) -> bool:
    """Return whether a word may be the mark of an item: a letter, or a small Roman number."""
    roman = len(token) <= _LONGEST_ROMAN and set(token) <= set("ivx")
    return roman or (len(token) == 1 and "a" <= token <= "z")


def _first(after: str) -> str:
    """Return the first word in lower case; "" for capitals, which tell nothing except "A"."""
    match = _WORD.match(after.lstrip("\"'“‘(["))
    word = match[0] if match else ""
    return word.lower() if word[1:].islower() or word == "A" else ""
