"""Grants, by which people share the collections that they uploaded, to read or to curate.

They are kept in grants.json in a collection's folder, so that a collection and its grants stay
together. Others see a shared collection as OWNER~NAME. Other names cannot contain this mark, so it
never means another collection.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from lexloop.apps.shapes.record import shared_name
from lexloop.core.errors import DataError
from lexloop.core.files import replacing, sync
from lexloop.core.settings_groups import Tag
from lexloop_server.people import Person
from lexloop_server.settings import PersonName
from lexloop_server.uploads import Uploaded, on_disk

FILE = "grants.json"
Right = Literal["read", "curate"]
"""To ask and read; to add and remove documents, too."""


class Whom(BaseModel):
    """With whom something is shared: a person by name, or all who have a tag."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    person: PersonName | None = None
    tag: Tag | None = None

    @model_validator(mode="after")
    def _one(self) -> "Whom":
        if (self.person is None) == (self.tag is None):
            raise ValueError("name either a person or a tag")
        return self

    def means(self, person: Person) -> bool:
        """Return whether somebody is meant."""
        return self.tag in person.tags if self.person is None else self.person == person.name


class Grant(Whom):
    """What somebody may do with a collection of another's."""

    right: Right = "read"

    @property
    def whom(self) -> Whom:
        """Whose it is."""
        return Whom(person=self.person, tag=self.tag)


class _Kept(BaseModel):
    """What a file holds."""

    owner: PersonName
    grants: list[Grant]


class Sharing:
    """The grants of all collections.

    Args:
        collections: Those that there are, of all people.

    Raises:
        DataError: A file of grants is damaged.
    """

    def __init__(self, collections: Iterable[Uploaded]) -> None:
        self._lock = Lock()
        self._kept = {one.folder: kept for one in collections if (kept := _read(one))}

    def of(self, one: Uploaded) -> list[Grant]:
        """Return with whom a collection is shared."""
        kept = self._kept.get(one.folder)
        return [] if kept is None else [*kept.grants]

    def give(self, owner: str, one: Uploaded, grant: Grant) -> None:
        """Share a collection with somebody, replacing an earlier grant.

        Raises:
            LexloopError: The file cannot be written.
        """
        with self._lock:
            others = [held for held in self.of(one) if held.whom != grant.whom]
            self._keep(owner, one, [*others, grant])

    def take_back(self, owner: str, one: Uploaded, whom: Whom) -> None:
        """Take back a grant, if there is one.

        Raises:
            LexloopError: The file cannot be written.
        """
        with self._lock:
            self._keep(owner, one, [held for held in self.of(one) if held.whom != whom])

    def forget(self, one: Uploaded) -> None:
        """Forget the grants of a deleted collection, so that a new one of its name has none."""
        with self._lock:
            self._kept.pop(one.folder, None)

    def seen_by(self, person: Person) -> dict[str, tuple[Uploaded, Right]]:
        """Return what others share with somebody, by its name for them, and what they may do."""
        found: dict[str, tuple[Uploaded, Right]] = {}
        for folder, kept in sorted(self._kept.copy().items()):
            rights = {grant.right for grant in kept.grants if grant.means(person)}
            if rights and kept.owner != person.name:
                right: Right = "curate" if "curate" in rights else "read"
                found[shared_name(kept.owner, folder.name)] = Uploaded(folder.name, folder), right
        return found

    def _keep(self, owner: str, one: Uploaded, grants: list[Grant]) -> None:
        kept = _Kept(owner=owner, grants=grants)
        with on_disk(one.name):
            with replacing(one.folder / FILE, 0o600) as file:
                file.write(kept.model_dump_json(exclude_none=True).encode())
            sync(one.folder)
        self._kept[one.folder] = kept


def _read(one: Uploaded) -> _Kept | None:
    file = Path(one.folder, FILE)
    try:
        return _Kept(**json.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, ValidationError) as error:
        raise DataError(
            f"{file} does not say with whom {one.name} is shared.",
            "Remove it, so that it is shared with nobody, or restore it.",
        ) from error
