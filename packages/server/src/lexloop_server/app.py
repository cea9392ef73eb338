"""The application: its parts wired together, its routes, the page's files, and how it is run."""

import asyncio
import ctypes
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import uvicorn
from fastapi import Depends, FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from lexloop.core.settings import Connection, Settings
from lexloop_server import (
    ask_routes,
    document_routes,
    errors,
    link_routes,
    openai,
    operator_routes,
)
from lexloop_server.fields import only_known_query
from lexloop_server.limits import shares
from lexloop_server.mcp_transports import McpEndpoint
from lexloop_server.middleware import SCHEMA, Guard
from lexloop_server.roles import permitted
from lexloop_server.settings import ServerSettings
from lexloop_server.state import Serving
from lexloop_server.translation import Translated


def give_back() -> bool:
    """Give back the memory that nothing uses any more; return whether this system can.

    The C library of Linux keeps what many threads freed: a server that answers thousands of
    questions would seem to grow without end.
    """
    try:
        return ctypes.CDLL(None).malloc_trim(0) in (0, 1)
    except (AttributeError, OSError, TypeError):  # another C library, or another system
        return False


PAGE = Path(__file__).parent / "page"
_ENDING_S, _TIDY_S, _DAY_S = 5, 20.0, 86_400.0


def create_app(
    server: ServerSettings | None = None,
    settings: Settings | None = None,
    connection: Connection | None = None,
) -> FastAPI:
    """Make the application of a server.

    Args:
        server: The operator's settings, or None to serve the sample on this machine only.
        settings: The settings for answering questions, or None for the defaults.
        connection: The connection to models.

    Raises:
        LexloopError: The model cannot be used, or a plugin cannot be imported.
    """
    server = server or ServerSettings()
    parts = Serving(server, settings or Settings(), connection or Connection())
    app = FastAPI(
        title="Lexloop",
        summary="Cited, checked answers to questions about laws, rules and policies.",
        version=version("lexloop"),
        openapi_url=SCHEMA,
        docs_url=None,  # they load scripts from another host
        redoc_url=None,
        default_response_class=Translated,
        lifespan=_lifespan,
        dependencies=[Depends(permitted)],
    )
    app.state.serving = parts
    errors.install(app)
    # without people, every question belongs to the same person
    places = shares(server.limits.requests_at_once if server.with_people else None)
    app.add_middleware(
        Guard,
        settings=server,
        people=parts.people,
        rates=parts.rates,
        shares=places,
        audit=parts.audit,
    )
    own = (ask_routes, document_routes, link_routes, operator_routes)
    brought = (plugin.router for plugin in parts.plugins.values())
    for router in (*(module.router for module in own), *brought):
        app.include_router(router, dependencies=[Depends(only_known_query)])
    app.include_router(openai.router)  # clients of OpenAI's protocol add parameters of their own
    app.state.mcp = McpEndpoint(parts)
    app.router.routes.append(Route("/mcp", app.state.mcp))
    page = StaticFiles(directory=PAGE, html=True, check_dir=False)
    app.mount("/", GZipMiddleware(page), name="page")
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    parts: Serving = app.state.serving
    parts.engine.start(parts.collections.open_aside)
    parts.indexing.resume(parts.uploads)
    tidying = asyncio.create_task(_tidy(parts))
    async with app.state.mcp.run():
        yield
    tidying.cancel()
    await run_in_threadpool(parts.tell_anchor)
    parts.collections.close()
    for plugin in parts.plugins.values():
        await run_in_threadpool(plugin.close)
    await run_in_threadpool(parts.indexing.close)
    await run_in_threadpool(parts.pages.close)
    await run_in_threadpool(parts.queue.close)
    parts.engine.close()
    parts.store.close()


async def _tidy(parts: Serving) -> None:
    """Do maintenance that takes a few milliseconds of one thread.

    This returns unused memory, retries indexing that a full disk prevented, and closes indexes that
    were replaced. Once a day, it deletes what exceeds its retention time.
    """
    settled = -_DAY_S
    while True:
        if time.monotonic() - settled >= _DAY_S:
            settled = time.monotonic()
            await run_in_threadpool(parts.tell_anchor)
            await run_in_threadpool(parts.settle)
        await asyncio.sleep(_TIDY_S)
        await run_in_threadpool(parts.let_go)
        await run_in_threadpool(give_back)
        await run_in_threadpool(parts.indexing.retry)


def config_of(app: FastAPI) -> uvicorn.Config:
    """Return how to run the application, without logging requests.

    Only the middleware reads a proxy's headers, and only if the settings trust its address.
    """
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_ENDING_S,
    )
