"""The application: its parts wired together, its routes, and the files of the page."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from lexloop.apps.hosts import text_hosts
from lexloop.apps.places import data_folder
from lexloop.apps.serve import (
    ask_routes,
    document_routes,
    errors,
    openai,
    thread_routes,
    upload_routes,
)
from lexloop.apps.serve.asking import Asking
from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.engine import Engine
from lexloop.apps.serve.indexing import Indexing
from lexloop.apps.serve.limits import Queue, Rates, Streams
from lexloop.apps.serve.mcp_http import McpEndpoint
from lexloop.apps.serve.middleware import Guard
from lexloop.apps.serve.pages import Pages
from lexloop.apps.serve.people import People
from lexloop.apps.serve.searching import Searching
from lexloop.apps.serve.settings import ServerSettings
from lexloop.apps.serve.state import Serving
from lexloop.apps.serve.threads import FILE_NAME, ThreadStore
from lexloop.apps.serve.tools import Tools
from lexloop.apps.serve.uploads import MB, UploadStore
from lexloop.core.settings import Connection, Settings

PAGE = Path(__file__).parent / "page"
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
    parts = parts_of(server, Engine(settings, connection), text_hosts(settings, connection))
    app = FastAPI(
        title="Lexloop",
        summary="Cited, checked answers to questions about laws, rules and policies.",
        version=_version(),
        openapi_url="/api/openapi.json",
        docs_url=None,  # they load scripts from another host
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.serving = parts
    errors.install(app)
    app.add_middleware(Guard, settings=server, people=parts.people, rates=parts.rates)
    for routes in (ask_routes, thread_routes, document_routes, upload_routes, openai):
        app.include_router(routes.router)
    app.state.mcp = McpEndpoint(parts.tools, parts.people.needs_key)
    app.router.routes.append(Route("/mcp", app.state.mcp))
    page = StaticFiles(directory=PAGE, html=True, check_dir=False)
    app.mount("/", GZipMiddleware(page), name="page")
    return app


def parts_of(server: ServerSettings, engine: Engine, hosts: list[str]) -> Serving:
    """Return what a server is made of, wired together."""
    limits = server.limits
    uploads = UploadStore(data_folder() / "collections", int(limits.stored_mb * MB))
    collections = Collections(server, engine, uploads)
    rates = Rates(
        requests=limits.requests_per_minute,
        questions=limits.questions_per_minute,
    )
    of_a_model = engine.settings.model.name is not None
    usual = _AT_ONCE_OF_A_MODEL if of_a_model else os.cpu_count() or 1
    queue = Queue(limits.questions_at_once or usual, limits.queue_s)
    streams = Streams(limits.streams)
    store = ThreadStore(data_folder() / FILE_NAME)
    asking = Asking(
        engine, collections, hosts, store=store, rates=rates, streams=streams, queue=queue
    )
    searching = Searching(engine, collections, rates=rates, streams=streams, queue=queue)
    return Serving(
        settings=server,
        engine=engine,
        people=People(server),
        rates=rates,
        collections=collections,
        uploads=uploads,
        indexing=Indexing(engine.settings, engine.connection),
        pages=Pages(),
        store=store,
        asking=asking,
        tools=Tools(asking, searching, collections),
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    parts: Serving = app.state.serving
    parts.engine.start(parts.collections.open_aside)
    parts.indexing.resume(parts.uploads)
    async with app.state.mcp.run():
        yield
    parts.collections.close()
    await run_in_threadpool(parts.indexing.close)
    await run_in_threadpool(parts.pages.close)
    parts.engine.close()
    parts.store.close()


def _version() -> str:
    from importlib.metadata import version

    return version("lexloop")
