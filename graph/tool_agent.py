"""The model that chooses among collections: LangChain's agent with one tool a collection."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from lexloop import prompts
from lexloop.core.errors import InputError, ModelReplyError
from lexloop.core.state import State
from lexloop.core.types import Citation, Turn
from lexloop.graph.combine import Said, told
from lexloop.models.chat import ChatModel
from lexloop.models.request import ChatRequest

Ask = Callable[[str, str], Awaitable[State]]
"""Asks a collection, by its name, a question."""
MOST_CALLS, _MOST_ROUNDS = 8, 5
"""The most questions that a model may ask collections, and the most replies in which it may."""
_TURNS, _TURN_CHARS = 24, 4000
_TOOL_CHARS = 60
_NO_MORE = "No further question can be asked: answer from what was found."


class Chooser:
    """The model with its tools, for one question.

    Args:
        chat: The model.
        descriptions: What is in each collection, by its name, for the model to choose by.
        ask: Asks a collection.

    ``said`` is what the collections answered so far; ``instructions`` what the model works under.
    """

    def __init__(self, chat: ChatModel, descriptions: Mapping[str, str], ask: Ask) -> None:
        self.said: list[Said] = []
        self.instructions = ""
        self._chat, self._ask, self._calls = chat, ask, 0
        self._told_last: asyncio.Event | None = None
        self._prompt = prompts.load("agent", {"history", "question"})
        names = _tool_names(list(descriptions))
        self._tools = [
            self._tool(names[name], name, description) for name, description in descriptions.items()
        ]

    async def answer(self, question: str, history: Sequence[Turn]) -> str:
        """Return what the model writes once it has asked.

        Raises:
            ModelError: The model gave no usable reply, or a collection could not be asked.
        """
        from langchain.agents import create_agent  # half a second that only models need

        turns = [prompts.Data(t["role"], t["content"][:_TURN_CHARS]) for t in history[-_TURNS:]]
        self.instructions, user = self._prompt.render(history=turns, question=question)
        agent = create_agent(
            _Asked(chat=self._chat),
            self._tools,
            system_prompt=self.instructions,
            checkpointer=False,
        )
        config: RunnableConfig = {"recursion_limit": 4 * (_MOST_ROUNDS + MOST_CALLS)}
        state = await agent.ainvoke({"messages": [HumanMessage(user)]}, config)
        return str(state["messages"][-1].text)

    def _tool(self, called: str, collection: str, description: str) -> BaseTool:
        async def ask(question: str) -> tuple[str, list[Citation]]:
            return await self._told(collection, question)

        return StructuredTool.from_function(
            coroutine=ask,
            name=called,
            description=description,
            response_format="content_and_artifact",
        )

    async def _told(self, collection: str, question: str) -> tuple[str, list[Citation]]:
        """Ask a collection; tell the model of a question that cannot be asked."""
        if self._calls >= MOST_CALLS:
            return _NO_MORE, []
        self._calls += 1
        # those asked at once are told in their order, so that their sources are always numbered so
        earlier, self._told_last = self._told_last, asyncio.Event()
        mine = self._told_last
        try:
            state = await self._ask(collection, question)
            if earlier is not None:
                await earlier.wait()
            said = Said(collection, "", state)
            content, citations = told(said, self.said)
            self.said.append(said)
        except InputError as error:
            return f"This was not asked. {error}", []
        finally:
            mine.set()
        return content, citations


def _tool_names(collections: Sequence[str]) -> dict[str, str]:
    """Return a name for the tool of each collection, of the letters that hosts allow."""
    found: dict[str, str] = {}
    for collection in collections:
        plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", f"ask_{collection}")[:_TOOL_CHARS]
        taken = found.values()
        again = (f"{plain}_{n}" for n in range(2, len(collections) + 2))
        found[collection] = (
            plain if plain not in taken else next(a for a in again if a not in taken)
        )
    return found


class _Asked(BaseChatModel):
    """A chat model for LangChain's agent that is asked on the terms of the node around it.

    So its deadline, retries, usage and typed errors are those of every other node. LangChain's
    callbacks do not hear of it: they would pass on what is not checked yet.
    """

    chat: Any
    tools: tuple[dict[str, Any], ...] = ()

    @property
    def _llm_type(self) -> str:
        return "lexloop"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Return the model with tools."""
        return self.model_copy(update={"tools": tuple(map(convert_to_openai_tool, tools))})

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        """Return the model's reply to the messages; after too many it is offered no tool."""
        replies = sum(isinstance(message, AIMessage) for message in input)
        tools = self.tools if replies < _MOST_ROUNDS else ()
        request = ChatRequest("agent", "", "", turns=tuple(input), tools=tools)
        reply = await self.chat.ask(request)
        if not tools and reply.calls:
            raise ModelReplyError("The model asked on and on.", "Use another model.")
        return AIMessage(reply.text, tool_calls=list(reply.calls))

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        raise NotImplementedError("It is asked by `ainvoke` alone.")
