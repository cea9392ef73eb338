"""The Model Context Protocol: a server's tools and sources for other people's agents.

This extends the SDK's FastMCP, which builds each tool's schema from its signature and describes the
tool to models by its docstring. It adds people, their documents as resources, errors that say what
to do, and calls that end when their client leaves.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from functools import partial, wraps
from importlib.metadata import version
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeVar

import anyio
from mcp import McpError, types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.fastmcp.server import Settings as FastMcpSettings
from mcp.server.fastmcp.tools import Tool
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from pydantic import AnyUrl, Field, ValidationError

from lexloop.apps.shapes.text import clean
from lexloop.core.errors import (
    CorpusError,
    DataError,
    InputError,
    LexloopError,
    ModelError,
    NotFoundError,
)
from lexloop.core.folding import folded
from lexloop.core.running import give_way
from lexloop.store.provisions import Neighbourhood, Source, neighbourhood
from lexloop_server.asking import Asking, AskRequest, found_documents
from lexloop_server.collections import Collections
from lexloop_server.errors import Problem, faults_of, problem_of
from lexloop_server.fields import (
    MOST_COLLECTIONS,
    MOST_DOCUMENTS,
    CollectionName,
    Day,
    DocumentName,
    Id,
    Place,
)
from lexloop_server.people import Person
from lexloop_server.roles import check_role
from lexloop_server.shapes import tools as shapes
from lexloop_workbench.diff import Comparison, Version
from lexloop_workbench.profile import Item, Profile
from lexloop_workbench.register import MOST_AT_ONCE, Entry, Wanted, register

if TYPE_CHECKING:
    from lexloop.store.view import View
    from lexloop_workbench.table.cell import DocumentAsker
    from lexloop_workbench.table.checklist import Question

P = ParamSpec("P")
T = TypeVar("T")
# an .env in the working folder belongs to another program and may not even be text
FastMcpSettings.model_config["env_file"] = None

WORK = "lexloop.work"
"""The key in the scope of an HTTP request for work to cancel when its client leaves."""
_NOT_FOUND = -32002  # the protocol's own code for a resource that is not there
_MOST_LINKS, _MOST_LISTED, _PAGE = 50, 500, 100
_MOST_COLUMNS = 20
_MOST_READ = 20_000
"""Characters of one provision, or of a whole document, that are read at once."""
_INSTRUCTIONS = (
    "Lexloop answers questions about laws, rules and policies from collections of documents, and "
    "checks every quote against its source. Ask whole questions with `ask`; look into the "
    "documents with the other tools. Cite sources by document and provision. Lexloop informs, and "
    "gives no legal advice."
)
"""What a client tells its model about the server."""
_READING = types.ToolAnnotations(
    readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
)

Call = Context[Any, Any, Any]
"""One call of a tool, with its sender and the target of its progress."""
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Words = Annotated[str, Field(min_length=1, max_length=500)]
AsOf = Annotated[
    Day | None,
    Field(
        description="Answer from the law in force on this day (YYYY-MM-DD), 'today', or 'any' for "
        "every version. Leave it out for today."
    ),
]
Names = Annotated[
    Annotated[list[CollectionName], Field(max_length=MOST_COLLECTIONS)] | None,
    Field(description="Names of collections, as list_documents gives them. Leave it out for all."),
]

Only = Annotated[
    Annotated[list[DocumentName], Field(max_length=MOST_DOCUMENTS)] | None,
    Field(description="Limit to these documents, by name or the end of it. Leave it out for all."),
]


def _aside(
    work: Callable[Concatenate["LexloopMcp", P], T],
) -> Callable[Concatenate["LexloopMcp", P], Awaitable[T]]:
    """Return a method that computes in a thread, in the turn of the person who calls it."""

    @wraps(work)
    async def worked(self: "LexloopMcp", /, *given: P.args, **named: P.kwargs) -> T:
        person = self._person(self.get_context())
        return await self._asking.in_turn(person, partial(work, self, *given, **named))

    return worked


class LexloopMcp(FastMCP[Any]):
    """An MCP server. Places that its tools name are never folders or hosts.

    Args:
        asking: Answers questions and finds passages.
        collections: The collections, each with who may see it.
        person_of: Returns the sender of an HTTP request. Its argument is None without a request.
    """

    def __init__(
        self, asking: Asking, collections: Collections, person_of: Callable[[Any], Person]
    ) -> None:
        self._asking, self._collections, self._person_of = asking, collections, person_of
        tools = [
            _tool(self.ask, "Ask the documents"),
            _tool(self.search, "Search passages"),
            _tool(self.find_words, "Find exact words"),
            _tool(self.read_provision, "Read a provision"),
            _tool(self.list_documents, "List documents"),
            _tool(self.related, "Related statements"),
            _tool(self.diff, "Compare two versions"),
            _tool(self.register, "Duties, rights and deadlines"),
            _tool(self.describe, "Describe a document"),
            _tool(self.table, "Ask each document"),
        ]
        self._by_name = {tool.name: tool for tool in tools}
        super().__init__("lexloop", _INSTRUCTIONS, tools=tools, log_level="WARNING")
        self.protocol.version = version("lexloop")

    @property
    def protocol(self) -> Server[Any, Any]:
        """The low-level server that transports run."""
        return self._mcp_server

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool. A failure is returned as its result."""
        request = self.protocol.request_context.request
        with anyio.CancelScope() as cancellation:
            if request is not None:
                request.scope[WORK].append(cancellation)
            try:
                return _given(await self._called(name, arguments))
            except Exception as error:  # noqa: BLE001 - reported and logged; the session goes on
                return _failure(problem_of(error))
        return _failure(Problem(kind="Cancelled", what="The client left.", hint="Ask again."))

    async def _called(self, name: str, arguments: dict[str, Any]) -> shapes.Result:
        """Return a tool's result.

        Raises:
            Exception: The tool is unknown, the arguments do not fit, or it fails.
        """
        tool = self._by_name.get(name)
        if tool is None:
            known = ", ".join(self._by_name)
            raise NotFoundError(f"There is no tool {name[:100]!r}.", f"Use {known}.")
        check_role(self._person(self.get_context()).role, f"tool {name}")
        try:
            result: shapes.Result = await tool.run(arguments, self.get_context())
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                faults = faults_of(error.__cause__.errors(include_url=False, include_input=False))
                raise InputError(
                    f"The arguments do not fit: {faults}.",
                    "Give the arguments that the tool's schema names.",
                ) from error
            raise error.__cause__ or error from None
        return result

    async def list_resource_templates(self) -> list[types.ResourceTemplate]:
        """Return how sources are addressed."""
        description = (
            "A document, or one of its provisions with #label. Every part is percent-encoded."
        )
        return [
            types.ResourceTemplate(
                uriTemplate=shapes.TEMPLATE,
                name="source",
                description=description,
                mimeType="text/plain",
            )
        ]

    async def list_resources(  # type: ignore[override]  # the protocol's pages
        self, request: types.ListResourcesRequest
    ) -> types.ListResourcesResult:
        """Return a page of the documents as resources; the cursor is the number of its first."""
        cursor = request.params.cursor if request.params else None
        if cursor is not None and not (
            cursor.isascii() and cursor.isdecimal() and len(cursor) < 10
        ):
            raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="No such cursor."))
        first = int(cursor or 0)
        page = await self.list_documents(self.get_context(), limit=_PAGE, offset=first)
        more = first + len(page.documents)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=AnyUrl(document.uri),
                    name=document.name,
                    title=document.title or None,
                    description=document.version or None,
                    mimeType="text/plain",
                )
                for document in page.documents
            ],
            nextCursor=str(more) if more < page.total else None,
        )

    async def read_resource(self, uri: AnyUrl | str) -> list[ReadResourceContents]:
        """Return the text of a source."""
        try:
            text = await self._text_at(self._person(self.get_context()), str(uri))
        except LexloopError as error:
            code = _NOT_FOUND if isinstance(error, NotFoundError) else types.INTERNAL_ERROR
            problem = problem_of(error)
            message = clean(f"{problem.what} {problem.hint}")
            raise McpError(types.ErrorData(code=code, message=message)) from error
        return [ReadResourceContents(content=text, mime_type="text/plain")]

    async def ask(
        self,
        question: Annotated[
            Text, Field(description="One whole question that can be understood by itself.")
        ],
        call: Call,
        collections: Names = None,
        as_of: AsOf = None,
        *,
        documents: Only = None,
        passage: Annotated[
            tuple[Place, Place] | None,
            Field(
                description="Start and end of a passage, in code points, as find_words returns "
                "them. Only this passage is asked; name its document in `documents`."
            ),
        ] = None,
    ) -> shapes.Answer:
        """Answer one question from the documents, with numbered sources and a verdict.

        Every quoted source is checked word for word. Prefer this tool for any question about what
        the law, a rule or a policy says. It says so if the documents do not answer.
        """
        request = AskRequest(
            question=question,
            collections=collections,
            as_of=as_of,
            documents=documents or [],
            passage=passage,
        )
        record: dict[str, Any] = {}
        steps = 0
        # nothing is stored: the caller of a tool keeps the conversation
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
        limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of passages.")] = 8,
        as_of: AsOf = None,
    ) -> shapes.Passages:
        """Find the passages of the documents that best fit a question or words, best first.

        This does not write an answer. Use it to read around a topic, or if `ask` found nothing.
        """
        person = self._person(call)
        changes: dict[str, Any] = {"plan.k": limit}
        if as_of is not None:
            changes["access.as_of"] = as_of
        names = list(await self._opened(person, collections))
        passages = await self._asking.passages(person, query, names, **changes)
        return shapes.Passages(
            passages=[
                shapes.Passage.of(
                    passage, title=clean(passage["title"]), score=round(passage["score"], 4)
                )
                for passage in passages[:limit]
            ]
        )

    @_aside
    def find_words(
        self,
        words: Annotated[
            Text,
            Field(
                description='Words that must all occur, a "phrase" in double quotes, a provision '
                "such as 'section 4.2', or -word for a word that must not occur."
            ),
        ],
        call: Call,
        *,
        collections: Names = None,
        documents: Only = None,
        as_of: AsOf = None,
        limit: Annotated[int, Field(ge=1, le=100, description="Maximum number of documents.")] = 10,
        offset: Annotated[Place, Field(description="Number of documents to skip.")] = 0,
    ) -> shapes.WordsFound:
        """Find every document that contains exact words, phrases or a provision, with the places.

        The search is literal. Use it to list and count occurrences, or to show that a word does
        not occur.
        """
        from lexloop_workbench.search import Asked
        from lexloop_workbench.search import search as find

        person, sought = self._person(call), Asked.of(words)
        names, unready = self._asking.searchable(person, collections)
        views = {name: self._collections.view(person, name, as_of or "today") for name in names}
        matches = find(views, sought, documents=documents or (), first=offset, limit=limit)
        result = shapes.WordsFound.of_found(matches, [*unready])
        documents_found = found_documents(place.model_dump() for place in result.found)
        self._asking.audit.note(
            person.name, "search", words, collections=names, documents=documents_found
        )
        return result

    @_aside
    def read_provision(
        self,
        document: Annotated[
            DocumentName, Field(description="The document's name, or the end of it.")
        ],
        call: Call,
        provision: Annotated[
            Words | None,
            Field(
                description="Its label, number or heading, e.g. 'Article 5(1)(a)', '§ 5-303' or "
                "'Annex III'. Leave it out for the list of the document's provisions."
            ),
        ] = None,
        collection: Annotated[
            CollectionName | None,
            Field(
                description="The collection of the document. Needed only if several have a "
                "document of that name."
            ),
        ] = None,
    ) -> shapes.Provisions:
        """Read the exact text of an article, section, paragraph or annex of one document.

        The result includes the headings above it and what it refers to. Without a provision, it
        lists the provisions of the document.
        """
        name, view, source = self._meant(self._person(call), document, collection)
        result = partial(shapes.Provisions, collection=name, document=source.name)
        if provision is None:
            units = source.units(0)
            shown = [shapes.Listed(**unit) for unit in units[:_MOST_LISTED]]
            return result(provisions=[], contents=shown, more=len(units) - len(shown))
        places = source.places(provision, "Leave `provision` out for the list of them.")
        provisions = [_provision(name, view, source, place) for place in places]
        return result(provisions=provisions, contents=[], more=0)

    @_aside
    def list_documents(
        self,
        call: Call,
        collections: Names = None,
        containing: Annotated[
            Words | None,
            Field(description="Only documents whose name or title contains these words."),
        ] = None,
        limit: Annotated[
            int, Field(ge=1, le=500, description="Maximum number of documents.")
        ] = 100,
        offset: Annotated[Place, Field(description="Number of documents to skip.")] = 0,
    ) -> shapes.Documents:
        """List the collections and their documents, with titles and dates in force.

        Use it to learn what can be asked about and how documents are named.
        """
        person = self._person(call)
        views = self._views(person, collections)
        names = [*views] if collections is not None else self._collections.names(person)
        words = folded(containing or "").casefold()
        matching = [
            (name, document)
            for name, view in views.items()
            for document in view.documents
            if words in folded(f"{document}\n{view.titles.get(document, '')}").casefold()
        ]
        shown = matching[offset : offset + limit]
        return shapes.Documents(
            collections=names,
            unavailable=[name for name in names if name not in views],
            total=len(matching),
            documents=[_document(name, views[name], document) for name, document in shown],
        )

    @_aside
    def related(
        self,
        entity: Annotated[
            Words, Field(description="A term, an acronym or a provision, e.g. 'bias audit'.")
        ],
        call: Call,
        depth: Annotated[int, Field(ge=1, le=2, description="How many entities away to look.")] = 1,
        limit: Annotated[int, Field(ge=1, le=100, description="Maximum number of relations.")] = 20,
        collections: Names = None,
    ) -> shapes.Relations:
        """List the relations of a term or a provision, each with its source.

        Relations say what it is part of, where it is defined and used, and what it refers to,
        excepts from and amends, in both directions.
        """
        neighbourhoods: dict[str, Neighbourhood] = {}
        error: InputError | None = None
        for name, view in self._views(self._person(call), collections).items():
            try:
                neighbourhoods[name] = neighbourhood(view.graph, entity, depth, limit, where=name)
            except InputError as missing:
                error = missing
        if not neighbourhoods and error is not None:
            raise error
        lists = [
            [_relation(name, relation) for relation in around.relations]
            for name, around in neighbourhoods.items()
        ]
        relations = [
            relation for group in zip_longest(*lists) for relation in group if relation is not None
        ]
        return shapes.Relations(
            entity=next((around.name for around in neighbourhoods.values()), entity),
            degree=sum(around.degree for around in neighbourhoods.values()),
            relations=relations[:limit],
        )

    @_aside
    def register(
        self,
        call: Call,
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
    ) -> shapes.RegisterFound:
        """List who must, may or must not do what, by when and unless what, each with its quote.

        Covers duties, rights, prohibitions, deadlines, sums and penalties in documents in English.
        """
        wanted = Wanted.of(kinds or (), actor or "", since or ())
        person = self._person(call)
        if document is not None:
            name, view, source = self._meant(person, document, collection)
            entries = [(name, entry) for entry in register(view, [source.name], wanted).entries]
        else:
            names = None if collection is None else [collection]
            views = self._views(person, names, as_of or "today")
            entries = [
                (name, entry)
                for name, view in views.items()
                for entry in register(view, (), wanted, MOST_AT_ONCE).entries
            ]
        shown = entries[offset : offset + limit]
        self._asking.audit.note(person.name, "register", document=document, entries=len(shown))
        return shapes.RegisterFound(
            total=len(entries), entries=[_entry(name, entry) for name, entry in shown]
        )

    async def describe(
        self,
        document: Annotated[
            DocumentName, Field(description="The document's name, or the end of it.")
        ],
        call: Call,
        collection: Annotated[
            CollectionName | None,
            Field(description="Needed only if several collections have a document of that name."),
        ] = None,
    ) -> shapes.ProfileFound:
        """Describe a document: kind, parties, dates, governing law, outline and defined terms.

        The result also lists what it refers to and questions that it is known to answer.
        """
        person = self._person(call)
        name, profile = await self._asking.described(
            person, lambda: self._meant(person, document, collection)
        )
        return _profile(name, profile)

    @_aside
    def diff(
        self,
        old: Annotated[
            DocumentName, Field(description="The earlier document's name, or the end of it.")
        ],
        new: Annotated[
            DocumentName, Field(description="The later document's name, in the same collection.")
        ],
        call: Call,
        collection: Annotated[
            CollectionName | None,
            Field(description="Their collection. Needed only if several have such documents."),
        ] = None,
        limit: Annotated[int, Field(ge=1, le=500, description="Maximum number of changes.")] = 100,
    ) -> shapes.Changes:
        """Compare two versions of a document, provision by provision.

        The result says what was changed (word by word), moved, renumbered, added and removed, and
        which references still use an old number.
        """
        person = self._person(call)
        name, view, source = self._meant(person, old, collection)
        older = Version(source, view.titles[source.name])
        changes = Comparison(older, Version.of(view, new)).record()
        return shapes.Changes.of(name, changes, limit)

    @_aside
    def table(  # noqa: PLR0917 - a client names them
        self,
        collection: Annotated[
            CollectionName, Field(description="The collection of the documents.")
        ],
        call: Call,
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
    ) -> shapes.Table:
        """Ask each document of a collection the same questions, for a table with a source per cell.

        A cell is "not stated" if its document does not answer. To ask one question over all
        documents together, use `ask`.
        """
        from lexloop_server.tables import asked_by, asker_of

        person = self._person(call)
        questions_asked = asked_by(questions, [checklist] if checklist else []).questions
        self._asking.rates.count("questions", person.name)
        text = "\n".join(question.question for question in questions_asked)
        self._asking.audit.note(person.name, "table", text, collections=[collection])
        asker = asker_of(self._asking.engine, self._collections, person, collection)
        names = [*asker.documents][offset:]
        rows = []
        for name in names[:limit]:
            document = asker.of(name)
            cells = [(question, _cell(document, question)) for question in questions_asked]
            shown = [
                shapes.TableCell.of(cell, question.question, collection) for question, cell in cells
            ]
            rows.append(shapes.TableRow(document=clean(name), cells=shown))
        return shapes.Table(collection=collection, rows=rows, more=len(names) - len(rows))

    def _person(self, call: Call) -> Person:
        return self._person_of(call.request_context.request)

    def _meant(
        self, person: Person, named: str, collection: str | None
    ) -> "tuple[str, View, Source]":
        """Return the document that is meant, with its collection and view.

        Raises:
            LexloopError: No document matches, or several do.
        """
        views = self._views(person, None if collection is None else [collection])
        candidates, error = [], None
        for name, view in views.items():
            try:
                candidates.append((name, view, Source.of(view, named)))
            except InputError as missing:
                error = missing
        exact = [candidate for candidate in candidates if candidate[2].name == named]
        for certain in (candidates, exact):
            if len(certain) == 1:
                return certain[0]
        if candidates:
            among = ", ".join(name for name, *_ in candidates)
            raise InputError(f"{named!r} is a document of {among}.", "Name one as `collection`.")
        if error is not None and len(views) == 1:
            raise error
        raise NotFoundError(f"There is no document {named!r}.", "See list_documents.")

    def _views(
        self, person: Person, requested: Iterable[str] | None, as_of: str = "any"
    ) -> "dict[str, View]":
        """Return the views of the requested collections.

        If none was named, collections that cannot be opened are skipped.

        Raises:
            LexloopError: The person has no such collection, or it cannot be opened.
        """
        views: dict[str, View] = {}
        failed: LexloopError | None = None
        names = self._collections.names(person) if requested is None else dict.fromkeys(requested)
        for name in names:
            try:
                views[name] = self._collections.view(person, name, as_of)
            except (CorpusError, DataError, ModelError) as error:
                failed = error
        if failed is not None and (requested is not None or not views):
            raise failed
        return views

    _opened = _aside(_views)

    @_aside
    def _text_at(self, person: Person, uri: str) -> str:
        """Return the text at the address of a source.

        Raises:
            NotFoundError: The person has no such source.
        """
        link = shapes.SourceLink.of(uri)
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


def _tool(does: Any, title: str) -> Tool:
    """Return a tool that accepts only the arguments of its signature."""
    description = inspect.getdoc(does)
    tool = Tool.from_function(does, title=title, description=description, annotations=_READING)
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema()
    return tool


def _cell(document: "DocumentAsker", question: "Question") -> dict[str, Any]:
    give_way()
    return document.ask(question).model_dump()


def _given(result: shapes.Result) -> types.CallToolResult:
    """Return a result both typed and as text, with links to its sources."""
    links = [
        types.ResourceLink(
            type="resource_link",
            uri=AnyUrl(uri),
            name=source.place,
            description=source.line(),
            mimeType="text/plain",
        )
        for uri, source in [*{source.uri: source for source in result.links()}.items()][
            :_MOST_LINKS
        ]
    ]
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=clean(result.as_text())), *links],
        structuredContent=result.model_dump(mode="json"),
    )


def _failure(problem: Problem) -> types.CallToolResult:
    what, hint = clean(problem.what), clean(problem.hint)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=f"{what}\n{hint}")],
        isError=True,
        _meta={"lexloop/error": {"kind": problem.kind, "what": what, "hint": hint}},
    )


def _told(step: dict[str, Any]) -> str:
    """Return a step in a few words."""
    names = ("queries", "candidates", "passages", "score")
    counted = {n: len(v) if isinstance(v := step[n], list) else v for n in names if n in step}
    counts = ", ".join(f"{name} {value}" for name, value in counted.items() if value is not None)
    place = f"{step['collection']}: " if step.get("collection") else ""
    return f"{place}{step['node'].replace('_', ' ')}{f' ({counts})' if counts else ''}"


def _provision(collection: str, view: "View", source: Source, place: int) -> shapes.Provision:
    record = source.provision(place)
    text = clean(record["text"])
    return shapes.Provision(
        collection=collection,
        document=source.name,
        provision=record["label"],
        page=record["page"],
        at=record["at"],
        quote=text[:_MOST_READ],
        version=view.metadata([source.name])[source.name].version,
        identifier=clean(source.identifier),
        uri=shapes.SourceLink(collection, source.name, record["label"]).uri,
        heading=clean(record["heading"]),
        kind=record["kind"],
        above=[
            clean(" ".join(filter(None, dict.fromkeys((unit["label"], unit["heading"])))))
            for unit in record["above"]
        ],
        lead_in=[clean(line) for line in record["lead_in"]],
        refers_to=[shapes.Mention(**mention) for mention in record["refers_to"]],
        cut=len(text) > _MOST_READ,
    )


def _document(collection: str, view: "View", name: str) -> shapes.Document:
    metadata = view.metadata([name])[name]
    return shapes.Document(
        collection=collection,
        name=clean(name),
        title=clean(view.titles.get(name, "")),
        kind=metadata.kind,
        jurisdiction=clean(metadata.jurisdiction),
        version=metadata.version,
        pages=len(view.document(name).pages),
        uri=shapes.SourceLink(collection, name).uri,
    )


def _entry(collection: str, entry: Entry) -> shapes.RegisterEntry:
    return shapes.RegisterEntry.of(
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


def _profile(collection: str, profile: Profile) -> shapes.ProfileFound:
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
        shapes.ProfileItem.of({**place, **item.model_dump()}, about=about, said=clean(item.said))
        for about, items in lists.items()
        for item in items
    ]
    outline = [
        clean(" ".join(dict.fromkeys((unit.label, unit.heading)))) for unit in profile.outline
    ]
    return shapes.ProfileFound(
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


def _relation(collection: str, relation: Any) -> shapes.RelationFound:
    from lexloop.knowledge.relations import reading

    triplet = relation.triplet
    return shapes.RelationFound.of(
        {"collection": collection, **triplet},
        subject=clean(triplet["subject"]),
        relation=reading(triplet["predicate"]),
        object=clean(triplet["object"]),
    )
