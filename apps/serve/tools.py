"""The tools of MCP: questions, passages, provisions, documents and relations for one person.

FastMCP makes the schemas of their signatures, and of their docstrings what a model chooses by.
"""

from collections.abc import Callable, Iterable
from contextlib import aclosing
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import anyio.to_thread
from mcp.server.fastmcp import Context
from pydantic import Field

from lexloop.apps.serve.asking import Asking, AskRequest
from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.people import Person
from lexloop.apps.shapes import tools as shapes
from lexloop.apps.shapes.text import clean
from lexloop.apps.shapes.tools import SourceLink
from lexloop.core.errors import (
    CorpusError,
    DataError,
    InputError,
    LexloopError,
    ModelError,
    NotFoundError,
)
from lexloop.core.folding import folded

if TYPE_CHECKING:
    from lexloop.apps.provisions import Source
    from lexloop.store.view import View

T = TypeVar("T")
_MOST_READ = 20_000
"""Characters of one provision, or of a whole document, that are read at once."""
_MOST_LISTED = 500

Call = Context[Any, Any, Any]
"""One call of a tool: who sent it, and where its progress goes."""
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
AsOf = Annotated[
    Text | None,
    Field(
        description="Answer from the law in force on this day (YYYY-MM-DD), 'today', or 'any' for "
        "every version. Leave it out for today."
    ),
]
Names = Annotated[
    Annotated[list[Text], Field(max_length=100)] | None,
    Field(description="Names of collections, as list_documents gives them. Leave it out for all."),
]


class Tools:
    """What a person can have done; where a tool names a place, it is never a folder or a host.

    Args:
        asking: Answers questions, and finds passages.
        collections: Say what the person sees.
        person_of: Gives who sent an HTTP request; its argument is None where there is none.
    """

    def __init__(
        self, asking: Asking, collections: Collections, person_of: Callable[[Any], Person]
    ) -> None:
        self._asking, self._collections, self._person_of = asking, collections, person_of

    def _person(self, call: Call) -> Person:
        return self._person_of(call.request_context.request)

    async def ask(
        self,
        question: Annotated[
            Text, Field(description="One whole question that can be understood by itself.")
        ],
        call: Call,
        collections: Names = None,
        as_of: AsOf = None,
    ) -> shapes.Answer:
        """Answer one question from the documents, with numbered sources and a verdict.

        The sources were checked word for word. The first choice for any question of what the law, a
        rule or a policy says. Says so where the documents do not answer.
        """
        request = AskRequest(question=question, collections=collections, as_of=as_of)
        record: dict[str, Any] = {}
        steps = 0
        # nothing is kept: whoever calls a tool has the conversation
        async with aclosing(self._asking.events(self._person(call), request, ())) as events:
            async for name, record in events:
                if name == "step":
                    steps += 1
                    await call.report_progress(steps, message=clean(_told(record)))
        return shapes.Answer.of_record(record)

    async def search(
        self,
        query: Annotated[
            Text, Field(description="A question or words, in the language of the documents.")
        ],
        call: Call,
        collections: Names = None,
        limit: Annotated[int, Field(ge=1, le=50, description="The most passages.")] = 8,
        as_of: AsOf = None,
    ) -> shapes.Passages:
        """Find the passages of the documents that fit a question or words, the best first.

        No answer is written. Use it to read around a topic or where `ask` found nothing.
        """
        person = self._person(call)
        changes: dict[str, Any] = {"plan.k": limit}
        if as_of is not None:
            changes["access.as_of"] = as_of
        names = list(await _in_thread(self._views, person, collections))
        found = await self._asking.passages(person, query, names, **changes)
        return shapes.Passages(
            passages=[
                shapes.Passage.of(one, title=clean(one["title"]), score=round(one["score"], 4))
                for one in found[:limit]
            ]
        )

    async def read_provision(
        self,
        document: Annotated[Text, Field(description="The document's name, or the end of it.")],
        call: Call,
        provision: Annotated[
            Text | None,
            Field(
                description="Its label, number or heading, e.g. 'Article 5(1)(a)', '§ 5-303' or "
                "'Annex III'. Leave it out for the list of the document's provisions."
            ),
        ] = None,
        collection: Annotated[
            Text | None,
            Field(
                description="The collection of the document. Needed only where several have one "
                "of that name."
            ),
        ] = None,
    ) -> shapes.Provisions:
        """Read the exact text of an article, section, paragraph or annex of one document.

        Gives the headings above it and what it refers to; without a provision, the list of those of
        the document.
        """
        return await _in_thread(self._read, self._person(call), document, provision, collection)

    async def list_documents(
        self,
        call: Call,
        collections: Names = None,
        containing: Annotated[
            Text | None,
            Field(description="Only documents with these words in their name or title."),
        ] = None,
        limit: Annotated[int, Field(ge=1, le=500, description="The most documents.")] = 100,
        offset: Annotated[int, Field(ge=0, description="How many to leave out first.")] = 0,
    ) -> shapes.Documents:
        """List the collections and their documents, with titles and the days they are in force.

        Use it to learn what can be asked and how documents are named.
        """
        return await _in_thread(
            self._list, self._person(call), collections, containing or "", limit, offset
        )

    async def related(
        self,
        entity: Annotated[
            Text, Field(description="A term, an acronym or a provision, e.g. 'bias audit'.")
        ],
        call: Call,
        depth: Annotated[int, Field(ge=1, le=2, description="How many entities away to look.")] = 1,
        limit: Annotated[int, Field(ge=1, le=100, description="The most relations.")] = 20,
        collections: Names = None,
    ) -> shapes.Relations:
        """Tell the relations of a term or a provision, each with its source.

        What it is part of, where it is defined and used, what it refers to, excepts from and
        amends, and the reverse.
        """
        return await _in_thread(self._relate, self._person(call), entity, depth, limit, collections)

    async def text_at(self, call: Call, uri: str) -> str:
        """Return the text at the address of a source.

        Raises:
            NotFoundError: There is no such place for the person.
        """
        return await _in_thread(self._text_at, self._person(call), SourceLink.of(uri))

    def _read(
        self, person: Person, document: str, provision: str | None, collection: str | None
    ) -> shapes.Provisions:
        name, view, source = self._meant(person, document, collection)
        made = partial(shapes.Provisions, collection=name, document=source.name)
        if provision is None:
            units = source.outline(0)["units"]
            shown = [
                shapes.Listed(**{name: one[name] for name in shapes.Listed.model_fields})
                for one in units[:_MOST_LISTED]
            ]
            return made(provisions=[], contents=shown, more=len(units) - len(shown))
        places = source.places(provision, "Leave `provision` out for the list of them.")
        found = [_provision(name, view, source, place) for place in places]
        return made(provisions=found, contents=[], more=0)

    def _meant(
        self, person: Person, said: str, collection: str | None
    ) -> "tuple[str, View, Source]":
        """Return the document meant, and where it lies.

        Raises:
            LexloopError: There is none, or several are meant.
        """
        from lexloop.apps.provisions import Source

        views = self._views(person, None if collection is None else [collection])
        found, error = [], None
        for name, view in views.items():
            try:
                found.append((name, view, Source.of(view, said)))
            except InputError as missing:
                error = missing
        exact = [one for one in found if one[2].name == said]
        for certain in (found, exact):
            if len(certain) == 1:
                return certain[0]
        if found:
            among = ", ".join(name for name, *_ in found)
            raise InputError(f"{said!r} is a document of {among}.", "Name one as `collection`.")
        if error is not None and len(views) == 1:
            raise error
        raise NotFoundError(f"There is no document {said!r}.", "See list_documents.")

    def _list(
        self,
        person: Person,
        wanted: Iterable[str] | None,
        containing: str,
        limit: int,
        offset: int,
    ) -> shapes.Documents:
        """Return documents in the order of their collections and names."""
        names = self._names(person, wanted)
        views = self._views(person, wanted)
        words = folded(containing).casefold()
        found: list[tuple[str, str]] = []
        for name, view in views.items():
            titles = view.titles
            found += [
                (name, document)
                for document in view.documents
                if words in folded(f"{document}\n{titles.get(document, '')}").casefold()
            ]
        shown = found[offset : offset + limit]
        return shapes.Documents(
            collections=names,
            unavailable=[name for name in names if name not in views],
            total=len(found),
            documents=[_document(name, views[name], document) for name, document in shown],
        )

    def _relate(
        self,
        person: Person,
        entity: str,
        depth: int,
        limit: int,
        collections: Iterable[str] | None,
    ) -> shapes.Relations:
        from lexloop.apps.provisions import Neighbourhood, neighbourhood

        found: dict[str, Neighbourhood] = {}
        error: InputError | None = None
        for name, view in self._views(person, collections).items():
            try:
                found[name] = neighbourhood(view.graph(), entity, depth, limit, where=name)
            except InputError as missing:
                error = missing
        if not found and error is not None:
            raise error
        lists = [[_relation(name, one) for one in a.relations] for name, a in found.items()]
        each = [one for group in zip_longest(*lists) for one in group if one is not None]
        return shapes.Relations(
            entity=next((around.name for around in found.values()), entity),
            degree=sum(around.degree for around in found.values()),
            relations=each[:limit],
        )

    def _views(self, person: Person, wanted: Iterable[str] | None) -> "dict[str, View]":
        """Return the views of the collections meant.

        Where none was named, one that cannot be opened does not keep the others from being read.

        Raises:
            LexloopError: There is no such collection for the person, or it cannot be opened.
        """
        views: dict[str, View] = {}
        failed: LexloopError | None = None
        for name in self._names(person, wanted):
            try:
                views[name] = self._collections.view(person, name)
            except (CorpusError, DataError, ModelError) as error:
                failed = error
        if failed is not None and (wanted is not None or not views):
            raise failed
        return views

    def _names(self, person: Person, wanted: Iterable[str] | None) -> list[str]:
        """Return the collections meant, each one that the person sees.

        Raises:
            NotFoundError: There is no such collection for the person.
        """
        seen = self._collections.names(person)
        names = seen if wanted is None else list(dict.fromkeys(wanted))
        for name in names:
            if name not in seen:
                raise NotFoundError(
                    f"There is no collection {name!r}.",
                    f"Name one of {', '.join(seen)}." if seen else "There are none for you.",
                )
        return names

    def _text_at(self, person: Person, link: SourceLink) -> str:
        from lexloop.apps.provisions import Source

        self._names(person, [link.collection])
        view = self._collections.view(person, link.collection)
        missing = NotFoundError("There is no such source.", "Take one from a tool's answer.")
        if link.document not in view.documents:
            raise missing
        source = Source.of(view, link.document)
        if not link.label:
            return clean(source.text)
        units = source.tree.units
        try:
            places = source.places(link.label, "")
        except InputError as error:
            raise missing from error
        return "\n\n".join(
            clean(source.text[units[p].start : units[p].end].strip()) for p in places
        )


async def _in_thread(work: Callable[..., T], *given: Any) -> T:
    """Return what comes of work that takes a while, without waiting for it where nobody does."""
    return await anyio.to_thread.run_sync(partial(work, *given), abandon_on_cancel=True)


def _told(step: dict[str, Any]) -> str:
    """Return a step in a few words."""
    names = ("queries", "candidates", "passages", "score")
    counted = {n: len(v) if isinstance(v := step[n], list) else v for n in names if n in step}
    said = ", ".join(f"{name} {value}" for name, value in counted.items() if value is not None)
    where = f"{step['collection']}: " if step.get("collection") else ""
    return f"{where}{step['node'].replace('_', ' ')}{f' ({said})' if said else ''}"


def _provision(collection: str, view: "View", source: "Source", place: int) -> shapes.Provision:
    record = source.provision(place)
    text = clean(record["text"])
    return shapes.Provision(
        collection=collection,
        document=source.name,
        provision=record["label"],
        page=record["page"],
        quote=text[:_MOST_READ],
        version=view.metadata([source.name])[source.name].version,
        uri=SourceLink(collection, source.name, record["label"]).uri,
        heading=clean(record["heading"]),
        kind=record["kind"],
        above=[
            clean(" ".join(filter(None, (one["label"], _heading(one))))) for one in record["above"]
        ],
        lead_in=[clean(said) for said in record["lead_in"]],
        refers_to=[shapes.Mention(**one) for one in record["refers_to"]],
        cut=len(text) > _MOST_READ,
    )


def _heading(record: dict[str, Any]) -> str:
    return record["heading"] if record["heading"] != record["label"] else ""


def _document(collection: str, view: "View", name: str) -> shapes.Document:
    known = view.metadata([name])[name]
    return shapes.Document(
        collection=collection,
        name=clean(name),
        title=clean(view.titles.get(name, "")),
        kind=known.kind,
        jurisdiction=clean(known.jurisdiction),
        version=known.version,
        pages=len(view.pages_of(name)),
        uri=SourceLink(collection, name).uri,
    )


def _relation(collection: str, found: Any) -> shapes.RelationFound:
    from lexloop.knowledge.relations import reading

    triplet = found.triplet
    return shapes.RelationFound.of(
        {"collection": collection, **triplet},
        subject=clean(triplet["subject"]),
        relation=reading(triplet["predicate"]),
        object=clean(triplet["object"]),
    )
