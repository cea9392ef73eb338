"""The model's rewriter: one structured call for question, sub-queries and keywords."""

from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.running import computed
from lexloop.core.types import Advice, ParsedQuestion, Plan, Turn
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.question import parse
from lexloop.nodes.rewrite.rules import distinct
from lexloop.store.view import View

_HISTORY_TURNS = 12


class RewriteReply(BaseModel):
    """The reply that the model is asked for."""

    standalone: str
    queries: list[str] = []
    keywords: list[str] = []


class ModelRewriter:
    """A rewriter by a chat model; code keeps to the limits Q and K.

    ``documents`` know the language that a question is translated into.
    """

    translates = True

    def __init__(self, chat: Chat, documents: View) -> None:
        self._chat = chat
        self._documents = documents
        self._prompt = prompts.load(
            "rewrite", {"history", "question", "guidance", "languages", "Q", "K"}
        )

    async def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> ParsedQuestion:
        """Ask for all three at once; queries that the advice brings come first.

        The latest turns of the history are shown. What the model leaves out stays out: without a
        standalone question the one asked is kept.
        """
        wanted = history or advice or plan["Q"] or plan["K"]
        if not wanted and not await computed(self._documents.other_language, question):
            return parse(question)
        languages = await computed(self._documents.languages)
        system, user = self._prompt.render(
            history=[prompts.Data(turn["role"], turn["content"]) for turn in history][
                -_HISTORY_TURNS:
            ],
            question=question,
            guidance=advice["guidance"] if advice else [],
            languages=[prompts.Data("language", name) for name in languages],
            Q=plan["Q"],
            K=plan["K"],
        )
        request = ChatRequest("rewrite", system, user, RewriteReply)
        reply = parsed(await self._chat.ask(request), RewriteReply)
        queries = [*(advice["queries"] if advice else []), *reply.queries]
        return {
            **parse(" ".join(reply.standalone.split()) or question),
            "queries": distinct(queries)[: plan["Q"]],
            "keywords": distinct(reply.keywords)[: plan["K"]],
        }
