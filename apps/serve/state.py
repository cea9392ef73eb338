"""What the routes of one application share."""

from dataclasses import dataclass

from fastapi import Request

from lexloop.apps.serve.asking import Asking
from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.engine import Engine
from lexloop.apps.serve.indexing import Indexing
from lexloop.apps.serve.limits import Rates
from lexloop.apps.serve.pages import Pages
from lexloop.apps.serve.people import People
from lexloop.apps.serve.settings import ServerSettings
from lexloop.apps.serve.threads import ThreadStore
from lexloop.apps.serve.tools import Tools
from lexloop.apps.serve.uploads import UploadStore


@dataclass(frozen=True)
class Serving:
    """The parts of a server that routes use."""

    settings: ServerSettings
    engine: Engine
    people: People
    rates: Rates
    collections: Collections
    uploads: UploadStore
    indexing: Indexing
    pages: Pages
    store: ThreadStore
    asking: Asking
    tools: Tools


def serving(request: Request) -> Serving:
    """Return what the application of a request is made of."""
    found: Serving = request.app.state.serving
    return found
