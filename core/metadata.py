"""Metadata of documents, and filters on it: who may see a document, and on which day."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from lexloop.core.errors import CorpusError

if TYPE_CHECKING:  # a worker that reads files needs no settings, and must start quickly
    from lexloop.core.settings import Settings

SourceKind = Literal["statute", "rule", "guidance", "case", ""]
SOURCE_KINDS: tuple[str, ...] = get_args(SourceKind)


@dataclass(frozen=True)
class Metadata:
    """The metadata of a document, from front matter or a sidecar's row; empty by default.

    Args:
        title: Shown with citations. If empty, the title is read off the text.
        url: The address at which the document was published.
        identifier: The law's identifier: an ELI, a CELEX number or a URN.
        host: The publisher's host name. Loaders take it from ``url`` if it is not given.
        jurisdiction: The jurisdiction, as the user writes it.
        kind: The kind of source, for the authority of its publisher; empty if unknown.
        audience: Whom it is for, with commas between the roles; empty for everybody.
        tags: Access tags. A document without tags is public.
        in_force_from: The first day in force, or None if there is no beginning.
        in_force_to: The last day in force, or None if there is no end.
        supersedes: The name of the document that this one replaces from its first day on.
    """

    title: str = ""
    url: str = ""
    identifier: str = ""
    host: str = ""
    jurisdiction: str = ""
    kind: SourceKind = ""
    audience: str = ""
    tags: tuple[str, ...] = ()
    in_force_from: date | None = None
    in_force_to: date | None = None
    supersedes: str = ""

    @property
    def version(self) -> str:
        """The days on which the document is in force, in words; empty when it names none."""
        if self.in_force_from and self.in_force_to:
            return f"in force from {self.in_force_from} to {self.in_force_to}"
        if self.in_force_from:
            return f"in force from {self.in_force_from}"
        return f"in force until {self.in_force_to}" if self.in_force_to else ""

    def in_force_on(self, day: date) -> bool:
        """Return whether the document is in force on a day, its first and last included."""
        begun = self.in_force_from is None or self.in_force_from <= day
        return begun and (self.in_force_to is None or day <= self.in_force_to)

    def as_record(self) -> dict[str, Any]:
        """Return a flat JSON object; days as ISO dates, empty fields left out."""
        record: dict[str, Any] = {k: v for k, v in vars(self).items() if v}
        for name in ("in_force_from", "in_force_to"):
            if name in record:
                record[name] = record[name].isoformat()
        if "tags" in record:
            record["tags"] = list(record["tags"])
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the metadata of a record as ``as_record`` makes them.

        Unknown keys are ignored and texts are stripped. ``tags`` may be a list, or one text with
        commas or semicolons between the tags.

        Raises:
            CorpusError: A day is not an ISO date, the kind is unknown, the days are in the wrong
                order, or a field is not a text.
        """
        known = {field.name for field in fields(cls)}
        given = {k: v for k, v in record.items() if k in known and v not in (None, "", [], ())}
        values: dict[str, Any] = {k: _text(k, v) for k, v in given.items() if k != "tags"}
        for name in ("in_force_from", "in_force_to"):
            if name in values:
                values[name] = _day(name, values[name])
        if "tags" in given:
            values["tags"] = _tags(given["tags"])
        if values.get("kind", "") not in SOURCE_KINDS:
            kinds = ", ".join(filter(None, SOURCE_KINDS))
            raise CorpusError(f"kind is {values['kind']!r}.", f"Use one of {kinds}.")
        first, last = values.get("in_force_from"), values.get("in_force_to")
        if first and last and last < first:
            raise CorpusError(
                f"in_force_to ({last}) lies before in_force_from ({first}).", "Correct the days."
            )
        return cls(**values)


def _text(name: str, value: Any) -> str:
    if isinstance(value, (str, int, float, date)):
        return str(value).strip()
    raise CorpusError(f"{name} is {value!r}, which is not text.", "Write it as one value.")


def _day(name: str, value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        what = f"{name} is {value!r}, which is not a day."
        raise CorpusError(what, "Write the day as YYYY-MM-DD.") from error


def _tags(value: Any) -> tuple[str, ...]:
    parts = value.replace(";", ",").split(",") if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(tag, str) for tag in parts):
        raise CorpusError(f"tags are {value!r}.", "Write them as a list of texts.")
    return tuple(sorted({tag.strip() for tag in parts if tag.strip()}))


UNKNOWN = Metadata()
"""The metadata of a document that comes without any."""


@dataclass(frozen=True)
class Filters:
    """Conditions on documents, applied before the top k is taken.

    Args:
        allowed_tags: The asker's access tags. A document with tags is shown only to somebody who
            has one of them; documents without tags are public.
        as_of: Only the law in force on this day, or None for any day.
        jurisdictions: Only documents of these jurisdictions; empty for all.
        kinds: Only these kinds of sources; empty for all.
        hosts: Only documents of these publishers; empty for all.
        without: Source files whose documents are left out.
        only: Only the documents with these names; empty for all.
    """

    allowed_tags: frozenset[str] = frozenset()
    as_of: date | None = None
    jurisdictions: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    only: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: "Settings") -> Self:
        """Return the filters of some settings. ``today`` is read from the clock here."""
        days = {"any": None, "today": date.today()}
        named = settings.access.as_of
        return cls(
            allowed_tags=frozenset(settings.access.tags),
            as_of=days[named] if named in days else date.fromisoformat(named),
            jurisdictions=frozenset(settings.access.jurisdictions),
            kinds=frozenset(settings.access.kinds),
            hosts=frozenset(settings.access.hosts),
            without=frozenset(settings.access.without),
            only=settings.access.only,
        )

    def grants(self, metadata: Metadata) -> bool:
        """Return whether the tags give access to a document with this metadata."""
        return not metadata.tags or not self.allowed_tags.isdisjoint(metadata.tags)

    def admits(self, metadata: Metadata) -> bool:
        """Return whether a document with this metadata may be searched."""
        return (
            self.grants(metadata)
            and (self.as_of is None or metadata.in_force_on(self.as_of))
            and (not self.jurisdictions or metadata.jurisdiction in self.jurisdictions)
            and (not self.kinds or metadata.kind in self.kinds)
            and (not self.hosts or metadata.host in self.hosts)
        )


def host_score(metadata: Metadata, host_scores: Mapping[str, float]) -> float:
    """Return the trust in a document, from 0 to 1: the host score of Sultania et al., equation 1.

    The publisher's score takes precedence over that of the kind of source. Without either it is 0.
    """
    for name in (metadata.host, metadata.kind):
        if name and name in host_scores:
            return host_scores[name]
    return 0.0
