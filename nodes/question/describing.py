"""The document first: which documents a question describes, and what it asks inside them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import lru_cache
from pathlib import Path

from lexloop.core.folding import folded
from lexloop.core.types import Chunk, ParsedQuestion
from lexloop.documents.text.tokens import COMPOUND_WORD, PIECE, STOP_WORDS, term_set
from lexloop.nodes.question.parts import BEGINS
from lexloop.nodes.question.pointing import KINDS, RUN, STRUCTURAL, acronyms_of, words_of
from lexloop.nodes.relevance import coverage
from lexloop.store.view import View

_HITS, _MANY = 50, 2000
_LEAST, _NEARLY_BEST = 0.5, 0.9
"""The share of a description, weighted by idf, that a chunk of the document holds, and what it
holds of that of the best."""
_LEAST_LETTERS = 5
"""The least letters of a name that is spelled in one word."""
_RARE = 3.0
"""The least idf of a word that alone names a document: one chunk in twenty has it."""
_STORY = re.compile(r"(?<![\w\"“-])(?:I(?=[ '’][a-z])|[Mm]y|me|[Ww]e|[Oo]ur|us)(?![\w\"”-])")
_NAME = re.compile(r"(?<![.?!:;] )(?<!^)\b[^\W\d_]*[A-Z0-9][\w&'-]*|[\"“‘][^\"”’]+")


def documents_described(question: ParsedQuestion, documents: View) -> list[str]:
    """Return the documents that fit what stands before a question: "In the lease of A to B, ...?".

    The words before must tell nobody's own story, and one chunk of a document must hold most of
    them, as the one that names the parties does, with a name that no other document shows: two
    words, or one that is rare or in the title. What is spoken of all over describes nothing, nor
    does the name of a law alone, which see ``documents_called``.
    """
    lead = before(question)
    names = term_set(" ".join(_NAME.findall(lead)))
    if len(documents.documents) < 2 or not names or _STORY.search(lead) or lead.isupper():
        return []
    if _is_called_alone(lead, documents):
        return []
    wanted = {term: documents.idf(term) for term in term_set(lead)}
    best: dict[str, float] = {}
    named: dict[str, Set[str]] = {}
    for chunk in _nearest(lead, documents):
        name, terms = chunk["document"], term_set(f"{chunk['title']} {chunk['text']}")
        best[name] = max(coverage(wanted, terms), best.get(name, 0.0))
        named[name] = named.get(name, frozenset()) | (terms & names)
    least = max(_LEAST, _NEARLY_BEST * max(best.values(), default=0.0))
    found = [name for name, held in best.items() if held >= least]
    others = frozenset[str]().union(*(named[name] for name in named if name not in found))
    shared = frozenset.intersection(*(frozenset(named[name]) for name in found), names)
    for name in found:
        own = named[name] - others
        titled = term_set(f"{documents.titles[name]} {name}")
        if len(own) > 1 or any(one in titled or wanted[one] > _RARE for one in own):
            # what shares the kind alone, "the privacy policy of", is not what is described
            return [other for other in found if named[other] - shared] or found
    return []


def _nearest(lead: str, documents: View) -> Iterable[Chunk]:
    """Return the chunks that share most with these words; of a few, all: BM25 cannot weigh them."""
    if len(documents) <= _HITS:
        return documents.every_chunk()
    [hits] = documents.search_lexical([lead], _HITS)
    return documents.chunks([hit.chunk_id for hit in hits])


def before(question: ParsedQuestion) -> str:
    """Return what of the text stands before the first thing that is asked."""
    text = question["text"]
    first = question["parts"][0]["text"] if question["parts"] else text
    if (place := text.find(first)) <= 0 and (begun := BEGINS.search(text)):
        place = begun.end()
    return text[: max(0, place)]


_MENTION = re.compile(
    rf"(?:\b\w++(?:-\w++){{0,5}}+\.\w++(?:[.-]\w++)*+|{RUN.pattern}|\b[A-Z][\w-]*|\b[a-z]{{4,6}}\b)"
    r"(?:\s+(?:[Vv]ersion\s+|v)?\d[\d./-]*)?"
    rf"(?:\s+(?:{'|'.join(sorted(KINDS))})\b)?"
)
_PROPER = re.compile(r"(?:(?<=\w[\s(])|^(?=\w+[:,]))[A-Z][A-Za-z0-9]{2,}\b")
_LEAD = re.compile(
    r"(?P<by>\b(?:under|in|by|per|according to|pursuant to)\s+)?"
    r"(?:\b(?:the|this|that|our|your)\s+)?$",
    re.IGNORECASE,
)
_BESIDE = frozenset("a an any are for of with without".split())
"""Words before a name that stands before a noun: "any Harbour Act fee"."""


def documents_called(text: str, documents: View) -> list[str]:
    """Return the documents that a question calls by a name of their own: "the Harbour Act".

    No other may say it: what a law is called stands in the rules made for it, too. A single word
    of a title or path names a document that it alone has.
    """
    titles = nameable(text, documents)
    said = {word.lower() for word in _PROPER.findall(text)} - STOP_WORDS - STRUCTURAL - KINDS
    telling = {one: words_of(one, title) for one, title in titles.items()} if said else {}
    named = {word: {one for one in telling if word in telling[one]} for word in said}
    named = {word: of for word, of in named.items() if len(of) == 1}
    named |= _names(text, titles)
    own = [of for name, of in named.items() if of and not _is_said_beside(name, of, documents)]
    called = set[str]().union(*own)
    return sorted(called) if len(called) < len(documents.documents) else []


def _is_called_alone(lead: str, documents: View) -> bool:
    """Return whether what stands before a question is the name of a document and nothing else."""
    for start, end, name in _mentions(lead):
        if not term_set(f"{lead[:start]} {lead[end:]}"):
            titles = nameable(lead, documents)
            return any(is_name(name, one, title) for one, title in titles.items())
    return False


def documents_named(text: str, documents: View) -> Mapping[str, str]:
    """Return the titles of the documents whose name a question has, whoever else says it."""
    titles = nameable(text, documents)
    found = set[str]().union(*_names(text, titles).values())
    return {name: titles[name] for name in sorted(found)}


def _names(text: str, titles: Mapping[str, str]) -> dict[str, set[str]]:
    """Return for each name in a question the documents that have it."""
    return {
        name: {one for one, title in titles.items() if is_name(name, one, title)}
        for _, _, name in _mentions(text)
    }


def nameable(text: str, documents: View) -> Mapping[str, str]:
    """Return the titles of the documents that a question may call by name, by their names.

    Of very many these are the ones that say most of its words.
    """
    if len(documents.titles) <= _MANY:
        return documents.titles
    [hits] = documents.search_lexical([text], _HITS)
    return {hit.document: documents.titles[hit.document] for hit in hits}


def _is_said_beside(name: str, of: Set[str], documents: View) -> bool:
    """Return whether another document than these says a name."""
    plain = f" {_words(name)} "
    return any(
        plain in f" {_words(chunk['text'])} "
        for chunk in _nearest(name, documents)
        if chunk["document"] not in of
    )


def _words(text: str) -> str:
    return " ".join(COMPOUND_WORD.findall(folded(text).lower()))


def unnamed(text: str, titles: Mapping[str, str], is_term: Callable[[str], bool]) -> str:
    """Return a question without the name of the document that it is asked of.

    "Under the Harbour Act, who pays?" becomes "who pays?", and "Does the Harbour Act apply?" "Does
    this act apply?", as texts speak of themselves. It stays as it is if nothing else is asked,
    or several documents are named.

    Args:
        text: A question, or a part of one.
        titles: The documents' titles by their names.
        is_term: Whether the documents use an abbreviation. It then stands for what they are about,
            and not for a title: "How do I apply for an ABN?"
    """
    made, at, called = "", 0, frozenset(titles)
    for start, end, name in _mentions(text):
        named = {one for one, title in titles.items() if is_name(name, one, title)}
        if not named or (name.isalpha() and name.isupper() and is_term(name)):
            continue
        if not (called := called & named):
            return text
        lead = _LEAD.search(text, at, start)
        begin = lead.start() if lead else start
        before, by = f"{made}{text[at:begin]}", (lead and lead["by"]) or ""
        noun = (text[end:].split(None, 1) or [""])[0] if text[end : end + 1].isspace() else ""
        if by and not before.strip():
            at = len(text) - len(text[end:].lstrip(" ,"))
        elif by and text[end:].lstrip()[:1] in ("", "?", ".", "!"):
            before, at = before.rstrip(), end
        elif _is_noun(noun) and not _BESIDE.isdisjoint(text[:start].lower().split()[-1:]):
            at = text.index(noun, end)
        else:
            before, at = f"{before}{by}this {_kind(titles[min(named)], name) or 'document'}", end
        made = before
    bare = made + text[at:]
    return bare if term_set(bare) - term_set(" ".join(KINDS)) else text


def _is_noun(word: str) -> bool:
    """Return whether a word is a noun that a name stands before, by its small letters."""
    return len(word) > 2 and word[:3].islower() and word.rstrip("?.,;:") not in STOP_WORDS


def _mentions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what may be names, with their places: words with capitals, a number and a kind."""
    for found in _MENTION.finditer(text):
        start = found.start()
        for word in re.finditer(r"(?<!\S)\S+\s+", found.group()):
            if word.group().strip().lower() not in STOP_WORDS:
                break  # those before it open the question: "Does the Harbour Act"
            start = found.start() + word.end()
        yield start, found.end(), text[start : found.end()]


def is_name(name: str, document: str, title: str) -> bool:
    """Return whether words are a document's name: of its title with a kind, or its acronym.

    A number in it must be the document's own. The name of its file is one, too, if either spells it
    in one word: "Dairy Fair" or "dairyfair.example" of dairyfair.example.txt.
    """
    if _joined(name) in _spelled(document, " " in name):
        return True
    words = _words_of_name(name)
    telling = [word for word in words if word not in KINDS]
    if not telling or not words_of(document, title).issuperset(telling):
        return False
    if len(telling) < len(words) and len(words) > 1:
        plain = [word for word in words if not word.isdigit()]
        if f" {' '.join(plain)} " in _plain_title(title) or len(plain) < 2:
            return True
    short = acronyms_of(title) if _kind(title) else frozenset[str]()
    first = _unversioned(name.split(None, 1)[0])
    if first.isalpha() and first.isupper() and len(first) > 2:
        stem = {w for w in PIECE.findall(Path(document).stem.lower()) if w.isalpha() and w[2:]}
        short |= stem if len(stem) == 1 else set()
    least = 2 if len(telling) < len(words) else 3
    return any(len(word) >= least and word in short for word in telling)


def _joined(name: str) -> str:
    """Return several words as one, in small letters; "" for one word."""
    words = PIECE.findall(name.lower())
    return "".join(words) if len(words) > 1 else ""


@lru_cache(maxsize=1 << 13)
def _spelled(document: str, apart: bool) -> frozenset[str]:
    """Return the words of a file's name; and unless they stand apart, those in a row as one."""
    words = PIECE.findall(folded(Path(document).stem).lower())
    rows = range(1, 2 if apart else len(words) + 1)
    found = ("".join(words[at : at + many]) for many in rows for at in range(len(words)))
    return frozenset(one for one in found if one.isalpha() and len(one) >= _LEAST_LETTERS)


@lru_cache(maxsize=256)
def _words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a name that tell something, in small letters, without their version."""
    words = (_unversioned(word.lower()) for word in PIECE.findall(name))
    return tuple(word for word in words if word not in STOP_WORDS | {"version"})


def _unversioned(word: str) -> str:
    """Return a word without the number of a version: "gplv3" is "gpl"."""
    bare = word.rstrip("0123456789")
    bare = bare.removesuffix("v") if bare != word else word
    return bare if len(bare) > 1 else word


@lru_cache(maxsize=1 << 13)
def _plain_title(title: str) -> str:
    """Return the words of a title in small letters, between blanks, without stop words."""
    words = COMPOUND_WORD.findall(folded(title).lower())
    return f" {' '.join(word for word in words if word not in STOP_WORDS)} "


@lru_cache(maxsize=1 << 13)
def _kind(title: str, name: str = "") -> str:
    """Return the word by which a document calls itself, or "" if none is known."""
    words = [word.lower() for word in PIECE.findall(f"{title} {name}")]
    return next((word for word in words if word in KINDS), "")
