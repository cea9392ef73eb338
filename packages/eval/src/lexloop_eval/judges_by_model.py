"""Judges by a chat model, each with one prompt, one reply form and one score, and their metrics.

A number given as text, a truth value given as a number, an extra verdict or a score outside its
scale is not a reply: the model is asked once more, and then there is a ``ModelError``, not a score.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from statistics import fmean
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StrictInt, create_model

from lexloop.core.settings_groups import Rubrics
from lexloop.core.types import ABSTENTION
from lexloop.models.embedding import Embed
from lexloop.models.request import Chat
from lexloop.nodes.evaluate.judges import JudgeReply
from lexloop.nodes.markers import without_markers
from lexloop.nodes.question.parts import parse
from lexloop.prompts import Data, Value
from lexloop_eval.asking import Asker, prompted
from lexloop_eval.metrics import retrieval
from lexloop_eval.metrics.text import cosine
from lexloop_eval.rubrics import RULES, Graded
from lexloop_eval.score import Score, Unresolved, resolved

Values = dict[str, Value]
_MOST_CLAIMS = 40
_QUESTIONS = 3
"""N of HyPA-RAG's formula; the paper leaves it open, and Ragas, which it uses, takes three."""
Method = Literal["general", "criteria", "examples"]
"""HyPA-RAG A.7, methods 1 to 3: a general scale; a criterion per grade; with an example per grade,
a checklist and edge cases."""
METHODS: tuple[Method, ...] = get_args(Method)
SPEAKERS = 4
"""A member of the public, a critic, a lawyer and an ethicist: the panel in the prompts."""
ROUNDS = 2


TenPoint = Annotated[float, Field(strict=True, ge=1.0, le=10.0, allow_inf_nan=False)]
Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


# the names and docstrings of these are part of the schema, by which replies are kept
class Verdict(BaseModel):
    """Yes or no on item ``n``, after its reasoning."""

    n: StrictInt
    reasoning: str = ""
    verdict: StrictBool


class Verdicts(BaseModel):
    """One verdict on each numbered item, in the order of the numbers."""

    verdicts: list[Verdict]


class Claims(BaseModel):
    """The claims of a text, each understood by itself."""

    claims: Annotated[list[Words], Field(max_length=_MOST_CLAIMS)]


class Questions(BaseModel):
    """The questions that an answer would fit."""

    questions: Annotated[list[Words], Field(min_length=_QUESTIONS, max_length=_QUESTIONS)]


class CorrectOrNot(BaseModel):
    """Whether an answer is correct, after the reasoning."""

    reasoning: str = ""
    correct: StrictBool


class ScoredEvidence(BaseModel):
    """One piece of evidence: reasoning, then a score for each answer."""

    reasoning: str = ""
    scores: list[TenPoint]


class EvidenceReply(BaseModel):
    """Several pieces of evidence in one reply."""

    evidence: list[ScoredEvidence]


class PanelTurn(BaseModel):
    """The turn of one agent of a panel: its opinion, and its score for each answer."""

    remark: Words
    scores: list[TenPoint]


def number(kind: str, texts: Iterable[str]) -> list[Data]:
    """Return texts by others as data, numbered from 1: verdicts and scores refer to these."""
    return [Data(kind, text, n) for n, text in enumerate(texts, start=1)]


@dataclass(frozen=True)
class Given:
    """An answer to judge.

    Args:
        question: The question as it is to be understood: a follow-up in its standalone form.
        answer: The answer with its [n] markers.
        reference: The right answer, or empty if it is unknown.
        contexts: The texts of the passages in rank order, so that marker [n] names the n-th.
        embed: Embeds texts, for answer relevancy.
        rubrics: The rubrics to judge by.
    """

    question: str
    answer: str
    reference: str
    contexts: Sequence[str]
    embed: Embed
    rubrics: Rubrics = "hardened"

    @property
    def said(self) -> str:
        """The answer without its markers."""
        return without_markers(self.answer)

    @property
    def right(self) -> str:
        """The reference without the blanks around it."""
        return self.reference.strip()


async def faithfulness(chat: Chat, given: Given) -> Score:
    """Return the share of the answer's claims that the passages support (HyPA-RAG, 5.2).

    It takes two calls: the claims are fixed before any passage is seen, so the denominator does
    not depend on what was retrieved.
    """
    return retrieval.borne_out(
        await borne_out(chat, given.question, given.said, given.contexts), "answer"
    )


async def context_recall(chat: Chat, given: Given) -> Score:
    """Return the share of the reference's claims that the passages bear out."""
    return retrieval.borne_out(
        await borne_out(chat, given.question, given.right, given.contexts), "reference"
    )


async def borne_out(chat: Chat, question: str, text: str, contexts: Sequence[str]) -> list[bool]:
    """Return for each claim of a text whether the passages support it.

    An abstention claims nothing. Without passages no claim is supported, and the model is not
    asked.
    """
    if text.strip() in ("", ABSTENTION):
        return []
    split = await prompted(
        chat, "split_claims", Claims, question=question, text=text, limit=_MOST_CLAIMS
    )
    claims = [claim.strip() for claim in split.claims]
    if not claims or not contexts:
        return [False] * len(claims)
    reply = await prompted(
        chat,
        "attribute_claims",
        verdicts_on(len(claims)),
        passages=number("passage", contexts),
        claims=number("claim", claims),
        count=len(claims),
    )
    return [verdict.verdict for verdict in reply.verdicts]


async def context_precision(chat: Chat, given: Given) -> Score:
    """Return whether the passages that support the reference come first (HyPA-RAG, 5.2)."""
    reply = await prompted(
        chat,
        "context_precision",
        verdicts_on(len(given.contexts)),
        question=given.question,
        reference=given.right,
        passages=number("passage", given.contexts),
        count=len(given.contexts),
    )
    return retrieval.context_precision([verdict.verdict for verdict in reply.verdicts])


async def answer_relevancy(chat: Chat, given: Given) -> Score:
    """Return the mean cosine of the questions that the answer would fit to the one that was asked.

    The model never sees the original question, which it could only repeat (HyPA-RAG, section 5.2).
    """
    reply = await prompted(
        chat, "questions_of_answer", Questions, answer=given.said, count=_QUESTIONS
    )
    question_vector, *vectors = given.embed(
        [given.question, *(text.strip() for text in reply.questions)]
    )
    scores = [cosine(vector, question_vector) for vector in vectors]
    return next(
        filter(lambda score: isinstance(score, Unresolved), scores), fmean(resolved(scores))
    )


async def correctness(chat: Chat, given: Given, method: Method) -> Score:
    """Return how correct an answer is, from 1 to 5 (HyPA-RAG, A.7)."""
    return await _graded(chat, f"correctness_{method}", RULES[given.rubrics].grade, given)


async def correct_or_not(chat: Chat, given: Given) -> Score:
    """Return 1 if an answer is correct, else 0: Giskard's judge, which HyPA-RAG compares (5.3)."""
    values: Values = {"question": given.question, "reference": given.right, "answer": given.said}
    return float((await prompted(chat, "correctness_binary", CorrectOrNot, **values)).correct)


async def similarity_tenths(chat: Chat, given: Given) -> Score:
    """Return how much an answer is like the reference, in parts and whole (Adobe, appendix B)."""
    return await _graded(chat, "similarity_tenths", RULES[given.rubrics].tenths, given)


async def groundedness_tenths(chat: Chat, given: Given) -> Score:
    """Return how far an answer rests on its passages, in tenths of 1 (Adobe, appendix B)."""
    passages, form = number("passage", given.contexts), RULES[given.rubrics].tenths
    values: Values = {"passages": passages, "answer": given.said}
    return (await prompted(chat, "groundedness_tenths", form, given.rubrics, **values)).score


async def _triad(chat: Chat, given: Given) -> JudgeReply:
    """LQ-RAG's three scores (section III), which come in one reply."""
    text, passages = parse(given.question)["text"], number("passage", given.contexts)
    values: Values = {"question": text, "passages": passages, "answer": given.answer}
    return await prompted(chat, "evaluate", JudgeReply, given.rubrics, **values)


async def _graded(chat: Chat, name: str, form: type[Graded], given: Given) -> float:
    values = {"question": given.question, "reference": given.right, "answer": given.said}
    return (await prompted(chat, name, form, given.rubrics, **values)).score


@cache
def verdicts_on(count: int) -> type[Verdicts]:
    """Return the form of verdicts on items 1 to ``count``: on each one, and on no other."""

    def complete(verdicts: list[Verdict]) -> list[Verdict]:
        ordered = sorted(verdicts, key=lambda verdict: verdict.n)
        if [verdict.n for verdict in ordered] != list(range(1, count + 1)):
            raise ValueError(f"give exactly one verdict for each n from 1 to {count}")
        return ordered

    field = Annotated[list[Verdict], AfterValidator(complete)]
    return create_model(f"VerdictsOn{count}", __base__=Verdicts, verdicts=(field, ...))


async def fair_eval(
    chat: Chat,
    question: str,
    answers: Sequence[str],
    document: str | None = None,
    rubrics: Rubrics = "hardened",
) -> list[float]:
    """Return scores from 1 to 10, one per answer, with or without a document (Eval-RAG, section 2).

    In the hardened form, every answer appears once in every place: two answers are judged in both
    orders, which cancels the effect of the place. A score is the mean over orders and pieces. The
    pieces come in one structured reply, each reasoned before its scores: separate calls would have
    to be sampled to differ, while judges run at temperature 0 and replies are cached by content.

    Args:
        chat: The model.
        question: The question.
        answers: One or more answers, by different systems.
        document: The law to judge by. None leaves the model to its own knowledge.
        rubrics: The rubrics to judge by.
    """
    scores_of: list[list[float]] = [[] for _ in answers]
    (name, shown), rules = _prompt_for("fair_eval", document), RULES[rubrics]
    for first in range(len(answers))[: None if rules.every_order else 1]:
        order = [*range(first, len(answers)), *range(first)]
        numbered = number("answer", [answers[i] for i in order])
        schema = evidence_on(len(answers), rules.pieces)
        values: Values = {"question": question, "answers": numbered, "pieces": rules.pieces}
        reply = await prompted(chat, name, schema, rubrics, **values, **shown)
        for place, answer in enumerate(order):
            scores_of[answer] += [piece.scores[place] for piece in reply.evidence]
    return [fmean(scores) for scores in scores_of]


def _prompt_for(name: str, document: str | None) -> tuple[str, dict[str, str]]:
    """The prompt's name with or without a document, and what to render it with besides."""
    return (name, {}) if document is None else (f"{name}_document", {"document": document})


@cache
def evidence_on(answers: int, pieces: int) -> type[EvidenceReply]:
    """Return the form of so many pieces of evidence, each with just one score per answer."""

    def complete(pieces: list[ScoredEvidence]) -> list[ScoredEvidence]:
        if any(len(piece.scores) != answers for piece in pieces):
            raise ValueError(f"give exactly {answers} scores in each, one per answer")
        return pieces

    several = Annotated[
        list[ScoredEvidence], Field(min_length=pieces, max_length=pieces), AfterValidator(complete)
    ]
    return create_model(f"EvidenceOn{answers}", __base__=EvidenceReply, evidence=(several, ...))


async def chat_eval(
    chat: Chat,
    question: str,
    answers: Sequence[str],
    document: str | None = None,
    rubrics: Rubrics = "hardened",
) -> list[float]:
    """Return scores from 1 to 10, one per answer, by agents with roles who discuss them in turns.

    Each agent speaks once per round and hears every earlier remark, but no scores, which would
    influence its own. A score is the mean of the agents' scores in the last round. The arguments
    are those of ``fair_eval``.
    """
    if not answers:
        return []
    remarks: list[Data] = []
    turns: list[PanelTurn] = []
    name, shown = _prompt_for("chat_eval", document)
    numbered, schema = number("answer", answers), turn_on(len(answers))
    for speaker in [*range(1, SPEAKERS + 1)] * ROUNDS:
        turn = await prompted(
            chat,
            name,
            schema,
            rubrics,
            speaker=speaker,
            question=question,
            answers=numbered,
            remarks=remarks,
            **shown,
        )
        remarks = [*remarks, Data("remark", turn.remark, speaker)]
        turns.append(turn)
    scores = [turn.scores for turn in turns[-SPEAKERS:]]
    return [fmean(of_one) for of_one in zip(*scores, strict=True)]


@cache
def turn_on(answers: int) -> type[PanelTurn]:
    """Return the form of a turn with just one score per answer."""
    scores = Annotated[list[TenPoint], Field(min_length=answers, max_length=answers)]
    return create_model(f"TurnOn{answers}", __base__=PanelTurn, scores=(scores, ...))


Need = Literal["answer", "statement", "passages", "reference"]
_SINGLE: dict[str, tuple[tuple[Need, ...], Callable[[Chat, Given], Coroutine[Any, Any, Score]]]] = {
    "model_faithfulness": (("statement", "passages"), faithfulness),
    "model_answer_relevancy": (("statement",), answer_relevancy),
    "model_context_precision": (("reference", "passages"), context_precision),
    "model_context_recall": (("reference", "passages"), context_recall),
    **{
        f"model_correctness_{method}": (
            ("answer", "reference"), partial(correctness, method=method),
        )
        for method in METHODS
    },
    "model_correct_or_not": (("answer", "reference"), correct_or_not),
    "model_groundedness_tenths": (("statement", "passages"), groundedness_tenths),
    "model_similarity_tenths": (("answer", "reference"), similarity_tenths),
}  # fmt: skip
_TRIAD: dict[str, tuple[Need, ...]] = {
    "answer_relevance": ("statement",),
    "context_relevance": ("statement", "passages"),
    "groundedness": ("statement", "passages"),
}


def model_metrics(asker: Asker, given: Given) -> dict[str, Score]:
    """Return every metric that a model judges, by its name in records and tables.

    Metrics are independent: a failed call affects only its own. A metric that lacks its input is
    unresolved without asking the model: a reference, passages, or a statement instead of an
    abstention.

    Raises:
        ModelAuthError: The host refused the key.
        ModelError: The host does not know the model.
        DataError: The file of cached replies is damaged or full.
    """
    missing = _missing(given)

    def lacking(needs: tuple[Need, ...]) -> Unresolved | None:
        return next((missing[need] for need in needs if need in missing), None)

    scores: dict[str, Score] = {}
    for name, (needs, ask) in _SINGLE.items():
        lacked = lacking(needs)
        scores[name] = asker.settle(ask(asker, given)) if lacked is None else lacked
    reasons = {name: lacking(needs) for name, needs in _TRIAD.items()}
    reply: JudgeReply | Unresolved = Unresolved("nobody was asked")
    if not all(reasons.values()):
        reply = asker.settle(_triad(asker, given))
    for name, why in reasons.items():
        score = reply if isinstance(reply, Unresolved) else getattr(reply, name).score
        scores[f"model_{name}"] = why or score
    return scores


def _missing(given: Given) -> dict[Need, Unresolved]:
    """Return why metrics are unresolved, by the input that is missing."""
    missing: dict[Need, Unresolved] = {}
    if not given.said.strip():
        missing["answer"] = missing["statement"] = Unresolved("there is no answer")
    elif given.said.strip() == ABSTENTION:
        missing["statement"] = Unresolved("the answer is an abstention")
    if not given.contexts:
        missing["passages"] = Unresolved("no passage was retrieved")
    if not given.right:
        missing["reference"] = Unresolved("there is no reference answer")
    return missing
