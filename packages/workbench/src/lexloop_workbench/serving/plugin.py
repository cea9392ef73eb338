"""What the workbench adds to a server, by the entry point ``lexloop.routes``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, Request

from lexloop.core.configuration import data_folder
from lexloop_server.plugins import Host, Plugin, Role, Tool
from lexloop_workbench.serving import (
    diff_routes,
    next_routes,
    register_routes,
    search_routes,
    table_routes,
    version_routes,
)
from lexloop_workbench.serving.suggesting import Suggestions
from lexloop_workbench.serving.tables import Tables
from lexloop_workbench.tables import FOLDER

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.store.view import View

_ROUTES = (
    search_routes,
    diff_routes,
    version_routes,
    register_routes,
    table_routes,
    next_routes,
)


class Workbench(Plugin):
    """Exact search, versions, the register, profiles, tables, and questions to ask."""

    needed: Mapping[str, Role] = {
        "GET /api/answers/{id}/next": "reader",
        "GET /api/search": "reader",
        "GET /api/search/conversations": "reader",
        "GET /api/collections/{name}/versions": "reader",
        "GET /api/collections/{name}/compare": "reader",
        "GET /api/collections/{name}/register": "reader",
        "GET /api/collections/{name}/profile": "reader",
        "GET /api/collections/{name}/diff": "reader",
        "GET /api/collections/{name}/diff/export": "reader",
        "GET /api/checklists": "reader",
        "GET /api/tables": "reader",
        "POST /api/tables": "reader",
        "GET /api/tables/{id}": "reader",
        "DELETE /api/tables/{id}": "reader",
        "POST /api/tables/{id}/run": "reader",
        "DELETE /api/tables/{id}/run": "reader",
        "GET /api/tables/{id}/rows": "reader",
        "PUT /api/tables/{id}/cell": "reader",
        "GET /api/tables/{id}/corrections": "reader",
        "GET /api/tables/{id}/export": "reader",
        "tool find_words": "reader",
        "tool register": "reader",
        "tool describe": "reader",
        "tool diff": "reader",
        "tool table": "reader",
    }

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.tables, self._suggestions = Tables(data_folder() / FOLDER, host), Suggestions(host)
        self.router = APIRouter(dependencies=[Depends(self._with_tables)])
        for module in _ROUTES:
            self.router.include_router(module.router)

    async def _with_tables(self, request: Request) -> None:
        request.state.tables = self.tables

    def tools(self) -> Mapping[str, Tool]:
        """Return the tools by title."""
        from lexloop_workbench.serving.tools import Tools

        return Tools(self.host).by_title()

    def suggested(self, view: "View", settings: "Settings") -> list[str] | None:
        """Return questions that passed on a view, or None while they are tried."""
        return self._suggestions.of(view, settings)

    def close(self) -> None:
        """Try no more questions, and end all runs of tables."""
        self._suggestions.close()
        self.tables.close()
