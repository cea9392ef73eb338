"""A new document's own description: kind, parties, dates, law, outline, terms, and questions.

All of it is read from the document's tree and text, and each item has its place. The rules use the
few words with which agreements and laws open and close.
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
"""Characters at the start in which an agreement names itself, its parties and its day."""
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
    """Something that a document says about itself, and where."""

    said: str
    section: str
    page: int | None
    at: At = At()
    start: int
    end: int
    quote: str


class Party(Item):
    """A party, and the document's name for it."""

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
    """A document's own description.

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
    """Return a document's own description.

    Args:
        source: The document.
        title: The title from its metadata or text.
        answers: Returns whether the document answers a question, with every check passed. Other
            questions are not offered. None offers the first questions untried.
        most: The maximum number of questions.
    """
    reader = _Reader(source)
    entries = [*entries_of(source, title)]
    kind, own_name = reader.kind(title)
    parties = reader.parties()
    result = Profile(
        document=source.name,
        title=own_name or title,
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
    candidates = islice(_questions(result, entries, reader), _MOST_ASKED)
    result.questions = [
        *islice((item for item in candidates if answers is None or answers(item.said)), most)
    ]
    return result


class _Reader:
    """Reads the facts of one document."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = narrowed(source.text)
        self.statements = [
            statement for statement in statements(source.tree, self.text) if not statement.points
        ]
        self.opening = self.text[:_OPENING]

    def item(self, said: str, start: int, end: int) -> Item:
        """Return the item at a span."""
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
        nouns = _KIND.findall(re.split(r"\b(?:of|for|on|between|by and)\b", title, flags=re.I)[0])
        if nouns and len(title.split()) > 1:
            return nouns[-1].lower(), ""
        match = _NAMES_ITSELF.search(self.opening)
        if match:
            own_name = " ".join(match["said"].split())
            return _KIND.findall(own_name)[-1].lower(), own_name
        nouns = _KIND.findall(title)
        return (nouns[0].lower() if nouns else ""), ""

    def parties(self) -> list[Party]:
        """Return the parties that the opening of an agreement names."""
        parties = parties_of(self.source.text)
        items = (self.item(party.name, party.start, party.end) for party in parties)
        return [
            Party(role=party.role, **item.model_dump())
            for party, item in zip(parties, items, strict=True)
        ]

    def dated(self, pattern: re.Pattern[str], text: str) -> list[Dated]:
        """Return the first day that a pattern finds."""
        for match in pattern.finditer(text):
            text_of_day = next(filter(None, match.groupdict().values()))
            day = first_day(" ".join(text_of_day.split()))
            if day:
                item = self.item(text_of_day, *match.span())
                return [Dated(day=day, **item.model_dump())]
        return []

    def term(self) -> list[Dated]:
        """Return the statement that says when an agreement ends; one under such a heading first."""
        candidates: list[tuple[bool, Statement]] = []
        for statement in self.statements:
            if _LASTS.search(statement.own):
                headed = re.search(
                    r"\b(?:term|duration|expiration)\b(?! of employ)",
                    self._heading(statement),
                    re.I,
                )
                candidates.append((headed is None, statement))
        candidates.sort(key=lambda pair: pair[0])
        dates = []
        for _, statement in candidates[:1]:
            time = self._lasts(statement)
            item = self.item(time or statement.own, statement.start, statement.end)
            dates.append(Dated(day=first_day(statement.own), **item.model_dump()))
        return dates

    def _lasts(self, statement: Statement) -> str:
        """Return the day or the period that a statement names, or empty if it names none."""
        times = (
            timing.text
            for timing in timings(statement.own)
            if timing.amount or timing.day or timing.text.startswith("until")
        )
        return next(times, statement.own if first_day(statement.own) else "")

    def _heading(self, statement: Statement) -> str:
        tree = self.source.tree
        place = tree.at(statement.start)
        return " ".join(tree.units[p].heading for p in (place, *tree.above(place)) if p >= 0)

    def governing_law(self) -> list[Item]:
        """Return whose law governs."""
        candidates = [statement for statement in self.statements if _LAW.search(statement.own)]
        candidates.sort(
            key=lambda statement: not re.search(r"\blaw\b", self._heading(statement), re.IGNORECASE)
        )
        for statement in candidates:
            law = re.search(r"\blaw\b", self._heading(statement), re.IGNORECASE)
            if (law or _ITSELF.search(statement.own)) and (
                place := _OF_PLACE.search(statement.own)
            ):
                place_name = (place["place"] or place["adjective"]).rstrip(". ")
                return [self.item(place_name, statement.start, statement.end)]
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
        terms: dict[str, Item] = {}
        for unit in self.source.tree.units:
            if unit.kind == "definition" and unit.heading:
                terms.setdefault(
                    unit.heading.lower(), self.item(unit.heading, unit.start, unit.end)
                )
        for match in _TERM.finditer(self.text):
            term = (match["inside"] or match["meant"]).strip(" ,.")
            terms.setdefault(term.lower(), self.item(term, *match.span()))
        roles = {party.role.lower() for party in parties} | {"agreement"}
        own_terms = (item for term, item in terms.items() if term not in roles)
        return sorted(own_terms, key=lambda item: item.start)

    def refers_to(self, title: str) -> list[Item]:
        """Return the other acts, and the exhibits, that the document refers to, each once."""
        tree, items = self.source.tree, dict[str, Item]()
        references = References(tree, self.text, title)
        for statement in self.statements:
            own = self.text[statement.start : statement.end]
            mentions = [
                (mention.name, mention.start, mention.end)
                for mention in references.of(own, tree.at(statement.start))
                if not mention.own
            ]
            mentions += [(m.group(), *m.span()) for m in _PART.finditer(own)]
            for name, start, end in mentions:
                items.setdefault(
                    name.lower(), self.item(name, statement.start + start, statement.start + end)
                )
        return [*items.values()][:_MOST_LISTED]


def _questions(result: Profile, entries: Sequence[Entry], reader: _Reader) -> Iterator[Item]:
    """Yield questions that the text should answer, of each sort in turn."""
    what = result.kind or "document"
    law = [
        item.model_copy(update={"said": f"Which law governs this {what}?"})
        for item in result.governing_law[:1]
    ]
    ends = [
        item.model_copy(update={"said": f"When does this {what} end?"}) for item in result.term[:1]
    ]
    sorts: list[Iterable[Item]] = [
        law,
        ends,
        _of_entries(entries, "deadline"),
        _of_terms(result.terms),
        _of_headings(reader),
        _of_entries(entries, "prohibition"),
        _of_entries(entries, "right"),
        _of_entries(entries, "duty"),
    ]
    asked = set()
    for row in chain(zip_longest(*sorts), zip(_of_provisions(reader))):
        for item in row:
            if item is not None and item.said.lower() not in asked:
                asked.add(item.said.lower())
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
    for entry in entries:
        question = _asked(entry, kind)
        if question:
            place = entry.model_dump(include={"section", "page", "at", "start", "end", "quote"})
            yield Item(said=question, **place)


def _asked(entry: Entry, kind: str) -> str:
    """Return the question that an entry answers, or empty if there is no short one."""
    words = entry.what.removesuffix(entry.when).strip(" ,")
    if re.match(r"\w+ing\b", words):
        return ""
    words = words[:1].lower() + words[1:] if words[1:2].islower() else words
    if (
        kind not in entry.kinds
        or not entry.who
        or _ODD.search(f"{entry.who}: {words}")
        or (entry.when in words and entry.when)
        or len(words.split()) > 14
    ):
        return ""
    who = (
        entry.who[:1].lower() + entry.who[1:]
        if re.match(r"(?:The|An?|Each|Any|Every)\b", entry.who)
        else entry.who
    )
    if len(who.split()) > 8 or re.search(r"[,:;]", words) or re.fullmatch("you|it|we", who, re.I):
        return ""
    if "duty" in entry.kinds:
        return f"{'By when must' if kind == 'deadline' else 'Must'} {who} {words}?"
    if kind == "deadline" or f"entitled to {words[:20]}" in entry.quote:
        return ""
    return f"May {who} {words}?"
