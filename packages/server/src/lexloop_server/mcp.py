"""The Model Context Protocol: a server's tools and sources for other people's agents.

The SDK builds each tool's schema from its signature, describes the tool to models by its docstring
and speaks every revision of the protocol. This adds people, their documents as resources, and
errors that say what to do.
"""

import inspect
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial, wraps
from importlib.metadata import version
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeVar, cast

from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import Field, ValidationError

from lexloop.apps.shapes.text import clean
from lexloop.core.errors import (
    InputError,
    LexloopError,
    NotFoundError,
)
from lexloop.core.folding import folded
from lexloop.store.provisions import Neighbourhood, Source, neighbourhood
from lexloop_server.asking import AskRequest
from lexloop_server.errors import Problem, faults_of, problem_of
from lexloop_server.fields import (
    AsOf,
    CollectionName,
    DocumentName,
    Names,
    Only,
    Place,
    Text,
    Words,
)
from lexloop_server.people import Person
from lexloop_server.roles import check_role
from lexloop_server.shapes import tools as shapes
from lexloop_server.state import Serving

if TYPE_CHECKING:
    from lexloop.store.view import View

P = ParamSpec("P")
T = TypeVar("T")

_NOT_FOUND = -32002  # the protocol's own code for a resource that is not there
_MOST_LINKS, _MOST_LISTED, _PAGE = 50, 500, 100
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
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Call = Context[Any, Any]
"""One call of a tool, with its sender and the target of its progress."""
Received = ServerRequestContext[Any, Any]
"""One message of a client, with the HTTP request that brought it."""


def _aside(
    work: Callable[Concatenate["LexloopMcp", P], T],
) -> Callable[Concatenate["LexloopMcp", P], Awaitable[T]]:
    """Return a tool that computes in a thread, in the turn of the person who calls it."""

    @wraps(work)
    async def worked(self: "LexloopMcp", /, *given: P.args, **named: P.kwargs) -> T:
        person = self._person(cast("Call", named["call"]))
        return await self._asking.in_turn(person, partial(work, self, *given, **named))

    return worked


class LexloopMcp:
    """An MCP server, whose ``protocol`` transports run.

    Places that its tools name are never folders or hosts.

    Args:
        serving: The parts of the server, with its plugins.
        person_of: Returns the sender of an HTTP request. Its argument is None without a request.
    """

    def __init__(self, serving: Serving, person_of: Callable[[Any], Person]) -> None:
        self._asking, self._collections = serving.asking, serving.collections
        self._needed, self._person_of = serving.needed, person_of
        tools = (
            _tool(self.ask, "Ask the documents"),
            _tool(self.search, "Search passages"),
            _tool(self.read_provision, "Read a provision"),
            _tool(self.list_documents, "List documents"),
            _tool(self.related, "Related statements"),
            *(
                _tool(self._of_plugin(tool), title)
                for plugin in serving.plugins.values()
                for title, tool in plugin.tools().items()
            ),
        )
        self.tools = {tool.name: tool for tool in tools}
        self.protocol: Server[Any] = Server(
            "lexloop",
            version=version("lexloop"),
            instructions=_INSTRUCTIONS,
            get_tool_input_schema={name: tool.parameters for name, tool in self.tools.items()}.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resource_templates=self._list_templates,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
        )

    def _of_plugin(self, tool: Callable[..., T]) -> Callable[..., Awaitable[T]]:
        """Return a plugin's tool as a coroutine function of its arguments, without the person."""
        signature = inspect.signature(tool, eval_str=True)
        _, *arguments = signature.parameters.values()

        @wraps(tool)
        async def called(*, call: Call, **given: Any) -> T:
            person = self._person(call)
            return await self._asking.in_turn(person, partial(tool, person, **given))

        vars(called)["__signature__"] = signature.replace(parameters=arguments)
        return called

    async def _list_tools(self, _: Received, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    title=tool.title,
                    description=tool.description,
                    input_schema=tool.parameters,
                    output_schema=tool.output_schema,
                    annotations=tool.annotations,
                )
                for tool in self.tools.values()
            ]
        )

    async def _call_tool(
        self, received: Received, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool. A failure is returned as its result."""
        try:
            call = Call(request_context=received)
            return _given(await self._called(params.name, params.arguments or {}, call))
        except Exception as error:  # noqa: BLE001 - reported and logged; the client may go on
            return _failure(problem_of(error))

    async def _called(self, name: str, arguments: dict[str, Any], call: Call) -> shapes.Result:
        """Return a tool's result.

        Raises:
            Exception: The tool is unknown, the arguments do not fit, or it fails.
        """
        tool = self.tools.get(name)
        if tool is None:
            known = ", ".join(self.tools)
            raise NotFoundError(f"There is no tool {name[:100]!r}.", f"Use {known}.")
        check_role(self._person(call).role, f"tool {name}", self._needed)
        try:
            result: shapes.Result = await tool.run(arguments, call)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                faults = faults_of(error.__cause__.errors(include_url=False, include_input=False))
                raise InputError(
                    f"The arguments do not fit: {faults}.",
                    "Give the arguments that the tool's schema names.",
                ) from error
            raise error.__cause__ or error from None
        return result

    async def _list_templates(self, _: Received, __: Any) -> types.ListResourceTemplatesResult:
        """Return how sources are addressed."""
        source = types.ResourceTemplate(
            uri_template=shapes.TEMPLATE,
            name="source",
            description="A document, or one of its provisions with #label. Every part is "
            "percent-encoded.",
            mime_type="text/plain",
        )
        return types.ListResourceTemplatesResult(resource_templates=[source])

    async def _list_resources(
        self, received: Received, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return a page of the documents as resources; the cursor is the number of its first."""
        cursor = params.cursor if params else None
        if cursor is not None and not (
            cursor.isascii() and cursor.isdecimal() and len(cursor) < 10
        ):
            raise MCPError(types.INVALID_PARAMS, "No such cursor.")
        first = int(cursor or 0)
        call = Call(request_context=received)
        page = await self.list_documents(call=call, limit=_PAGE, offset=first)
        more = first + len(page.documents)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=document.uri,
                    name=document.name,
                    title=document.title or None,
                    description=document.version or None,
                    mime_type="text/plain",
                )
                for document in page.documents
            ],
            next_cursor=str(more) if more < page.total else None,
        )

    async def _read_resource(
        self, received: Received, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return the text of a source."""
        person = self._person(Call(request_context=received))
        try:
            find = partial(self._text_at, person, params.uri)
            text = await self._asking.in_turn(person, find)
        except LexloopError as error:
            code = _NOT_FOUND if isinstance(error, NotFoundError) else types.INTERNAL_ERROR
            problem = problem_of(error)
            message = clean(f"{problem.what} {problem.hint}")
            raise MCPError(code, message) from error
        content = types.TextResourceContents(uri=params.uri, text=text, mime_type="text/plain")
        return types.ReadResourceResult(contents=[content])

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
        find = partial(self._collections.views, person, collections)
        names = list(await self._asking.in_turn(person, find))
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
        name, view, source = self._collections.meant(self._person(call), document, collection)
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
        views = self._collections.views(person, collections)
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
        for name, view in self._collections.views(self._person(call), collections).items():
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

    def _person(self, call: Call) -> Person:
        return self._person_of(call.request_context.request)

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
    tool = Tool.from_function(
        does, title=title, description=description, context_kwarg="call", annotations=_READING
    )
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema()
    return tool


def _given(result: shapes.Result) -> types.CallToolResult:
    """Return a result both typed and as text, with links to its sources."""
    links = [
        types.ResourceLink(
            uri=uri,
            name=source.place,
            description=source.line(),
            mime_type="text/plain",
        )
        for uri, source in [*{source.uri: source for source in result.links()}.items()][
            :_MOST_LINKS
        ]
    ]
    return types.CallToolResult(
        content=[types.TextContent(text=clean(result.as_text())), *links],
        structured_content=result.model_dump(mode="json"),
    )


def _failure(problem: Problem) -> types.CallToolResult:
    what, hint = clean(problem.what), clean(problem.hint)
    return types.CallToolResult(
        content=[types.TextContent(text=f"{what}\n{hint}")],
        is_error=True,
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


def _relation(collection: str, relation: Any) -> shapes.RelationFound:
    from lexloop.knowledge.relations import reading

    triplet = relation.triplet
    return shapes.RelationFound.of(
        {"collection": collection, **triplet},
        subject=clean(triplet["subject"]),
        relation=reading(triplet["predicate"]),
        object=clean(triplet["object"]),
    )
