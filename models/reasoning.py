"""A model's reasoning told from its reply, piece by piece as they come.

Reasoning models think before they answer. Some providers send that apart; local models write it
into the reply between tags, and a chat template may have written the opening one already.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_NAMES = ("think", "thinking", "thought", "reasoning")
_TAG = re.compile(rf"<(/?)(?:{'|'.join(_NAMES)})>", re.IGNORECASE)
_TAGS = tuple(f"<{slash}{name}>" for slash in ("", "/") for name in _NAMES)


class Thinking:
    """Takes in a reply and holds its text and its reasoning apart.

    What stands before a closing tag that nothing opened was reasoning as well: the text begins
    anew behind it. A block that is never closed is reasoning to its end.

    Args:
        opened: Whether the reply is taken to begin inside its reasoning, so that nothing is text
            until a tag closes it, or until the reply ends without one.
    """

    def __init__(self, opened: bool = False) -> None:
        self.unopened = False
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._inside = self._supposed = opened
        self._tail = ""

    @property
    def text(self) -> str:
        """What the reply says."""
        return "".join(self._text).strip()

    @property
    def reasoning(self) -> str:
        """What was thought before."""
        return "".join(self._reasoning).strip()

    def add(self, piece: str) -> tuple[str, bool]:
        """Take in a piece.

        Returns:
            What it adds to the text, and whether the text begins with that: what was taken for
            text before is none.
        """
        rest = self._tail + piece
        before, end = len(self._text), 0
        for tag in _TAG.finditer(rest):
            self._take(rest[end : tag.start()])
            end = tag.end()
            if tag[1]:
                self._close()
                before = min(before, len(self._text))
            else:
                self._inside, self._supposed = True, False
        rest = rest[end:]
        cut = _tag_begins(rest)
        self._tail = rest[cut:]
        self._take(rest[:cut])
        return "".join(self._text[before:]), before == 0

    def finish(self) -> tuple[str, bool]:
        """Take the reply to be whole; returns as ``add`` does."""
        before = len(self._text)
        tail, self._tail = self._tail, ""
        self._take(tail)
        if self._supposed and self._inside:
            supposed, self._reasoning = "".join(self._reasoning), []
            self._inside = False
            self._take(supposed)
        return "".join(self._text[before:]), before == 0

    def apart(self, piece: "AIMessage") -> int:
        """Take in the reasoning that a provider sends beside the text; how many characters."""
        if isinstance(piece.content, str) and not piece.additional_kwargs:
            return 0  # nearly every piece: reading content blocks costs more than all the rest
        said = [
            block.get("reasoning") or ""
            for block in piece.content_blocks
            if block["type"] == "reasoning"
        ]
        self._reasoning += said
        return sum(map(len, said))

    def _close(self) -> None:
        if not self._inside:
            self._reasoning += self._text
            self._text.clear()
        self.unopened = self.unopened or self._supposed or not self._inside
        self._inside = self._supposed = False

    def _take(self, said: str) -> None:
        if self._inside:
            self._reasoning.append(said)
            return
        if not self._text:
            said = said.lstrip()
        if said:
            self._text.append(said)


def _tag_begins(text: str) -> int:
    """Where the end of ``text`` may be the beginning of a tag; its length where it cannot."""
    at = text.rfind("<")
    tail = text[at:].lower()
    return at if at >= 0 and any(tag.startswith(tail) for tag in _TAGS) else len(text)
