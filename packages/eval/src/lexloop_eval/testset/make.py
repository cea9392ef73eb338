"""A test set: cases dealt evenly over the types, without repetition, tied to their evidence.

Rules make types from facts (``facts.py``). A model writes questions on random passages, and their
evidence is located in the documents.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random

import numpy as np
from pydantic import BaseModel, Field

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.types import Chunk
from lexloop.documents.reading.workers import Progress, silent
from lexloop.documents.text.tokens import find_quote, tokenize
from lexloop.models.embedding import Vectors
from lexloop.models.request import Chat
from lexloop.prompts import Data
from lexloop.store.view import View
from lexloop_eval.asking import Asker, prompted, questions_of
from lexloop_eval.case import OUT_OF_SCOPE, Case, Said, Span
from lexloop_eval.score import Unresolved

QUESTION_TYPES: dict[str, str] = {
    "simple": "needs one idea or fact of the documents",
    "complex": "asks for one fact in detail, so that retrieval must be specific",
    "distracting element": "carries a remark that has nothing to do with what is asked",
    "situational": "says who asks, or why, before it asks",
    "double": "asks two distinct things at once",
    "conversational": "makes sense only after the earlier turns of a conversation",
    "complex_situational": "gives a situation and asks a question and a further one about it",
    OUT_OF_SCOPE: "sounds on-topic, but the documents hold no answer",
    "vague": "leaves out what would make it precise",
    "compare": "asks how two things differ and what they share",
    "rule_conclusion": "describes a case and asks what the rules make of it",
}
"""The eleven types of questions (HyPA-RAG, appendix A.3, table 4), and what each asks."""
MOST_SHARED = 0.8
"""Minimum Jaccard similarity of the stems of equal questions."""
MOST_COSINE = 0.96
"""Minimum cosine of the embeddings of equal questions."""
REACH = 10
"""How deep retrieval may look for the evidence: chunks by BM25 and as many by cosine."""
Maker = Callable[[str, int], Sequence[Case]]


def chosen_types(
    names: Sequence[str], known: Sequence[str] = tuple(QUESTION_TYPES)
) -> tuple[str, ...]:
    """Return the types of these names in the order of the table, or all possible ones for none.

    Hyphens, underscores and blanks are equal: ``out-of-scope`` is ``out of scope``.

    Args:
        names: Names as a user writes them.
        known: The types that can be made. Without a model, some are missing.

    Raises:
        InputError: A type is unknown, or cannot be made.
    """
    types = {_plain(name): name for name in QUESTION_TYPES}
    for name in names:
        if _plain(name) not in types:
            listed = ", ".join(QUESTION_TYPES)
            raise InputError(f"There is no question type {name!r}.", f"Types: {listed}.")
        if types[_plain(name)] not in known:
            raise InputError(f"Rules make no question of type {name!r}.", "A model does: --model.")
    chosen = {types[_plain(name)] for name in names} or set(known)
    return tuple(name for name in QUESTION_TYPES if name in chosen)


def _plain(name: str) -> str:
    return " ".join(name.strip().lower().replace("_", " ").replace("-", " ").split())


def made_case(
    view: View,
    question_type: str,
    question: str,
    answer: str,
    spans: Sequence[Span],
    *,
    turns: Sequence[str] = (),
) -> Case:
    """Return a case without an id, with its evidence as context.

    Args:
        view: The documents.
        question_type: One of the table's types.
        question: The question as it is asked.
        answer: The reference answer.
        spans: The evidence, empty for a question out of scope.
        turns: Earlier turns of user and assistant, alternating.
    """
    quotes = ((view.text_of(span.document) or "")[span.start : span.end] for span in spans)
    history = [
        Said(role="assistant" if turn % 2 else "user", content=text)
        for turn, text in enumerate(turns)
    ]
    return Case(
        question=question,
        question_type=question_type,
        reference_answer=answer,
        reference_context="\n\n".join(quotes),
        conversation_history=tuple(history),
        evidence=tuple(spans),
    )


@dataclass
class MadeSet:
    """The questions that were made, and the number left out.

    Args:
        questions: In the order of their types.
        shortfall: The number of each type that is missing from an even share, if any.
        repeated: The number left out because they repeat another.
        unconnected: The number left out because retrieval finds none of their evidence.
    """

    questions: list[Case] = field(default_factory=list)
    shortfall: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    unconnected: int = 0


def make_test_set(
    view: View,
    maker: Maker,
    n: int,
    types: Sequence[str],
    progress: Progress = silent,
) -> MadeSet:
    """Make ``n`` questions, or as many as the documents allow.

    The types take turns, so that each gets an even share. If a type cannot fill its share, others
    do, and this is reported. Questions on the least used evidence come first.

    Args:
        view: The documents.
        maker: Returns the candidates of a type, in order of preference, given the number wanted.
        n: The number of questions.
        types: The types of questions.
        progress: Called with the number of finished questions and ``n``.

    Raises:
        InputError: ``n`` is less than 1.
        CorpusError: Not a single question could be made.
    """
    if n < 1:
        raise InputError(f"n is {n}.", "Ask for at least 1 question.")
    made_set, shares = MadeSet(), even_shares(n, types)
    chosen: dict[str, list[Case]] = {kind: [] for kind in types}
    candidates: dict[str, list[Case]] = {}
    used, repeats, count = Counter[Span](), Repeats(), 0
    turns = deque(types)
    while turns and count < n:
        kind = turns.popleft()
        if kind not in candidates:
            candidates[kind] = list(maker(kind, shares[kind]))
        case = _next(candidates[kind], used, lambda case: _takes(case, view, repeats, made_set))
        if case is not None:
            chosen[kind].append(case)
            used.update(case.evidence or ())
            count += 1
            progress("questions", count, n)
            turns.append(kind)
    made_set.shortfall = {
        kind: share - len(chosen[kind])
        for kind, share in shares.items()
        if len(chosen[kind]) < share
    }
    made_set.questions = [
        case.model_copy(update={"id": f"{_plain(kind).replace(' ', '-')}-{number:02d}"})
        for kind in types
        for number, case in enumerate(chosen[kind], start=1)
    ]
    if not made_set.questions:
        raise CorpusError(
            "No question could be made of the documents.",
            "They hold too little text, or none with provisions in English; with --model a model "
            "asks.",
        )
    return made_set


def even_shares(n: int, types: Sequence[str]) -> dict[str, int]:
    """Return ``n`` over the types, the first ones getting what does not divide."""
    base, more = divmod(n, len(types))
    return {kind: base + (place < more) for place, kind in enumerate(types)}


def _next(
    candidates: list[Case], used: Mapping[Span, int], takes: Callable[[Case], bool]
) -> Case | None:
    """Remove candidates up to the first that can be taken, and return this."""

    def wear(place: int) -> int:
        return sum(used[span] for span in candidates[place].evidence or ())

    while candidates:
        case = candidates.pop(min(range(len(candidates)), key=wear))
        if takes(case):
            return case
    return None


def _takes(case: Case, view: View, repeats: "Repeats", made_set: MadeSet) -> bool:
    """Take a question unless it leads nowhere or repeats another, which is counted."""
    if not is_connected(case, view):
        made_set.unconnected += 1
        return False
    text = case.whole_question
    is_new = repeats.take(text, view.embed([text])[0])
    made_set.repeated += not is_new
    return is_new


def is_connected(case: Case, view: View) -> bool:
    """Return whether retrieval finds any of the evidence at all.

    Some chunk that overlaps the evidence must be among the ten best by BM25 or among the ten best
    by cosine for the question with its history. A question without evidence is connected to
    nothing, and rightly so.
    """
    spans = case.evidence or ()
    if not spans:
        return True
    if not all(
        (view.text_of(span.document) or "")[span.start : span.end].strip() for span in spans
    ):
        return False
    texts = [case.whole_question]
    hits = [*view.search_lexical(texts, REACH)[0], *view.search_vector(texts, REACH)[0]]
    return any(
        span.document == chunk["document"]
        and span.start < chunk["end"]
        and chunk["start"] < span.end
        for chunk in view.chunks(list(dict.fromkeys(hit.chunk_id for hit in hits)))
        for span in spans
    )


class Repeats:
    """The questions taken so far.

    A question repeats another when the Jaccard similarity of their stems is at least 0.8, or when
    the cosine of their embeddings is at least 0.96.
    """

    def __init__(self) -> None:
        self._stems: list[frozenset[str]] = []
        self._vectors: list[Vectors] = []

    def take(self, question: str, vector: Vectors) -> bool:
        """Take a question unless it repeats one; return whether it was taken.

        Args:
            question: With what its user said before.
            vector: Its embedding, of unit length.
        """
        stems = frozenset(tokenize(question))
        shared = (len(stems & other) / max(1, len(stems | other)) for other in self._stems)
        if any(share >= MOST_SHARED for share in shared):
            return False
        if self._vectors and float(np.max(np.stack(self._vectors) @ vector)) >= MOST_COSINE:
            return False
        self._stems.append(stems)
        self._vectors.append(vector)
        return True


_OF_TWO = ("double", "compare", "complex_situational")
_EXTRA, _SPARE = 1.4, 2
_FEWEST_CHARS = 120


class WrittenQuestion(BaseModel):
    """A question with its answer and its evidence, as the model writes it."""

    question: str = Field(min_length=8)
    answer: str = Field(min_length=1)
    quotes: list[str] = []
    history_user: str = ""
    history_assistant: str = ""


class ModelMaker:
    """Asks a model for questions about passages drawn at random.

    Args:
        view: The documents.
        asker: Asks the model and keeps its replies.
        seed: Of the passages drawn.
    """

    def __init__(self, view: View, asker: Asker, seed: int) -> None:
        self._view, self._asker, self._seed = view, asker, seed
        self._chunks = list(view.every_chunk())
        self.failed = 0

    def __call__(self, question_type: str, wanted: int) -> Sequence[Case]:
        """Return rather more questions of a type than are wanted, all with evidence that was found.

        Raises:
            ModelUnavailable: The first replies all came to nothing.
        """
        drawn = self._drawn(question_type, math.ceil(wanted * _EXTRA) + _SPARE)
        ask = partial(_writing, self._asker, question_type)
        replies = list(questions_of(self._asker, ask, drawn))
        self.failed += sum(isinstance(reply, Unresolved) for reply in replies)
        cases = [
            case_of(reply, question_type, chunks, self._view)
            for reply, chunks in zip(replies, drawn, strict=True)
            if not isinstance(reply, Unresolved)
        ]
        return [case for case in cases if case is not None]

    def _drawn(self, question_type: str, count: int) -> list[list[Chunk]]:
        rng = Random(f"{self._seed}:{question_type}")  # noqa: S311 - a choice, no secret
        own = [chunk for chunk in self._chunks if len(chunk["text"]) >= _FEWEST_CHARS]
        own = own or self._chunks
        per_question = 2 if question_type in _OF_TWO and len(own) > 1 else 1
        sets: list[list[Chunk]] = []
        deck: list[Chunk] = []
        while len(sets) < count and len(sets) < 3 * len(own):
            if len(deck) < per_question:
                deck = rng.sample(own, len(own))
            sets.append([deck.pop() for _ in range(per_question)])
        return sets


async def _writing(chat: Chat, question_type: str, chunks: Sequence[Chunk]) -> WrittenQuestion:
    number = list(QUESTION_TYPES).index(question_type) + 1
    passages = [Data("passage", chunk["text"], n) for n, chunk in enumerate(chunks, start=1)]
    return await prompted(chat, "make_question", WrittenQuestion, number=number, passages=passages)


def case_of(
    reply: WrittenQuestion, question_type: str, chunks: Sequence[Chunk], view: View
) -> Case | None:
    """Return the reply as a case, or None if a quote is missing or not in the passages."""
    located = [span for quote in reply.quotes if (span := _located(quote, chunks))]
    nowhere = question_type == OUT_OF_SCOPE
    if not nowhere and (not located or len(located) < len(reply.quotes)):
        return None
    turns: tuple[str, ...] = ()
    if question_type == "conversational":
        if not reply.history_user.strip():
            return None
        assistant = reply.history_assistant.strip() or "What would you like to know about it?"
        turns = reply.history_user.strip(), assistant
    spans = () if nowhere else tuple(dict.fromkeys(located))
    question, answer = reply.question.strip(), reply.answer.strip()
    return made_case(view, question_type, question, answer, spans, turns=turns)


def _located(quote: str, chunks: Sequence[Chunk]) -> Span | None:
    """Return the place of a quote; blanks and line breaks may differ."""
    for chunk in chunks:
        if bounds := find_quote(quote, chunk["text"]):
            start, end = bounds
            return Span(
                document=chunk["document"],
                start=chunk["start"] + start,
                end=chunk["start"] + end,
                section=chunk["section"],
            )
    return None
