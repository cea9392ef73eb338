"""The documents from which a question may be answered."""

from dataclasses import dataclass
from datetime import date
from typing import Self

from lexloop.core.metadata import Metadata
from lexloop.core.settings import Settings


@dataclass(frozen=True)
class Filters:
    """Conditions on documents, applied before the top k is taken.

    Args:
        allowed_tags: A document with access tags is shown to who has one of them; documents
            without tags are public.
        as_of: Only the law in force on this day; None for every day's.
        jurisdictions: Only documents of these; none for all.
        kinds: Only these kinds of sources; none for all.
        hosts: Only documents of these publishers; none for all.
    """

    allowed_tags: frozenset[str] = frozenset()
    as_of: date | None = None
    jurisdictions: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the conditions that the settings name; ``today`` is read from the clock here."""
        days = {"any": None, "today": date.today()}
        named = settings.access.as_of
        return cls(
            allowed_tags=frozenset(settings.access.tags),
            as_of=days[named] if named in days else date.fromisoformat(named),
            jurisdictions=frozenset(settings.access.jurisdictions),
            kinds=frozenset(settings.access.kinds),
            hosts=frozenset(settings.access.hosts),
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
