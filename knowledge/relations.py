"""The relations of a law, read off the tree of its provisions and the references in its words.

They work in any language: what is part of what, the topic of a heading, where terms are defined and
used, and which provision refers to which. If the words around a reference make it an exception, an
amendment, or a date of application, the relation has that kind instead.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple, get_args

from lexloop.core.folding import folded, narrowed
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.chunks.statements import Span, statements, unnumbered
from lexloop.documents.document import Document
from lexloop.documents.structure.lookup import owns_label
from lexloop.documents.structure.references import (
    ACTS,
    COMPOUND,
    KIND,
    Reference,
    Step,
    cited,
    elsewhere,
    find_references,
)
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.exceptions import DEROGATING, NOT_APPLYING
from lexloop.documents.text.tokens import term_set, tokenize, words

PHRASE_CHARS = 120
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
"""Every reference contains one of these. Testing for them first saves most of the time."""


def readable(text: str, limit: int = PHRASE_CHARS) -> str:
    """Return ``text`` folded, on one line, without quotes and outer stops, cut between words."""
    text = _QUOTES.sub("", folded(text[: 8 * limit]))
    line = " ".join(text.split()).strip(_EDGES)
    if len(line) > limit:
        line = line[: limit + 1].rsplit(" ", 1)[0][:limit].rstrip(_EDGES)
    return line


@lru_cache(maxsize=1 << 13)
def cites(phrase: str) -> bool:
    """Return whether a phrase is a reference to a provision, or begins with one."""
    lowered = phrase.lower()
    if not any(kind in lowered for kind in _KINDS):
        return False
    reference = cited(phrase[:_CITING_CHARS])
    return reference is not None and not phrase[: reference.start].strip()


@lru_cache(maxsize=1 << 14)
def entity_key(phrase: str) -> str:
    """Return the name of an entity in the graph: its words' stems, without stop words.

    Case, number, stops and the spelling of section signs make no difference. A label keeps every
    word: "point a" is not "point".
    """
    phrase = folded(phrase)
    if not cites(phrase):
        label_words = words(phrase)
        return " ".join(stem for word in label_words for stem in tokenize(word)[:1]) or " ".join(
            label_words
        )
    for written, plain in _ABBREVIATED:
        phrase = written.sub(plain, phrase)
    label_words = _LABEL_WORD.findall(phrase.replace("–", "-").lower())
    return " ".join((tokenize(word)[:1] or [word])[0] for word in label_words)


def reference_key(reference: str) -> tuple[str, bool]:
    """Return the key of the provision that a reference names, and whether any document may have it.

    A plain number in another act does not name a provision of a document that has the same number.
    """
    citation = cited(reference)
    if citation is None or (
        (citation.act or citation.code) and not COMPOUND.search(citation.number)
    ):
        return entity_key(reference), False
    return entity_key(f"{citation.kind} {citation.number.replace('|', ' ')}"), True


def outer_key(key: str) -> str:
    """Return the key of the parent: "article 5 1" for "article 5 1 a"; "" at the top."""
    outer = key.rpartition(" ")[0]
    return outer if " " in outer else ""


_THIS = re.compile(r"\b[Tt]his ([A-Z][a-z]+)")
_READ, _TITLE = 1_000_000, 400
_MOST = 60
"""References read per statement; a line with more is a table of contents."""


class Target(NamedTuple):
    """The target of a reference.

    Args:
        start: The start of the reference in the text.
        end: The end of the reference.
        name: Label of a provision in the same document, or name of another document.
        own: Whether it is a provision of the same document.
    """

    start: int
    end: int
    name: str
    own: bool


class References:
    """A resolver of the references in the statements of one document."""

    def __init__(self, tree: Tree, text: str, title: str) -> None:
        self._tree = tree
        first = text.lstrip()[:_TITLE].partition("\n")[0]
        self._heading = f"{title}\n{first}".lower()
        self._titled = term_set(title)
        self._own = {*_THIS.findall(text[:_READ]), *re.findall(r"[A-Z][a-z]+", title)}

    def of(self, body: str, place: int, changing: bool = False) -> list[Target]:
        """Return the targets of a statement in order; a range gives all its provisions.

        "paragraph 1" is resolved from the place of its own unit. If a statement changes a provision
        (``changing``) and names an act with it, the provision is in that act.
        """
        acts = [
            m for m in islice(ACTS.finditer(body), _MOST) if m.group().lower() not in self._heading
        ]
        targets = [Target(m.start(), m.end(), _line(m.group()), own=False) for m in acts]
        spans = [m.span() for m in ACTS.finditer(body)] if acts else []
        within = acts[0].group() if changing and acts else ""
        for reference in find_references(body):
            if not any(start <= reference.start < end for start, end in spans):
                targets += self._targets(body, reference, place, changing, within)
        return sorted(targets[:_MOST], key=lambda target: target.start)

    def _targets(
        self, body: str, reference: Reference, place: int, changing: bool, within: str
    ) -> Iterator[Target]:
        act, code, start, end = elsewhere(body, reference)
        behind = "" if act or not within else f" of the {within}"
        act = act or within
        foreign = bool(code) or bool(act and act.split()[0] not in self._own)
        if act and (changing or _AMENDED.match(body, end)):
            foreign = foreign or term_set(act) != self._titled
        phrase = _line(body[reference.start : reference.end])
        if not foreign or COMPOUND.search(phrase):
            places = self._tree.find(reference, place)
            for label in dict.fromkeys(self._tree.units[p].label for p in places):
                yield Target(reference.start, reference.end, label, own=True)
            if places or reference.itself:
                return
        kind = KIND.search(phrase)
        if not reference.steps[0].key or not (kind or code):
            return  # "paragraph 2" without a named provision
        full_name = _named(phrase, reference.steps, kind.group() if kind else "")
        if start < reference.start:
            full_name = f"{code} {full_name}"
        yield Target(start, end, _line(full_name + body[reference.end : end] + behind), own=False)


def _named(phrase: str, steps: tuple[Step, ...], kind: str) -> str:
    """Return a reference to one number, in the singular: "Rule 3.4" for "Rules 3.2 and 3.4"."""
    if not re.search(r",|\s(?:and|or|to)\s", phrase):
        return re.sub(r"^§+\s*", "§ ", KIND.sub(lambda m: _singular(m.group()), phrase, count=1))
    number = steps[0].number
    written = re.search(re.escape(number), phrase, re.IGNORECASE)
    subs = "".join(f"({step.number})" for step in steps[1:])
    return f"{_singular(kind)} {written.group() if written else number}{subs}"


def _singular(word: str) -> str:
    return {"annexes": "annex", "Annexes": "Annex"}.get(word, word.rstrip("s"))


def _line(text: str) -> str:
    return " ".join(text.split())[:PHRASE_CHARS].rstrip()


Predicate = Literal[
    "part_of",  # Article 5(1) part_of Article 5
    "concerns",  # Article 5 concerns: principles of processing, its heading
    "defines",  # bias audit defines: an impartial evaluation
    "alias_of",  # AEDT alias_of automated employment decision tool
    "uses",  # Article 33(1) uses personal data breach, which Article 4 defines
    "refers_to",  # Article 33(1) refers_to Article 55
    "exception_to",  # Article 17(3) exception_to Article 17(1)
    "amends",  # Article 94(1) amends Directive 95/46/EC
    "applies_from",  # Article 99(2) applies_from 25 May 2018
]
PREDICATES: tuple[Predicate, ...] = get_args(Predicate)
_READINGS: dict[str, str] = {
    "defines": "is defined as",
    "alias_of": "is short for",
    "uses": "uses the term",
    "exception_to": "is an exception to",
    "requires": "must",
    "prohibits": "must not",
    "permits": "may",
    "penalises": "is the penalty for",
    "amount": "amounts to",
    "deadline": "has the time limit",
    "applies_to": "applies to",
    "includes": "includes",
    "excludes": "excludes",
}
"""Includes a model's kinds: its prompt names more than the structure has."""
_NAMES = {reading: name for name, reading in _READINGS.items()}

_UNTOLD = frozenset(("row", "columns", "table", "contents", "closing", "text"))
"""Kinds of units that have no name of their own."""
_QUOTED, _LONGEST = 160, 4000
"""Characters of a unit that are quoted for its place; of a statement that are read."""
_MOST_TERMS = 2000
_FORMS = re.compile(r"(?:,|(?<!\s))\s+or\s+|(?:(?<!\s)\s+)?/\s*")
_MEANS = r"(?:(?:(?:shall\s)?means?|is|are)\s)?"
_SHORT = re.compile(rf"or\W+(?P<form>[A-Z]{{2,9}})\b\W*{_MEANS}")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NEAR = 60
_EXCEPTING = re.compile(
    rf"\b(?:{DEROGATING}|despite|abweichend|ausnahme|dérogation|excepción|deroga|eccezione)\b"
    r"[^.;]{0,60}$",
    re.IGNORECASE,
)
_EXCEPTED = re.compile(
    rf"[^.;:]{{0,20}}?\b(?:{NOT_APPLYING}|gilt\s+nicht"
    r"|gelten\s+nicht|ne\s+s['’]applique(?:nt)?\s+pas|no\s+se\s+aplica(?:n|rá|rán)?"
    r"|non\s+si\s+applica(?:no)?)\b",
    re.IGNORECASE,
)
_CHANGE = (
    r"\b(?<!as\s)(?:amend|replac|repeal|delet|substitut|omit|revok|strik|struck|insert|abrog|geändert"
    r"|ersetz|aufgehoben|gestrichen|modifi|remplac|sustitu|derog|sostitu)[^\W\d]*"
)
_AMENDED = re.compile(
    r"[^.;:]{0,40}?\b(?:(?:is|are|was|were|be|been|wird|werden|est|sont|queda|è)\s+(?:hereby\s+)?"
    rf"{_CHANGE}|(?:shall|is\s+to|will)\s+read\b)",
    re.IGNORECASE,
)
_IN_QUOTES = re.compile(
    rf"{_CHANGE}[^()\d;\"“„«]{{0,30}}[\"“„«]|[\"”“»][^();\"“„«]{{0,60}}?{_CHANGE}", re.IGNORECASE
)
"""Inserted or deleted words: 'for "ten" substitute "twelve"'."""
_GOVERNED = re.compile(
    r"\b(?:in|to|under|of|by|with|from|for|on|at)\s+(?:the\s+)?"
    r"(?:[^\W\d]+\s[\dIVXivx(]\S*?(?:,|\s+and|\s+or)\s+)*$",
    re.IGNORECASE,
)
"""Text "in" or "under" a provision is changed, not the provision itself."""
_APPLIES = re.compile(
    r"\b(?:appl(?:y|ies)|in(?:to)?\s+(?:force|effect)|takes?\s+effect|effective|gilt|in\s+Kraft"
    r"|en\s+(?:vigueur|vigor)|in\s+vigore)\b[^.;]{0,40}?"
    r"(?P<date>\b\d{1,2}\.?\s(?:de\s)?[^\W\d]{3,10}\s(?:de\s)?\d{4}\b|\b[^\W\d]{3,10}\s\d{1,2},\s\d{4}\b"
    r"|\b\d{4}-\d\d-\d\d\b)",
    re.IGNORECASE,
)


class BareTriplet(NamedTuple):
    """A triplet without its source; a model's predicate may be its own words."""

    subject: str
    predicate: str
    object: str


def reading(predicate: str) -> str:
    """Return the words between subject and object: a term "is defined as" its meaning."""
    return _READINGS.get(predicate, predicate.replace("_", " "))


def typed(predicate: str) -> str:
    """Return our name for a relation in a model's words, or the words if there is none."""
    verb = " ".join(predicate.lower().replace("_", " ").split())
    name = _NAMES.get(verb, verb.replace(" ", "_"))
    return name if name in PREDICATES or name in _READINGS else predicate


def extract_document(document: Document, chunks: Sequence[Chunk]) -> list[Triplet]:
    """Return the relations of a document's provisions.

    The chunks belong to the document, sorted by their starts.

    Returns:
        Triplets in reading order, unique within a chunk and provision. ``start`` and ``end`` are
        offsets into the document, ``quote`` is the text between them, and ``section`` is
        the label of the provision that states it.
    """
    starts = [chunk["start"] for chunk in chunks]
    triplets: list[Triplet] = []
    known: set[tuple[int, str, BareTriplet]] = set()
    for start, end, label, triplet in sorted(_Reader(document).read()):
        place = bisect_right(starts, start) - 1
        if (
            place < 0
            or not (triplet.subject and triplet.object)
            or (place, label, triplet) in known
        ):
            continue
        known.add((place, label, triplet))
        quote = document.text[start : min(end, chunks[place]["end"])].rstrip()
        if quote:
            triplets.append(located(triplet, chunks[place], label, start, quote))
            triplets[-1]["page"] = document.page_at(start)
    return triplets


def located(triplet: BareTriplet, chunk: Chunk, section: str, start: int, quote: str) -> Triplet:
    """Return a triplet with its source; ``start`` is an offset into the document."""
    return {
        "subject": triplet.subject,
        "predicate": triplet.predicate,
        "object": triplet.object,
        "chunk_id": chunk["id"],
        "document": chunk["document"],
        "section": section,
        "page": chunk["page"],
        "start": start,
        "end": start + len(quote),
        "quote": quote,
    }


_Located = tuple[int, int, str, BareTriplet]
"""A relation with its start and end, and the label of that place."""


class _Reader:
    """A reader of one document."""

    def __init__(self, document: Document) -> None:
        self._tree, self._text = document.tree, narrowed(document.text)
        self._title = readable(document.title or document.name)
        self._references = References(self._tree, self._text, document.title)
        self._terms = _Terms(self._tree)
        self._used: set[tuple[str, str]] = set()

    def read(self) -> Iterator[_Located]:
        """Yield the relations of units, and the references in their statements."""
        for place, unit in enumerate(self._tree.units):
            if unit.kind not in _UNTOLD and owns_label(self._tree, place):
                yield from self._place(place)
            if self._tree.operative(place):
                yield from self._uses(place)
        for start, end, place in _sentences(self._tree, self._text):
            yield from self._refers(start, end, place)

    def _place(self, place: int) -> Iterator[_Located]:
        """Yield a unit's parent, the topic of its heading, and the term that it defines."""
        unit, tree = self._tree.units[place], self._tree
        above = (tree.units[p] for p in tree.above(place) if owns_label(tree, p))
        outer_name = next((outer.label for outer in above), self._title)
        own_end = min(tree.own_end(place), unit.start + _QUOTED)
        end = unit.body if unit.heading and unit.start < unit.body else max(own_end, unit.start + 1)
        heading = readable(unit.heading)
        triplets = [BareTriplet(unit.label, "part_of", outer_name)]
        if unit.kind == "definition":
            term, *others = _forms(unit.heading)
            end = unit.end
            meaning = _meaning(unnumbered(self._text[unit.body : unit.end]), unit.heading)
            if short := _SHORT.match(meaning):
                others.append(short["form"])
                meaning = meaning[short.end() :]
            triplets.append(BareTriplet(term, "defines", readable(meaning)))
            triplets += [BareTriplet(other, "alias_of", term) for other in others]
        elif heading and heading != unit.label:
            triplets.append(BareTriplet(unit.label, "concerns", heading))
        for triplet in triplets:
            yield unit.start, end, unit.label, triplet

    def _uses(self, place: int) -> Iterator[_Located]:
        """Yield the terms in a unit's own text that are defined elsewhere in the document."""
        label = self._tree.units[place].label
        if not label:
            return
        start = self._tree.units[place].body
        for term, begin, end in self._terms.used(self._text[start : self._tree.own_end(place)]):
            if term == _forms(self._tree.units[place].heading)[0]:
                continue
            if (label, term) not in self._used:
                self._used.add((label, term))
                yield start + begin, start + end, label, BareTriplet(label, "uses", term)

    def _refers(self, start: int, end: int, place: int) -> Iterator[_Located]:
        label = self._tree.units[place].label if place >= 0 else ""
        body = unnumbered(self._text[start : min(end, start + _LONGEST)])
        subject = label or self._title
        changing = _IN_QUOTES.search(body) is not None
        for target in self._references.of(body, place, changing):
            around = target.own and f"{label}(".startswith((f"{target.name}(", f"{target.name},"))
            kind = _kind(body, target, changing)
            if (
                kind == "amends" or not around
            ):  # an amending provision may have the number of the changed one
                yield start, end, label, BareTriplet(subject, kind, target.name)
        for date in islice(_APPLIES.finditer(body), 3):
            yield start, end, label, BareTriplet(subject, "applies_from", readable(date["date"]))


def _forms(heading: str) -> list[str]:
    """Return the forms of a term: "Collects or collection", "bias audit or BA"; most have one."""
    forms = [readable(form) for form in _FORMS.split(heading)]
    short = all(" " not in form for form in forms)
    if short or any(sum(map(str.isupper, form)) > 1 and " " not in form for form in forms):
        return forms
    return [readable(heading)]


def _meaning(body: str, term: str) -> str:
    """Return the definition of a term, without the term and its verb."""
    named = rf"\W*(?:(?:the|an?)\s)?(?:(?:term|word|expression)\s)?\W*{re.escape(term)}\b\W*"
    match = re.match(rf"(?:{named}){{1,3}}{_MEANS}", body, re.IGNORECASE)
    return body[match.end() :] if match else body


def _kind(body: str, target: Target, changing: bool) -> Predicate:
    """Return the kind of a reference, by the words around it, and whether it is a change."""
    if _EXCEPTED.match(body, target.end) or _EXCEPTING.search(
        body, max(0, target.start - _NEAR), target.start
    ):
        return "exception_to"
    governed = _GOVERNED.search(body, max(0, target.start - _NEAR), target.start)
    amended = not governed and _AMENDED.match(body, target.end)
    return "amends" if changing or amended else "refers_to"


def _sentences(tree: Tree, text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and unit of each statement in order, each lead-in once before its items."""
    opened: set[Span] = set()
    for statement in statements(tree, text):
        if statement.points:
            continue  # a list states what its points state
        for start, end in (*statement.leads, (statement.start, statement.end)):
            if (start, end) not in opened:
                opened.add((start, end))
                yield start, end, tree.at(start)


class _Terms:
    """The defined terms of a document, found in text by their stems, longest first."""

    def __init__(self, tree: Tree) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        defined = (unit.heading for unit in tree.units if unit.kind == "definition")
        for heading in islice(dict.fromkeys(defined), _MOST_TERMS):
            forms = _forms(heading)
            for form in forms:
                if stems := tuple(tokenize(form)):
                    self._by_first.setdefault(stems[0], []).append((stems, forms[0]))
        for terms in self._by_first.values():
            terms.sort(key=lambda term: -len(term[0]))

    def used(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each term in a text once, with its first position."""
        if not self._by_first:
            return
        spans = ((m, tokenize(m.group())) for m in _WORD.finditer(text))
        stemmed = [(stem, m.start(), m.end()) for m, matches in spans for stem in matches[:1]]
        stems = [stem for stem, _, _ in stemmed]
        used: set[str] = set()
        at = 0
        while at < len(stemmed):
            matches = (
                (term, len(sought))
                for sought, term in self._by_first.get(stems[at], ())
                if tuple(stems[at : at + len(sought)]) == sought
            )
            term, length = next(matches, ("", 1))
            if term and term not in used:
                used.add(term)
                yield term, stemmed[at][1], stemmed[at + length - 1][2]
            at += length
