"""Access: which documents of an index a caller may see, and what they learn of the others."""

from collections.abc import Collection as Names
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

from lexloop.core.metadata import UNKNOWN, Filters
from lexloop.documents.document import SkippedSource, mark_partly_read, versions
from lexloop.store.protocol import Store, Within


class Access:
    """The documents that a caller may see; all others are treated as if they did not exist.

    Args:
        store: The whole index.
        filters: The asker's access, and filters.
        skipped: Sources that could not be read; None if nobody asks for them.

    ``documents`` are the visible names in order, and ``within`` is their set, as stores take it.
    ``seen`` are those before ``only`` limited them. ``metadata`` is by name; a superseded document
    ends where the next version begins. ``all_public`` is true if no document of the index has
    access tags.
    """

    def __init__(
        self, store: Store, filters: Filters, skipped: Sequence[SkippedSource] | None
    ) -> None:
        catalogue, bare = store.catalogue, filters.admits(UNKNOWN)
        names, known = catalogue.names, catalogue.metadata
        if filters.without:
            files = catalogue.files
            names = [name for name in names if files[name] not in filters.without]
            known = {name: known[name] for name in names if name in known}
        granted, self._troubles = versions(names, known, filters.grants)
        self._store, self._skipped = store, skipped
        self._unread = catalogue.skipped if skipped is None else skipped
        self.all_public = not any(metadata.tags for metadata in known.values())
        self.documents: Sequence[str] = [
            name
            for name in names
            if (bare if name not in known else name in granted and filters.admits(granted[name]))
        ]
        self._names = frozenset(self.documents)
        self.seen: Within = None if len(self._names) == len(catalogue.names) else self._names
        self.within = self.seen
        self.metadata = {name: granted.get(name, UNKNOWN) for name in self.documents}

    def only(self, documents: Names[str]) -> "Access":
        """Return the access to these documents only, or to all if none of them is visible."""
        kept = [name for name in documents if self.shows(name)]
        if not kept:
            return self
        limited = copy(self)
        limited.documents = kept
        limited._names = limited.within = frozenset(kept)
        limited.__dict__.pop("titles", None)  # it was cached of all
        return limited

    def shows(self, document: str) -> bool:
        """Return whether a document may be seen."""
        return document in self._names

    def checked(self, chunk_ids: Sequence[str]) -> Sequence[str]:
        """Return the ids of chunks.

        Raises:
            KeyError: A chunk may not be seen.
        """
        if self.within is not None:
            for name in chunk_ids:
                if not self.shows(name.rpartition("#")[0]):
                    raise KeyError(name)
        return chunk_ids

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The documents' titles by their names, in order."""
        titles = self._store.catalogue.titles
        return {name: title for name, title in titles.items() if self.shows(name)}

    def source_of(self, document: str) -> tuple[str, str] | None:
        """Return a document's source file and its fingerprint; None if it is not visible."""
        if not self.shows(document):
            return None
        file = self._store.catalogue.files[document]
        return file, self._store.manifest.fingerprints.get(file, "")

    def skipped(self, stored: bool = False) -> list[SkippedSource]:
        """Return what could not be read, and each ``supersedes`` that names no document.

        ``stored`` asks for it from an index opened without its sources.
        """
        if self._skipped is None and not stored:
            return []
        troubles = (trouble for trouble in self._troubles if self.shows(trouble.name))
        return [*self.unread(), *troubles]

    def unread(self) -> list[SkippedSource]:
        """Return what could not be read; ``indexed`` is true if only a part is missing.

        It is unknown who may see a file that could not be read. If documents have access tags,
        callers learn neither the files nor their number; ``skipped_count`` is for the operator of
        the index.
        """
        if not self.all_public:
            return []
        return mark_partly_read(self._unread, self._store.catalogue.names)

    @property
    def skipped_count(self) -> int:
        """The number of sources that could not be read, whoever may see them."""
        return len(self._unread)
