"""What of an answer is shown while a model writes it."""

from collections.abc import Callable
from typing import Any

from lexloop.models.chat import Token
from lexloop.models.dialogue import ChatRequest
from lexloop.nodes.guardrail import recites

Writer = Callable[[Any], None]
_SENTENCE_ENDS = ".!?\n"


class TokenStream:
    """Passes tokens on sentence by sentence and stops where the model recites its instructions.

    The answer as a whole is checked when it is finished; by then its beginning has been shown,
    so each sentence is checked before.

    Args:
        node: Which node speaks.
        request: What the model was asked; its system part must not come back.
        write: LangGraph's stream writer: is given ``{"node", "token", "restart"}``.
    """

    def __init__(self, node: str, request: ChatRequest, write: Writer) -> None:
        self._node, self._request, self._write = node, request, write
        self._held, self._restart, self._silenced = "", False, False

    def __call__(self, token: Token) -> None:
        """Take the next token."""
        if token.restart:
            self._held, self._restart, self._silenced = "", True, False
        self._held += token.text
        if self._silenced or not any(end in token.text for end in _SENTENCE_ENDS):
            return
        self._show(max(self._held.rfind(end) for end in _SENTENCE_ENDS) + 1)

    def finish(self) -> None:
        """Show what is left when the answer is whole."""
        if self._held and not self._silenced:
            self._show(len(self._held))

    def _show(self, cut: int) -> None:
        ready, self._held = self._held[:cut], self._held[cut:]
        if recites(ready, self._request.system):
            self._silenced = True
            return
        self._write({"node": self._node, "token": ready, "restart": self._restart})
        self._restart = False
