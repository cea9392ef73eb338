"""Routes of searches for exact words, in documents and in one's conversations."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from lexloop_server.fields import MOST_COLLECTIONS, CollectionName, DocumentName, Place
from lexloop_server.plugins import Asker, Host, Hosted, Person, documented, found_documents
from lexloop_workbench.search import LONGEST, Asked, Excerpt, Found, excerpts, search

router = APIRouter(prefix="/api/search", tags=["search"], responses=documented(404))
Text = Annotated[
    str,
    Field(
        max_length=LONGEST,
        description="Words, a phrase in double quotes, a provision, -word for what must not be.",
    ),
]


class Sought(BaseModel):
    """A search, and which of its results to return."""

    model_config = ConfigDict(extra="forbid")

    q: Text
    first: Place = Field(default=0, description="Number of results to skip.")
    limit: int = Field(default=20, ge=1, le=200)


class SoughtInDocuments(Sought):
    """A search, with the collections and documents to search."""

    collection: list[CollectionName] = Field(
        default=[],
        max_length=MOST_COLLECTIONS,
        description="Names of collections. Empty for all that you see.",
    )
    document: list[DocumentName] = Field(
        default=[], max_length=100, description="Search only these documents. Empty for all."
    )
    any_form: bool = Field(default=False, description="Also find other forms of a word.")
    as_of: str = Field(
        default="today", max_length=20, description="In force on: YYYY-MM-DD, `today`, or `any`."
    )
    passages: int = Field(default=3, ge=1, le=500, description="The most of each document.")


class FoundBody(Found):
    """Results. ``unready`` says why a collection could not be searched now."""

    unready: dict[str, str]


class FoundTurnBody(BaseModel):
    """A question and its answer; excerpts are of both, two line feeds between them."""

    id: str
    thread: str
    title: str
    updated: str
    excerpts: list[Excerpt]


class FoundTurns(BaseModel):
    """The questions and answers that are found, the last first."""

    turns: list[FoundTurnBody]
    total: int
    first: int


@router.get("")
async def documents(
    given: Annotated[SoughtInDocuments, Query()], request: Request, person: Asker, host: Hosted
) -> FoundBody:
    """Find exact words, phrases and provisions in the documents, each place in its context."""
    return await host.in_turn(request, person, partial(_in_documents, given, person, host))


def _in_documents(given: SoughtInDocuments, person: Person, host: Host) -> FoundBody:
    query = Asked.of(given.q, given.any_form)
    names, unready = host.searchable(person, given.collection or None)
    views = {name: host.collections.view(person, name, given.as_of) for name in names}
    chosen = given.model_dump(include={"first", "limit", "passages"})
    results = search(views, query, documents=given.document, **chosen)
    found_in = found_documents(document.model_dump() for document in results.documents)
    host.note(person, "search", given.q, collections=names, documents=found_in)
    return FoundBody(**dict(results), unready=unready)


@router.get("/conversations")
async def conversations(
    given: Annotated[Sought, Query()], request: Request, person: Asker, host: Hosted
) -> FoundTurns:
    """Find exact words in what you asked and were answered, as far as you may still read it."""
    work = partial(_in_conversations, given, person, host)
    return await host.in_turn(request, person, work)


def _in_conversations(given: Sought, person: Person, host: Host) -> FoundTurns:
    query = Asked.of(given.q, provisions=False)
    host.note(person, "search", given.q, conversations=True)
    matching = host.turns_with(person, lambda text: excerpts(text, query))
    shown = matching[given.first : given.first + given.limit]
    turns = [
        FoundTurnBody(
            id=turn.id,
            thread=turn.thread,
            title=turn.title,
            updated=turn.updated,
            excerpts=found,
        )
        for turn, found in shown
    ]
    return FoundTurns(turns=turns, total=len(matching), first=given.first)
