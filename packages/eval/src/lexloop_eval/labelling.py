"""The page of ``lexloop label --page``: one person's labels, on this machine only."""

from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict

from lexloop.core.errors import ConflictError
from lexloop_eval.label_shapes import KEYS, SCALE, as_shown
from lexloop_eval.labels import Labelling
from lexloop_server import errors
from lexloop_server.app import PAGE
from lexloop_server.audit import AuditLog
from lexloop_server.limits import Rates, shares
from lexloop_server.middleware import Guard
from lexloop_server.people import People
from lexloop_server.settings import ServerSettings

LABEL_PAGE = Path(__file__).parent / "label_page"
_PER_MINUTE = 600


class Step(BaseModel):
    """An action on the answer at a place: give a label, skip, or go back."""

    model_config = ConfigDict(extra="forbid")

    at: int
    act: Literal["give", "skip", "undo"]
    label: int = 0


def create_label_app(labelling: Labelling) -> FastAPI:
    """Create the application in which one person labels.

    Requests pass the server's checks: other hosts' names and pages of other sites are refused, and
    pages load nothing from elsewhere.

    Args:
        labelling: The person's labelling. It is used by one request at a time.
    """
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    errors.install(app)
    server = ServerSettings()
    rates, places = Rates(requests=_PER_MINUTE), shares(None)
    app.add_middleware(
        Guard,
        settings=server,
        people=People(server),
        rates=rates,
        shares=places,
        audit=AuditLog(None),
    )

    # coroutines without a wait inside: no two steps are taken at once
    @app.get("/api/label")
    async def current() -> dict[str, Any]:
        return _seen(labelling)

    @app.post("/api/label")
    async def step(taken: Step) -> dict[str, Any]:
        if taken.at != labelling.done:
            raise ConflictError("The answer to label has changed.", "Reload the page.")
        if taken.act == "give":
            labelling.give(taken.label)
        elif taken.act == "skip":
            labelling.skip()
        else:
            labelling.undo()
        return _seen(labelling)

    app.mount("/page", StaticFiles(directory=PAGE), name="shared")
    app.mount("/", StaticFiles(directory=LABEL_PAGE, html=True), name="page")
    return app


def _seen(labelling: Labelling) -> dict[str, Any]:
    answer = labelling.current
    return {
        "person": labelling.person,
        "scale": SCALE[labelling.asked],
        "keys": KEYS[labelling.asked],
        "at": labelling.done,
        "total": labelling.total,
        "answer": None if answer is None else as_shown(answer),
    }
