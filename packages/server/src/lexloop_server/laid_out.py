"""Layout of files that are exported over HTTP."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from lexloop.apps.shapes.citing import Style
from lexloop.apps.shapes.outline import Layout, Memo

Said = Annotated[str, Field(max_length=300)]


class LaidOut(BaseModel):
    """How a file cites its sources, and whether it is a memorandum.

    A memorandum's recipient, author, date and subject are blank unless given.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    style: Style = "plain"
    memo: bool = False
    to: Said = ""
    sender: Said = Field(default="", alias="from")
    date: Said = ""
    re: Said = ""

    @property
    def layout(self) -> Layout:
        """How the file is laid out."""
        memo = Memo(self.to, self.sender, self.date, self.re) if self.memo else None
        return Layout(self.style, memo)
