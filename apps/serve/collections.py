"""The collections that people see, each with its view."""

from typing import TYPE_CHECKING, Any

from lexloop.apps.serve.people import Person
from lexloop.apps.serve.settings import ServerSettings
from lexloop.core.errors import NotFoundError

if TYPE_CHECKING:
    from lexloop.apps.serve.engine import Engine
    from lexloop.core.settings import Settings
    from lexloop.corpus.index.view import View


class Collections:
    """The collections of a server, for who asks.

    Args:
        server: Names those of the operator.
        engine: Opens them.
    """

    def __init__(self, server: ServerSettings, engine: "Engine") -> None:
        self._known = dict(server.collections)
        self._engine = engine

    def names(self, person: Person) -> list[str]:
        """Return the names of the collections that a person sees, in the operator's order."""
        seen = person.collections
        return [name for name in self._known if seen is None or name in seen]

    def settings(self, person: Person, name: str, **changes: Any) -> "Settings":
        """Return the settings that a person's questions to a collection are answered with.

        Raises:
            NotFoundError: There is no such collection for them.
            SettingsError: A change is not allowed.
        """
        if name not in self.names(person):
            raise NotFoundError(
                f"There is no collection {name!r}.", "See /api/collections for those there are."
            )
        granted = {"corpus": self._known[name].corpus, "access.tags": person.tags}
        return self._engine.settings.changed(**{**changes, **granted})

    def view(self, person: Person, name: str, as_of: str = "any") -> "View":
        """Return what a person may see of a collection.

        Raises:
            NotFoundError: There is no such collection for them.
            LexloopError: It cannot be opened.
        """
        from lexloop.core.filters import Filters

        settings = self.settings(person, name, **{"access.as_of": as_of})
        collection, _ = self._engine.resources.collection(settings)
        return collection.seen_by(Filters.of(settings))
