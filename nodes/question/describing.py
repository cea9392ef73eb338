"""Finding the documents that a question describes or names, and what it asks inside them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import lru_cache
from pathlib import Path

from lexloop.core.folding import folded
from lexloop.core.types import Chunk, ParsedQuestion
from lexloop.documents.text.quantities import MONTHS
from lexloop.documents.text.tokens import COMPOUND_WORD, PIECE, STOP_WORDS, term_set
from lexloop.nodes.question.parts import BEGINS
from lexloop.nodes.question.pointing import KINDS, RUN, STRUCTURAL, acronyms_of, words_of
from lexloop.nodes.relevance import coverage
from lexloop.store.view import View

# "valid from 1 January" does not make a document's name of what is asked about January
_NOT_NAMES = STOP_WORDS | STRUCTURAL | KINDS | {month.lower() for month in MONTHS}
_HITS, _MANY = 50, 2000
_LEAST, _NEARLY_BEST = 0.5, 0.9
"""The least idf-weighted share of a description that a chunk of the document has, and the least
fraction of the best document's share."""
_LEAST_LETTERS = 5
"""The fewest letters of a name in one word."""
_RARE = 3.0
"""The least idf of a single word that names a document: one chunk in twenty has it."""
_STORY = re.compile(r"(?<![\w\"“-])(?:I(?=[ '’][a-z])|[Mm]y|me|[Ww]e|[Oo]ur|us)(?![\w\"”-])")
_NAME = re.compile(r"(?<![.?!:;] )(?<!^)\b[^\W\d_]*[A-Z0-9][\w&'-]*|[\"“‘][^\"”’]+")


def documents_described(question: ParsedQuestion, documents: View) -> list[str]:
    """Return the documents described before a question: "In the lease of A to B, ...?".

    The description must not be the asker's own story. One chunk of a document must have most of it,
    usually the chunk that names the parties, with a name that no other document has: two words, or
    one that is rare or in the title. Words that are everywhere describe nothing. A law's name alone
    is left to ``documents_called``.
    """
    lead = before(question)
    names = term_set(" ".join(_NAME.findall(lead)))
    if len(documents.documents) < 2 or not names or _STORY.search(lead) or lead.isupper():
        return []
    if _is_called_alone(lead, documents):
        return []
    wanted = {term: documents.idf(term) for term in term_set(lead)}
    best: dict[str, float] = {}
    named: dict[str, frozenset[str]] = {}
    for chunk in _nearest(lead, documents):
        name, terms = chunk["document"], term_set(f"{chunk['title']} {chunk['text']}")
        best[name] = max(coverage(wanted, terms), best.get(name, 0.0))
        named[name] = named.get(name, frozenset()) | (terms & names)
    least = max(_LEAST, _NEARLY_BEST * max(best.values(), default=0.0))
    fitting = [name for name, share in best.items() if share >= least]
    others = frozenset[str]().union(*(named[name] for name in named if name not in fitting))
    shared = frozenset.intersection(*(named[name] for name in fitting), names)
    for name in fitting:
        own = named[name] - others
        titled = term_set(f"{documents.titles[name]} {name}")
        if len(own) > 1 or any(word in titled or wanted[word] > _RARE for word in own):
            # a document that shares only the kind, "the privacy policy of", does not fit
            return [other for other in fitting if named[other] - shared] or fitting
    return []


def _nearest(lead: str, documents: View) -> Iterable[Chunk]:
    """Return the chunks that share most with these words; all if there are too few for BM25."""
    if len(documents) <= _HITS:
        return documents.every_chunk()
    [hits] = documents.search_lexical([lead], _HITS)
    return documents.chunks([hit.chunk_id for hit in hits])


def before(question: ParsedQuestion) -> str:
    """Return the text before the first part of a question."""
    text = question["text"]
    first = question["parts"][0]["text"] if question["parts"] else text
    if (place := text.find(first)) <= 0 and (opening := BEGINS.search(text)):
        place = opening.end()
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
"""Words before a name that is followed by a noun: "any Harbour Act fee"."""


def documents_called(text: str, documents: View) -> list[str]:
    """Return the documents that a question calls by a name of their own: "the Harbour Act".

    No other document may contain the name, as the rules made under a law do. A single word of a
    title or path is a name if only one document has it.
    """
    titles = nameable(text, documents)
    proper = {word.lower() for word in _PROPER.findall(text)} - _NOT_NAMES
    telling = {name: words_of(name, title) for name, title in titles.items()} if proper else {}
    by_word = {word: {name for name in telling if word in telling[name]} for word in proper}
    named = {word: names for word, names in by_word.items() if len(names) == 1}
    named |= _names(text, titles)
    own = [of for name, of in named.items() if of and not _is_said_beside(name, of, documents)]
    called = set[str]().union(*own)
    return sorted(called) if len(called) < len(documents.documents) else []


def _is_called_alone(lead: str, documents: View) -> bool:
    """Return whether the text before a question is only the name of a document."""
    mentions = _mentions(lead)
    alone = (name for start, end, name in mentions if not term_set(f"{lead[:start]} {lead[end:]}"))
    name = next(alone, None)
    return name is not None and bool(_having(name, nameable(lead, documents)))


def documents_named(text: str, documents: View) -> Mapping[str, str]:
    """Return the titles of all documents whose name is in a question."""
    titles = nameable(text, documents)
    named = set[str]().union(*_names(text, titles).values())
    return {name: titles[name] for name in sorted(named)}


def _names(text: str, titles: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the documents of each name in a question."""
    return {name: _having(name, titles) for _, _, name in _mentions(text)}


def _having(name: str, titles: Mapping[str, str]) -> set[str]:
    return {document for document, title in titles.items() if is_name(name, document, title)}


def nameable(text: str, documents: View) -> Mapping[str, str]:
    """Return the titles, by name, of the documents that a question may name.

    Of very many documents, these are the ones with most of its words.
    """
    if len(documents.titles) <= _MANY:
        return documents.titles
    [hits] = documents.search_lexical([text], _HITS)
    return {hit.document: documents.titles[hit.document] for hit in hits}


def _is_said_beside(name: str, of: Set[str], documents: View) -> bool:
    """Return whether a document other than these contains a name."""
    plain = f" {_words(name)} "
    return any(
        plain in f" {_words(chunk['text'])} "
        for chunk in _nearest(name, documents)
        if chunk["document"] not in of
    )


def _words(text: str) -> str:
    return " ".join(COMPOUND_WORD.findall(folded(text).lower()))


def unnamed(text: str, titles: Mapping[str, str], is_term: Callable[[str], bool]) -> str:
    """Return a question without the name of its document.

    "Under the Harbour Act, who pays?" becomes "who pays?", and "Does the Harbour Act apply?"
    becomes "Does this act apply?", as texts refer to themselves. It is unchanged if nothing else
    is asked, or if it names several documents.

    Args:
        text: A question, or a part of one.
        titles: The documents' titles by their names.
        is_term: Whether the documents use an abbreviation. If so, it names their subject and not a
            document: "How do I apply for an ABN?"
    """
    made, at, called = "", 0, frozenset(titles)
    for start, end, name in _mentions(text):
        named = _having(name, titles)
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
    """Return whether a word after a name is a noun, judged by its lower case."""
    return len(word) > 2 and word[:3].islower() and word.rstrip("?.,;:") not in STOP_WORDS


def _mentions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield possible names, with their offsets: words with capitals, a number and a kind."""
    for match in _MENTION.finditer(text):
        start = match.start()
        for word in re.finditer(r"(?<!\S)\S+\s+", match.group()):
            if word.group().strip().lower() not in STOP_WORDS:
                break  # the words before it open the question: "Does the Harbour Act"
            start = match.start() + word.end()
        yield start, match.end(), text[start : match.end()]


def is_name(name: str, document: str, title: str) -> bool:
    """Return whether words are a document's name: from its title, with a kind, or its acronym.

    A number in the name must be the document's own. A file name counts too if either is one word:
    "Dairy Fair" and "dairyfair.example" both name dairyfair.example.txt.
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
    """Return several words as one, in lower case; "" for one word."""
    words = PIECE.findall(name.lower())
    return "".join(words) if len(words) > 1 else ""


@lru_cache(maxsize=1 << 13)
def _spelled(document: str, apart: bool) -> frozenset[str]:
    """Return the words of a file name and, unless ``apart``, successive words joined as one."""
    words = PIECE.findall(folded(Path(document).stem).lower())
    lengths = range(1, 2 if apart else len(words) + 1)
    joined = ("".join(words[at : at + n]) for n in lengths for at in range(len(words)))
    return frozenset(name for name in joined if name.isalpha() and len(name) >= _LEAST_LETTERS)


@lru_cache(maxsize=256)
def _words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without stop words and versions."""
    words = (_unversioned(word.lower()) for word in PIECE.findall(name))
    return tuple(word for word in words if word not in STOP_WORDS | {"version"})


def _unversioned(word: str) -> str:
    """Return a word without a version number: "gplv3" is "gpl"."""
    bare = word.rstrip("0123456789")
    bare = bare.removesuffix("v") if bare != word else word
    return bare if len(bare) > 1 else word


@lru_cache(maxsize=1 << 13)
def _plain_title(title: str) -> str:
    """Return the words of a title in lower case, between blanks, without stop words."""
    words = COMPOUND_WORD.findall(folded(title).lower())
    return f" {' '.join(word for word in words if word not in STOP_WORDS)} "


@lru_cache(maxsize=1 << 13)
def _kind(title: str, name: str = "") -> str:
    """Return the word for a document's kind, such as "act", or "" if none is known."""
    words = [word.lower() for word in PIECE.findall(f"{title} {name}")]
    return next((word for word in words if word in KINDS), "")
