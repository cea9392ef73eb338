"""engineer_prompt: advice for the next attempt, by rules or by a model."""

import re
from collections.abc import Callable, Iterator

from langgraph.runtime import Runtime
from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.state import State, Update
from lexloop.core.types import Advice, Attempt, Evaluation, ParsedQuestion, Strategy
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.context import TRIAD, UNANSWERED, Context
from lexloop.nodes.looking import MOST_LOOKS, Look, Looking
from lexloop.nodes.markers import MARKER


async def engineer_prompt(state: State, runtime: Runtime[Context]) -> Update:
    """Write the advice and note it on the attempt that it answers."""
    attempts = state["attempts"]
    advice = await runtime.context.engineer.advise(state["meant"], attempts)
    noted: Attempt = {**attempts[-1], "advice": advice}
    return {"attempts": [*attempts[:-1], noted]}


_GUIDANCE = {
    "answer_relevance": "Answer the question itself, part by part, and leave out the rest.",
    "context_relevance": "Use only passages that speak of what is asked.",
    "groundedness": "Stay with the words of the passages; leave out what they do not say.",
}


class RuleEngineer:
    """A prompt engineer by rules, without a model.

    ``guides`` is True if the writer of the answers heeds guidance, as a model does.
    """

    def __init__(self, guides: bool = True) -> None:
        self._guides = guides

    async def advise(self, asked: ParsedQuestion, attempts: list[Attempt]) -> Advice:
        """Return advice by the likeliest strategy for the last attempt that was not yet tried."""
        left = self._left(asked, attempts)
        advice = advised(left[0] if left else "broaden", asked)
        if self._guides:
            advice["guidance"] = _GUIDANCE[weakest(attempts[-1]["evaluation"])]
        return advice

    def has_more(self, asked: ParsedQuestion, attempts: list[Attempt]) -> bool:
        """Return whether guidance may help, or another reading of the question was not yet tried.

        Other passages alone mend as many answers as they harm.
        """
        return self._guides or "reread" in self._left(asked, attempts)

    def _left(self, asked: ParsedQuestion, attempts: list[Attempt]) -> list[Strategy]:
        tried = {a["advice"]["strategy"] for a in attempts if "advice" in a}
        return [strategy for strategy in _suited(asked, attempts[-1]) if strategy not in tried]


def advised(strategy: Strategy, asked: ParsedQuestion) -> Advice:
    """Return the advice to follow a strategy, without guidance."""
    question = asked["bare"] if strategy == "reread" else asked["text"]
    return {"question": question, "queries": [], "guidance": "", "strategy": strategy}


def _suited(asked: ParsedQuestion, last: Attempt) -> Iterator[Strategy]:
    """Yield the strategies that may help after an attempt, the likeliest first.

    What names a law that no document has is not asked of another without the name.
    """
    missed = last["abstained"] or weakest(last["evaluation"]) == "context_relevance"
    if missed and asked["bare"] != asked["text"] and not asked.get("absent"):
        yield "reread"
    yield "whole"
    if any(passage.get("supporting") for passage in last["passages"]):
        yield "operative"
    yield "broaden"


def weakest(evaluation: Evaluation) -> str:
    """Return the name of the lowest score, or groundedness if citations are unverified."""
    if not evaluation["citations_verified"]:
        return "groundedness"
    scores = {name: evaluation[name] for name in TRIAD}
    return min(TRIAD, key=lambda name: -1.0 if scores[name] is None else float(scores[name] or 0))


_NUMBERED = re.compile(rf"{MARKER.pattern}\s*|\bpassages?\s+\d+\b", re.IGNORECASE)
_MOST_QUERIES = 5
_MOST_FOUND = 600
"""Characters of what is told of a refusal."""
_ROUNDS = 2
"""How often a model may look before a retry."""


class AdviceReply(BaseModel):
    """The reply that the model is asked for."""

    question: str = ""
    queries: list[str] = []
    guidance: str = ""
    strategy: Strategy = "reread"
    look: list[Look] = []
    passages: list[int] = []


class ModelPromptEngineer:
    """A prompt engineer by a chat model, which rewords the question (LQ-RAG algorithm 3).

    If the last attempt lacks evidence, the model may look into the documents before it advises, and
    what it searched for is searched again for the next attempt. What a judge only found wrong with
    the wording of the first attempt is told to the next one as it is, without a call.

    Args:
        chat: The model.
        looking: Begins the looks of a retry among some documents, or None if it may not look.
        own: A user's prompt, if not ours.
    """

    def __init__(
        self, chat: Chat, looking: Callable[[list[str]], Looking] | None = None, own: str = ""
    ) -> None:
        self._chat, self._looking = chat, looking
        self._prompt = prompts.load("engineer_prompt", prompts.STEPS["engineer_prompt"], own)

    def has_more(self, asked: ParsedQuestion, attempts: list[Attempt]) -> bool:
        """Return whether the last two attempts were not both abstentions."""
        return len(attempts) < 2 or not all(attempt["abstained"] for attempt in attempts[-2:])

    async def advise(self, asked: ParsedQuestion, attempts: list[Attempt]) -> Advice:
        """Show what was tried and how it scored, let the model look, and ask what to try next."""
        refused = _refused(attempts[-1]["evaluation"])
        looks: Looking | None = None
        if self._looking and _lacks_evidence(attempts[-1]):
            looks = self._looking(asked["documents"])
            await looks.begin(attempts[-1]["passages"])
        elif len(attempts) == 1 and refused:
            return _mending(asked, refused)
        reply = await self._reply(asked, attempts, looks)
        tried = {_folded(query) for attempt in attempts for query in attempt["queries"]}
        looked = looks.looked if looks else []
        searched = [one["words"] for one in looked if one["tool"] == "search"]
        missing = _missing(refused) if looks else []
        advice = Advice(
            question=" ".join(reply.question.split()) or asked["text"],
            queries=_untried([*missing, *reply.queries, *searched], tried)[:_MOST_QUERIES],
            guidance=" ".join(reply.guidance.split()),
            strategy=reply.strategy,
        )
        if looks is None:
            return advice
        if refused and not attempts[-1]["abstained"]:
            advice["guidance"] = f"{_told_of(refused)} {advice['guidance']}".strip()
        return {**advice, "looked": looked, "opened": looks.chosen(reply.passages)}

    async def _reply(
        self, asked: ParsedQuestion, attempts: list[Attempt], looks: Looking | None
    ) -> AdviceReply:
        """Return the model's advice, after as many rounds of looks as it asks for and may have."""
        for left in reversed(range(_ROUNDS + 1 if looks else 1)):
            system, user = self._prompt.render(
                asked=asked["text"],
                attempts=[prompts.Data("attempt", _told(a), a["number"]) for a in attempts],
                limit=_MOST_QUERIES,
                looks=MOST_LOOKS if left else 0,
                found=looks.shown if looks else [],
            )
            request = ChatRequest("engineer_prompt", system, user, AdviceReply)
            reply = parsed(await self._chat.ask(request), AdviceReply)
            if looks is None or not left or not reply.look:
                break
            await looks.look(reply.look)
        return reply


def _lacks_evidence(last: Attempt) -> bool:
    """Return whether an attempt abstained, left something open, or read the wrong passages."""
    evaluation = last["evaluation"]
    missing = bool(_missing(evaluation["reasons"]))
    return last["abstained"] or missing or weakest(evaluation) == "context_relevance"


def _refused(evaluation: Evaluation) -> list[str]:
    """Return why an answer was refused, or what is said of its lowest score if nobody says why.

    The numbers of passages are left out: they change.
    """
    scored = tuple(f"{name.replace('_', ' ')} " for name in TRIAD)
    low = f"{weakest(evaluation).replace('_', ' ')} "
    reasons = [reason for reason in evaluation["reasons"] if not reason.startswith(scored)]
    reasons = reasons or [said for said in evaluation["reasons"] if said.startswith(low)]
    return [_NUMBERED.sub("", reason).strip() for reason in reasons]


def _mending(asked: ParsedQuestion, refused: list[str]) -> Advice:
    """Return advice to mend what was refused, and to search for what is missing."""
    missing = _missing(refused)
    strategy: Strategy = "broaden" if missing else "reread"
    return Advice(
        question=asked["text"], queries=missing, guidance=_told_of(refused), strategy=strategy
    )


def _missing(refused: list[str]) -> list[str]:
    """Return the parts of the question that an answer left open."""
    return [said.removeprefix(UNANSWERED) for said in refused if said.startswith(UNANSWERED)]


def _told_of(refused: list[str]) -> str:
    return f"An earlier answer was refused. {' '.join(refused)}"[:_MOST_FOUND]


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
