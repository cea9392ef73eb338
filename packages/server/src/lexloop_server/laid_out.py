"""How a file that is asked for over HTTP is laid out."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from lexloop.apps.shapes.citing import Style
from lexloop.apps.shapes.outline import Layout, Memo

Said = Annotated[str, Field(max_length=300)]


class LaidOut(BaseModel):
    """How a file cites, and whether it is a memorandum.

    Whom that is to and from, its date and what it is about are blank where they are not given.
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
