"""The Model Context Protocol: the tools and the sources of a server, for agents of others."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import anyio
from mcp import McpError, types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from pydantic import AnyUrl, ValidationError

from lexloop.apps.plain_text import clean
from lexloop.apps.serve import tool_arguments as arguments
from lexloop.apps.serve import tool_results as results
from lexloop.apps.serve.errors import Problem, problem_of
from lexloop.apps.serve.people import Person
from lexloop.apps.serve.tools import Report, Tools
from lexloop.core.errors import InputError, LexloopError, NotFoundError

WORK = "lexloop.work"
"""Where the scope of an HTTP request has what is to be cancelled when its client leaves."""
_NOT_FOUND = -32002  # the protocol's own code for a resource that is not there
_MOST_LINKS, _MOST_FAULTS = 50, 5
_PAGE = 100
_INSTRUCTIONS = (
    "Lexloop answers questions about laws, rules and policies from collections of documents, and "
    "checks every quote against its source. Ask whole questions with `ask`; look into the "
    "documents with the other tools. Cite sources by document and provision. It informs and gives "
    "no legal advice."
)
"""What a client tells its model of the server."""


class _Tool(NamedTuple):
    """A tool: what it takes and gives, and what a model chooses it by."""

    title: str
    description: str
    takes: type[arguments.Arguments]
    gives: type[results.Result]
    run: Callable[[Tools, Person, Any, Report], Awaitable[results.Result]]


_TOOLS = {
    "ask": _Tool(
        "Ask the documents",
        "Answer one question from the documents, with numbered sources that were checked word for "
        "word and a verdict on the answer. The first choice for any question of what the law, a "
        "rule or a policy says. Says so where the documents do not answer.",
        arguments.AskArguments,
        results.Answer,
        Tools.ask,
    ),
    "search": _Tool(
        "Search passages",
        "Find the passages of the documents that fit a question or words, the best first, without "
        "writing an answer. Use it to read around a topic or where `ask` found nothing.",
        arguments.SearchArguments,
        results.Passages,
        Tools.search,
    ),
    "read_provision": _Tool(
        "Read a provision",
        "Read the exact text of an article, section, paragraph or annex of one document, with the "
        "headings above it and what it refers to; without a provision, list those of the document.",
        arguments.ReadArguments,
        results.Provisions,
        Tools.read_provision,
    ),
    "list_documents": _Tool(
        "List documents",
        "List the collections and their documents, with titles and the days when they are in "
        "force. Use it to learn what can be asked and how documents are named.",
        arguments.ListArguments,
        results.Documents,
        Tools.list_documents,
    ),
    "related": _Tool(
        "Related statements",
        "Tell the relations of a term or a provision: what it is part of, where it is defined and "
        "used, what it refers to, excepts from and amends, and the reverse, each with its source.",
        arguments.RelatedArguments,
        results.Relations,
        Tools.related,
    ),
}


def mcp_server(tools: Tools, person_of: Callable[[Any], Person]) -> Server[Any, Any]:
    """Return a server of the protocol.

    Args:
        tools: What it offers.
        person_of: Gives who sent an HTTP request; its argument is None where there is none.
    """
    made: Any = Server("lexloop", version=version("lexloop"), instructions=_INSTRUCTIONS)
    handlers = _Handlers(made, tools, person_of)
    made.list_tools()(handlers.list_tools)
    made.call_tool(validate_input=False)(handlers.call_tool)
    made.list_resource_templates()(handlers.list_templates)
    made.list_resources()(handlers.list_resources)
    made.read_resource()(handlers.read_resource)
    server: Server[Any, Any] = made
    return server


class _Handlers:
    """What answers each kind of request."""

    def __init__(
        self, server: Server[Any, Any], tools: Tools, person_of: Callable[[Any], Person]
    ) -> None:
        self._server, self._tools, self._person_of = server, tools, person_of

    def _person(self) -> Person:
        return self._person_of(self._server.request_context.request)

    async def list_tools(self) -> list[types.Tool]:
        return [_described(name, tool) for name, tool in _TOOLS.items()]

    async def call_tool(self, name: str, given: dict[str, Any]) -> types.CallToolResult:
        context = self._server.request_context
        with anyio.CancelScope() as held:
            if context.request is not None:
                context.request.scope[WORK].append(held)
            report = _Progress(context).report
            try:
                return await _result(self._tools, self._person(), name, given, report)
            except Exception as error:  # noqa: BLE001 - told and logged; the session goes on
                return _failure(problem_of(error))
        return _failure(Problem(kind="Cancelled", what="The client left.", hint="Ask again."))

    async def list_templates(self) -> list[types.ResourceTemplate]:
        said = "A document, or with #label one provision of it; every part is percent-encoded."
        return [
            types.ResourceTemplate(
                uriTemplate=arguments.TEMPLATE,
                name="source",
                description=said,
                mimeType="text/plain",
            )
        ]

    async def list_resources(
        self, request: types.ListResourcesRequest
    ) -> types.ListResourcesResult:
        return await _documents(self._tools, self._person(), request)

    async def read_resource(self, uri: AnyUrl) -> list[ReadResourceContents]:
        try:
            text = await self._tools.text_at(self._person(), str(uri))
        except LexloopError as error:
            code = _NOT_FOUND if isinstance(error, NotFoundError) else types.INTERNAL_ERROR
            problem = problem_of(error)
            said = clean(f"{problem.what} {problem.hint}")
            raise McpError(types.ErrorData(code=code, message=said)) from error
        return [ReadResourceContents(content=text, mime_type="text/plain")]


def _described(name: str, tool: _Tool) -> types.Tool:
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        inputSchema=tool.takes.model_json_schema(),
        outputSchema=tool.gives.model_json_schema(mode="serialization"),
        annotations=types.ToolAnnotations(
            readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
        ),
    )


async def _result(
    tools: Tools, person: Person, name: str, given: dict[str, Any], report: Report
) -> types.CallToolResult:
    """Return what a tool gives.

    Raises:
        LexloopError: There is no such tool, the arguments do not fit, or it fails.
    """
    tool = _TOOLS.get(name)
    if tool is None:
        raise NotFoundError(f"There is no tool {name[:100]!r}.", f"Use {', '.join(_TOOLS)}.")
    found = await tool.run(tools, person, _taken(tool, given), report)
    links = {one.uri: one for one in found.links()}
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text=clean(found.as_text())),
            *(_link(one) for one in list(links.values())[:_MOST_LINKS]),
        ],
        structuredContent=found.model_dump(mode="json"),
    )


def _taken(tool: _Tool, given: dict[str, Any]) -> arguments.Arguments:
    """Return a tool's arguments, checked, without repeating what was given.

    Raises:
        InputError: They do not fit its schema.
    """
    try:
        return tool.takes.model_validate(given)
    except ValidationError as error:
        faults = [
            f"{'.'.join(str(part)[:100] for part in one['loc'])}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)
        ]
        more = [f"{len(faults) - _MOST_FAULTS} more"] if len(faults) > _MOST_FAULTS else []
        said = "; ".join([*faults[:_MOST_FAULTS], *more])
        known = ", ".join(tool.takes.model_fields)
        raise InputError(f"The arguments do not fit: {said}.", f"Give {known}.") from error


def _failure(problem: Problem) -> types.CallToolResult:
    what, hint = clean(problem.what), clean(problem.hint)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=f"{what}\n{hint}")],
        isError=True,
        _meta={"lexloop/error": {"kind": problem.kind, "what": what, "hint": hint}},
    )


def _link(one: results.Source) -> types.ResourceLink:
    return types.ResourceLink(
        type="resource_link",
        uri=AnyUrl(one.uri),
        name=one.place,
        description=one.line(),
        mimeType="text/plain",
    )


class _Progress:
    """The progress of one call, told to a client that asked to hear of it."""

    def __init__(self, context: Any) -> None:
        self._context, self._steps = context, 0
        self._token = context.meta.progressToken if context.meta else None

    async def report(self, said: str) -> None:
        """Tell one more step."""
        self._steps += 1
        if self._token is not None:
            await self._context.session.send_progress_notification(
                self._token,
                self._steps,
                message=clean(said),
                related_request_id=str(self._context.request_id),
            )


async def _documents(
    tools: Tools, person: Person, request: types.ListResourcesRequest
) -> types.ListResourcesResult:
    """Return a page of the documents as resources; the cursor is the place of its first."""
    cursor = request.params.cursor if request.params else None
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="No such cursor."))
    first = int(cursor or 0)
    given = arguments.ListArguments(offset=first, limit=_PAGE)
    found = await tools.list_documents(person, given, _silent)
    more = first + len(found.documents)
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=AnyUrl(one.uri),
                name=one.name,
                title=one.title or None,
                description=one.version or None,
                mimeType="text/plain",
            )
            for one in found.documents
        ],
        nextCursor=str(more) if more < found.total else None,
    )


async def _silent(_: str) -> None:
    return None
