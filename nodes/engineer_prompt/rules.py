"""The embedded prompt engineer: what to change follows from which score was low."""

from lexloop.core.types import Advice, Attempt, Evaluation
from lexloop.models.dialogue import unassisted
from lexloop.nodes.question import question_parts

_GUIDANCE = {
    "answer_relevance": "Answer the question itself, part by part, and leave out the rest.",
    "context_relevance": "Use only passages that speak of what is asked.",
    "groundedness": "Stay with the words of the passages; leave out what they do not say.",
}


class RuleEngineer:
    """Advises without a model."""

    @unassisted
    def advise(self, asked: str, attempts: list[Attempt]) -> Advice:
        """Simplify the question on the first retry, search for its keywords on the second.

        The question itself is put to its bare parts (LQ-RAG: simplified, its meaning kept); a
        retrieval that missed is also broadened.
        """
        last = attempts[-1]
        weak = weakest(last["evaluation"])
        missed = last["abstained"] or weak == "context_relevance"
        simplified = " ".join(question_parts(asked)) or asked
        queries = last["keywords"] if len(attempts) > 1 or missed else []
        return {
            "question": asked if last["abstained"] else simplified,
            "queries": queries,
            "guidance": _GUIDANCE[weak],
            "broaden": missed,
        }


def weakest(evaluation: Evaluation) -> str:
    """The score that failed worst; unverified citations are a failure of groundedness."""
    if not evaluation["citations_verified"]:
        return "groundedness"
    scores = {
        "context_relevance": evaluation["context_relevance"],
        "answer_relevance": evaluation["answer_relevance"],
        "groundedness": evaluation["groundedness"],
    }
    return min(scores, key=lambda name: -1.0 if scores[name] is None else float(scores[name] or 0))
