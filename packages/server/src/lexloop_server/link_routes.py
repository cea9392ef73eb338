"""Routes of links: a conversation that people of the same server may read by an address."""

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict

from lexloop.core.errors import InputError
from lexloop_server.asking import found_documents
from lexloop_server.errors import documented
from lexloop_server.fields import Id
from lexloop_server.links import Reader
from lexloop_server.people import Asker
from lexloop_server.state import Served
from lexloop_server.translation import Translated

router = APIRouter(prefix="/api", tags=["links"], responses=documented(404))
_MOST = 1000
"""The answers of a conversation that are read by a link: the last."""


class LinkBody(BaseModel):
    """A link. `GET /api/shared/ID` returns the conversation to people who may read it."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    thread: str
    title: str
    made: str


class LinksBody(BaseModel):
    """The links to one's conversations, the last first."""

    links: list[LinkBody]


class SharedBody(BaseModel):
    """The part of another person's conversation that you may read, oldest answer first.

    ``left_out`` counts the answers that rest on documents that you may not see. The title is then
    empty, since it may be the question of such an answer.
    """

    person: str
    title: str
    turns: list[dict[str, Any]]
    left_out: int


@router.put("/threads/{id}/link")
def share(id: Id, person: Asker, served: Served) -> LinkBody:
    """Make the link to a conversation of yours; there is one at most."""
    served.asking.readable(person, id)
    if not served.people.needs_key:
        raise InputError("There is nobody to share with.", "Name people in the server's settings.")
    served.audit.note(person.name, "link", thread=id)
    return LinkBody.model_validate(served.store.share(person.name, id))


@router.delete("/threads/{id}/link", status_code=204)
def withdraw(id: Id, person: Asker, served: Served) -> Response:
    """Withdraw the link to a conversation of yours: it leads nowhere from now on."""
    served.audit.note(person.name, "withdraw link", thread=id)
    served.store.unshare(person.name, id)
    return Response(status_code=204)


@router.get("/links")
def links(person: Asker, served: Served) -> LinksBody:
    """List the links to your conversations."""
    return LinksBody.model_validate({"links": served.store.links(person.name)})


@router.get("/shared/{link}", response_model=SharedBody)
def shared(link: Id, person: Asker, served: Served) -> Translated:
    """Read a conversation by its link, as far as it rests on documents that you see."""
    thread = served.store.linked(link)
    turns = served.store.turns(thread.person, thread.id, limit=_MOST)
    turns_shown = Reader(person, thread, served.collections).readable(turns)
    documents = found_documents(source for turn in turns_shown for source in turn["citations"])
    served.audit.note(person.name, "read link", thread=thread.id, documents=documents)
    left_out = len(turns) - len(turns_shown)
    title = "" if left_out else thread.title
    conversation = {
        "person": thread.person,
        "title": title,
        "turns": turns_shown,
        "left_out": left_out,
    }
    return Translated(conversation)
