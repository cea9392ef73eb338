"""Metrics of question, context and answer without a model: HyPA-RAG 5.2 and LQ-RAG's triad."""

from typing import Any

from lexloop.core.score import Score, Unresolved
from lexloop.core.types import Passage
from lexloop.evaluation.case import Case
from lexloop.evaluation.metrics import hypa
from lexloop.evaluation.run.judges import Kit
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of
from lexloop.nodes.evaluate.support import claims_of

SUPPORTED = 0.5
"""A claim that is more probably supported than not counts as inferred."""
_TRIAD = ("answer_relevance", "context_relevance", "groundedness")


def of_the_context(gold: Case, question: str, state: dict[str, Any], kit: Kit) -> dict[str, Score]:
    """The triad, faithfulness, context recall and context precision.

    The same judges score every row, whatever evaluated its answers itself.

    Args:
        gold: Its reference answer makes the claims of context recall and precision.
        question: As it is to be understood: a follow-up in its standalone form.
        state: The graph's working state.
        kit: The judges.
    """
    passages: list[Passage] = state["passages"]
    key = state["answer"], tuple(passage["id"] for passage in passages)
    about_answer = kit.once.get(
        ("answer", question, kit.view, *key),
        lambda: _of_the_answer(question, state, kit),
    )
    about_reference = kit.once.get(
        ("context", gold.reference_answer, kit.view, key[1]),
        lambda: _of_the_reference(gold, passages, kit),
    )
    return {**about_answer, **about_reference}


def _of_the_answer(question: str, state: dict[str, Any], kit: Kit) -> dict[str, Score]:
    passages: list[Passage] = state["passages"]
    if state["abstained"]:
        return dict.fromkeys((*_TRIAD, "faithfulness"), Unresolved("the answer is an abstention"))
    if not passages:
        return dict.fromkeys((*_TRIAD, "faithfulness"), Unresolved("no passage was retrieved"))
    triad = kit.triad(question, passages, state["answer"])
    claims = claims_of(state["answer"])
    support = kit.support.of(claims, _evidence(passages, kit))
    inferred = [one.probability >= SUPPORTED for one in support]
    return {
        **{name: _score(triad, name) for name in _TRIAD},
        "faithfulness": hypa.faithfulness(inferred),
    }


def _score(triad: Judgement, name: str) -> Score:
    score: float | None = getattr(triad, name)
    return Unresolved("the judge gave no score") if score is None else score


def _of_the_reference(gold: Case, passages: list[Passage], kit: Kit) -> dict[str, Score]:
    names = ("context_recall", "context_precision")
    if gold.out_of_scope:
        return dict.fromkeys(names, Unresolved("out of scope: nothing is relevant"))
    claims = claims_of(gold.reference_answer or "")
    if not claims:
        return dict.fromkeys(names, Unresolved("the gold record has no reference answer"))
    if not passages:
        return dict.fromkeys(names, Unresolved("no passage was retrieved"))
    attributed = kit.support.of(claims, _evidence(passages, kit))
    relevant = [_bears_on(claims, passage, kit) for passage in passages]
    return {
        "context_recall": hypa.context_recall([s.probability >= SUPPORTED for s in attributed]),
        "context_precision": hypa.context_precision(relevant),
    }


def _bears_on(claims: list[str], passage: Passage, kit: Kit) -> bool:
    """Whether a passage alone supports any claim."""

    def judged() -> bool:
        support = kit.support.of(claims, _evidence([passage], kit))
        return any(one.probability >= SUPPORTED for one in support)

    return kit.once.get(("bears on", tuple(claims), passage["text"]), judged)


def _evidence(passages: list[Passage], kit: Kit) -> Evidence:
    texts = tuple(passage["text"] for passage in passages)
    return kit.once.get(("evidence", texts), lambda: evidence_of(list(texts), kit.embed))
