"""The role that each route and tool needs.

Those that neither this table nor a plugin lists are refused to everybody, so nothing new opens by
mistake.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from fastapi import Request

from lexloop.core.errors import AccessError, RoleNeeded

Role = Literal["reader", "curator", "operator"]
"""Readers ask and read, curators also change and share documents, operators run the server."""
ROLES: tuple[Role, ...] = get_args(Role)
"""Each may do what those before it may."""

NEEDED: Mapping[str, Role | None] = {
    "GET /api/health": None,
    "POST /api/session": None,
    "DELETE /api/session": None,
    "GET /": None,
    "GET /api/openapi.json": "reader",
    "GET /api/me": "reader",
    "GET /api/settings": "reader",
    "POST /api/ask": "reader",
    "GET /api/threads": "reader",
    "GET /api/threads/{id}": "reader",
    "PATCH /api/threads/{id}": "reader",
    "DELETE /api/threads/{id}": "reader",
    "GET /api/threads/{id}/export": "reader",
    "GET /api/answers/{id}/export": "reader",
    "POST /api/answers/{id}/feedback": "reader",
    "PUT /api/threads/{id}/link": "reader",
    "DELETE /api/threads/{id}/link": "reader",
    "GET /api/links": "reader",
    "GET /api/shared/{link}": "reader",
    "GET /api/collections": "reader",
    "GET /api/collections/{name}/documents": "reader",
    "GET /api/collections/{name}/tree": "reader",
    "GET /api/collections/{name}/provision": "reader",
    "GET /api/collections/{name}/text": "reader",
    "GET /api/collections/{name}/boxes": "reader",
    "GET /api/collections/{name}/page": "reader",
    "GET /api/collections/{name}/indexing": "reader",
    "GET /v1/models": "reader",
    "GET /v1/models/{name:path}": "reader",
    "POST /v1/chat/completions": "reader",
    "POST /mcp": "reader",
    "tool ask": "reader",
    "tool search": "reader",
    "tool read_provision": "reader",
    "tool list_documents": "reader",
    "tool related": "reader",
    "POST /api/collections": "curator",
    "DELETE /api/collections/{name}": "curator",
    "POST /api/collections/{name}/documents": "curator",
    "DELETE /api/collections/{name}/documents": "curator",
    "GET /api/collections/{name}/grants": "curator",
    "PUT /api/collections/{name}/grants": "curator",
    "DELETE /api/collections/{name}/grants": "curator",
    "GET /api/people": "operator",
    "GET /api/audit": "operator",
    "GET /api/audit/verify": "operator",
}
"""The role that a route or a tool of the server needs, or None if anybody may use it."""


def check_role(role: Role | None, doing: str, of_plugins: Mapping[str, Role]) -> None:
    """Check that a role suffices.

    Args:
        role: The caller's role, or None if the caller is unknown.
        doing: A key of one of the tables.
        of_plugins: The table of the plugins. The server's own counts before it.

    Raises:
        RoleNeeded: It needs another role.
        AccessError: It is in neither table.
    """
    known = {**of_plugins, **NEEDED}
    if doing not in known:
        raise AccessError(f"Nobody may {doing}: no role is stated for it.", "Tell the developers.")
    needed = known[doing]
    if needed is None or (role is not None and ROLES.index(role) >= ROLES.index(needed)):
        return
    raise RoleNeeded(
        f"This needs the role {needed}; yours is {role or 'none'}.", "Ask the operator for it."
    )


async def permitted(request: Request) -> None:
    """Let a request of a route in whose role suffices; every route of the application waits for it.

    Raises:
        AccessError: It does not.
    """
    person = request.scope["lexloop.person"]
    role = None if person is None else person.role
    doing = f"{request.method} {request.scope['route'].path}"
    check_role(role, doing, request.app.state.serving.needed)
