"""What a model says of answers: its metrics, and FairEval and ChatEval, each also by a document."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from lexloop.core.score import Score, Unresolved
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.eval_rag.answers import Answer
from lexloop.evaluation.eval_rag.index import Found
from lexloop.evaluation.judges_by_model import chat_eval, fair_eval
from lexloop.evaluation.model_metrics import Embed, model_metrics
from lexloop.models.request import Chat
from lexloop.nodes.markers import without_markers

MOST_TOGETHER = 8
"""The most answers to one question that a model compares in one call."""
_Panel = Callable[[Chat, str, Sequence[str], str | None], Coroutine[Any, Any, list[float]]]
_PANELS: dict[str, _Panel] = {"model_fair_eval": fair_eval, "model_chat_eval": chat_eval}


class ModelScores:
    """Has a model judge the answers to one question, beside each other where there are several.

    Args:
        asker: Asks the model, and keeps its replies.
        embed: Vectors of texts.
    """

    def __init__(self, asker: Asker, embed: Embed) -> None:
        self._asker, self._embed = asker, embed

    def of(
        self, question: str, answers: Sequence[Answer], found: Found | Unresolved
    ) -> list[dict[str, Score]]:
        """Every score of each answer, by name, in the order of the answers.

        FairEval and ChatEval (Eval-RAG, section 2) score from 1 to 10: under ``model_fair_eval``
        and ``model_chat_eval`` without a document, under the same with ``_document`` with it.

        Args:
            question: To which all answers are.
            answers: By one or more systems, at most ``MOST_TOGETHER``.
            found: The document that Eval-RAG's index gives for the question.

        Raises:
            ModelError: No further question could be asked.
        """
        panels = self._panels(question, answers, found)
        return [
            {
                **model_metrics(
                    self._asker,
                    self._embed,
                    question=question,
                    answer=answer.answer,
                    reference=answer.reference_answer,
                    contexts=list(answer.contexts or ()),
                ),
                **{name: scores[place] for name, scores in panels.items()},
            }
            for place, answer in enumerate(answers)
        ]

    def _panels(
        self, question: str, answers: Sequence[Answer], found: Found | Unresolved
    ) -> dict[str, list[Score]]:
        said = [without_markers(answer.answer) for answer in answers]
        scores: dict[str, list[Score]] = {}
        for name, panel in _PANELS.items():
            scores[name] = self._asked(panel(self._asker, question, said, None), len(said))
            scores[f"{name}_document"] = (
                [found] * len(said)
                if isinstance(found, Unresolved)
                else self._asked(
                    panel(self._asker, question, said, found.authority.text), len(said)
                )
            )
        return scores

    def _asked(self, work: Coroutine[Any, Any, list[float]], count: int) -> list[Score]:
        given = self._asker.settle(work)
        return [given] * count if isinstance(given, Unresolved) else [*given]
