"""The provisions and documents that a question names, where they are, and what is told of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from itertools import islice

from lexloop.core.folding import folded
from lexloop.core.types import (
    MOST_POINTED,
    Pointed,
    PointedUnit,
    Pointer,
    Pointing,
    StructureLine,
    StructureQuestion,
)
from lexloop.documents.structure import telling
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
    AnswerLine,
    entitled,
    word_of,
)
from lexloop.documents.structure.tree import ITEMS, Missing, Tree
from lexloop.documents.text.quantities import NUMBERS
from lexloop.documents.text.tokens import (
    COMPOUND_WORD,
    STOP_WORDS,
    UNBROKEN,
    term_set,
    tokenize,
)
from lexloop.store.view import View

_POINTING = frozenset(
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
"""The words of questions that ask for the text of a provision and for nothing else."""
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
"""How people write numbers, and how laws do: "5(1)a" is "5(1)(a)"."""
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
"""These call for a document of that name; "the act" and "this law" may be any document."""
KINDS = _OTHERWISE_NAMED | frozenset(
    """act acts law laws regulation regulations rule rules policy policies contract agreement
    standard code statute order guideline guidelines handbook manual terms legislation license
    licence""".split()
)
"""The words by which texts call themselves."""
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
"""Verbs with which a question about the last article asks for its words."""
_CASED = re.compile(r"[A-Z]\w+|[\w\-/]+\.[a-z]{2,5}$")
_LINK = re.compile(
    r",?\s+(?:(?P<link>of|in|to|under|from|within)\s+(?:(?:the|this|that|our|your)\s+)?)?",
    re.IGNORECASE,
)
_LONGEST_ACRONYM = 10
_LINKING = frozenset(("of", "on", "the", "and", "for", "to", "in"))
_MOST_WORDS, _MOST_CHARS, _MOST_NAMED = 10, 200, 50
_QUOTED = re.compile(
    r"[“\"«](?P<a>[^“”\"«»]{2,200})[”\"»]|(?<!\w)['‘](?P<b>[^'‘’]{2,200})['’](?!\w)"
)
_LONGEST_HEADING, _ASKED_WORDS = 24, 60
_HEADED = _POINTING | {*UNIT_WORDS, "headed", "heading", "titled", "entitled", "called", "named"}
_NEAREST, _ALIKE = 3, 0.5


def _plain_form(question: str) -> str:
    """Return the question with numbers in the forms of laws in place of people's own."""
    plain = _WORDED.sub(lambda m: f"{m['word']} {_NUMERALS[m['number'].lower()]}", question)
    for pattern, form in _FORMS:
        plain = pattern.sub(form, plain)
    return plain


# carries, by benchmarks/rules.py, all of the GDPR's and .60 of us_cfr's provisions by number
def read_pointing(question: str, titles: Mapping[str, str]) -> Pointing | None:
    """Return what a question that stands alone points to; None where it surely points nowhere.

    ``titles`` are those of the documents by their names.
    """
    asked = _plain_form(question)
    references = find_references(asked)
    loose = [] if references else loose_numbers(asked)
    titled = "" if references or loose or not _may_be_headed(question) else folded(question)
    if not (references or loose or titled or _may_be_structural(question)):
        return None
    found: list[tuple[Pointer, int]] = []
    foreign = False
    letters = list(asked)
    for reference in references or loose:
        end, act = _act_after(asked, reference.end)
        act = act or _act_before(asked, reference.start)
        fitting, known = _fits(act, titles) if act else (None, True)
        begin = reference.start - (len(act) + 1 if end == reference.end and act else 0)
        letters[max(0, begin) : end] = _MARK * (end - max(0, begin))
        foreign |= not known
        if known and not reference.here:
            found.append((_pointer(reference, asked, fitting), reference.start))
    left = _CODE.sub(" ", "".join(letters)).replace(_MARK, " ")
    rest = re.findall(r"[^\W_]+(?:['’.\-][^\W_]+)*", left.lower())
    named = _singled_out(left, titles)
    about = named or (titles if len(titles) == 1 else ())
    telling = frozenset(word for name in about for word in words_of(name, titles[name]))
    topic = [word for word in rest if word not in _POINTING and word not in telling]
    only = not foreign and not topic
    if loose and not only:
        # "a fee of 3.5" names no clause
        found = [(p, at) for p, at in found if _UNDER & {*asked[:at].lower().split()[-1:]}]
    return {
        "pointers": [pointer for pointer, _ in found],
        "named": named,
        "foreign": foreign,
        "only": only and bool(found),
        "topic": [] if foreign else topic,
        "structure": _structural(rest, telling),
        "titled": titled,
    }


def _may_be_headed(question: str) -> bool:
    """Return whether a question may name a heading: it has a unit's word, or asks what one says."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    quoting = not words.isdisjoint(("say", "says", "said")) and _QUOTED.search(question) is not None
    return quoting or not words.isdisjoint((*UNIT_WORDS, "heading"))


def _pointer(reference: Reference, asked: str, documents: list[str] | None) -> Pointer:
    written = asked[reference.start : reference.end]
    called = [found.lastgroup or "" for found in _CALLED.finditer(written)]
    if not reference.steps[0].key:
        # "paragraph 4" may be a provision that only its number names
        called = [_PARAGRAPH]
    return {
        "written": written,
        "steps": [[*step] for step in _outermost(reference.steps)],
        "last": [[*step] for step in _outermost(reference.last)],
        # of an article and a section of it, the section is meant
        "word": "section" if {"article", "section"} <= {*called} else next(iter(called), ""),
        "documents": documents,
        "coded": written[:1].isdigit() and _CODE.match(written) is not None,
        "unnumbered": _is_subparagraph(written),
    }


def _is_subparagraph(written: str) -> bool:
    """Return whether a reference is to a subparagraph by its place: "subparagraph 2"."""
    _, subparagraph, number = written.lower().replace("-", "").partition("subparagraph")
    return bool(subparagraph) and number.lstrip("s ")[:1].isdigit()


def _outermost(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps to a paragraph as those to a provision."""
    if not steps or steps[0].key:
        return steps
    return (Step("provision", steps[0].number), *steps[1:])


def _may_be_structural(question: str) -> bool:
    """Return whether a question names units of a document or its structure at all."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    return not words.isdisjoint((*UNIT_NOUNS, *UNIT_WORDS, *_BUILT, "contents"))


def _structural(rest: Sequence[str], telling: frozenset[str]) -> StructureQuestion | None:
    """Return what a question asks of the structure; None if it asks of anything else.

    ``rest`` are its words in small letters, without references, and ``telling`` those that name the
    documents.
    """
    words = [word for word in rest if word not in telling or word in UNIT_NOUNS]
    nouns = [word for word in words if word in UNIT_NOUNS]
    ends = [_ENDS[word] for word in words if word in _ENDS]
    ones = [word for word in words if word in UNIT_WORDS]
    asking = _FILLER | _SAYING if ends else _FILLER
    if set(words) - asking - UNIT_NOUNS.keys() - _ENDS.keys() - {*UNIT_WORDS}:
        return None
    found: StructureQuestion = {
        "word": "",
        "counted": "many" in words or "number" in words,
        "end": None,
        "saying": not _SAYING.isdisjoint(rest),
    }
    if len(ends) == 1 and len(ones) == 1 and not nouns:
        return {**found, "word": ones[0], "counted": False, "end": ends[0]}
    if len(set(nouns)) == 1 and not ends:
        return {**found, "word": UNIT_NOUNS[nouns[0]]}
    built = _BUILT & set(words) or {"table", "contents"} <= set(words)
    return {**found, "counted": False} if built and not ends else None


def only_points(question: str) -> bool:
    """Return whether a question asks for provisions by their numbers and for nothing else.

    That of a paragraph alone may be one of the provision before.
    """
    found = read_pointing(question, {"": ""})
    return bool(found and found["only"] and any(p["word"] != _PARAGRAPH for p in found["pointers"]))


def provision_in(text: str) -> str:
    """Return the last provision that a text names by its number; "" where it names none."""
    whole = [r for r in find_references(text) if r.steps[0].key and not r.last]
    return text[whole[-1].start : whole[-1].end] if whole else ""


def placed(question: str, provision: str) -> str:
    """Return the question, its "paragraph 2" made that of a provision; "" leaves it as it is."""
    references = find_references(question)
    if not provision or not references or any(r.steps[0].key or r.here for r in references):
        return question
    end = references[-1].end
    return f"{question[:end]} of {provision}{question[end:]}"


@lru_cache(maxsize=1 << 13)
def words_of(name: str, title: str) -> frozenset[str]:
    """Return the words that name a document: of its path and title, and the title's acronyms."""
    name, title = folded(name), folded(title)
    plain = {word.lower() for word in re.findall(r"[^\W_]+", f"{name} {title}")}
    plain |= {bare for word in plain if len(bare := word.rstrip("0123456789")) > 1}
    return frozenset(plain | {name.lower()} | acronyms_of(title))


@lru_cache(maxsize=1 << 13)
def acronyms_of(title: str) -> frozenset[str]:
    """Return what may stand for a title: for "Public Harbour Berths Act" PHBA, HBA and PHB.

    The last is for "the PHB Act".
    """
    found: set[str] = set()
    for run in RUN.finditer(folded(title)):
        words = [word for word in run.group().split() if word[0].isupper()]
        letters = [word[0] if word.isupper() else re.sub("[^A-Z]", "", word) for word in words]
        found.update("".join(letters[at:]) for at in range(max(1, len(words) - 2)))
        for end in (at for at, word in enumerate(words) if word.lower() in KINDS):
            found |= {"".join(letters[:end]), "".join(letters[: end + 1])}
    return frozenset(one.lower() for one in found if len(one) > 1)


def _singled_out(question: str, titles: Mapping[str, str]) -> list[str]:
    """Return the documents that a question's telling words fit best; empty if very many.

    What the names of all documents share tells nothing.
    """
    if len(titles) < 2:
        return []
    asked = {word.lower() for word in COMPOUND_WORD.findall(question)} - STOP_WORDS - STRUCTURAL
    asked |= {part for word in asked for part in re.split(r"[.\-/]", word) if len(part) > 2}
    known = {name: asked & words_of(name, title) for name, title in titles.items()}
    common = set.intersection(*known.values())
    best = max(len(words - common) for words in known.values())
    found = [name for name, words in known.items() if best and len(words - common) == best]
    return found if len(found) <= _MOST_NAMED else []


def unit_at(document: str, tree: Tree, place: int) -> PointedUnit:
    """Return the unit at a place of a document's tree as what is pointed to."""
    unit = tree.units[place]
    return {
        "document": document,
        "place": place,
        "label": unit.label,
        "start": unit.start,
        "end": unit.end,
    }


def _act_after(text: str, end: int) -> tuple[int, str]:
    """Return the end and the name of the act after a reference: "of the Charter", "TFEU".

    The end given and "" where none follows.
    """
    link = _LINK.match(text, end)
    if link is None or text.isupper():
        return end, ""
    begin = link.end()
    clause = re.split(r"[?!;:\n]|,\s|\.\s", text[begin : begin + _MOST_CHARS], maxsplit=1)[0]
    words = [(word.group().strip("\"'“”‘’(),."), word.end()) for word in UNBROKEN.finditer(clause)]
    count = _name_length([word for word, _ in words[:_MOST_WORDS]])
    linked = link["link"] is not None or (words and words[0][0].isupper())
    if not count or not linked:
        return end, ""
    stop = words[count - 1][1]
    return begin + stop, clause[:stop].strip(' .?"”’')


def _name_length(words: Sequence[str]) -> int:
    """Return how many of the words are the name of an act; 0 if they begin with none."""
    telling = [bool(_CASED.match(word) or word.lower() in KINDS | _ANY) for word in words]
    if not any(telling):
        return 0
    first = telling.index(True)
    before = {word.lower() for word in words[:first]}
    if first and (words[first].lower() not in KINDS or before & STOP_WORDS):
        return 0  # "of a person in Spain"; but "of the allotment gardens act"
    last = first
    for place in range(first + 1, len(words)):
        if telling[place] or words[place][:1].isdigit():
            last = place
        elif words[place].lower() not in _LINKING:
            break
    return last + 1


def _act_before(text: str, start: int) -> str:
    """Return the acronym before a reference: "TFEU Article 101"; "" where the text shouts."""
    before = text[max(0, start - 20) : start]
    if text.isupper() or not before[-1:].isspace():
        return ""
    word = before.split()[-1].removesuffix("'s").removesuffix("’s") if before.split() else ""
    acronym = word.isascii() and word.isalpha() and word.isupper()
    return word if acronym and 2 < len(word) <= _LONGEST_ACRONYM else ""


def _fits(act: str, titles: Mapping[str, str]) -> tuple[list[str] | None, bool]:
    """Return the documents that an act's name may mean, None for any; and whether it means any."""
    own = [word.lower() for word in re.findall(r"[^\W_]+", act)]
    own = [word for word in own if word not in STOP_WORDS and word not in STRUCTURAL]
    telling = [word for word in own if word not in _ANY]
    fitting = [n for n, title in titles.items() if words_of(n, title).issuperset(telling)]
    if fitting or act.lower() in titles:
        return fitting, True
    anything = set(own) <= (KINDS | _ANY) - _OTHERWISE_NAMED
    return None, anything


MOST_DOCUMENTS = 4
"""The most documents that one answer is about; of more it asks which is meant."""
_MOST_LISTED, _MOST_UNITS = 10, 200
_PARAGRAPH = "paragraph"
"""What a pointer is called that has no word for a provision."""


def point(pointing: Pointing | None, view: View) -> Pointed:
    """Return the provisions that a question points to, and what the structure itself says."""
    if pointing is None:
        return {"units": [], "chunks": [], "told": [], "only": False}
    asked = _Question(pointing, view)
    structure = pointing["structure"]
    if structure is not None and not pointing["foreign"]:
        said, units = asked.of_structure(structure)
        if said or units:
            return _pointed(units, said, view, only=True)
    if pointing["titled"] and (headed := asked.headed()) is not None:
        return headed
    units = asked.units()
    told = [*asked.crowd, *asked.missing()]
    only = asked.whole(units) and bool(units or told or asked.surely)
    trees = [asked.tree(unit["document"]) for unit in units]
    parts = (telling.groups(t, u["place"]) for t, u in zip(trees, units, strict=True))
    if only and units and not told and all(parts):
        told = [line for unit in units for line in asked.outline(unit)]
        units = []
    return _pointed(units, told, view, only=only)


def _pointed(
    units: list[PointedUnit], told: list[StructureLine], view: View, *, only: bool
) -> Pointed:
    chunks = (chunk_id for unit in units for chunk_id in view.chunks_over(unit))
    first = [*dict.fromkeys(islice(chunks, MOST_POINTED))]
    return {"units": units, "chunks": first, "told": told, "only": only}


class _Question:
    """One question and the documents it may be about.

    ``crowd`` lists them where there are too many to choose from.
    """

    def __init__(self, pointing: Pointing, view: View) -> None:
        self._pointing, self._view = pointing, view
        self._several = len(view.titles) > 1
        self.crowd: list[StructureLine] = []
        self._found = [(p, self._places(p)) for p in pointing["pointers"]]

    @property
    def surely(self) -> bool:
        """Whether a provision is named, by a word for one."""
        return any(pointer["word"] != _PARAGRAPH for pointer, _ in self._found)

    def units(self) -> list[PointedUnit]:
        """Return the units pointed to, in the order of the question, none within another."""
        every = [at for pointer, found in self._found for at in self._of_few(pointer, found)]
        units = dict.fromkeys(every)
        outermost = [
            (document, place)
            for document, place in units
            if not any((document, above) in units for above in self.tree(document).above(place))
        ]
        return [self._unit(*at) for at in outermost[:_MOST_UNITS]]

    def whole(self, units: Sequence[PointedUnit]) -> bool:
        """Return whether a question asks for the whole text of units, and for nothing else.

        It may say what they are about, in words of their headings.
        """
        headings = (self._heading(unit["document"], unit["place"]) for unit in units)
        about = {term for heading in headings for term in tokenize(heading)}
        topic = self._pointing["topic"]
        headed = topic and all(about.issuperset(tokenize(word)) for word in topic)
        return self._pointing["only"] or bool(headed)

    def headed(self) -> Pointed | None:
        """Return the units that a question calls by their headings, or the nearest headings.

        Of all runs of its words, or of what it quotes, the longest that is a heading counts; a
        single word is one only if it is quoted or the question asks for nothing else.
        """
        words = self._pointing["titled"]
        quoted = [found["a"] or found["b"] for found in _QUOTED.finditer(words)]
        found = self._longest(quoted or _runs_of(words)) or self._telling(quoted)
        said = {*tokenize(self._heading(*found[0]) if found else " ".join(quoted))}
        about = self._pointing["named"] or self._view.titles
        names = {w for name in about for w in words_of(name, self._view.titles.get(name, ""))}
        rest = re.findall(r"[^\W_]+(?:['’.\-][^\W_]+)*", words.lower())
        only = all(w in _HEADED or w in names or said.issuperset(tokenize(w)) for w in rest)
        if found and (only or quoted or len(said) > 1):
            units = [self._unit(*at) for at in found[:MOST_DOCUMENTS]]
            return _pointed(units, [], self._view, only=only)
        if not (quoted and only) or {"section", "heading"}.isdisjoint(rest):
            return None
        return _pointed([], self._nearest(quoted[0]), self._view, only=True)

    def _headings(self) -> Iterator[tuple[str, tuple[str, int]]]:
        for document in self._pointing["named"] or self._view.holding([], ()):
            for place, unit in enumerate(self.tree(document).units):
                if unit.heading and unit.kind in ("part", "provision", "annex"):
                    yield unit.heading, (document, place)

    def _telling(self, quoted: Sequence[str]) -> list[tuple[str, int]]:
        """Return the units, if they are few, whose headings have all words of what is quoted."""
        wanted = {*tokenize(" ".join(quoted))}
        if not wanted:
            return []  # no tree is read for what is not quoted
        found = [at for heading, at in self._headings() if wanted <= term_set(heading)]
        return found if len(found) <= MOST_DOCUMENTS else []

    def _nearest(self, heading: str) -> list[StructureLine]:
        """Return that nothing has a heading, and the headings that are most like it."""
        every = dict(self._headings())
        near = (every[one] for one in get_close_matches(heading, every, _NEAREST, _ALIKE))
        lines = [
            self._told(d, AnswerLine(f"{entitled(self.tree(d).units[p])}.", (p,)), named=True)
            for d, p in near
        ]
        begun = (
            f"No heading reads “{heading}”; the nearest are:"
            if lines
            else f"No heading reads “{heading}”."
        )
        return [{"line": begun, "citations": []}, *lines]

    def _longest(self, runs: Sequence[str]) -> list[tuple[str, int]]:
        found = self._view.headed(runs)
        named = [at for at in found if at[0] in self._pointing["named"]] or found
        sizes = [len(tokenize(self._heading(*at))) for at in named]
        most = max(sizes, default=0)
        longest = [at for at, size in zip(named, sizes, strict=True) if size == most]
        said = self._pointing["titled"].casefold()
        return [at for at in longest if folded(self._heading(*at)).casefold() in said] or longest

    def _heading(self, document: str, place: int) -> str:
        return self.tree(document).units[place].heading

    def missing(self) -> list[StructureLine]:
        """Return what is there in place of numbers that are in no document."""
        told: dict[str, StructureLine] = {}
        for pointer, found in self._found:
            lacking = [] if found else self._documents(pointer)
            missing = [(d, m) for d in lacking if (m := self._lacking(d, pointer)) is not None]
            named = [(d, m) for d, m in missing if d in self._pointing["named"]] or missing
            # a document that has some of the way is the one meant
            nearest = [(d, m) for d, m in named if m.within >= 0] or named
            # one whose provisions are called otherwise is meant only where none is called so
            called = [one for one in nearest if telling.members(self.tree(one[0]), pointer["word"])]
            nearest = called or nearest
            for document, lost in nearest[:MOST_DOCUMENTS]:
                line = telling.missing_line(self.tree(document), lost, document, pointer["written"])
                told[line.text] = self._told(document, line)
        return list(told.values())

    def of_structure(
        self, asked: StructureQuestion
    ) -> tuple[list[StructureLine], list[PointedUnit]]:
        """Return answers about the structure, and first or last units to be quoted."""
        scopes = [scope for _, found in self._found for scope in found]
        if not scopes and not self.surely:
            listed = self._pointing["named"] or self._view.holding([], ())
            scopes = [(document, -1) for document in listed]
        found = {s: telling.members(self.tree(s[0]), asked["word"], s[1]) for s in scopes}
        having = [scope for scope in scopes if found[scope] or not asked["word"]] or scopes
        if len(having) > MOST_DOCUMENTS:
            return [], []
        if asked["word"] in telling.SMALL and not asked["counted"]:
            return [], [self._unit(*scope) for scope in scopes if scope[1] >= 0]
        if asked["end"] is not None and asked["saying"]:
            ends = [self._unit(s[0], found[s][asked["end"]]) for s in having if found[s]]
            return [], ends
        return [
            self._told(document, line, named=place >= 0 and line.text.endswith((":", ".")))
            for document, place in having
            for line in telling.told(asked, self.tree(document), document, place)
        ], []

    def outline(self, unit: PointedUnit) -> Iterator[StructureLine]:
        """Yield the contents of a part."""
        for line in telling.outline(self.tree(unit["document"]), unit["place"]):
            yield self._told(unit["document"], line, named=line.text.endswith(":"))

    def _places(self, pointer: Pointer) -> list[tuple[str, int]]:
        """Return the places that a pointer leads to.

        Where it leads into documents that are named, only these; of these, if there are any, only
        the units that the documents call as the question does.
        """
        found = [(d, p) for d in self._documents(pointer) for p in self._lead(d, pointer)]
        named = [(d, p) for d, p in found if d in self._pointing["named"]] or found
        return [(d, p) for d, p in named if self._is_called(d, p, pointer)] or named

    def _documents(self, pointer: Pointer) -> Iterable[str]:
        holding = self._view.holding([_reference(pointer)], self._pointing["named"])
        within = pointer["documents"]
        return [document for document in holding if within is None or document in within]

    def _lead(self, document: str, pointer: Pointer) -> list[int]:
        tree, reference = self.tree(document), _reference(pointer)
        steps, found = reference.steps, tree.find(reference)
        if pointer["word"] == _PARAGRAPH:
            return [p for p in found if self._is_paragraph(document, p, pointer)]
        found = found or tree.ending(reference)
        if not found and (at := next((i for i, s in enumerate(steps) if s.key == "section"), 0)):
            # "Article 12 of Chapter III": the numbers of articles run on over chapters
            alone = (Step("provision", steps[at].number), *steps[at + 1 :])
            found = tree.find(Reference(0, 0, alone))
        if not found and pointer["unnumbered"]:
            found = tree.find(Reference(0, 0, steps[:-1]))
        return [place for place in found if self._is_called(document, place, pointer, bare=True)]

    def _lacking(self, document: str, pointer: Pointer) -> Missing | None:
        tree = self.tree(document)
        missing = tree.missing(_reference(pointer))
        if missing is None or pointer["coded"]:
            return None
        place = missing.last if missing.last >= 0 else missing.within
        counted = pointer["word"] == _PARAGRAPH
        called = self._is_paragraph if counted else partial(self._is_called, bare=True)
        if not called(document, place, pointer):
            return None
        if self._pointing["only"] or missing.within >= 0:
            return missing
        # beside what else is asked, "section 230" may be of a law that is not here
        others = {name for _, found in self._found for name, _ in found}
        meant = not self._several or document in {*self._pointing["named"], *others}
        within = pointer["documents"]
        meant = meant or (within is not None and len(within) < len(self._view.titles))
        alike = _style(tree.units[place].number) == _style(missing.wanted[0].number)
        return missing if meant and alike else None

    def _is_called(self, document: str, place: int, pointer: Pointer, bare: bool = False) -> bool:
        """Return whether a document's word for a provision is the question's.

        One with a number such as 2.1 may be called anything, and with ``bare`` one that has but a
        number.
        """
        tree = self.tree(document)
        if "." in tree.units[place].number and bare:
            return True
        path = (place, *tree.above(place))
        root = next((p for p in path if tree.units[p].kind == "provision"), -1)
        if root < 0 or not pointer["word"]:
            return True
        own = word_of(tree.units[root].label)
        if own == pointer["word"] or not bare:
            return own == pointer["word"]
        start = tree.units[root].start
        head = (self._view.text_of(document) or "")[start : start + 3]
        return not head.lower().startswith((own[:3], "§"))

    def _is_paragraph(self, document: str, place: int, pointer: Pointer) -> bool:
        """Return whether a place lies in a provision that is called a paragraph as well.

        Only a number names it, and no paragraph of another has that number, or it has no heading.
        """
        units, wanted = self.tree(document).units, pointer["steps"][0][1]
        path = [units[p] for p in (place, *self.tree(document).above(place))]
        root = next((unit for unit in path if unit.kind == "provision" and unit.number), None)
        if root is None or not self._is_called(document, place, pointer, bare=True):
            return False
        beside = any(unit.kind in ITEMS and unit.number == wanted for unit in units)
        return not (root.heading and beside)

    def _of_few(self, pointer: Pointer, found: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return the places where they lie in few documents; else note in which."""
        documents = list(dict.fromkeys(document for document, _ in found))
        if len(documents) <= MOST_DOCUMENTS:
            return found
        if self._pointing["only"]:
            listed = [next(f for f in found if f[0] == d) for d in documents[:_MOST_LISTED]]
            written = " ".join(pointer["written"].split())
            count = f"{len(documents)} documents have {written}; name the one you mean:"
            self.crowd.append({"line": count, "citations": []})
            self.crowd += [
                self._told(
                    d, AnswerLine(f"{d}: {entitled(self.tree(d).units[p])}.", (p,)), named=False
                )
                for d, p in listed
            ]
        return []

    def _told(self, document: str, line: AnswerLine, named: bool = False) -> StructureLine:
        tree, text = self.tree(document), self._view.text_of(document) or ""
        citations = [
            self._view.cited(
                document, *telling.heading_span(tree, place, text), tree.units[place].label
            )
            for place in line.places
        ]
        said = f"In {document}: {line.text}" if named and self._several else line.text
        return {"line": " ".join(said.split()), "citations": citations}

    def _unit(self, document: str, place: int) -> PointedUnit:
        return unit_at(document, self.tree(document), place)

    def tree(self, document: str) -> Tree:
        """Return a document's tree; an empty one where there is no such document."""
        return self._view.tree_of(document) or Tree()


def _runs_of(text: str) -> list[str]:
    """Return all runs of a question's first words that may be a heading, the longest first."""
    words = [*islice(UNBROKEN.finditer(text), _ASKED_WORDS)]
    return [
        text[words[first].start() : words[first + length - 1].end()]
        for length in range(min(len(words), _LONGEST_HEADING), 0, -1)
        for first in range(len(words) - length + 1)
    ]


def _reference(pointer: Pointer) -> Reference:
    steps = tuple(Step(key, number) for key, number in pointer["steps"])
    return Reference(0, 0, steps, tuple(Step(key, number) for key, number in pointer["last"]))


def _style(number: str) -> str:
    return "".join(c for c in ".-:" if c in number)
