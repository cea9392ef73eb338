"""Names of entities: phrases and labels as they are shown, and the keys that join them."""

import re
from functools import lru_cache

from lexloop.documents.structure.references import COMPOUND, cited
from lexloop.documents.text.tokens import tokenize, words

PHRASE_CHARS = 120
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060\ufeff\xad]")
_QUOTES = re.compile('["“”„«»]')
_EDGES = " \t\n\r'‘’`.,;:–—-|*#"
_ABBREVIATED = (
    (re.compile(r"§+|\bsec\.", re.I), "section "),
    (re.compile(r"\bart\.", re.I), "article "),
)
_LABEL_WORD = re.compile(r"[^\W_]+(?:[.\-][^\W_]+)*")
_CITING_CHARS = 60
_KINDS = ("§", "sec", "art", "rule", "regul", "clau", "chap", "titl", "annex", "append", "sched",
          "recit", "table", ".s.c", ".f.r", "usc", "cfr")  # fmt: skip
"""Fragments of which one is in every reference; testing them first saves most of the time."""


def readable(text: str, limit: int = PHRASE_CHARS) -> str:
    """Return ``text`` on one line, without quotation marks and edge stops, cut between words."""
    text = _QUOTES.sub("", _INVISIBLE.sub("", text[: 8 * limit]))
    line = " ".join(text.split()).strip(_EDGES)
    if len(line) > limit:
        line = line[: limit + 1].rsplit(" ", 1)[0][:limit].rstrip(_EDGES)
    return line


@lru_cache(maxsize=1 << 13)
def cites(phrase: str) -> bool:
    """Return whether a phrase is a reference to a provision, or opens with one."""
    lowered = phrase.lower()
    if not any(kind in lowered for kind in _KINDS):
        return False
    found = cited(phrase[:_CITING_CHARS])
    return found is not None and not phrase[: found.start].strip()


@lru_cache(maxsize=1 << 14)
def entity_key(phrase: str) -> str:
    """Return the name of an entity in the graph: its words' stems, without stop words.

    Case, number, stops and the ways to write section signs make no difference. A label keeps every
    word of its own: "point a" is another than "point".
    """
    if not cites(phrase):
        said = words(_INVISIBLE.sub("", phrase))
        return " ".join(stem for word in said for stem in tokenize(word)[:1]) or " ".join(said)
    for written, plain in _ABBREVIATED:
        phrase = written.sub(plain, phrase)
    said = _LABEL_WORD.findall(phrase.replace("–", "-").lower())
    return " ".join((tokenize(word)[:1] or [word])[0] for word in said)


def reference_key(reference: str) -> tuple[str, bool]:
    """Return the key of the provision that a reference names, and whether any document may hold it.

    A plain number of another act names no provision of a document that has one of that number.
    """
    found = cited(reference)
    if found is None or ((found.act or found.code) and not COMPOUND.search(found.number)):
        return entity_key(reference), False
    return entity_key(f"{found.kind} {found.number.replace('|', ' ')}"), True


def outer_key(key: str) -> str:
    """Return the key of what a provision lies in: of "article 5 1 a" "article 5 1"; "" at last."""
    outer = key.rpartition(" ")[0]
    return outer if " " in outer else ""
