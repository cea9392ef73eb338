"""The register: who must, may or must not do what, by when, with exceptions and sources."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from pydantic import BaseModel

from lexloop.core.errors import InputError
from lexloop.core.folding import folded, narrowed
from lexloop.core.running import give_way
from lexloop.core.types import At
from lexloop.documents.chunks.limits import limits_of
from lexloop.documents.chunks.statements import Span, Statement, statements, unnumbered
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.languages import languages_of
from lexloop.store.naming import named_document
from lexloop.store.provisions import Source
from lexloop_workbench.clauses import Actors, Clause, clauses, is_bare
from lexloop_workbench.timing import (
    DATED,
    Timing,
    day_of,
    event_key,
    first_day,
    note_of,
    timings,
)

if TYPE_CHECKING:
    from lexloop.store.view import View

Kind = Literal["duty", "right", "prohibition", "deadline", "sum", "penalty"]
KINDS: tuple[Kind, ...] = ("duty", "right", "prohibition", "deadline", "sum", "penalty")
_SUM = re.compile(
    r"(?:(?:US|C|A|HK)?[$€£¥]|\b(?:USD|EUR|GBP|AED))\s?\d(?:[\d,.]*\d)?"
    r"(?: (?:thousand|million|billion))?"
    r"|\b\d(?:[\d,. ]{0,20}\d)? (?:thousand |million |billion )?"
    r"(?:EUR|USD|GBP|AED|dollars|euros?|pounds)\b"
)
_PENALTY = re.compile(
    r"\bpunish|\b(?:subject to|liable (?:to|for)|pay|forfeit)\b[^.;]{0,80}"
    r"\b(?:penalt(?:y|ies)|fines?|imprisonment|liquidated damages|forfeiture)\b"
    r"|\bfines? (?:of )?(?:up to|not exceeding|not more than)\b",
    re.IGNORECASE,
)
_LIABLE = re.compile(r"(?P<who>[^,;:]+?) (?:is|are) (?:liable|subject|punishable)\b")
_DUE = re.compile(r"\b(?:is|are|becomes?|falls?) (?:due|payable)\b", re.IGNORECASE)
_TERM = r"[“\"'‘](?P<name>[A-Z][\w ]{2,40}?)[”\"'’]"
_DATED = re.compile(rf"(?P<date>{DATED})[^.;“\"\d]{{0,30}}\((?:the |hereinafter )*{_TERM}\)")
_MEANT = re.compile(rf"{_TERM} (?:means|is|shall mean|shall be) (?P<date>{DATED})")
_OPEN = re.compile(
    r"\b(?:shall|must|may|will|to|not|either|be|by)(?:,? (?:also|then|both|either|at least"
    r"|at a minimum|in particular))?\W*$",
    re.IGNORECASE,
)


class Entry(BaseModel):
    """One row of the register."""

    document: str
    title: str
    section: str
    page: int | None
    at: At = At()
    start: int
    end: int
    quote: str
    kinds: list[Kind]
    who: str
    what: str
    when: str
    event: str
    day: date | None
    note: str
    unless: list[str]
    sums: list[str]


class Register(BaseModel):
    """What documents oblige, allow and forbid, in reading order.

    Args:
        documents: Those that were read.
        unread: Those whose language is not read.
    """

    documents: list[str]
    unread: list[str]
    entries: list[Entry]


class Wanted(NamedTuple):
    """Which entries are wanted; empty means all.

    Args:
        kinds: Any of them.
        actor: Words that who acts is named with.
        events: The day of events, by their ``event_key``; they count more than what a document
            says.
    """

    kinds: frozenset[Kind] = frozenset()
    actor: str = ""
    events: Mapping[str, date] = {}

    @classmethod
    def of(cls, kinds: Sequence[str], actor: str, since: Sequence[str]) -> Self:
        """Return the filter that a person's options describe. ``since`` has EVENT=YYYY-MM-DD.

        Raises:
            InputError: A kind is unknown, or an event is not in this form.
        """
        for one in kinds:
            if one not in KINDS:
                raise InputError(f"There is no kind {one!r}.", f"Use {', '.join(KINDS)}.")
        events: dict[str, date] = {}
        for one in since:
            name, _, day = one.rpartition("=")
            try:
                events[event_key(name)] = date.fromisoformat(day.strip())
            except ValueError as error:
                raise InputError(f"{one!r} gives no day.", "Write EVENT=YYYY-MM-DD.") from error
            if not event_key(name):
                raise InputError(f"{one!r} names no event.", "Write EVENT=YYYY-MM-DD.")
        return cls(frozenset(kind for kind in KINDS if kind in kinds), actor, events)


ALL = Wanted()
MOST_AT_ONCE = 200
"""The maximum documents in one register of a server; each takes about a tenth of a second."""


def register(
    view: "View", documents: Sequence[str] = (), wanted: Wanted = ALL, most: int | None = None
) -> Register:
    """Return the register of documents.

    Args:
        view: What the asker may see.
        documents: Names of documents, or ends of them; empty for all.
        wanted: Which entries.
        most: The most documents to read, where somebody waits; None for any number.

    Raises:
        InputError: No document or several are meant by a name, or there are too many.
    """
    names = [named_document(view.documents, said) for said in documents] or view.documents
    if most is not None and len(names) > most:
        raise InputError(f"{len(names)} documents are too many at once.", f"Name up to {most}.")
    made = Register(documents=[], unread=[], entries=[])
    for name in names:
        give_way()
        source = Source.of(view, name)
        if languages_of([source.text])[:1] != ["English"]:
            made.unread.append(name)
            continue
        made.documents.append(name)
        entries = entries_of(source, view.titles.get(name, ""), wanted.events)
        made.entries += [one for one in entries if _is_wanted(one, wanted)]
    return made


def _is_wanted(entry: Entry, wanted: Wanted) -> bool:
    actor = folded(wanted.actor).casefold()
    return (not wanted.kinds or bool(wanted.kinds.intersection(entry.kinds))) and (
        actor in folded(entry.who).casefold()
    )


def entries_of(
    source: Source, title: str, events: Mapping[str, date] = ALL.events
) -> Iterator[Entry]:
    """Yield the entries of a document in English, in reading order."""
    text = narrowed(source.text)
    actors = Actors(text)
    days = {**events_in(text), **events}
    for said in _sentences(source.tree, text, actors):
        found = [*clauses(said.sentence, actors)] or _stated(said.sentence, actors)
        for clause in found:
            own = said if clause is found[-1] else said._replace(points=())
            read = _read(own, clause, days)
            limits = limits_of(said.start, said.end, source.tree, source.text)
            read["unless"] += [limit.own for limit in limits]
            yield Entry(
                document=source.name,
                title=title,
                section=said.label,
                **source.where(said.start, said.end),
                start=said.start,
                end=said.end,
                quote=source.text[said.start : said.end].strip(),
                **read,
            )


def events_in(text: str) -> dict[str, date]:
    """Return the day of each event that a text gives a name and a date: “Effective Date”."""
    found: dict[str, date] = {}
    flat = " ".join(text.split())
    for pattern in (_DATED, _MEANT):
        for match in pattern.finditer(flat):
            day = first_day(match["date"])
            if day is not None:
                found.setdefault(event_key(match["name"]), day)
    return found


class _Said(NamedTuple):
    """A sentence to read; ``points`` complete it."""

    sentence: str
    points: tuple[str, ...]
    start: int
    end: int
    label: str


def _read(said: _Said, clause: Clause, days: Mapping[str, date]) -> dict[str, Any]:
    """Return what a clause says, as fields of an entry."""
    what, unless = clause.what, [*clause.unless]
    if said.points:
        joined = "; ".join(point.rstrip(" ;,.") for point in said.points)
        ends = unless and not re.search(r"\bfollowing\b", what, re.IGNORECASE)
        if ends and _bare(said.sentence).endswith(_bare(unless[-1])):
            unless[-1] = f"{_bare(unless[-1])}: {joined}"
        else:
            what = f"{_bare(what)}: {joined}"
    unless = [condition for condition in unless if not is_bare(condition)]
    times = sorted(
        timings(clause.what) + timings(_adjuncts(clause)),
        key=lambda one: (not one.bound, not (one.amount or one.day)),
    )
    time = times[0] if times else Timing("", 0, 0, bound=False)
    sums = [found.group().strip() for found in _SUM.finditer(" ".join([clause.what, *unless]))]
    kinds: list[Kind] = [clause.force] if clause.force else []
    counted = bool(time.amount or time.day) and clause.force != "prohibition"
    if time.bound and (clause.force == "duty" or counted):
        kinds.append("deadline")
    kinds += ["sum"] if sums else []
    kinds += ["penalty"] if _PENALTY.search(clause.said) else []
    day = day_of(time, days)
    return {
        "kinds": kinds,
        "who": clause.who,
        "what": what,
        "when": time.text,
        "event": time.event,
        "day": day,
        "note": note_of(time, day, days),
        "unless": unless,
        "sums": sums,
    }


def _stated(sentence: str, actors: Actors) -> list[Clause]:
    """Return what a sentence without a modal says of a sum, a penalty or when something is due."""
    if not (_SUM.search(sentence) or _PENALTY.search(sentence)):
        due = _DUE.search(sentence)
        if due is None or not any(one.bound for one in timings(sentence[due.end() :])):
            return []
    said = " ".join(sentence.split())
    liable = _LIABLE.match(said)
    who = liable["who"] if liable and actors.acts(liable["who"]) else ""
    return [Clause(None, who, said.rstrip(". "), (), "", said)]


def _adjuncts(clause: Clause) -> str:
    """Return what stands before a clause without its conditions."""
    said = clause.fronted
    for condition in clause.unless:
        said = said.replace(condition, "")
    return said


def _bare(text: str) -> str:
    return text.rstrip(" :—–-")


def _sentences(tree: Tree, text: str, actors: Actors) -> Iterator[_Said]:
    """Yield the sentences to read: single ones, or a lead-in with all points that complete it.

    If a lead-in ends in its modal, each point makes a sentence with it.
    """
    grouped: dict[tuple[Span, ...], list[Statement]] = {}
    order: list[Statement | tuple[Span, ...]] = []
    for one in statements(tree, text):
        place = tree.at(one.start)
        within = {tree.units[up].kind for up in (place, *tree.above(place))}
        if one.points or within & {"row", "definition"} or not tree.operative(place):
            continue
        leads = _leading(one, text, actors)
        if leads and leads not in grouped:
            order.append(leads)
        if leads:
            grouped.setdefault(leads, []).append(one)
        else:
            order.append(one)
    for item in order:
        if isinstance(item, Statement):
            yield _Said(item.text, (), item.start, item.end, item.label)
        else:
            yield _listed(item, grouped[item], tree, text)


def _listed(leads: tuple[Span, ...], found: Sequence[Statement], tree: Tree, text: str) -> _Said:
    """Return a lead-in with the statements that complete it."""
    said = " ".join(unnumbered(text[start:end]) for start, end in leads)
    points = []
    for one in found:
        inner = (unnumbered(text[start:end]) for start, end in one.leads[len(leads) :])
        points.append(" ".join([*inner, one.own]))
    start = leads[-1][0]
    return _Said(said, tuple(points), start, found[-1].end, tree.units[tree.at(start)].label)


def _leading(one: Statement, text: str, actors: Actors) -> tuple[Span, ...]:
    """Return the lead-ins of a statement up to the first that binds somebody by itself."""
    for depth in range(1, len(one.leads) + 1):
        said = " ".join(unnumbered(text[start:end]) for start, end in one.leads[:depth])
        binds = not _OPEN.search(said) and any(clauses(said, actors))
        if binds or _stated(said, actors):
            return one.leads[:depth]
    return ()
