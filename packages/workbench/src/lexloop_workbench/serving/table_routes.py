"""Routes of tables over documents: made, filled in the background, read, corrected, exported."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from lexloop.apps.shapes.files import MEDIA_TYPES, disposition
from lexloop.core.conversation import checked_question
from lexloop.core.errors import LexloopError
from lexloop_server.fields import CollectionName, DocumentName, Id, Place, QuestionText
from lexloop_server.laid_out import LaidOut
from lexloop_server.plugins import Asker, Host, Hosted, Person, documented
from lexloop_workbench.serving.tables import RunState, Tables, asked_by
from lexloop_workbench.shapes.review import REVIEW_FORMATS, ReviewFormat, reviewed
from lexloop_workbench.table.checklist import Checklist, Deviation, shipped, shipped_checklist
from lexloop_workbench.table.record import State
from lexloop_workbench.table.store import (
    Correction,
    Page,
    Progress,
    ShownCell,
    Sort,
    TableInfo,
    TableStore,
)

router = APIRouter(prefix="/api", tags=["tables"], responses=documented(404, 409))
_FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {MEDIA_TYPES[form]: {} for form in REVIEW_FORMATS}}
}
Named = Annotated[DocumentName, Query()]
Asked = Annotated[str, Query(min_length=1, max_length=60, description="The id of a question.")]


class NewTable(BaseModel):
    """The questions and the collection of a new table."""

    model_config = ConfigDict(extra="forbid")

    collection: CollectionName
    title: str = Field(default="", max_length=200)
    questions: list[QuestionText] = Field(default=[], max_length=200)
    checklists: list[Id] = Field(default=[], max_length=10, description="See /api/checklists.")


class ExportAs(LaidOut):
    """How a table is written to a file; a layout is of those with footnotes."""

    format: ReviewFormat = "xlsx"


class RunBody(BaseModel):
    """The run that fills a table: how many cells are done, and of how many."""

    state: RunState
    done: int
    of: int
    trouble: str = ""


class TableBody(TableInfo):
    """A table, and how far it is; ``trouble`` says why it cannot be read any more."""

    progress: Progress | None = None
    run: RunBody | None = None
    trouble: str = ""


class ChecklistBody(Checklist):
    """A checklist that comes with Lexloop."""

    name: str


class Corrected(BaseModel):
    """A correction of a cell. ``expected`` is the revision that the person saw."""

    model_config = ConfigDict(extra="forbid")

    document: DocumentName
    question: str = Field(min_length=1, max_length=60)
    expected: Place
    state: Literal["stated", "in part", "not stated"]
    answer: str = Field(default="", max_length=10_000)
    note: str = Field(default="", max_length=2000)
    deviation: Deviation | None = Field(
        default=None, description="The playbook's assessment, or null to apply its rules."
    )


class Wanted(BaseModel):
    """Selection and order of rows."""

    model_config = ConfigDict(extra="forbid")

    offset: int = Field(default=0, ge=0, le=1_000_000)
    limit: int = Field(default=50, ge=1, le=500)
    containing: str = Field(default="", max_length=500, description="In its name or title.")
    states: list[State] = Field(default=[], max_length=10)
    deviations: list[Deviation] = Field(default=[], max_length=10)
    question: str | None = Field(
        default=None, max_length=60, description="The column of conditions and order."
    )
    disagreeing: bool = False
    corrected: bool | None = None
    sort: Sort = "document"


def _tables(request: Request) -> Tables:
    tables: Tables = request.state.tables
    return tables


Kept = Annotated[Tables, Depends(_tables)]


@router.get("/checklists")
def checklists() -> list[ChecklistBody]:
    """List the sets of questions that come with Lexloop."""
    checklists_by_name = ((name, shipped_checklist(name)) for name in shipped())
    return [ChecklistBody(name=name, **dict(checklist)) for name, checklist in checklists_by_name]


@router.get("/tables")
def every(person: Asker, tables: Kept) -> list[TableBody]:
    """List your tables, the newest first."""
    return [_told(tables, person, info) for info in tables.infos(person)]


def _told(tables: Tables, person: Person, info: TableInfo) -> TableBody:
    try:
        with tables.opened(person, info.id) as store:
            return _body(tables, person, store)
    except LexloopError as error:
        return TableBody(**dict(info), trouble=error.what)


def _body(tables: Tables, person: Person, store: TableStore) -> TableBody:
    run = tables.run(person, store)
    run_body = RunBody(state=run.state, done=run.done, of=run.of, trouble=run.trouble)
    return TableBody(**dict(store.info), progress=store.progress(), run=run_body)


@router.post("/tables", status_code=201)
def make(new: NewTable, person: Asker, host: Hosted, tables: Kept) -> TableBody:
    """Make a table, and begin to fill it."""
    checklist = asked_by(new.questions, new.checklists)
    settings = host.collections.settings(person, new.collection)
    for column in checklist.questions:
        checked_question(column.question, settings.max_question_chars)
    host.count(person)
    questions = "\n".join(column.question for column in checklist.questions)
    host.note(person, "make table", questions, collections=[new.collection])
    info = tables.make(person, new.collection, new.title, checklist)
    return _told(tables, person, info)


@router.get("/tables/{id}")
def table(id: Id, person: Asker, tables: Kept) -> TableBody:
    """Return a table's questions and progress."""
    with tables.opened(person, id) as store:
        return _body(tables, person, store)


@router.delete("/tables/{id}", status_code=204)
def delete(id: Id, person: Asker, host: Hosted, tables: Kept) -> Response:
    """Delete a table with its corrections."""
    host.note(person, "delete table", id=id)
    tables.delete(person, id)
    return Response(status_code=204)


@router.post("/tables/{id}/run", status_code=202)
def start(id: Id, person: Asker, host: Hosted, tables: Kept) -> TableBody:
    """Ask about added and changed documents, and ask failed cells again."""
    host.count(person)
    host.note(person, "run table", id=id)
    tables.start(person, id)
    return table(id, person, tables)


@router.delete("/tables/{id}/run", status_code=202)
def stop(id: Id, person: Asker, host: Hosted, tables: Kept) -> TableBody:
    """Stop the run. Finished cells stay."""
    host.note(person, "stop table", id=id)
    tables.stop(person, id)
    return table(id, person, tables)


@router.get("/tables/{id}/rows")
def rows(id: Id, person: Asker, tables: Kept, wanted: Annotated[Wanted, Query()]) -> Page:
    """Return some rows: those with a cell that fits all conditions, in the order asked for."""
    with tables.read(person, id) as store:
        return store.page(**dict(wanted))


@router.put("/tables/{id}/cell")
def correct(id: Id, said: Corrected, person: Asker, host: Hosted, tables: Kept) -> ShownCell:
    """Correct a cell; 409 if it was not asked yet, or somebody else corrected it meanwhile."""
    with tables.read(person, id) as store:
        host.note(person, "correct", id=id, documents=[said.document], question_id=said.question)
        return store.correct(**dict(said), by=person.name)


@router.get("/tables/{id}/corrections")
def corrections(
    id: Id, person: Asker, tables: Kept, document: Named, question: Asked
) -> list[Correction]:
    """Return the corrections of a cell, the first one first."""
    with tables.read(person, id) as store:
        return store.history(document, question)


@router.get("/tables/{id}/export", response_class=Response, responses=_FILES)
async def export(  # noqa: PLR0917 - FastAPI names them
    id: Id,
    wanted: Annotated[ExportAs, Query()],
    request: Request,
    person: Asker,
    host: Hosted,
    tables: Kept,
) -> Response:
    """Return the table as a file."""
    work = partial(_exported, id, wanted, person, host, tables)
    return await host.in_turn(request, person, work)


def _exported(id: str, export_as: ExportAs, person: Person, host: Host, tables: Tables) -> Response:
    form = export_as.format
    with tables.read(person, id) as store:
        host.note(person, "export table", id=id, form=form)
        subject = (export_as.re if export_as.memo else "") or store.info.title
        return Response(
            reviewed(store, form, export_as.layout),
            media_type=MEDIA_TYPES[form],
            headers={"Content-Disposition": disposition(subject, form)},
        )
