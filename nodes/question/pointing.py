"""The provisions and documents that a question names by number, title or heading."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from lexloop.core.folding import folded
from lexloop.core.types import (
    Pointer,
    Pointing,
    StructureQuestion,
)
from lexloop.documents.structure.references import (
    CODE,
    Reference,
    Step,
    find_references,
    loose_numbers,
)
from lexloop.documents.structure.telling import (
    UNIT_NOUNS,
    UNIT_WORDS,
)
from lexloop.documents.text.quantities import NUMBERS
from lexloop.documents.text.tokens import (
    COMPOUND_WORD,
    STOP_WORDS,
    UNBROKEN,
)

POINTING = frozenset(
    """a about all an and are by called can check cite cited contain contained contains
    content contents could cover covered covers deal deals dealt describe display do
    does down exact exactly explain first for fourth full give heading hello hi i in
    indent is it its know laid last lay lays learn like list look me mean meaning means
    name need of open or paragraph please print provide provided provides quote quoted
    read reads regulate regulated regulates require required requires said say saying
    says second see sentence set sets show state stated states subparagraph summarise
    summarised summarize summary tell text that the there third this title to under up
    us want we what what's whats which whole with word wording words would you""".split()
)
"""The words of questions that only ask for the text of a provision."""
_NUMERALS = {word: value for word, value in NUMBERS.items() if 0 < value <= 20}
_WORDED = re.compile(
    r"\b(?P<word>articles?|sections?|recitals?|chapters?|annex|schedule|clauses?|rules?)\s+"
    rf"(?P<number>{'|'.join(_NUMERALS)})\b",
    re.IGNORECASE,
)
_FORMS = [
    (re.compile(pattern, re.IGNORECASE), form)
    for pattern, form in (
        (
            r"\b(does|is|in|under|of|read)\s+(?:number|no\.|nr\.|#)\s?(\d{1,3})(?![\w.,]*\d)",
            r"\1 point \2",
        ),
        (r"\blit(?:era|\.)?\s*\(?([a-z])\b\)?", r"point (\1)"),
        (r"(?<=[0-9]\))([a-z]|[ivx]{2,4})(?=[\s?.,;:]|$)", r"(\1)"),
    )
]
"""People's forms of numbers, and the forms in laws: "5(1)a" is "5(1)(a)"."""
_CODE = re.compile(CODE)
_CALLED = re.compile(
    r"(?P<section>§|\b(?:sec|ss?\b))|\b(?:(?P<article>art)|(?P<rule>rule)|(?P<clause>clause|cl\b)"
    r"|(?P<regulation>reg))",
    re.IGNORECASE,
)
_UNDER = frozenset(("under", "per", "see"))
_MARK = "\N{OBJECT REPLACEMENT CHARACTER}"
RUN = re.compile(r"[A-Z]\w{0,99}(?:\s+(?:(?:of|the|on|and|for|to|in)\s+){0,2}[A-Z]\w*)+")
_OTHERWISE_NAMED = frozenset(
    """charter treaty convention constitution directive protocol declaration covenant""".split()
)
"""Words for a document with that name; "the act" and "this law" may be any document."""
KINDS = _OTHERWISE_NAMED | frozenset(
    """act acts law laws regulation regulations rule rules policy policies contract agreement
    standard code statute order guideline guidelines handbook manual terms legislation license
    licence""".split()
)
"""The words for kinds of texts."""
_ANY = frozenset("document text file law legislation".split())
STRUCTURAL = frozenset(
    """article articles section sections chapter chapters part parts annex schedule recital recitals
    clause clauses paragraph point table title""".split()
)
_FILLER = frozenset(
    """a all and any are can could do does document file from give has have here how i in is it its
    law many me name number of please show tell text that the there this to us we what what's
    whats which with you list contain contains containing made up consist consists belong belongs
    comprise comprises divided structured organised organized arranged built structure outline
    table contents toc overview layout headings titles
    act regulation directive contract agreement policy standard rule code""".split()
)
_BUILT = frozenset(
    "divided structured organised organized arranged built structure outline toc layout".split()
)
_ENDS = {"last": -1, "final": -1, "first": 0}
_SAYING = frozenset(
    "about cover covers does provide provides require requires say says state states".split()
)
"""Verbs by which a question about the last article asks for its text."""
_CASED = re.compile(r"[A-Z]\w+|[\w\-/]+\.[a-z]{2,5}$")
_LINK = re.compile(
    r",?\s+(?:(?P<link>of|in|to|under|from|within)\s+(?:(?:the|this|that|our|your)\s+)?)?",
    re.IGNORECASE,
)
_LONGEST_ACRONYM = 10
_LINKING = frozenset(("of", "on", "the", "and", "for", "to", "in"))
_MOST_WORDS, _MOST_CHARS, _MOST_NAMED = 10, 200, 50
QUOTED = re.compile(
    r"[“\"«](?P<a>[^“”\"«»]{2,200})[”\"»]|(?<!\w)['‘](?P<b>[^'‘’]{2,200})['’](?!\w)"
)
PARAGRAPH = "paragraph"
"""The word of a pointer without a word for a provision."""


def _plain_form(question: str) -> str:
    """Return the question with its numbers in the forms of laws."""
    plain = _WORDED.sub(lambda m: f"{m['word']} {_NUMERALS[m['number'].lower()]}", question)
    for pattern, form in _FORMS:
        plain = pattern.sub(form, plain)
    return plain


# carries, by benchmarks/rules.py, all of the GDPR's and .60 of us_cfr's provisions by number
def read_pointing(question: str, titles: Mapping[str, str]) -> Pointing | None:
    """Return what a question that stands alone points to, or None if it certainly names nothing.

    ``titles`` has the documents' titles by their names.
    """
    plain = _plain_form(question)
    references = find_references(plain)
    loose = [] if references else loose_numbers(plain)
    headed, structural = _mentions(question)
    titled = folded(question) if headed and not (references or loose) else ""
    if not (references or loose or titled or structural):
        return None
    pointers: list[tuple[Pointer, int]] = []
    foreign = False
    letters = list(plain)
    for reference in references or loose:
        end, act = _act_after(plain, reference.end)
        act = act or _act_before(plain, reference.start)
        fitting, known = _fits(act, titles) if act else (None, True)
        begin = reference.start - (len(act) + 1 if end == reference.end and act else 0)
        letters[max(0, begin) : end] = _MARK * (end - max(0, begin))
        foreign |= not known
        if known and not reference.here:
            pointers.append((_pointer(reference, plain, fitting), reference.start))
    left = _CODE.sub(" ", "".join(letters)).replace(_MARK, " ")
    rest = re.findall(r"[^\W_]+(?:['’.\-][^\W_]+)*", left.lower())
    named = _singled_out(left, titles)
    about = named or (titles if len(titles) == 1 else ())
    telling = frozenset(word for name in about for word in words_of(name, titles[name]))
    topic = [word for word in rest if word not in POINTING and word not in telling]
    only = not foreign and not topic
    if loose and not only:
        # "a fee of 3.5" does not name a clause
        pointers = [(p, at) for p, at in pointers if _UNDER & {*plain[:at].lower().split()[-1:]}]
    return {
        "pointers": [pointer for pointer, _ in pointers],
        "named": named,
        "foreign": foreign,
        "only": only and bool(pointers),
        "topic": [] if foreign else topic,
        "structure": _structural(rest, telling),
        "titled": titled,
    }


def _mentions(question: str) -> tuple[bool, bool]:
    """Return whether a question may name a heading, and whether it may be about the structure."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    quoting = not words.isdisjoint(("say", "says", "said")) and QUOTED.search(question) is not None
    headed = quoting or not words.isdisjoint((*UNIT_WORDS, "heading"))
    return headed, not words.isdisjoint((*UNIT_NOUNS, *UNIT_WORDS, *_BUILT, "contents"))


def _pointer(reference: Reference, text: str, documents: list[str] | None) -> Pointer:
    written = text[reference.start : reference.end]
    kinds = [match.lastgroup or "" for match in _CALLED.finditer(written)]
    if not reference.steps[0].key:
        # "paragraph 4" may be a provision with only a number
        kinds = [PARAGRAPH]
    _, subparagraph, number = written.lower().replace("-", "").partition("subparagraph")
    return {
        "written": written,
        "steps": [[*step] for step in _outermost(reference.steps)],
        "last": [[*step] for step in _outermost(reference.last)],
        # a section of an article is a section
        "word": "section" if {"article", "section"} <= {*kinds} else next(iter(kinds), ""),
        "documents": documents,
        "coded": written[:1].isdigit() and _CODE.match(written) is not None,
        # "subparagraph 2" is counted
        "unnumbered": bool(subparagraph) and number.lstrip("s ")[:1].isdigit(),
    }


def _outermost(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps to a paragraph as steps to a provision."""
    bare = steps and not steps[0].key
    return (Step("provision", steps[0].number), *steps[1:]) if bare else steps


def _structural(rest: Sequence[str], telling: frozenset[str]) -> StructureQuestion | None:
    """Return the question about the structure; None if something else is asked.

    ``rest`` has the question's words in lower case, without references, and ``telling`` the words
    that name the documents.
    """
    words = [word for word in rest if word not in telling or word in UNIT_NOUNS]
    plurals = [word for word in words if word in UNIT_NOUNS]
    ends = [_ENDS[word] for word in words if word in _ENDS]
    singulars = [word for word in words if word in UNIT_WORDS]
    asking = _FILLER | _SAYING if ends else _FILLER
    if set(words) - asking - UNIT_NOUNS.keys() - _ENDS.keys() - {*UNIT_WORDS}:
        return None
    structure: StructureQuestion = {
        "word": "",
        "counted": "many" in words or "number" in words,
        "end": None,
        "saying": not _SAYING.isdisjoint(rest),
    }
    if len(ends) == 1 and len(singulars) == 1 and not plurals:
        return {**structure, "word": singulars[0], "counted": False, "end": ends[0]}
    if len(set(plurals)) == 1 and not ends:
        return {**structure, "word": UNIT_NOUNS[plurals[0]]}
    built = _BUILT & set(words) or {"table", "contents"} <= set(words)
    return {**structure, "counted": False} if built and not ends else None


def only_points(question: str) -> bool:
    """Return whether a question only asks for provisions by their numbers.

    A paragraph alone does not count: it may belong to the provision before.
    """
    pointing = read_pointing(question, {"": ""})
    words = [pointer["word"] for pointer in pointing["pointers"]] if pointing else []
    return bool(pointing and pointing["only"] and any(word != PARAGRAPH for word in words))


def provision_in(text: str) -> str:
    """Return the last provision that a text names by its number, or ""."""
    whole = [r for r in find_references(text) if r.steps[0].key and not r.last]
    return text[whole[-1].start : whole[-1].end] if whole else ""


def placed(question: str, provision: str) -> str:
    """Return the question with "paragraph 2" written as one of a provision, unless that is ""."""
    references = find_references(question)
    if not provision or not references or any(r.steps[0].key or r.here for r in references):
        return question
    end = references[-1].end
    return f"{question[:end]} of {provision}{question[end:]}"


@lru_cache(maxsize=1 << 13)
def words_of(name: str, title: str) -> frozenset[str]:
    """Return the words that name a document: from its path and title, with the acronyms."""
    name, title = folded(name), folded(title)
    plain = {word.lower() for word in re.findall(r"[^\W_]+", f"{name} {title}")}
    plain |= {bare for word in plain if len(bare := word.rstrip("0123456789")) > 1}
    return frozenset(plain | {name.lower()} | acronyms_of(title))


@lru_cache(maxsize=1 << 13)
def acronyms_of(title: str) -> frozenset[str]:
    """Return the acronyms of a title: PHBA, HBA and PHB for "Public Harbour Berths Act".

    PHB is used in "the PHB Act".
    """
    acronyms: set[str] = set()
    for run in RUN.finditer(folded(title)):
        words = [word for word in run.group().split() if word[0].isupper()]
        letters = [word[0] if word.isupper() else re.sub("[^A-Z]", "", word) for word in words]
        acronyms.update("".join(letters[at:]) for at in range(max(1, len(words) - 2)))
        for end in (at for at, word in enumerate(words) if word.lower() in KINDS):
            acronyms |= {"".join(letters[:end]), "".join(letters[: end + 1])}
    return frozenset(acronym.lower() for acronym in acronyms if len(acronym) > 1)


def _singled_out(question: str, titles: Mapping[str, str]) -> list[str]:
    """Return the documents whose names share most words with a question; empty if very many.

    Words in the names of all documents do not count.
    """
    if len(titles) < 2:
        return []
    asked = {word.lower() for word in COMPOUND_WORD.findall(question)} - STOP_WORDS - STRUCTURAL
    asked |= {part for word in asked for part in re.split(r"[.\-/]", word) if len(part) > 2}
    shared = {name: asked & words_of(name, title) for name, title in titles.items()}
    common = set.intersection(*shared.values())
    best = max(len(words - common) for words in shared.values())
    fitting = [name for name, words in shared.items() if best and len(words - common) == best]
    return fitting if len(fitting) <= _MOST_NAMED else []


def _act_after(text: str, end: int) -> tuple[int, str]:
    """Return the end and the name of the act after a reference: "of the Charter", "TFEU".

    The given end and "" if there is none.
    """
    link = _LINK.match(text, end)
    if link is None or text.isupper():
        return end, ""
    begin = link.end()
    clause = re.split(r"[?!;:\n]|,\s|\.\s", text[begin : begin + _MOST_CHARS], maxsplit=1)[0]
    words = [(word.group().strip("\"'“”‘’(),."), word.end()) for word in UNBROKEN.finditer(clause)]
    count = _name_length([word for word, _ in words[:_MOST_WORDS]])
    if not count or not (link["link"] or words[0][0].isupper()):
        return end, ""
    stop = words[count - 1][1]
    return begin + stop, clause[:stop].strip(' .?"”’')


def _name_length(words: Sequence[str]) -> int:
    """Return the number of words in an act's name at the beginning, or 0."""
    telling = [bool(_CASED.match(word) or word.lower() in KINDS | _ANY) for word in words]
    if not any(telling):
        return 0
    first = last = telling.index(True)
    before = {word.lower() for word in words[:first]}
    if first and (words[first].lower() not in KINDS or before & STOP_WORDS):
        return 0  # "of a person in Spain"; but "of the allotment gardens act"
    for place in range(first + 1, len(words)):
        if telling[place] or words[place][:1].isdigit():
            last = place
        elif words[place].lower() not in _LINKING:
            break
    return last + 1


def _act_before(text: str, start: int) -> str:
    """Return the acronym before a reference: "TFEU Article 101"; "" in a text in capitals."""
    before = text[max(0, start - 20) : start]
    if text.isupper() or not before[-1:].isspace():
        return ""
    word = "".join(before.split()[-1:]).removesuffix("'s").removesuffix("’s")
    acronym = word.isascii() and word.isalpha() and word.isupper()
    return word if acronym and 2 < len(word) <= _LONGEST_ACRONYM else ""


def _fits(act: str, titles: Mapping[str, str]) -> tuple[list[str] | None, bool]:
    """Return the documents that may have an act's name, None for any, and whether any may."""
    own = [word.lower() for word in re.findall(r"[^\W_]+", act)]
    own = [word for word in own if word not in STOP_WORDS and word not in STRUCTURAL]
    telling = [word for word in own if word not in _ANY]
    fitting = [n for n, title in titles.items() if words_of(n, title).issuperset(telling)]
    if fitting or act.lower() in titles:
        return fitting, True
    return None, set(own) <= (KINDS | _ANY) - _OTHERWISE_NAMED
