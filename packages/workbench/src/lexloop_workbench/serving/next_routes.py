"""The route of questions that an answer leads to."""

from functools import partial
from itertools import islice

from fastapi import APIRouter, Request
from pydantic import BaseModel

from lexloop_server.fields import Id
from lexloop_server.plugins import Asker, Host, Hosted, Person, documented
from lexloop_workbench.describing import cited_if_passed
from lexloop_workbench.questions import next_questions

router = APIRouter(prefix="/api/answers", responses=documented(404))
_TRIED, _SUGGESTED = 8, 4
"""Maximum number of questions tried after an answer, and of questions offered."""


class NextQuestions(BaseModel):
    """Follow-up questions to an answer."""

    questions: list[str]


@router.get("/{id}/next")
async def questions_next(id: Id, request: Request, person: Asker, host: Hosted) -> NextQuestions:
    """Return a few follow-up questions that pass the checks, about the first cited document."""
    return await host.in_turn(request, person, partial(_next, id, person, host))


def _next(id: str, person: Person, host: Host) -> NextQuestions:
    answer = host.answer(person, id)
    cited = answer["citations"] or answer["near"]
    if not cited:
        return NextQuestions(questions=[])
    first = cited[0]["collection"]
    view = host.collections.view(person, first)
    same = [citation for citation in cited if citation["collection"] == first]
    tried = islice(next_questions(view, answer["question"], same), _TRIED)
    settings = host.collections.settings(person, first)
    passed = (
        question for question in tried if cited_if_passed(host.engine.graph(), settings, question)
    )
    return NextQuestions(questions=[*islice(passed, _SUGGESTED)])
