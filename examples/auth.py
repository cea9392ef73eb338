"""Sign-in for the graphs of ``langgraph.json``: who may ask which corpora, and with which tags.

Lexloop reads ``corpora`` and ``tags`` of the signed-in user; a caller can ask for less, but not for
more. ``langgraph.json`` beside this file names it; run ``langgraph dev`` in a folder with both. Put
your own check of a token in ``sign_in``. The two people here are made up.
"""

import hashlib
from typing import Any

from langgraph_sdk import Auth

GROUPS: dict[str, dict[str, list[str]]] = {
    "staff": {"corpora": ["handbook"], "tags": ["staff"]},
    "board": {"corpora": ["handbook", "minutes"], "tags": ["board"]},
}
PEOPLE = {"ann": ["staff"], "ben": ["staff", "board"]}
TOKENS = {  # the SHA-256 of each token: "token-of-ann" and "token-of-ben"
    hashlib.sha256(f"token-of-{name}".encode()).hexdigest(): name for name in PEOPLE
}

auth = Auth()


@auth.authenticate
async def sign_in(authorization: str | None) -> Auth.types.MinimalUserDict:
    """Return who sends a request, with what their groups may ask."""
    token = (authorization or "").removeprefix("Bearer ")
    name = TOKENS.get(hashlib.sha256(token.encode()).hexdigest())
    if name is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail="Sign in with a token.")
    groups = [GROUPS[group] for group in PEOPLE[name]]
    permitted = {
        kind: sorted({item for group in groups for item in group[kind]})
        for kind in ("corpora", "tags")
    }
    return {"identity": name, **permitted}  # type: ignore[typeddict-item]


@auth.on
async def deny(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Allow nothing that is not allowed below, such as the store and crons."""
    return False


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: Any) -> Auth.types.FilterType:
    """Show people only their own threads and runs."""
    value.setdefault("metadata", {})["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on(resources="assistants", actions=["read", "search"])
async def shown_assistants(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Let everybody see and run the graphs of ``langgraph.json``."""
    return True
