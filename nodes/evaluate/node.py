"""evaluate: the verdict on this attempt, and at the end the best attempt as the answer."""

import time

from langchain_core.messages import AIMessage

from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.core.types import ABSTENTION, Attempt, Evaluation
from lexloop.models.dialogue import Dialogue
from lexloop.nodes.evaluate.checks import TextOf, citation_problems
from lexloop.nodes.evaluate.judge import Judge, Judgement
from lexloop.nodes.evaluate.verdict import best_attempt, may_retry, passes, warning_for


def evaluate(
    state: State, judge: Judge | None, text_of: TextOf | None, settings: Settings
) -> Dialogue[Update]:
    """Judge the draft; write the answer when it passes or no retry is left.

    Args:
        state: Holds the draft of this attempt.
        judge: Scores it; None takes the first attempt unjudged.
        text_of: Where cited documents are looked up; None when there are none to cite.
        settings: Thresholds and the number of retries.
    """
    evaluation = yield from _evaluation(state, judge, text_of, settings)
    attempt: Attempt = {
        "number": len(state["attempts"]) + 1,
        "question": state["standalone"],
        "queries": state["queries"],
        "keywords": state["keywords"],
        "passages": state["passages"],
        "triplets": state["triplets"],
        "answer": state["draft"],
        "abstained": state["draft_abstained"],
        "citations": state["draft_citations"],
        "evaluation": evaluation,
        "usage": state["usage"],
    }
    attempts = [*state["attempts"], attempt]
    if may_retry(attempts, settings) and judge is not None:
        return {"attempts": attempts, "evaluation": evaluation}
    return _final(state, attempts, judged=judge is not None)


def _evaluation(
    state: State, judge: Judge | None, text_of: TextOf | None, settings: Settings
) -> Dialogue[Evaluation]:
    answer = state["draft"]
    if state["draft_abstained"]:
        silent = Judgement(None, None, None, ["The generator abstained."])
        return _record(silent, problems=[], passed=False)
    if text_of is None:
        problems = ["The answer comes from the model alone: no document backs it."]
    else:
        problems = citation_problems(answer, state["draft_citations"], text_of)
    if judge is None:
        unjudged = Judgement(None, None, None, ["No evaluator is set."])
        return _record(unjudged, problems, passed=False)
    judgement = yield from judge.judge(state["standalone"], state["passages"], answer)
    passed = not problems and passes(judgement, settings)
    return _record(judgement, problems, passed)


def _record(judgement: Judgement, problems: list[str], passed: bool) -> Evaluation:
    return {
        "answer_relevance": judgement.answer_relevance,
        "context_relevance": judgement.context_relevance,
        "groundedness": judgement.groundedness,
        "citations_verified": not problems,
        "passed": passed,
        "reasons": [*problems, *judgement.reasons],
    }


def _final(state: State, attempts: list[Attempt], judged: bool) -> Update:
    best = best_attempt(attempts)
    answer = ABSTENTION if best["abstained"] else best["answer"]
    usage, warning = state["usage"], warning_for(best, judged)
    return {
        "attempts": attempts,
        "answer": answer,
        "abstained": best["abstained"],
        "warning": warning,
        "citations": best["citations"],
        "evaluation": best["evaluation"],
        "passages": best["passages"],
        "triplets": best["triplets"],
        "usage": {**usage, "seconds": time.time() - state["started_at"]},
        # one id a turn: running the turn again replaces its answer instead of adding another
        "messages": [_message(answer, warning, f"{state['turn_id']}-answer")],
    }


def _message(answer: str, warning: str, name: str) -> AIMessage:
    """The answer for those who get nothing but messages; what it warns of stays beside the text."""
    beside = {"warning": warning} if warning else {}
    return AIMessage(content=answer, id=name, response_metadata=beside)
