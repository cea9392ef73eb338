"""The Model Context Protocol: the tools and the sources of a server, for agents of others.

The SDK's FastMCP, with what it does not know: people, their documents as its resources, errors
that say what to do, and calls that end where their client leaves.
"""

import inspect
from importlib.metadata import version
from typing import Any

import anyio
from mcp import McpError, types
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.fastmcp.server import Settings as FastMcpSettings
from mcp.server.fastmcp.tools import Tool
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from pydantic import AnyUrl, ValidationError

from lexloop.apps.serve.errors import Problem, problem_of
from lexloop.apps.serve.tools import Tools
from lexloop.apps.shapes.text import clean
from lexloop.apps.shapes.tools import TEMPLATE, Result, Source
from lexloop.core.errors import InputError, LexloopError, NotFoundError

# an .env of the working folder is of some other program, and may be no text at all
FastMcpSettings.model_config["env_file"] = None

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
_READING = types.ToolAnnotations(
    readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
)
_ARGUMENTS = "Give the arguments that the tool's schema names."


class LexloopMcp(FastMCP[Any]):
    """A server of the protocol.

    Args:
        tools: What it offers.
    """

    def __init__(self, tools: Tools) -> None:
        self._offered = tools
        self._by_name = {
            made.name: made
            for made in (
                _tool(tools.ask, "Ask the documents"),
                _tool(tools.search, "Search passages"),
                _tool(tools.read_provision, "Read a provision"),
                _tool(tools.list_documents, "List documents"),
                _tool(tools.related, "Related statements"),
            )
        }
        super().__init__(
            "lexloop", _INSTRUCTIONS, tools=[*self._by_name.values()], log_level="WARNING"
        )
        self.protocol.version = version("lexloop")

    @property
    def protocol(self) -> Server[Any, Any]:
        """What transports run."""
        return self._mcp_server

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool; what fails is told as its result."""
        request = self.protocol.request_context.request
        with anyio.CancelScope() as held:
            if request is not None:
                request.scope[WORK].append(held)
            try:
                return _given(await self._called(name, arguments))
            except Exception as error:  # noqa: BLE001 - told and logged; the session goes on
                return _failure(problem_of(error))
        return _failure(Problem(kind="Cancelled", what="The client left.", hint="Ask again."))

    async def _called(self, name: str, arguments: dict[str, Any]) -> Result:
        """Return what a tool gives.

        Raises:
            Exception: There is no such tool, the arguments do not fit, or it fails.
        """
        tool = self._by_name.get(name)
        if tool is None:
            known = ", ".join(self._by_name)
            raise NotFoundError(f"There is no tool {name[:100]!r}.", f"Use {known}.")
        try:
            found: Result = await tool.run(arguments, self.get_context())
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise _unfitting(error.__cause__) from error
            raise error.__cause__ or error from None
        return found

    async def list_resource_templates(self) -> list[types.ResourceTemplate]:
        """Tell how sources are addressed."""
        said = "A document, or with #label one provision of it; every part is percent-encoded."
        return [
            types.ResourceTemplate(
                uriTemplate=TEMPLATE, name="source", description=said, mimeType="text/plain"
            )
        ]

    async def list_resources(  # type: ignore[override]  # the protocol's pages
        self, request: types.ListResourcesRequest
    ) -> types.ListResourcesResult:
        """Return a page of the documents as resources; the cursor is the place of its first."""
        cursor = request.params.cursor if request.params else None
        if cursor is not None and not (
            cursor.isascii() and cursor.isdecimal() and len(cursor) < 10
        ):
            raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="No such cursor."))
        first = int(cursor or 0)
        found = await self._offered.list_documents(self.get_context(), limit=_PAGE, offset=first)
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

    async def read_resource(self, uri: AnyUrl | str) -> list[ReadResourceContents]:
        """Return the text of a source."""
        try:
            text = await self._offered.text_at(self.get_context(), str(uri))
        except LexloopError as error:
            code = _NOT_FOUND if isinstance(error, NotFoundError) else types.INTERNAL_ERROR
            problem = problem_of(error)
            said = clean(f"{problem.what} {problem.hint}")
            raise McpError(types.ErrorData(code=code, message=said)) from error
        return [ReadResourceContents(content=text, mime_type="text/plain")]


def _tool(does: Any, title: str) -> Tool:
    """Return a tool that takes the arguments of its signature, and refuses all others."""
    said = inspect.getdoc(does)
    made = Tool.from_function(does, title=title, description=said, annotations=_READING)
    takes = made.fn_metadata.arg_model
    takes.model_config["extra"] = "forbid"
    takes.model_rebuild(force=True)
    made.parameters = takes.model_json_schema()
    return made


def _unfitting(error: ValidationError) -> InputError:
    """Return what is wrong with arguments, without repeating them."""
    faults = [
        f"{'.'.join(str(part)[:100] for part in one['loc'])}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)
    ]
    more = [f"{len(faults) - _MOST_FAULTS} more"] if len(faults) > _MOST_FAULTS else []
    said = "; ".join([*faults[:_MOST_FAULTS], *more])
    return InputError(f"The arguments do not fit: {said}.", _ARGUMENTS)


def _given(found: Result) -> types.CallToolResult:
    """Return a result twice, typed and as text, with links to its sources."""
    links = {one.uri: one for one in found.links()}
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text=clean(found.as_text())),
            *(_link(one) for one in list(links.values())[:_MOST_LINKS]),
        ],
        structuredContent=found.model_dump(mode="json"),
    )


def _failure(problem: Problem) -> types.CallToolResult:
    what, hint = clean(problem.what), clean(problem.hint)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=f"{what}\n{hint}")],
        isError=True,
        _meta={"lexloop/error": {"kind": problem.kind, "what": what, "hint": hint}},
    )


def _link(one: Source) -> types.ResourceLink:
    return types.ResourceLink(
        type="resource_link",
        uri=AnyUrl(one.uri),
        name=one.place,
        description=one.line(),
        mimeType="text/plain",
    )
