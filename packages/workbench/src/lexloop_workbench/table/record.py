"""What is kept of a cell."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from lexloop.core.types import Citation
from lexloop_workbench.table.checklist import Deviation

State = Literal["stated", "in part", "not stated", "refused", "failed"]
"""What came of a question: the document says it; it may, at least in part; it does not; the
question is none of those that documents answer; something did not work."""


class Cell(BaseModel):
    """What came of a question in a document.

    Args:
        document: Its name.
        question: The id of the question.
        state: See ``State``.
        answer: In a few words, of what is quoted; "" where nothing is.
        probability: How likely what is quoted first answers, calibrated; None where nobody says.
        deviation: What the playbook says of it.
        citations: The quotes, the most telling first; where nothing is stated, what comes nearest.
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
