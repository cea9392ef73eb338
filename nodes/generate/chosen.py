"""The choice between a model's draft and the embedded one, by the embedded judge."""

from lexloop.core.errors import tell_loss
from lexloop.core.types import Advice, Draft, ParsedQuestion, Passage, Pointed, Triplet
from lexloop.nodes.context import Generator, Judge


class ChosenGenerator:
    """A generator by a model, whose draft yields to the embedded one's if that is better.

    It does if the judge finds less than half of it supported by the passages, and more of the
    other. On answers of seven systems to LL144's questions that keeps .71 of those that were
    judged correct and .34 of the rest: ``python benchmarks/drafts.py``. A model that abstains
    does so.

    Args:
        model: Writes the draft that is wanted.
        embedded: Writes the other, by quoting.
        judge: Says of both how far the passages support them.
        least: The share that must be supported for the model's to stand unasked.
    """

    def __init__(self, model: Generator, embedded: Generator, judge: Judge, least: float) -> None:
        self._model, self._embedded = model, embedded
        self._judge, self._least = judge, least
        self.instructions = model.instructions

    async def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Return the better of both drafts; one that is not the model's is told as a loss."""
        given = (question, passages, triplets, advice, pointed)
        written = await self._model.generate(*given)
        if written["abstained"]:
            return written
        supported = await self._supported(question, passages, written)
        if supported >= self._least:
            return written
        quoted = await self._embedded.generate(*given)
        if quoted["abstained"]:
            return written
        better = await self._supported(question, passages, quoted)
        if better <= supported:
            return written
        told = f"Of the model's draft the passages support {supported:.2f}, of quotes {better:.2f}."
        tell_loss("the model's draft", "embedded", told)
        return quoted

    async def _supported(
        self, question: ParsedQuestion, passages: list[Passage], draft: Draft
    ) -> float:
        judged = await self._judge.judge(question, passages, draft["answer"], draft["answers"])
        return judged.groundedness or 0.0
