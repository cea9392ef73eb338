"""Every answer judged, on this machine and by a model, beside the others to its question."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import astuple
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, NotRequired

import numpy as np
from pydantic import ConfigDict, Field, create_model
from typing_extensions import TypedDict

from lexloop.core.errors import InputError
from lexloop.core.jsonl import read_jsonl
from lexloop.core.settings_groups import Rubrics
from lexloop.core.types import ABSTENTION
from lexloop.documents.chunks.statements import Statement, statements_in_text
from lexloop.documents.reading.workers import Progress
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import words
from lexloop.models.embedding import Embed, Embedder, Vectors
from lexloop.models.request import Chat
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of
from lexloop.nodes.evaluate.judges import AnswerFeatures, ClaimSupport, answer_features, claims_of
from lexloop.nodes.markers import without_markers
from lexloop.nodes.question.parts import parse
from lexloop.nodes.relevance import query_of
from lexloop.nodes.weights import load_weights
from lexloop_eval.asking import Asker, side_by_side
from lexloop_eval.case import Identified, with_ids
from lexloop_eval.correctness import CorrectnessJudge
from lexloop_eval.eval_rag.questions import Match, QuestionIndex
from lexloop_eval.judges_by_model import Given, chat_eval, fair_eval, model_metrics
from lexloop_eval.metrics import text as texts
from lexloop_eval.score import Score, Unresolved, as_json

HUMAN = "human"
"""The column of human scores unless another is named."""
_OWN = ("id", "system", "question", "answer", "reference_answer", "contexts", "documents")


class Answer(Identified):
    """One answer by one system. ``question`` and ``answer`` are required.

    ``contexts`` are the texts that the answer was written from. ``documents`` names documents of
    the corpus, one of which answers the question. ``human`` is a person's score of the answer, on
    any scale. Judges are unresolved if a field that they need is missing.
    """

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    system: str = ""
    question: str = Field(min_length=1, pattern=r"\S")
    answer: str
    reference_answer: str | None = None
    contexts: tuple[str, ...] | None = None
    documents: tuple[str, ...] | None = None
    human: float | None = None

    @property
    def said(self) -> str:
        """The answer without its markers."""
        return without_markers(self.answer)

    @property
    def stated(self) -> str:
        """The answer, or empty if it has only markers."""
        return self.answer if words(self.said) else ""

    @property
    def reference(self) -> str:
        """The reference answer, or empty if none is known."""
        return (self.reference_answer or "").strip()


def read_answers(path: Path, human: str | None = None) -> list[Answer]:
    """Return the answers of a JSON Lines file, each with an id: its own, or its number.

    Args:
        path: UTF-8 text, one JSON object per line.
        human: The field of human scores. None for ``human``, if it exists.

    Raises:
        InputError: The file cannot be read, a line is malformed, a system has two answers with the
            same id, or no line has the given field.
    """
    if human in _OWN:
        raise InputError(f"--human is {human!r}, which holds no scores.", "Name another field.")
    # text and truth values are not scores
    score: Any = Field(validation_alias=human or HUMAN, strict=True, allow_inf_nan=False)
    line = create_model("Answer", __base__=Answer, human=(Annotated[float | None, score], None))
    answers = with_ids(path, read_jsonl(path, line), "a")
    if human and all(answer.human is None for answer in answers):
        raise InputError(f"{path}: no line has a score in {human!r}.", "Name another field.")
    return [*answers]


Scores = dict[str, Score]
Document = str | Unresolved
"""The document that Eval-RAG's index gives for a question, or why there is none."""
_AT_ONCE, _QUESTIONS, _DOCUMENTS = 500, 256, 64
_ABSTAINED = Unresolved("the answer is an abstention")
_CLAIMS_NOTHING = Unresolved("the answer claims nothing")
_NO_CONTEXTS = Unresolved("the line has no contexts")
_NO_REFERENCE = Unresolved("there is no reference answer")
_Panel = Callable[[Chat, str, Sequence[str], str | None, Rubrics], Coroutine[Any, Any, list[float]]]
_PANELS: dict[str, _Panel] = {"model_fair_eval": fair_eval, "model_chat_eval": chat_eval}


class AnswerJudge:
    """Judges answers on this machine.

    Args:
        embedder: The one that the weights of the judges were fitted with.

    Raises:
        DataError: The weights cannot be read.
    """

    def __init__(self, embedder: Embedder) -> None:
        sources = self._sources = _NoCollection(embedder)
        self._support = ClaimSupport(sources.embed)
        self._correctness = CorrectnessJudge(sources.embed)
        self._weights = load_weights("judges/relevance.json", "answer", AnswerFeatures)
        self._asked = lru_cache(_QUESTIONS)(lambda question: query_of(parse(question), sources))
        # a document is used for the answers of every system, and for other questions
        self._evidence = lru_cache(_DOCUMENTS)(
            lambda texts_held: evidence_of(list(texts_held), sources.embed)
        )

    def scores(
        self,
        answers: Sequence[Answer],
        documents: Sequence[Document],
        progress: Progress,
    ) -> list[Scores]:
        """Return every score of each answer by name, in the order of the answers.

        ``answer_relevance`` is the embedded judge's (the triad of LQ-RAG, section III);
        ``groundedness`` is the mean probability that the contexts support a claim of the answer,
        and ``groundedness_document`` the same of the document; ``correctness`` is from 1 to 5, and
        ``similarity`` the cosine of answer and reference. All others are in [0, 1].

        Args:
            answers: By any systems to any questions.
            documents: The document of each answer's question.
            progress: Called with a stage's name, what is done and how much there is.
        """
        all_scores: list[Scores] = []
        for start in range(0, len(answers), _AT_ONCE):
            block = answers[start : start + _AT_ONCE]
            documents_here = documents[start : start + _AT_ONCE]
            needed = (
                text for pair in zip(block, documents_here, strict=True) for text in _texts(*pair)
            )
            self._sources.prepare(needed, partial(progress, "embedding answers"))
            triples = [(answer.question, answer.stated, answer.reference) for answer in block]
            correct = self._correctness.scores(triples)
            for answer, document, grade in zip(block, documents_here, correct, strict=True):
                all_scores.append({**self._scores(answer, document), "correctness": grade})
                progress("judging", len(all_scores), len(answers))
        return all_scores

    def _scores(self, answer: Answer, document: Document) -> Scores:
        text, reference, embed = answer.said, answer.reference, self._sources.embed
        compared: Scores = dict.fromkeys(("similarity", *texts.BY_WORDS), _NO_REFERENCE)
        if words(reference):
            similar: Score = Unresolved("the answer is empty")
            if words(text):
                similar = texts.cosine(*embed([text, reference]))
            compared = {"similarity": similar, **texts.by_words(text, reference)}
        contexts = document if isinstance(document, Unresolved) else (document,)
        return {
            "answer_relevance": self._relevance(answer),
            "groundedness": self._groundedness(answer, answer.contexts or _NO_CONTEXTS),
            "groundedness_document": self._groundedness(answer, contexts),
            **compared,
        }

    def _relevance(self, answer: Answer) -> Score:
        """The probability that a reader would call the answer one to the question, in [0, 1].

        Every term of the question counts the same: only a collection tells how rare each is.
        """
        if answer.answer.strip() == ABSTENTION:
            return _ABSTAINED
        nothing = Evidence([], np.zeros((0, 0), dtype=np.float32))
        parsed = self._asked(answer.question)
        features = answer_features(parsed, answer.answer, nothing, self._sources)
        return self._weights.probability(astuple(features)) if features else _CLAIMS_NOTHING

    def _groundedness(self, answer: Answer, contexts: tuple[str, ...] | Unresolved) -> Score:
        if isinstance(contexts, Unresolved):
            return contexts
        if answer.answer.strip() == ABSTENTION:
            return _ABSTAINED
        if not (claims := claims_of(answer.answer)):
            return _CLAIMS_NOTHING
        supports = self._support.of(claims, self._evidence(contexts))
        return float(np.mean([support.probability for support in supports]))


def _texts(answer: Answer, document: Document) -> Iterator[str]:
    """The texts whose vectors the judges will ask for."""
    yield from (answer.said, without_markers(answer.question), answer.question)
    yield from (answer.reference, without_markers(answer.reference))
    yield from claims_of(answer.answer)
    for text in (*(answer.contexts or ()), *([document] if isinstance(document, str) else [])):
        yield from (statement.text for statement in statements_in_text(text))


def model_scores(
    asker: Asker, embed: Embed, question: str, answers: Sequence[Answer], document: Document
) -> list[Scores]:
    """Return a model's scores of answers to one question by name, in the order of the answers.

    Beside the metrics of single answers these are FairEval and ChatEval (Eval-RAG, section 2),
    which compare the answers and score from 1 to 10: under ``model_fair_eval`` and
    ``model_chat_eval`` without a document, under the same with ``_document`` with it.

    Args:
        asker: Asks the model, and keeps its replies.
        embed: Vectors of texts.
        question: The question of all answers.
        answers: By one or more systems, few enough for one prompt.
        document: That of the question.

    Raises:
        ModelError: No further question could be asked.
    """
    texts = [without_markers(answer.answer) for answer in answers]
    panels: dict[str, Sequence[Score]] = {}
    for name, panel in _PANELS.items():
        for suffix, held in (("", None), ("_document", document)):
            scored: Sequence[float] | Unresolved
            if isinstance(held, Unresolved):
                scored = held
            else:
                scored = asker.settle(panel(asker, question, texts, held, asker.rubrics))
            same = [scored] * len(texts) if isinstance(scored, Unresolved) else scored
            panels[f"{name}{suffix}"] = same
    all_scores: list[Scores] = []
    for place, answer in enumerate(answers):
        contexts = answer.contexts or ()
        given = Given(question, answer.answer, answer.reference, contexts, embed, asker.rubrics)
        alone = model_metrics(asker, given)
        all_scores.append({**alone, **{name: scores[place] for name, scores in panels.items()}})
    return all_scores


class _NoCollection:
    """Stands in for the collection that judges query, if there is none.

    It embeds like its embedder, and caches vectors computed in advance: judges embed a few texts at
    a time, which costs several times as much per text as many at once.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    def prepare(self, texts: Iterable[str], progress: Callable[[int, int], None]) -> None:
        """Make the vectors of these texts, and forget all others."""
        unique = list(dict.fromkeys(texts))
        vectors = {text: self._known[text] for text in unique if text in self._known}
        if missing := [text for text in unique if text not in vectors]:
            encoded = self._embedder.encode(missing, progress).astype(np.float32)
            vectors |= zip(missing, encoded, strict=True)
        self._known = vectors

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known |= zip(missing, self._embedder.embed(missing), strict=True)
        vectors = np.zeros((len(texts), self._embedder.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._known[text]
        return vectors

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        raise KeyError(chunk_id)

    def tree_of(self, document: str) -> Tree | None:
        return None

    def idf(self, term: str) -> float:
        return 1.0

    def knows(self, term: str) -> bool:
        return True

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        return None


Ask = Callable[[str, Sequence[Answer], Document], list[Scores]]
_MOST_TOGETHER = 8
"""The most answers to one question that a model compares in one call."""
_NO_INDEX = Unresolved("no corpus and no pairs are given to take a document from")
_NO_DOCUMENT = Unresolved("the index holds nothing of the documents that the line names")


class AnswerRecord(TypedDict):
    """One answer with its scores: a line of ``judged.jsonl``.

    ``document`` describes the document from Eval-RAG's index for the question: its label, kind and
    origin, the known question that led to it and their similarity. It is None if there is no
    document. A score is a number or ``{"unresolved": reason}``.
    """

    id: str
    system: str
    question: str
    answer: str
    human: float | None
    document: dict[str, Any] | None
    scores: dict[str, float | dict[str, str]]
    reference_answer: NotRequired[str]
    contexts: NotRequired[list[str]]


def judge_answers(
    answers: Sequence[Answer],
    index: QuestionIndex | None,
    judge: AnswerJudge,
    ask: Ask | None,
    *,
    progress: Progress,
    workers: int = 4,
) -> list[AnswerRecord]:
    """Return a record for each answer in order, judged in every available way.

    Args:
        answers: The answers, in the order of their file.
        index: Gives each question its document. None leaves scores that need one unresolved.
        judge: Judges each answer.
        ask: Has a model judge the answers to a question with its document. None if no model is
            configured.
        progress: Called with ``judging`` or ``asking the model``, the number done and the total.
        workers: The number of questions put to the model at once.

    Raises:
        ModelError: The model's host cannot answer anything. Earlier replies are kept.
    """
    groups = _grouped(answers)
    questions = [answers[places[0]].question for places in groups]
    matches: list[Match | Unresolved] = [_NO_INDEX for _ in groups]
    if index is not None:
        nearest = index.nearest(questions, [_documents(answers, places) for places in groups])
        matches = [match or _NO_DOCUMENT for match in nearest]
    of_answer = {i: match for places, match in zip(groups, matches, strict=True) for i in places}
    documents = [_text(of_answer[i]) for i in range(len(answers))]
    scores = judge.scores(answers, documents, progress)
    if ask is not None:

        def work(group: int) -> list[Scores]:
            own = [answers[i] for i in groups[group]]
            return ask(questions[group], own, _text(matches[group]))

        asking = partial(progress, "asking the model")
        replies = side_by_side(work, range(len(groups)), asking, workers)
        for places, by_model in zip(groups, replies, strict=True):
            for i, named in zip(places, by_model, strict=True):
                scores[i] |= named
    return [_record(answer, of_answer[i], scores[i]) for i, answer in enumerate(answers)]


def _grouped(answers: Sequence[Answer]) -> list[list[int]]:
    """Return the places of answers to the same question, ignoring case and blanks, in batches."""
    last: dict[str, list[int]] = {}
    groups: list[list[int]] = []
    for place, answer in enumerate(answers):
        key = " ".join(answer.question.casefold().split())
        if key not in last or len(last[key]) == _MOST_TOGETHER:
            last[key] = []
            groups.append(last[key])
        last[key].append(place)
    return groups


def _documents(answers: Sequence[Answer], places: Sequence[int]) -> tuple[str, ...] | None:
    """Return the documents that the answers name, or None if none does."""
    names_of = [answers[place].documents for place in places]
    return tuple(dict.fromkeys(name for names in names_of if names for name in names)) or None


def _text(match: Match | Unresolved) -> Document:
    return match if isinstance(match, Unresolved) else match[0].authority.text


def _record(answer: Answer, match: Match | Unresolved, scores: Scores) -> AnswerRecord:
    document: dict[str, Any] | None = None
    if not isinstance(match, Unresolved):
        entry, similarity = match
        authority = entry.authority
        document = {"label": authority.label, "kind": authority.kind, "origin": authority.origin}
        document |= {"nearest_question": entry.question, "similarity": similarity}
    record: AnswerRecord = {
        "id": answer.id,
        "system": answer.system,
        "question": answer.question,
        "answer": answer.answer,
        "human": answer.human,
        "document": document,
        "scores": {name: as_json(score) for name, score in scores.items()},
    }
    if answer.reference:
        record["reference_answer"] = answer.reference
    if answer.contexts:
        record["contexts"] = [*answer.contexts]
    return record
