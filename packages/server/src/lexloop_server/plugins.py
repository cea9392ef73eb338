"""What another package adds to a server: routes, MCP tools, and questions to begin with.

A package names a subclass of ``Plugin`` by an entry point of the group ``lexloop.routes``. The
server makes one of it::

    request -> person, rate, body size                Guard, in middleware.py
            -> role, known query parameters           Plugin.needed, fields.py
            -> the plugin's route                     reads, computes and records through Host
            -> reply, or an error in the server's form

The first two and the last are the same for every route, whoever brings it. A route without a role
in ``needed`` is refused to everybody. A plugin cannot replace a route of the server, nor change its
role. Limit each value of a request with the types of ``fields.py``.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias, TypeVar

from fastapi import APIRouter, Depends, Request

from lexloop.core.packages import brought, loaded
from lexloop_server.asking import found_documents
from lexloop_server.collections import opening
from lexloop_server.errors import documented
from lexloop_server.limits import Lines
from lexloop_server.people import Asker, Person
from lexloop_server.roles import Role

if TYPE_CHECKING:
    from lexloop.apps.threads import SaidTurn
    from lexloop.core.settings import Settings
    from lexloop.graph.build import Lexloop
    from lexloop.graph.resources import Resources
    from lexloop.store import provisions
    from lexloop.store.view import View
    from lexloop_server.shapes.tools import Result

T = TypeVar("T")
Tool: TypeAlias = "Callable[..., Result]"
"""An MCP tool: a function of a ``Person`` and the tool's arguments, called in the person's turn.

Its name, arguments and docstring are those that the client gets.
"""


class Visible(Protocol):
    """The collections, as each person may see them. Anything else is a ``NotFoundError``."""

    def settings(self, person: Person, name: str, **changes: Any) -> "Settings":
        """Return the settings for a person's questions to a collection."""

    def view(self, person: Person, name: str, as_of: str = "any") -> "View":
        """Return a person's view of a collection, in force on a day or any day."""

    def views(
        self, person: Person, requested: Iterable[str] | None, as_of: str = "any"
    ) -> "dict[str, View]":
        """Return the views of the requested collections, or of all that can be opened."""

    def meant(
        self, person: Person, named: str, collection: str | None
    ) -> "tuple[str, View, provisions.Source]":
        """Return the document that is meant, with its collection and view."""


class Models(Protocol):
    """What answers questions. Both wait until it is loaded."""

    @property
    def resources(self) -> "Resources":
        """Opens models and collections."""

    def graph(self) -> "Lexloop":
        """Return the graph."""


class Host(Protocol):
    """What a server offers to plugins. Each call checks the rights of the person it is for."""

    @property
    def collections(self) -> Visible:
        """The collections."""

    @property
    def engine(self) -> Models:
        """The graph and its resources."""

    def searchable(
        self, person: Person, wanted: Sequence[str] | None
    ) -> tuple[list[str], dict[str, str]]:
        """Count a search; return the collections that can be searched, and why others cannot be."""

    def turns(self, person: Person, thread: str) -> list[dict[str, Any]]:
        """Return the answers of a conversation that a person may still read."""

    def turns_with(
        self, person: Person, find: Callable[[str], list[T]]
    ) -> "list[tuple[SaidTurn, list[T]]]":
        """Count a search; return the turns that a person may read, with what ``find`` finds."""

    def answer(self, person: Person, id: str) -> dict[str, Any]:
        """Return an answer that a person may still read."""

    def count(self, person: Person) -> None:
        """Count one of a person's questions, or raise ``RateExceeded``."""

    def note(self, person: Person, did: str, question: str | None = None, **details: Any) -> None:
        """Write a line of the audit log. If it cannot be written, nobody gets the result."""

    def in_turn(self, request: Request, person: Person, work: Callable[[], T]) -> Awaitable[T]:
        """Return the result of work in the person's turn. It ends if the client leaves."""

    def held(self, who: str, left: Event | None = None) -> AbstractContextManager[None]:
        """Wait in a thread for the turn of a person, by name, and hold it; see ``Queue.held``."""


class Plugin:
    """What a package adds to a server. Everything is optional.

    Args:
        host: What the server offers.
    """

    needed: Mapping[str, Role] = {}
    """The role that each route and tool needs: ``{"GET /api/x": "reader", "tool x": "reader"}``."""
    router: APIRouter = APIRouter()
    """The routes, below ``/api``."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def tools(self) -> Mapping[str, Tool]:
        """Return the MCP tools by title. They are loaded when a client first asks for tools."""
        return {}

    def suggested(self, view: "View", settings: "Settings") -> list[str] | None:
        """Return questions that a view answers, or None while they are being looked for."""
        return []

    def close(self) -> None:
        """End what runs in the background."""


def plugged(host: Host) -> dict[str, Plugin]:
    """Return the plugins of the installed packages, by the names of their entry points.

    Raises:
        InputError: One cannot be imported.
    """
    return {name: loaded(entry)(host) for name, entry in brought("lexloop.routes").items()}


async def _host(request: Request) -> Host:
    host: Host = request.app.state.serving
    return host


Hosted = Annotated[Host, Depends(_host)]
"""The host, as a parameter of a route."""
__all__ = [
    "Asker",
    "Host",
    "Hosted",
    "Lines",
    "Person",
    "Plugin",
    "Role",
    "Tool",
    "documented",
    "found_documents",
    "opening",
    "plugged",
]
