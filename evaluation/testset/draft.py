"""A question that was made, before it is checked against its like and against retrieval."""

from collections.abc import Sequence
from dataclasses import dataclass

from lexloop.evaluation.case import Case, Said, Span
from lexloop.evaluation.testset.facts import Fact
from lexloop.evaluation.testset.material import Material


@dataclass(frozen=True)
class Draft:
    """A question with its answer.

    Args:
        question: As it is asked.
        question_type: One of ``QUESTION_TYPES``.
        answer: The reference answer.
        spans: The evidence; empty for a question out of scope.
        history: The turns before.
        spare: Taken only where nothing better is left.
    """

    question: str
    question_type: str
    answer: str
    spans: tuple[Span, ...]
    history: tuple[Said, ...] = ()
    spare: bool = False

    @property
    def whole(self) -> str:
        """The question behind what its user said before."""
        return " ".join([*(said.content for said in self.history if said.role == "user"),
                         self.question])  # fmt: skip

    def as_gold(self, name: str, material: Material) -> Case:
        """The question in the form of a gold file; its context is what its evidence holds."""
        return Case(
            id=name,
            question=self.question,
            question_type=self.question_type,
            reference_answer=self.answer,
            reference_context="\n\n".join(material.quote(span) for span in self.spans),
            conversation_history=self.history,
            evidence=self.spans,
        )


def asked_of(fact: Fact, question_type: str, question: str, *history: str) -> Draft:
    """A draft that one fact answers; ``history`` is what user and assistant said in turn."""
    return asked_of_all([fact], question_type, question, *history)


def asked_of_all(facts: Sequence[Fact], question_type: str, question: str, *history: str) -> Draft:
    """A draft that takes several facts to answer."""
    spans = dict.fromkeys(span for fact in facts for span in fact.spans)
    said = [
        Said(role="assistant" if turn % 2 else "user", content=text)
        for turn, text in enumerate(history)
    ]
    answer = " ".join(dict.fromkeys(fact.answer for fact in facts))
    spare = all(fact.kind == "alias" for fact in facts)
    return Draft(question, question_type, answer, tuple(spans), tuple(said), spare)
