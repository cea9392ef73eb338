"""The model's prompt engineer."""

from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.types import Advice, Attempt, Evaluation, ParsedQuestion, Strategy
from lexloop.models.request import Chat, ChatRequest, parsed

_MOST_QUERIES = 5


class AdviceReply(BaseModel):
    """The reply that the model is asked for."""

    question: str
    queries: list[str] = []
    guidance: str = ""
    strategy: Strategy = "reread"


class ModelPromptEngineer:
    """A prompt engineer by a chat model, which rewords the question (LQ-RAG algorithm 3)."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._prompt = prompts.load("engineer_prompt", {"asked", "attempts", "limit"})

    def has_more(self, asked: ParsedQuestion, attempts: list[Attempt]) -> bool:
        """Return True: a model always has something else to say."""
        return True

    async def advise(self, asked: ParsedQuestion, attempts: list[Attempt]) -> Advice:
        """Show what was tried and how it scored, and ask what to try next."""
        system, user = self._prompt.render(
            asked=asked["text"],
            attempts=[prompts.Data("attempt", _told(a), a["number"]) for a in attempts],
            limit=_MOST_QUERIES,
        )
        request = ChatRequest("engineer_prompt", system, user, AdviceReply)
        reply = parsed(await self._chat.ask(request), AdviceReply)
        tried = {_folded(query) for attempt in attempts for query in attempt["queries"]}
        return Advice(
            question=" ".join(reply.question.split()) or asked["text"],
            queries=_untried(reply.queries, tried)[:_MOST_QUERIES],
            guidance=" ".join(reply.guidance.split()),
            strategy=reply.strategy,
        )


def _told(attempt: Attempt) -> str:
    lines = [
        f"question: {attempt['question']}",
        f"queries: {'; '.join(attempt['queries']) or '(none)'}",
        f"answer: {attempt['answer']}",
        *_scores(attempt["evaluation"]),
        *(f"note: {reason}" for reason in attempt["evaluation"]["reasons"]),
    ]
    return "\n".join(lines)


def _scores(evaluation: Evaluation) -> list[str]:
    scores = {
        "answer relevance": evaluation["answer_relevance"],
        "context relevance": evaluation["context_relevance"],
        "groundedness": evaluation["groundedness"],
    }
    shown = [
        f"{name}: {'unknown' if score is None else f'{score:.2f}'}"
        for name, score in scores.items()
    ]
    verified = "yes" if evaluation["citations_verified"] else "no"
    return [*shown, f"citations verified: {verified}"]


def _untried(queries: list[str], tried: set[str]) -> list[str]:
    """Return the queries in order, without blanks, repetitions and what was searched before."""
    kept: dict[str, str] = {}
    for query in queries:
        folded = _folded(query)
        if folded and folded not in tried:
            kept.setdefault(folded, " ".join(query.split()))
    return list(kept.values())


def _folded(query: str) -> str:
    return " ".join(query.split()).casefold()
