"""The record of a cell."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from lexloop.core.types import Citation
from lexloop_workbench.table.checklist import Deviation

State = Literal["stated", "in part", "not stated", "refused", "failed"]
"""The outcome of a question: the document answers it; may answer it, at least in part; or does not;
the question is not one that documents answer; or an error occurred."""


class Cell(BaseModel):
    """The result of a question in a document.

    Args:
        document: The document's name.
        question: The id of the question.
        state: See ``State``.
        answer: A few words from what is quoted, or "" if nothing is.
        probability: The calibrated probability that the first quote answers, or None if unknown.
        deviation: The playbook's verdict.
        citations: The quotes, best first, or the nearest ones if nothing is stated.
        reason: Why a question was refused or has failed.
    """

    model_config = ConfigDict(extra="forbid")

    document: str
    question: str
    state: State
    answer: str = ""
    probability: float | None = None
    deviation: Deviation = ""
    citations: list[Citation] = []
    reason: str = ""
