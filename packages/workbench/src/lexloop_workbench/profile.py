"""What a new document says it is: kind, parties, dates, law, outline, terms, and what to ask of it.

All of it is read off the document's tree and text, and each item has its place. The few words that
it goes by are those in which agreements and laws open and close.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import chain, islice, zip_longest

from pydantic import BaseModel

from lexloop.core.folding import narrowed
from lexloop.core.types import At
from lexloop.documents.chunks.statements import Statement, statements
from lexloop.documents.text.parties import parties_of
from lexloop.knowledge.relations import References
from lexloop.store.provisions import Source
from lexloop_workbench.questions import about, is_asked
from lexloop_workbench.register import Entry, entries_of
from lexloop_workbench.timing import DATED, first_day, timings

_ODD = re.compile(
    r"^(?:(?:no|neither|none)\b|(?:(?!: ).)*: .*\b(?:shall|must|may|will|said|such|so)\b)|~|\[",
    re.IGNORECASE,
)
QUESTIONS = 5
_MOST_ASKED, _MOST_LISTED = 25, 200
_OPENING = 8_000
"""Characters in which an agreement names itself, its parties and its day."""
_KINDS = (
    r"agreement|contract|lease|licen[cs]e|deed|amendment|addendum|memorandum|terms|policy|notice"
    r"|act|law|regulation|directive|decision|rules?|code|constitution|statute|ordinance|treaty"
    r"|minutes|report|letter|guidance|guidelines?|plan|statement|standard|manual|order|resolution"
)
_KIND = re.compile(rf"\b(?:{_KINDS})\b", re.IGNORECASE)
_NAMES_ITSELF = re.compile(
    r"\b[Tt](?:his|HIS) (?P<said>(?:[A-Z][\w&/'’-]*,? (?:and |of )?){0,8}?"
    rf"(?i:{_KINDS}))\b(?! [A-Z]\w)"
)
_LAW = re.compile(
    r"\b(?:govern\w*|constru\w+|interpret\w+)\b[^.;]{0,160}?\blaws?\b|\blaws?\b[^.;]{0,80}\bgovern",
    re.IGNORECASE,
)
_ITSELF = re.compile(rf"\b(?:this|these) (?:\w+ )?(?:{_KINDS})\b", re.IGNORECASE)
_OF_PLACE = re.compile(
    r"\b(?i:laws?) (?:and [\w ]{0,30})?(?i:of|in force in) (?i:the )?"
    r"(?P<place>(?i:(?:State|Commonwealth|Province|Republic|Kingdom) of )?"
    r"(?:the )?[A-Z][\w.]*(?: (?:of )?[A-Z][\w.]*)*)|\b(?P<adjective>[A-Z]\w+(?: State)?) laws?\b"
)
_LASTS = re.compile(
    r"(?:^|[,;:.)] )(?:and )?(?:the )?(?:(?:initial |original )?term\b(?!\s+[“\"])[^.;:]{0,80}?"
    r"\b(?:shall|will|is|commences?|begins?|continues?|expires?|ends)\b"
    r"(?=[^;]{0,250}\b(?:until|expir|continu|end|conclu|years?|months?|days?|\d{4}))"
    r"|this agreement\b[^.;]{0,80}?"
    r"\b(?:shall|will|is|comes?|becomes?|enters?|commences?|begins?)\b[^;]{0,200}?"
    r"\b(?:(?:continue|remain) (?:in|valid|effective|for|until|from|thereafter)|expires?|until"
    r"|(?:period|term) of|conclude|terminate on|for (?:\S+ ){1,3}(?:years?|months?))\b)",
    re.IGNORECASE,
)
_MADE = re.compile(
    rf"\b(?:dated|made|entered into|executed|effective)\b[^.;]{{0,80}}?(?P<date>{DATED})",
    re.IGNORECASE,
)
_STARTS = re.compile(
    rf"\b(?:effective|commenc\w+|in force)\b[^.;\d]{{0,60}}?(?P<date>{DATED})"
    rf"|(?P<other>{DATED})[^.;\d]{{0,40}}\([^()]*Effective Date[^()]*\)",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"\((?:[\w, ]{0,40}?)[“\"](?P<inside>[A-Z][^”\"]{1,60})[”\"][^()]{0,40}\)"
    r"|[“\"](?P<meant>[A-Z][^”\"]{1,60})[”\"] (?:means?|shall mean|has the meaning|refers to)\b"
)
_PART = re.compile(
    r"\b(?:Exhibit|Schedule|Annex|Appendix|Attachment) (?:[A-Z]|\d{1,3})(?:[-.]\d+)?\b"
)


class Item(BaseModel):
    """Something that a document says of itself, and where."""

    said: str
    section: str
    page: int | None
    at: At = At()
    start: int
    end: int
    quote: str


class Party(Item):
    """A party, and what the document calls it."""

    role: str


class Dated(Item):
    """A day or a period. ``day`` is set if it is a day of the calendar."""

    day: date | None


class Part(BaseModel):
    """A part or provision of the outline; ``depth`` is 0 or 1."""

    label: str
    heading: str
    kind: str
    depth: int
    page: int | None
    start: int
    end: int


class Profile(BaseModel):
    """What a document says that it is.

    Args:
        kind: The head noun of its title, or empty if there is none.
        signed: When it was made. ``effective`` is when it takes effect, ``term`` how long it lasts.
        refers_to: Other acts, and its own exhibits.
        questions: Questions that its text answers. Each ``quote`` is the place it was made from.
    """

    document: str
    title: str
    kind: str
    parties: list[Party]
    signed: list[Dated]
    effective: list[Dated]
    term: list[Dated]
    governing_law: list[Item]
    words: int
    provisions: int
    pages: int
    outline: list[Part]
    terms: list[Item]
    refers_to: list[Item]
    questions: list[Item]


def profile(
    source: Source,
    title: str,
    answers: Callable[[str], bool] | None = None,
    most: int = QUESTIONS,
) -> Profile:
    """Return what a document says that it is.

    Args:
        source: The document.
        title: As its metadata or text give it.
        answers: Whether a question is answered from the document, with every check passed; what is
            not is not offered. None offers the first questions untried.
        most: The most questions.
    """
    reader = _Reader(source)
    entries = [*entries_of(source, title)]
    kind, named = reader.kind(title)
    parties = reader.parties()
    made = Profile(
        document=source.name,
        title=named or title,
        kind=kind,
        parties=parties,
        signed=reader.dated(_MADE, reader.opening),
        effective=reader.dated(_STARTS, reader.opening),
        term=reader.term(),
        governing_law=reader.governing_law(),
        words=len(source.text.split()),
        provisions=sum(unit.kind == "provision" for unit in source.tree.units),
        pages=len(source.pages),
        outline=reader.outline(),
        terms=reader.terms(parties),
        refers_to=reader.refers_to(title),
        questions=[],
    )
    asked = islice(_questions(made, entries, reader), _MOST_ASKED)
    made.questions = [*islice((q for q in asked if answers is None or answers(q.said)), most)]
    return made


class _Reader:
    """Reads what is to be known off one document."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = narrowed(source.text)
        self.statements = [one for one in statements(source.tree, self.text) if not one.points]
        self.opening = self.text[:_OPENING]

    def item(self, said: str, start: int, end: int) -> Item:
        """Return what is said at a span."""
        tree = self.source.tree
        place = tree.at(start)
        return Item(
            said=" ".join(said.split()),
            section=tree.units[place].label if place >= 0 else "",
            **self.source.where(start, end),
            start=start,
            end=end,
            quote=self.source.text[start:end].strip(),
        )

    def kind(self, title: str) -> tuple[str, str]:
        """Return kind and title: of the title, or of how the document calls itself."""
        found = _KIND.findall(re.split(r"\b(?:of|for|on|between|by and)\b", title, flags=re.I)[0])
        if found and len(title.split()) > 1:
            return found[-1].lower(), ""
        named = _NAMES_ITSELF.search(self.opening)
        if named:
            said = " ".join(named["said"].split())
            return _KIND.findall(said)[-1].lower(), said
        found = _KIND.findall(title)
        return (found[0].lower() if found else ""), ""

    def parties(self) -> list[Party]:
        """Return the parties that the opening of an agreement names."""
        found = parties_of(self.source.text)
        items = (self.item(one.name, one.start, one.end) for one in found)
        return [
            Party(role=one.role, **item.model_dump())
            for one, item in zip(found, items, strict=True)
        ]

    def dated(self, pattern: re.Pattern[str], text: str) -> list[Dated]:
        """Return the first day that a pattern finds."""
        for match in pattern.finditer(text):
            said = next(filter(None, match.groupdict().values()))
            day = first_day(" ".join(said.split()))
            if day:
                item = self.item(said, *match.span())
                return [Dated(day=day, **item.model_dump())]
        return []

    def term(self) -> list[Dated]:
        """Return the statement that says when an agreement ends; one under such a heading first."""
        found: list[tuple[bool, Statement]] = []
        for one in self.statements:
            if _LASTS.search(one.own):
                headed = re.search(
                    r"\b(?:term|duration|expiration)\b(?! of employ)", self._heading(one), re.I
                )
                found.append((headed is None, one))
        found.sort(key=lambda pair: pair[0])
        made = []
        for _, one in found[:1]:
            time = self._lasts(one)
            item = self.item(time or one.own, one.start, one.end)
            made.append(Dated(day=first_day(one.own), **item.model_dump()))
        return made

    def _lasts(self, one: Statement) -> str:
        """Return the day or the period that a statement names, or empty if it names none."""
        times = (
            t.text for t in timings(one.own) if t.amount or t.day or t.text.startswith("until")
        )
        return next(times, one.own if first_day(one.own) else "")

    def _heading(self, one: Statement) -> str:
        tree = self.source.tree
        place = tree.at(one.start)
        return " ".join(tree.units[p].heading for p in (place, *tree.above(place)) if p >= 0)

    def governing_law(self) -> list[Item]:
        """Return whose law governs."""
        found = [one for one in self.statements if _LAW.search(one.own)]
        found.sort(key=lambda one: not re.search(r"\blaw\b", self._heading(one), re.IGNORECASE))
        for one in found:
            law = re.search(r"\blaw\b", self._heading(one), re.IGNORECASE)
            if (law or _ITSELF.search(one.own)) and (place := _OF_PLACE.search(one.own)):
                said = (place["place"] or place["adjective"]).rstrip(". ")
                return [self.item(said, one.start, one.end)]
        return []

    def outline(self) -> list[Part]:
        """Return the top two levels of the tree."""
        units = [unit for unit in self.source.units(0) if unit["depth"] < 2]
        return [
            Part(**{name: unit[name] for name in Part.model_fields})
            for unit in units[:_MOST_LISTED]
        ]

    def terms(self, parties: Sequence[Party]) -> list[Item]:
        """Return the terms that the document defines, each once, but what parties are called."""
        found: dict[str, Item] = {}
        for unit in self.source.tree.units:
            if unit.kind == "definition" and unit.heading:
                found.setdefault(
                    unit.heading.lower(), self.item(unit.heading, unit.start, unit.end)
                )
        for match in _TERM.finditer(self.text):
            said = (match["inside"] or match["meant"]).strip(" ,.")
            found.setdefault(said.lower(), self.item(said, *match.span()))
        roles = {party.role.lower() for party in parties} | {"agreement"}
        kept = (item for said, item in found.items() if said not in roles)
        return sorted(kept, key=lambda item: item.start)

    def refers_to(self, title: str) -> list[Item]:
        """Return the other acts, and the exhibits, that the document refers to, each once."""
        tree, found = self.source.tree, dict[str, Item]()
        references = References(tree, self.text, title)
        for one in self.statements:
            own = self.text[one.start : one.end]
            named = [
                (t.name, t.start, t.end)
                for t in references.of(own, tree.at(one.start))
                if not t.own
            ]
            named += [(m.group(), *m.span()) for m in _PART.finditer(own)]
            for name, start, end in named:
                found.setdefault(name.lower(), self.item(name, one.start + start, one.start + end))
        return [*found.values()][:_MOST_LISTED]


def _questions(made: Profile, entries: Sequence[Entry], reader: _Reader) -> Iterator[Item]:
    """Yield questions that the text should answer, of each sort in turn."""
    what = made.kind or "document"
    law = [
        item.model_copy(update={"said": f"Which law governs this {what}?"})
        for item in made.governing_law[:1]
    ]
    ends = [
        item.model_copy(update={"said": f"When does this {what} end?"}) for item in made.term[:1]
    ]
    sorts: list[Iterable[Item]] = [
        law,
        ends,
        _of_entries(entries, "deadline"),
        _of_terms(made.terms),
        _of_headings(reader),
        _of_entries(entries, "prohibition"),
        _of_entries(entries, "right"),
        _of_entries(entries, "duty"),
    ]
    seen = set()
    for row in chain(zip_longest(*sorts), zip(_of_provisions(reader))):
        for item in row:
            if item is not None and item.said.lower() not in seen:
                seen.add(item.said.lower())
                yield Item(**{name: getattr(item, name) for name in Item.model_fields})


def _of_terms(terms: Sequence[Item]) -> Iterator[Item]:
    for item in terms:
        if len(item.said.split()) <= 4 and not item.quote.startswith("("):
            yield item.model_copy(update={"said": f"What does “{item.said}” mean?"})


def _of_headings(reader: _Reader) -> Iterator[Item]:
    for unit in reader.source.tree.units:
        if unit.kind == "provision" and unit.heading.endswith("?"):
            yield reader.item(unit.heading, unit.start, unit.end)


def _of_provisions(reader: _Reader) -> Iterator[Item]:
    for unit in reader.source.tree.units:
        if is_asked(unit):
            yield reader.item(about(unit)[1], unit.start, unit.end)


def _of_entries(entries: Sequence[Entry], kind: str) -> Iterator[Item]:
    for one in entries:
        asked = _asked(one, kind)
        if asked:
            held = one.model_dump(include={"section", "page", "at", "start", "end", "quote"})
            yield Item(said=asked, **held)


def _asked(one: Entry, kind: str) -> str:
    """Return the question that an entry answers, or empty if there is no short one."""
    words = one.what.removesuffix(one.when).strip(" ,")
    if re.match(r"\w+ing\b", words):
        return ""
    words = words[:1].lower() + words[1:] if words[1:2].islower() else words
    if (
        kind not in one.kinds
        or not one.who
        or _ODD.search(f"{one.who}: {words}")
        or (one.when in words and one.when)
        or len(words.split()) > 14
    ):
        return ""
    who = (
        one.who[:1].lower() + one.who[1:]
        if re.match(r"(?:The|An?|Each|Any|Every)\b", one.who)
        else one.who
    )
    if len(who.split()) > 8 or re.search(r"[,:;]", words) or re.fullmatch("you|it|we", who, re.I):
        return ""
    if "duty" in one.kinds:
        return f"{'By when must' if kind == 'deadline' else 'Must'} {who} {words}?"
    if kind == "deadline" or f"entitled to {words[:20]}" in one.quote:
        return ""
    return f"May {who} {words}?"
