"""The model's judge: one structured call, with reasoning before each score."""

from typing import Annotated

from pydantic import BaseModel, Field

from lexloop import prompts
from lexloop.core.errors import ModelReplyError
from lexloop.core.types import ParsedQuestion, Passage
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.context import Judgement

# Strict: a score given as text or as a truth value is no score.
UnitScore = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]


class ReasonedScore(BaseModel):
    """A score and the chain of thought that led to it."""

    reasoning: str = ""
    score: UnitScore


class JudgeReply(BaseModel):
    """The reply that the model is asked for: the triad of LQ-RAG."""

    context_relevance: ReasonedScore
    groundedness: ReasonedScore
    answer_relevance: ReasonedScore


class ModelJudge:
    """A judge by a chat model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._prompt = prompts.load("evaluate", {"question", "passages", "answer"})

    async def judge(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Judgement:
        """Return the three scores; all None, so that nothing can pass, where the reply has none.

        The model judges for itself: what ``answers`` says is not shown to it.
        """
        system, user = self._prompt.render(
            question=question["text"], passages=prompts.numbered(passages), answer=answer
        )
        request = ChatRequest("evaluate", system, user, JudgeReply)
        try:
            reply = parsed(await self._chat.ask(request), JudgeReply)
        except ModelReplyError as error:
            return Judgement(None, None, None, [f"The scores could not be read: {error.what}"])
        return Judgement(
            answer_relevance=reply.answer_relevance.score,
            context_relevance=reply.context_relevance.score,
            groundedness=reply.groundedness.score,
            reasons=[
                f"{name.replace('_', ' ')} {scored.score:.2f}: {scored.reasoning.strip()}"
                for name, scored in (
                    ("answer_relevance", reply.answer_relevance),
                    ("context_relevance", reply.context_relevance),
                    ("groundedness", reply.groundedness),
                )
            ],
        )
