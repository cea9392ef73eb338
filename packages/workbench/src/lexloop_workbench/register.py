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
_SCALE = "thousand|million|billion"
SUM = re.compile(
    r"(?:(?:US|C|A|HK)?[$€£¥]|\b(?:USD|EUR|GBP|AED))\s?(?P<n>\d(?:[\d,.]*\d)?)"
    rf"(?:\s(?P<scale>{_SCALE})\b)?"
    rf"|\b(?P<m>\d(?:[\d,. ]{{0,20}}\d)?) (?:(?P<times>{_SCALE}) )?"
    r"(?:EUR|USD|GBP|AED|dollars|euros?|pounds)\b"
)
"""A sum of money: its number is ``n`` or ``m``, and ``scale`` or ``times`` what multiplies it."""
_PENALTY = re.compile(
    r"\bpunish|\b(?:subject to|liable (?:to|for)|pay|forfeit)\b[^.;]{0,80}"
    r"\b(?:penalt(?:y|ies)|fines?|imprisonment|liquidated damages|forfeiture)\b"
    r"|\bfines? (?:of )?(?:up to|not exceeding|not more than)\b",
    re.IGNORECASE,
)
_TERM = r"[“\"'‘](?P<name>[A-Z][\w ]{2,40}?)[”\"'’]"
_DATED = re.compile(rf"(?P<date>{DATED})[^.;“\"\d]{{0,30}}\((?:the |hereinafter )*{_TERM}\)")
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
        documents: The documents that were read.
        unread: The documents in languages that cannot be read.
    """

    documents: list[str]
    unread: list[str]
    entries: list[Entry]


class Wanted(NamedTuple):
    """A selection of entries. Empty fields select all.

    Args:
        kinds: The kinds of entries.
        actor: Words from the name of who acts.
        events: The days of events, by their ``event_key``. They override the document's own days.
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
        for kind in kinds:
            if kind not in KINDS:
                raise InputError(f"There is no kind {kind!r}.", f"Use {', '.join(KINDS)}.")
        events: dict[str, date] = {}
        for assignment in since:
            name, _, day = assignment.rpartition("=")
            try:
                events[event_key(name)] = date.fromisoformat(day.strip())
            except ValueError as error:
                raise InputError(
                    f"{assignment!r} gives no day.", "Write EVENT=YYYY-MM-DD."
                ) from error
            if not event_key(name):
                raise InputError(f"{assignment!r} names no event.", "Write EVENT=YYYY-MM-DD.")
        return cls(frozenset(kind for kind in KINDS if kind in kinds), actor, events)


ALL = Wanted()
MOST_AT_ONCE = 200
"""The maximum documents in one register of a server; each takes about a tenth of a second."""


def register(
    view: "View", documents: Sequence[str] = (), wanted: Wanted = ALL, most: int | None = None
) -> Register:
    """Return the register of documents.

    Args:
        view: The view of the person who asks.
        documents: Names of documents, or ends of them. Empty for all.
        wanted: The entries to select.
        most: The maximum number of documents to read while somebody waits. None for any number.

    Raises:
        InputError: A name matches no document or several, or there are too many.
    """
    names = [named_document(view.documents, name) for name in documents] or view.documents
    if most is not None and len(names) > most:
        raise InputError(f"{len(names)} documents are too many at once.", f"Name up to {most}.")
    result = Register(documents=[], unread=[], entries=[])
    for name in names:
        give_way()
        source = Source.of(view, name)
        if languages_of([source.text])[:1] != ["English"]:
            result.unread.append(name)
            continue
        result.documents.append(name)
        entries = entries_of(source, view.titles.get(name, ""), wanted.events)
        result.entries += [entry for entry in entries if _is_wanted(entry, wanted)]
    return result


def _is_wanted(entry: Entry, selection: Wanted) -> bool:
    actor = folded(selection.actor).casefold()
    return (not selection.kinds or bool(selection.kinds.intersection(entry.kinds))) and (
        actor in folded(entry.who).casefold()
    )


def entries_of(
    source: Source, title: str, events: Mapping[str, date] = ALL.events
) -> Iterator[Entry]:
    """Yield the entries of a document in English, in reading order."""
    text = narrowed(source.text)
    actors = Actors(text)
    days = {**events_in(text), **events}
    for sentence in _sentences(source.tree, text, actors):
        binding = [*clauses(sentence.sentence, actors)] or _stated(sentence.sentence)
        for clause in binding:
            own = sentence if clause is binding[-1] else sentence._replace(points=())
            fields = _read(own, clause, days)
            limits = limits_of(sentence.start, sentence.end, source.tree, source.text)
            fields["unless"] += [limit.own for limit in limits]
            yield Entry(
                document=source.name,
                title=title,
                section=sentence.label,
                **source.where(sentence.start, sentence.end),
                start=sentence.start,
                end=sentence.end,
                quote=source.text[sentence.start : sentence.end].strip(),
                **fields,
            )


def events_in(text: str) -> dict[str, date]:
    """Return the day of each event that a text gives a name and a date: “Effective Date”."""
    days: dict[str, date] = {}
    flat = " ".join(text.split())
    for match in _DATED.finditer(flat):
        day = first_day(match["date"])
        if day is not None:
            days.setdefault(event_key(match["name"]), day)
    return days


class _Said(NamedTuple):
    """A sentence to read; ``points`` complete it."""

    sentence: str
    points: tuple[str, ...]
    start: int
    end: int
    label: str


def _read(sentence: _Said, clause: Clause, days: Mapping[str, date]) -> dict[str, Any]:
    """Return the fields of an entry for a clause."""
    what, unless = clause.what, [*clause.unless]
    if sentence.points:
        joined = "; ".join(point.rstrip(" ;,.") for point in sentence.points)
        ends = unless and not re.search(r"\bfollowing\b", what, re.IGNORECASE)
        if ends and _bare(sentence.sentence).endswith(_bare(unless[-1])):
            unless[-1] = f"{_bare(unless[-1])}: {joined}"
        else:
            what = f"{_bare(what)}: {joined}"
    unless = [condition for condition in unless if not is_bare(condition)]
    times = sorted(
        timings(clause.what) + timings(_adjuncts(clause)),
        key=lambda timing: (not timing.bound, not (timing.amount or timing.day)),
    )
    time = times[0] if times else Timing("", 0, 0, bound=False)
    sums = [match.group().strip() for match in SUM.finditer(" ".join([clause.what, *unless]))]
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


def _stated(sentence: str) -> list[Clause]:
    """Return the clauses of a sentence without a modal: sums, penalties and due dates."""
    if not (SUM.search(sentence) or _PENALTY.search(sentence)):
        behind = (sentence.partition(word)[2] for word in (" due ", " payable "))
        if not any(timing.bound for one in behind for timing in timings(one)):
            return []
    text = " ".join(sentence.split())
    return [Clause(None, "", text.rstrip(". "), (), "", text)]


def _adjuncts(clause: Clause) -> str:
    """Return the text before a clause, without its conditions."""
    text = clause.fronted
    for condition in clause.unless:
        text = text.replace(condition, "")
    return text


def _bare(text: str) -> str:
    return text.rstrip(" :—–-")


def _sentences(tree: Tree, text: str, actors: Actors) -> Iterator[_Said]:
    """Yield the sentences to read: single ones, or a lead-in with all points that complete it.

    If a lead-in ends in its modal, each point makes a sentence with it.
    """
    grouped: dict[tuple[Span, ...], list[Statement]] = {}
    order: list[Statement | tuple[Span, ...]] = []
    for statement in statements(tree, text):
        place = tree.at(statement.start)
        within = {tree.units[up].kind for up in (place, *tree.above(place))}
        if statement.points or within & {"row", "definition"} or not tree.operative(place):
            continue
        leads = _leading(statement, text, actors)
        if leads and leads not in grouped:
            order.append(leads)
        if leads:
            grouped.setdefault(leads, []).append(statement)
        else:
            order.append(statement)
    for item in order:
        if isinstance(item, Statement):
            yield _Said(item.text, (), item.start, item.end, item.label)
        else:
            yield _listed(item, grouped[item], tree, text)


def _listed(leads: tuple[Span, ...], grouped: Sequence[Statement], tree: Tree, text: str) -> _Said:
    """Return a lead-in with the statements that complete it."""
    lead_in = " ".join(unnumbered(text[start:end]) for start, end in leads)
    points = []
    for statement in grouped:
        inner = (unnumbered(text[start:end]) for start, end in statement.leads[len(leads) :])
        points.append(" ".join([*inner, statement.own]))
    start = leads[-1][0]
    return _Said(lead_in, tuple(points), start, grouped[-1].end, tree.units[tree.at(start)].label)


def _leading(statement: Statement, text: str, actors: Actors) -> tuple[Span, ...]:
    """Return the lead-ins of a statement up to the first that binds somebody by itself."""
    for depth in range(1, len(statement.leads) + 1):
        lead_in = " ".join(unnumbered(text[start:end]) for start, end in statement.leads[:depth])
        binds = not _OPEN.search(lead_in) and any(clauses(lead_in, actors))
        if binds or _stated(lead_in):
            return statement.leads[:depth]
    return ()
