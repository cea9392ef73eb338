"""The tools of MCP: questions, passages, provisions, documents and relations for one person."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from lexloop.apps.plain_text import clean
from lexloop.apps.serve import tool_arguments as arguments
from lexloop.apps.serve import tool_results as results
from lexloop.apps.serve.asking import Asking, AskRequest
from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.people import Person
from lexloop.apps.serve.tool_arguments import SourceLink, link_of
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
Report = Callable[[str], Awaitable[None]]
"""Told what has just been done, while a question is worked on."""
_MOST_READ = 20_000
"""Characters of one provision, or of a whole document, that are read at once."""
_MOST_LISTED = 500
_MOST_TEXT = 4_000


class Tools:
    """What a person can have done.

    Each tool takes who calls it, its checked arguments, and what is to hear of steps that ended.

    Args:
        asking: Answers questions, and finds passages.
        collections: Say what the person sees.
    """

    def __init__(self, asking: Asking, collections: Collections) -> None:
        self._asking, self._collections = asking, collections

    async def ask(
        self, person: Person, given: arguments.AskArguments, report: Report
    ) -> results.Answer:
        """Answer a question, reporting each step that has ended."""
        request = AskRequest(
            question=given.question, collections=given.collections, as_of=given.as_of
        )
        record: dict[str, Any] = {}
        # nothing is kept: whoever calls a tool has the conversation
        async with aclosing(self._asking.events(person, request, ())) as events:
            async for name, record in events:
                if name == "step":
                    await report(_told(record))
        return results.Answer(
            answer=clean(record["answer"]),
            answered=not record["abstained"],
            passed=record["passed"],
            probability=record["verdict"]["probability"],
            verdict=" ".join(record["verdict"]["words"]),
            warning=record["warning"],
            collections=record["collections"],
            sources=[
                results.NumberedSource(n=one["n"], **_source(one)) for one in record["citations"]
            ],
            near=[results.Source(**_source(one)) for one in record["near"]],
        )

    async def search(
        self, person: Person, given: arguments.SearchArguments, _: Report
    ) -> results.Passages:
        """Find passages, the best first."""
        changes: dict[str, Any] = {"plan.k": given.limit}
        if given.as_of is not None:
            changes["access.as_of"] = given.as_of
        names = list(await _in_thread(self._views, person, given.collections))
        found = await self._asking.passages(person, given.query, names, **changes)
        return results.Passages(
            passages=[
                results.Passage(
                    title=clean(one["title"]), score=round(one["score"], 4), **_source(one)
                )
                for one in found[: given.limit]
            ]
        )

    async def read_provision(
        self, person: Person, given: arguments.ReadArguments, _: Report
    ) -> results.Provisions:
        """Read a provision, or list those of a document."""
        return await _in_thread(self._read, person, given)

    async def list_documents(
        self, person: Person, given: arguments.ListArguments, _: Report
    ) -> results.Documents:
        """List documents in the order of their collections and names."""
        return await _in_thread(self._list, person, given)

    async def related(
        self, person: Person, given: arguments.RelatedArguments, _: Report
    ) -> results.Relations:
        """Tell the relations around an entity."""
        return await _in_thread(self._relate, person, given)

    async def text_at(self, person: Person, uri: str) -> str:
        """Return the text at the address of a source.

        Raises:
            NotFoundError: There is no such place for the person.
        """
        return await _in_thread(self._text_at, person, link_of(uri))

    def _read(self, person: Person, given: arguments.ReadArguments) -> results.Provisions:
        collection, view, source = self._meant(person, given.document, given.collection)
        made = partial(results.Provisions, collection=collection, document=source.name)
        if given.provision is None:
            units = source.outline(0)["units"]
            shown = [
                results.Listed(**{name: one[name] for name in results.Listed.model_fields})
                for one in units[:_MOST_LISTED]
            ]
            return made(provisions=[], contents=shown, more=len(units) - len(shown))
        places = source.places(given.provision, "Leave `provision` out for the list of them.")
        found = [_provision(collection, view, source, place) for place in places]
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

    def _list(self, person: Person, given: arguments.ListArguments) -> results.Documents:
        names = self._names(person, given.collections)
        views = self._views(person, given.collections)
        wanted = folded(given.containing or "").casefold()
        found: list[tuple[str, str]] = []
        for name, view in views.items():
            titles = view.titles
            found += [
                (name, document)
                for document in view.documents
                if wanted in folded(f"{document}\n{titles.get(document, '')}").casefold()
            ]
        shown = found[given.offset : given.offset + given.limit]
        return results.Documents(
            collections=names,
            unavailable=[name for name in names if name not in views],
            total=len(found),
            documents=[_document(name, views[name], document) for name, document in shown],
        )

    def _relate(self, person: Person, given: arguments.RelatedArguments) -> results.Relations:
        from lexloop.apps.relations import Neighbourhood, neighbourhood

        found: dict[str, Neighbourhood] = {}
        error: InputError | None = None
        depth, limit = given.depth, given.limit
        for name, view in self._views(person, given.collections).items():
            try:
                found[name] = neighbourhood(view.graph(), given.entity, depth, limit, where=name)
            except InputError as missing:
                error = missing
        if not found and error is not None:
            raise error
        lists = [[_relation(name, one) for one in a.relations] for name, a in found.items()]
        each = [one for group in zip_longest(*lists) for one in group if one is not None]
        return results.Relations(
            entity=next((around.name for around in found.values()), given.entity),
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


def _source(found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a source from a citation, a passage or a triplet."""
    link = SourceLink(found["collection"], found["document"], found["section"])
    return {
        "collection": found["collection"],
        "document": clean(found["document"]),
        "provision": clean(found["section"]),
        "page": found["page"],
        "quote": clean(found["text"] if "text" in found else found["quote"])[:_MOST_TEXT],
        "version": found.get("version", ""),
        "uri": link.uri,
    }


def _told(step: dict[str, Any]) -> str:
    """Return a step in a few words."""
    names = ("queries", "candidates", "passages", "score")
    counted = {n: len(v) if isinstance(v := step[n], list) else v for n in names if n in step}
    said = ", ".join(f"{name} {value}" for name, value in counted.items() if value is not None)
    where = f"{step['collection']}: " if step.get("collection") else ""
    return f"{where}{step['node'].replace('_', ' ')}{f' ({said})' if said else ''}"


def _provision(collection: str, view: "View", source: "Source", place: int) -> results.Provision:
    record = source.provision(place)
    text = clean(record["text"])
    return results.Provision(
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
        refers_to=[results.Mention(**one) for one in record["refers_to"]],
        cut=len(text) > _MOST_READ,
    )


def _heading(record: dict[str, Any]) -> str:
    return record["heading"] if record["heading"] != record["label"] else ""


def _document(collection: str, view: "View", name: str) -> results.Document:
    known = view.metadata([name])[name]
    return results.Document(
        collection=collection,
        name=clean(name),
        title=clean(view.titles.get(name, "")),
        kind=known.kind,
        jurisdiction=clean(known.jurisdiction),
        version=known.version,
        pages=len(view.pages_of(name)),
        uri=SourceLink(collection, name).uri,
    )


def _relation(collection: str, found: Any) -> results.RelationFound:
    from lexloop.knowledge.relations import reading

    triplet = found.triplet
    return results.RelationFound(
        subject=clean(triplet["subject"]),
        relation=reading(triplet["predicate"]),
        object=clean(triplet["object"]),
        **_source({"collection": collection, **triplet}),
    )
