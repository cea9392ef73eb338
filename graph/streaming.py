"""What is shown of an answer while a model writes it: checked sentences."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import BaseCallbackManager, CallbackManager, CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config, get_stream_writer

from lexloop.core.errors import ModelError
from lexloop.models.chat import Token, passes_on
from lexloop.models.request import ChatRequest
from lexloop.nodes.generate.guard import recites

Writer = Callable[[Any], None]
_SENTENCE_ENDS = ".!?\n"
_AFTER_SENTENCE = re.compile(f"(?<=[{_SENTENCE_ENDS}])")
_CONTEXT_CHARS = 400
"""Characters said before that a sentence is checked with; more than a run of words takes."""


@contextmanager
def showing(node: str, request: ChatRequest) -> Iterator["TokenStream | None"]:
    """Stream what a model writes to whoever runs the graph, if the request asks for that.

    Args:
        node: The name of the node.
        request: The request to the model.
    """
    if not request.stream:
        yield None
        return
    spoken = StreamedMessage(request.purpose, get_config())
    shown = TokenStream(node, request, get_stream_writer(), spoken)
    try:
        yield shown
    except ModelError as error:
        shown.finish(error)
        raise
    # not if the run is cancelled: the held-back text is not fully checked
    shown.finish()


class TokenStream:
    """The tokens passed on sentence by sentence, until the model recites its instructions.

    The answer as a whole is checked when it is finished; by then its beginning has been shown,
    so each sentence is checked before.

    Args:
        node: Which node speaks.
        request: What the model was asked; its instructions must not come back.
        write: LangGraph's stream writer: is given ``{"node", "token", "restart"}``.
        spoken: Is given the same, for those who stream messages or events.
    """

    def __init__(
        self, node: str, request: ChatRequest, write: Writer, spoken: "StreamedMessage"
    ) -> None:
        self._node, self._write, self._spoken = node, write, spoken
        self._instructions = request.instructions or request.system
        self._held, self._said, self._restart, self._silenced = "", "", False, False

    def __call__(self, token: Token) -> None:
        """Take the next token."""
        if token.restart:
            self._held, self._said, self._restart, self._silenced = "", "", True, False
        self._held += token.text
        if self._silenced or not any(end in token.text for end in _SENTENCE_ENDS):
            return
        self._show(max(self._held.rfind(end) for end in _SENTENCE_ENDS) + 1)

    def finish(self, error: Exception | None = None) -> None:
        """Show the rest of a complete answer, or end the stream after an error."""
        if self._held and not self._silenced and error is None:
            self._show(len(self._held))
        self._spoken.end(error)

    def _show(self, cut: int) -> None:
        ready, self._held = self._held[:cut], self._held[cut:]
        clean = ""
        for sentence in _AFTER_SENTENCE.split(ready):
            before = (self._said + clean)[-_CONTEXT_CHARS:]
            if recites(sentence, self._instructions, before):
                self._silenced = True
                break
            clean += sentence
        if not clean:
            return
        self._said += clean
        self._write({"node": self._node, "token": clean, "restart": self._restart})
        self._spoken.say(clean, self._restart)
        self._restart = False


class StreamedMessage:
    """The shown text as the run of a chat model, for callers who stream messages or events.

    They do not see the model's own run (``lexloop.models.chat``). A message that starts over gets a
    new id.

    Args:
        name: The name of the run.
        config: The config of the node's run.
    """

    def __init__(self, name: str, config: RunnableConfig) -> None:
        around = config.get("callbacks")
        manager = around if isinstance(around, BaseCallbackManager) else CallbackManager([])
        self._manager = CallbackManager(
            [handler for handler in manager.handlers if passes_on(handler)],
            parent_run_id=manager.parent_run_id,
            tags=manager.tags,
            metadata=manager.metadata,
        )
        self._name = name
        self._run: CallbackManagerForLLMRun | None = None
        self._text = ""

    def say(self, text: str, restart: bool) -> None:
        """Send the next piece. ``restart`` discards the pieces sent before."""
        if restart:
            self.end()
        if self._run is None:
            (self._run,) = self._manager.on_chat_model_start({}, [[]], name=self._name)
            self._text = ""
        self._text += text
        piece = AIMessageChunk(content=text, id=f"run-{self._run.run_id}")
        self._run.on_llm_new_token(text, chunk=ChatGenerationChunk(message=piece))

    def end(self, error: Exception | None = None) -> None:
        """End the message, with an error if one cut it short. Does nothing if none began."""
        run, self._run = self._run, None
        if run is None:
            return
        if error is not None:
            run.on_llm_error(error)
            return
        whole = AIMessage(content=self._text, id=f"run-{run.run_id}")
        run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=whole)]]))
