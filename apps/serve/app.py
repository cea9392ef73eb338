"""The application: its parts wired together, its routes, the page's files, and how it is run."""

import asyncio
import ctypes
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from lexloop.apps.hosts import text_hosts
from lexloop.apps.serve import (
    ask_routes,
    document_routes,
    errors,
    openai,
    upload_routes,
)
from lexloop.apps.serve.asking import Asking
from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.engine import Engine
from lexloop.apps.serve.indexing import Indexing
from lexloop.apps.serve.limits import Queue, Rates, shares, streams
from lexloop.apps.serve.mcp_transports import McpEndpoint
from lexloop.apps.serve.middleware import SCHEMA, Guard
from lexloop.apps.serve.pages import Pages
from lexloop.apps.serve.people import SESSIONS, People
from lexloop.apps.serve.settings import ServerSettings
from lexloop.apps.serve.state import Serving
from lexloop.apps.serve.uploads import MB, UploadStore
from lexloop.apps.threads import FILE_NAME, ThreadStore
from lexloop.core.configuration import data_folder
from lexloop.core.settings import Connection, Settings


def give_back() -> bool:
    """Give back the memory that nothing uses any more; return whether this system can.

    The C library of Linux keeps what many threads freed: a server that answers thousands of
    questions would seem to grow without end.
    """
    trim = _trim()
    return trim is not None and trim(0) in (0, 1)


@lru_cache(maxsize=1)
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library, or another system
        return None
    return found


PAGE = Path(__file__).parent / "page"
_ENDING_S, _TIDY_S = 5, 20.0
_AT_ONCE_OF_A_MODEL = 32
"""Questions that wait for a model's host take no processor."""


def create_app(
    server: ServerSettings | None = None,
    settings: Settings | None = None,
    connection: Connection | None = None,
) -> FastAPI:
    """Make the application of a server.

    Args:
        server: The operator's settings; None for the sample, and for this machine alone.
        settings: Those that questions are answered with; None for the defaults.
        connection: Where models are reached.

    Raises:
        LexloopError: The model cannot be used.
    """
    server, settings = server or ServerSettings(), settings or Settings()
    connection = connection or Connection()
    hosts = text_hosts(settings, connection, *server.corpora)
    parts = parts_of(server, Engine(settings, connection), hosts)
    app = FastAPI(
        title="Lexloop",
        summary="Cited, checked answers to questions about laws, rules and policies.",
        version=version("lexloop"),
        openapi_url=SCHEMA,
        docs_url=None,  # they load scripts from another host
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.serving = parts
    errors.install(app)
    # where there are no people, all that is asked is one person's
    places = shares(server.limits.requests_at_once if server.people else None)
    app.add_middleware(
        Guard, settings=server, people=parts.people, rates=parts.rates, shares=places
    )
    for routes in (ask_routes, document_routes, upload_routes, openai):
        app.include_router(routes.router)
    app.state.mcp = McpEndpoint(parts.asking, parts.collections, server.limits.mcp_sessions)
    app.router.routes.append(Route("/mcp", app.state.mcp))
    page = StaticFiles(directory=PAGE, html=True, check_dir=False)
    app.mount("/", GZipMiddleware(page), name="page")
    return app


def parts_of(
    server: ServerSettings, engine: Engine, hosts: list[str], *, named_alone: bool = False
) -> Serving:
    """Return what a server is made of, wired together.

    Args:
        server: The operator's settings.
        engine: Has the graph.
        hosts: Where text of questions and passages goes.
        named_alone: See ``Collections``.
    """
    limits = server.limits
    uploads = UploadStore(data_folder() / "collections", int(limits.stored_mb * MB))
    collections = Collections(server, engine, uploads, named_alone)
    rates = Rates(
        requests=limits.requests_per_minute,
        questions=limits.questions_per_minute,
    )
    of_a_model = engine.settings.model.name is not None
    usual = _AT_ONCE_OF_A_MODEL if of_a_model else os.cpu_count() or 1
    queue = Queue(limits.questions_at_once or usual, limits.queue_s)
    store = ThreadStore(data_folder() / FILE_NAME)
    asking = Asking(
        engine,
        collections,
        hosts,
        store=store,
        rates=rates,
        streams=streams(limits.streams),
        queue=queue,
    )
    return Serving(
        settings=server,
        engine=engine,
        people=People(server, data_folder() / SESSIONS),
        rates=rates,
        collections=collections,
        uploads=uploads,
        indexing=Indexing(engine.settings, engine.connection),
        pages=Pages(),
        store=store,
        asking=asking,
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    parts: Serving = app.state.serving
    parts.engine.start(parts.collections.open_aside)
    parts.indexing.resume(parts.uploads)
    tidying = asyncio.create_task(_tidy(parts.indexing))
    async with app.state.mcp.run():
        yield
    tidying.cancel()
    parts.collections.close()
    await run_in_threadpool(parts.indexing.close)
    await run_in_threadpool(parts.pages.close)
    parts.engine.close()
    parts.store.close()


async def _tidy(indexing: Indexing) -> None:
    """Do now and then what takes some milliseconds of one thread.

    Unused memory is given back, and what a full disk kept from being indexed is tried again.
    """
    while True:
        await asyncio.sleep(_TIDY_S)
        await run_in_threadpool(give_back)
        await run_in_threadpool(indexing.retry)


def config_of(app: FastAPI) -> uvicorn.Config:
    """Return how an application is run: nothing of a request in a log.

    A proxy's headers are read by the middleware alone, where the settings trust its address.
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
