"""evaluate: the verdict on this attempt, and at the end the best attempt as the answer."""

from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from lexloop.core.errors import LexloopError
from lexloop.core.running import computed
from lexloop.core.state import State, Update
from lexloop.core.types import ABSTENTION, Attempt, Evaluation
from lexloop.nodes.context import Context, Judgement, TextOf
from lexloop.nodes.evaluate.checks import citation_problems, without_told
from lexloop.nodes.evaluate.verdict import (
    best_attempt,
    finding_of,
    may_retry,
    passes,
    repeats,
    warning_for,
    warning_for_unfinished,
)
from lexloop.nodes.markers import unmarked


async def evaluate(state: State, runtime: Runtime[Context]) -> Update:
    """Judge the draft; write the answer when it passes or no retry is left.

    Where the retry found what an earlier attempt was written from, there is no draft to judge.
    Without a judge the first attempt is taken unjudged; the engineer may have nothing left to try.
    """
    context = runtime.context
    untranslated = state.get("untranslated", "")
    if repeats(state):  # nothing new was found, and nothing was written
        attempts = state["attempts"]
    else:
        evaluation = await _evaluation(state, context)
        attempts = _with_draft(state, evaluation)
        judged = context.judge is not None and not untranslated
        again = judged and may_retry(attempts, context.settings)
        if again and context.engineer.has_more(state["meant"], attempts):
            return {"attempts": attempts, "evaluation": evaluation}
    best = best_attempt(attempts)
    warning = untranslated if best["abstained"] else ""
    warning = warning or warning_for(best, judged=context.judge is not None)
    return _final(state, attempts, best, warning)


def unfinished(
    state: State, text_of: TextOf | None, error: LexloopError, *, drafted: bool
) -> Update | None:
    """End a question that cannot go on with the best attempt so far; None where there is none.

    ``drafted`` says whether the state holds a draft that was not judged; it counts as an attempt.
    """
    attempts = state.get("attempts", [])
    if drafted and not repeats(state):
        problems = _problems(state, text_of)
        attempts = _with_draft(state, _record(_unscored("It was not judged."), problems, False))
    if not attempts:
        return None
    best = best_attempt(attempts)
    return _final(state, attempts, best, warning_for_unfinished(best, error.what))


def _with_draft(state: State, evaluation: Evaluation) -> list[Attempt]:
    draft = state["draft"]
    attempt: Attempt = {
        "number": len(state["attempts"]) + 1,
        "question": state["parsed"]["text"],
        "queries": state["parsed"]["queries"],
        "keywords": state["parsed"]["keywords"],
        "passages": state["passages"],
        "triplets": state["triplets"],
        "answer": draft["answer"],
        "abstained": draft["abstained"],
        "citations": draft["citations"],
        "evaluation": evaluation,
        "usage": {**state["usage"], "seconds": 0.0},
        "near": draft["near"],
    }
    return [*state["attempts"], attempt]


async def _evaluation(state: State, context: Context) -> Evaluation:
    draft, problems = state["draft"], await computed(_problems, state, context.text_of)
    if draft["abstained"]:
        return _record(_unscored("The generator abstained."), problems, passed=False)
    if context.judge is None:
        return _record(_unscored("No evaluator is set."), problems, passed=False)
    said = without_told(draft["answer"], draft["told"])
    pointed = state.get("pointed")
    if not said and pointed and pointed["units"] and not pointed["only"]:
        # whether the provision answers what is asked of it is to be judged
        said = "\n".join(f"{unmarked(c['quote'])} [{c['n']}]" for c in draft["citations"])
    if not said:
        read = _unscored("It was read off the structure of the documents.")
        return _record(read, problems, passed=not problems)
    # every attempt answers the question asked, however it was reworded since
    answers = _likely(state)
    judgement = await context.judge.judge(state["meant"], state["passages"], said, answers)
    unanswered = [f"Not answered: {part}" for part in draft["unanswered"]]
    reasons = [*unanswered, *judgement.reasons]
    judgement = replace(judgement, answers=answers, reasons=reasons)
    passed = not problems and not unanswered and passes(judgement, context.settings)
    return _record(judgement, problems, passed)


def _likely(state: State) -> float | None:
    """Return the probability that the draft answers what was asked, where its writer gives one.

    For a reworded question it is at most that of the first attempt: an answer to another reading
    tells nothing about this one.
    """
    answers, attempts = state["draft"]["answers"], state["attempts"]
    if answers is None or not attempts or state["parsed"]["text"] == state["meant"]["text"]:
        return answers
    return min(answers, attempts[0]["evaluation"].get("answers", 1.0))


def _problems(state: State, text_of: TextOf | None) -> list[str]:
    """Return the reasons why the draft's citations do not verify."""
    draft = state["draft"]
    if draft["abstained"]:
        return []
    if text_of is None:
        return ["The answer comes from the model alone: no document backs it."]
    return citation_problems(draft["answer"], draft["citations"], text_of, draft["told"])


def _unscored(reason: str) -> Judgement:
    return Judgement(None, None, None, [reason])


def _record(judgement: Judgement, problems: list[str], passed: bool) -> Evaluation:
    record: Evaluation = {
        "answer_relevance": judgement.answer_relevance,
        "context_relevance": judgement.context_relevance,
        "groundedness": judgement.groundedness,
        "citations_verified": not problems,
        "passed": passed,
        "reasons": [*problems, *judgement.reasons],
    }
    if judgement.answers is not None:
        record["answers"] = judgement.answers
    return record


def _final(state: State, attempts: list[Attempt], best: Attempt, warning: str) -> Update:
    answer = ABSTENTION if best["abstained"] else best["answer"]
    return {
        "attempts": attempts,
        "answer": answer,
        "abstained": best["abstained"],
        "warning": warning,
        "citations": best["citations"],
        "finding": finding_of(best),
        "near": best.get("near", []),
        "evaluation": best["evaluation"],
        "passages": best["passages"],
        "triplets": best["triplets"],
        # one id a turn: running the turn again replaces its answer instead of adding another
        "messages": [answer_message(answer, state, warning)],
    }


def answer_message(answer: str, state: State, warning: str) -> AIMessage:
    """Return the answer as a message, with its warning and readings as metadata."""
    beside: dict[str, Any] = {"warning": warning} if warning else {}
    if read_as := state.get("read_as"):
        beside["read_as"] = read_as
    return AIMessage(content=answer, id=f"{state['turn_id']}-answer", response_metadata=beside)
