"""Grants, by which people share the collections that they uploaded, for reading or curating.

Grants are stored in grants.json in the collection's folder, so that they stay together. Others see
a shared collection as OWNER~NAME. Other names cannot contain this mark, so there are no conflicts.
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
"""The right to ask and read, or also to add and remove documents."""


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
        """Return whether this includes a person."""
        return self.tag in person.tags if self.person is None else self.person == person.name


class Grant(Whom):
    """A right to another person's collection."""

    right: Right = "read"

    @property
    def whom(self) -> Whom:
        """Whose it is."""
        return Whom(person=self.person, tag=self.tag)


class _Kept(BaseModel):
    """The content of a file of grants."""

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
        self._kept = {
            collection.folder: kept for collection in collections if (kept := _read(collection))
        }

    def of(self, one: Uploaded) -> list[Grant]:
        """Return with whom a collection is shared."""
        stored = self._kept.get(one.folder)
        return [] if stored is None else [*stored.grants]

    def give(self, owner: str, one: Uploaded, grant: Grant) -> None:
        """Share a collection with somebody, replacing an earlier grant.

        Raises:
            LexloopError: The file cannot be written.
        """
        with self._lock:
            others = [other for other in self.of(one) if other.whom != grant.whom]
            self._keep(owner, one, [*others, grant])

    def take_back(self, owner: str, one: Uploaded, whom: Whom) -> None:
        """Take back a grant, if there is one.

        Raises:
            LexloopError: The file cannot be written.
        """
        with self._lock:
            self._keep(owner, one, [other for other in self.of(one) if other.whom != whom])

    def forget(self, one: Uploaded) -> None:
        """Forget the grants of a deleted collection, so that a new one with its name has none."""
        with self._lock:
            self._kept.pop(one.folder, None)

    def seen_by(self, person: Person) -> dict[str, tuple[Uploaded, Right]]:
        """Return the collections that others share with a person, by name, with the rights."""
        shared: dict[str, tuple[Uploaded, Right]] = {}
        for folder, stored in sorted(self._kept.copy().items()):
            rights = {grant.right for grant in stored.grants if grant.means(person)}
            if rights and stored.owner != person.name:
                right: Right = "curate" if "curate" in rights else "read"
                shared[shared_name(stored.owner, folder.name)] = (
                    Uploaded(folder.name, folder),
                    right,
                )
        return shared

    def _keep(self, owner: str, collection: Uploaded, grants: list[Grant]) -> None:
        stored = _Kept(owner=owner, grants=grants)
        with on_disk(collection.name):
            with replacing(collection.folder / FILE, 0o600) as file:
                file.write(stored.model_dump_json(exclude_none=True).encode())
            sync(collection.folder)
        self._kept[collection.folder] = stored


def _read(collection: Uploaded) -> _Kept | None:
    file = Path(collection.folder, FILE)
    try:
        return _Kept(**json.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, ValidationError) as error:
        raise DataError(
            f"{file} does not say with whom {collection.name} is shared.",
            "Remove it, so that it is shared with nobody, or restore it.",
        ) from error
