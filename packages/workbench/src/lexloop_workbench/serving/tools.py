"""The workbench's MCP tools. Clients are told their arguments and docstrings."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from lexloop.apps.shapes.text import clean
from lexloop.core.running import give_way
from lexloop_server.fields import (
    AsOf,
    CollectionName,
    DocumentName,
    Id,
    Names,
    Only,
    Place,
    Text,
    Words,
)
from lexloop_server.plugins import Host, Person, Tool, found_documents
from lexloop_workbench.diff import Comparison, Version
from lexloop_workbench.profile import Item, Profile
from lexloop_workbench.register import MOST_AT_ONCE, Entry, Wanted
from lexloop_workbench.register import register as entries_of
from lexloop_workbench.search import Asked, search
from lexloop_workbench.serving import results
from lexloop_workbench.serving.register_routes import profiled
from lexloop_workbench.serving.tables import asked_by, asker_of
from lexloop_workbench.table.cell import DocumentAsker
from lexloop_workbench.table.checklist import Question

_MOST_COLUMNS = 20


class Tools:
    """The tools. Each is a method that takes the person who asks and the tool's arguments.

    Args:
        host: What the server offers.
    """

    def __init__(self, host: Host) -> None:
        self._host, self._visible = host, host.collections

    def by_title(self) -> Mapping[str, Tool]:
        """Return all of them."""
        return {
            "Find exact words": self.find_words,
            "Compare two versions": self.diff,
            "Duties, rights and deadlines": self.register,
            "Describe a document": self.describe,
            "Ask each document": self.table,
        }

    def find_words(
        self,
        person: Person,
        words: Annotated[
            Text,
            Field(
                description='Words that must all occur, a "phrase" in double quotes, a provision '
                "such as 'section 4.2', or -word for a word that must not occur."
            ),
        ],
        *,
        collections: Names = None,
        documents: Only = None,
        as_of: AsOf = None,
        limit: Annotated[int, Field(ge=1, le=100, description="Maximum number of documents.")] = 10,
        offset: Annotated[Place, Field(description="Number of documents to skip.")] = 0,
    ) -> results.WordsFound:
        """Find every document that contains exact words, phrases or a provision, with the places.

        The search is literal. Use it to list and count occurrences, or to show that a word does
        not occur.
        """
        sought = Asked.of(words)
        names, unready = self._host.searchable(person, collections)
        views = {name: self._visible.view(person, name, as_of or "today") for name in names}
        matches = search(views, sought, documents=documents or (), first=offset, limit=limit)
        result = results.WordsFound.of_found(matches, [*unready])
        documents_found = found_documents(place.model_dump() for place in result.found)
        self._host.note(person, "search", words, collections=names, documents=documents_found)
        return result

    def register(
        self,
        person: Person,
        *,
        document: Annotated[
            DocumentName | None, Field(description="Only this document. Leave it out for all.")
        ] = None,
        collection: Annotated[
            CollectionName | None, Field(description="Only this collection.")
        ] = None,
        kinds: Annotated[
            Annotated[list[Id], Field(max_length=6)] | None,
            Field(description="Any of duty, right, prohibition, deadline, sum, penalty."),
        ] = None,
        actor: Annotated[Words | None, Field(description="Words in the name of who acts.")] = None,
        since: Annotated[
            Annotated[list[Words], Field(max_length=100)] | None,
            Field(
                description="Dates of events from which periods are counted, as EVENT=YYYY-MM-DD."
            ),
        ] = None,
        as_of: AsOf = None,
        limit: Annotated[int, Field(ge=1, le=500, description="Maximum number of entries.")] = 50,
        offset: Annotated[Place, Field(description="Number of entries to skip.")] = 0,
    ) -> results.RegisterFound:
        """List who must, may or must not do what, by when and unless what, each with its quote.

        Covers duties, rights, prohibitions, deadlines, sums and penalties in documents in English.
        """
        wanted = Wanted.of(kinds or (), actor or "", since or ())
        if document is not None:
            name, view, source = self._visible.meant(person, document, collection)
            entries = [(name, entry) for entry in entries_of(view, [source.name], wanted).entries]
        else:
            names = None if collection is None else [collection]
            views = self._visible.views(person, names, as_of or "today")
            entries = [
                (name, entry)
                for name, view in views.items()
                for entry in entries_of(view, (), wanted, MOST_AT_ONCE).entries
            ]
        shown = entries[offset : offset + limit]
        self._host.note(person, "register", document=document, entries=len(shown))
        return results.RegisterFound(
            total=len(entries), entries=[_entry(name, entry) for name, entry in shown]
        )

    def describe(
        self,
        person: Person,
        document: Annotated[
            DocumentName, Field(description="The document's name, or the end of it.")
        ],
        collection: Annotated[
            CollectionName | None,
            Field(description="Needed only if several collections have a document of that name."),
        ] = None,
    ) -> results.ProfileFound:
        """Describe a document: kind, parties, dates, governing law, outline and defined terms.

        The result also lists what it refers to and questions that it is known to answer.
        """
        name, view, source = self._visible.meant(person, document, collection)
        return _profile(name, profiled(self._host, person, name, view, source))

    def diff(
        self,
        person: Person,
        old: Annotated[
            DocumentName, Field(description="The earlier document's name, or the end of it.")
        ],
        new: Annotated[
            DocumentName, Field(description="The later document's name, in the same collection.")
        ],
        collection: Annotated[
            CollectionName | None,
            Field(description="Their collection. Needed only if several have such documents."),
        ] = None,
        limit: Annotated[int, Field(ge=1, le=500, description="Maximum number of changes.")] = 100,
    ) -> results.Changes:
        """Compare two versions of a document, provision by provision.

        The result says what was changed (word by word), moved, renumbered, added and removed, and
        which references still use an old number.
        """
        name, view, source = self._visible.meant(person, old, collection)
        older = Version(source, view.titles[source.name])
        changes = Comparison(older, Version.of(view, new)).record()
        return results.Changes.of(name, changes, limit)

    def table(  # noqa: PLR0917 - a client names them
        self,
        person: Person,
        collection: Annotated[
            CollectionName, Field(description="The collection of the documents.")
        ],
        questions: Annotated[
            list[Text],
            Field(max_length=_MOST_COLUMNS, description="The questions to ask each document."),
        ] = [],  # noqa: B006 - never changed
        checklist: Annotated[
            Id | None,
            Field(
                description="A checklist to ask as well: commercial, dpa, lease, nda or privacy."
            ),
        ] = None,
        limit: Annotated[int, Field(ge=1, le=25, description="Maximum number of documents.")] = 10,
        offset: Annotated[Place, Field(description="Number of documents to skip.")] = 0,
    ) -> results.Table:
        """Ask each document of a collection the same questions, for a table with a source per cell.

        A cell is "not stated" if its document does not answer. To ask one question over all
        documents together, use `ask`.
        """
        questions_asked = asked_by(questions, [checklist] if checklist else []).questions
        self._host.count(person)
        text = "\n".join(question.question for question in questions_asked)
        self._host.note(person, "table", text, collections=[collection])
        asker = asker_of(self._host, person, collection)
        names = [*asker.documents][offset:]
        rows = []
        for name in names[:limit]:
            document = asker.of(name)
            cells = [(question, _cell(document, question)) for question in questions_asked]
            shown = [
                results.TableCell.of(cell, question.question, collection)
                for question, cell in cells
            ]
            rows.append(results.TableRow(document=clean(name), cells=shown))
        return results.Table(collection=collection, rows=rows, more=len(names) - len(rows))


def _cell(document: DocumentAsker, question: Question) -> dict[str, Any]:
    give_way()
    return document.ask(question).model_dump()


def _entry(collection: str, entry: Entry) -> results.RegisterEntry:
    return results.RegisterEntry.of(
        {"collection": collection, **entry.model_dump()},
        kinds=list(entry.kinds),
        who=clean(entry.who),
        what=clean(entry.what),
        when=clean(entry.when),
        day=entry.day,
        note=entry.note,
        unless=[clean(condition) for condition in entry.unless],
        sums=entry.sums,
    )


def _profile(collection: str, profile: Profile) -> results.ProfileFound:
    lists: dict[str, Sequence[Item]] = {
        "party": profile.parties,
        "made": profile.signed,
        "in effect": profile.effective,
        "lasts": profile.term,
        "governing law": profile.governing_law,
        "defines": profile.terms,
        "refers to": profile.refers_to,
        "worth asking": profile.questions,
    }
    place = {"collection": collection, "document": profile.document}
    items_found = [
        results.ProfileItem.of({**place, **item.model_dump()}, about=about, said=clean(item.said))
        for about, items in lists.items()
        for item in items
    ]
    outline = [
        clean(" ".join(dict.fromkeys((unit.label, unit.heading)))) for unit in profile.outline
    ]
    return results.ProfileFound(
        collection=collection,
        document=clean(profile.document),
        title=clean(profile.title),
        kind=profile.kind,
        words=profile.words,
        provisions=profile.provisions,
        pages=profile.pages,
        outline=outline,
        said=items_found,
    )
