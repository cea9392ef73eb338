"""Every answer judged, on this machine and by a model, beside the others to its question."""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import astuple
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, NotRequired

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypedDict

from lexloop.core.errors import InputError
from lexloop.core.jsonl import read_jsonl
from lexloop.core.settings_groups import Rubrics
from lexloop.core.types import ABSTENTION
from lexloop.documents.chunks.statements import Statement, statements_in_text
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import words
from lexloop.models.embedding import Embed, Embedder, Vectors
from lexloop.models.request import Chat
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of
from lexloop.nodes.evaluate.judges import AnswerFeatures, ClaimSupport, answer_features, claims_of
from lexloop.nodes.markers import without_markers
from lexloop.nodes.question import parse
from lexloop.nodes.relevance import query_of
from lexloop.nodes.weights import load_weights
from lexloop_eval.asking import Asker, side_by_side
from lexloop_eval.correctness import CorrectnessJudge
from lexloop_eval.eval_rag.questions import Match, QuestionIndex
from lexloop_eval.judges_by_model import Given, chat_eval, fair_eval, model_metrics
from lexloop_eval.metrics import text as texts
from lexloop_eval.score import Score, Unresolved, as_json

HUMAN = "human"
"""The column of human scores unless another is named."""
_OWN = ("id", "system", "question", "answer", "reference_answer", "contexts", "documents")


class Answer(BaseModel):
    """One answer by one system; ``question`` and ``answer`` must be there.

    ``contexts`` are the texts that the answer was written from; ``documents`` names the documents
    of the corpus of which one answers the question. ``human`` is what a person gave the answer, on
    whatever scale. What is missing leaves the judges that need it unresolved.
    """

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str = ""
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
        """The answer as it is; empty where it holds nothing but markers."""
        return self.answer if words(self.said) else ""

    @property
    def reference(self) -> str:
        """The reference answer; empty where none is known."""
        return (self.reference_answer or "").strip()


def read_answers(path: Path, human: str | None = None) -> list[Answer]:
    """Return the answers of a JSON Lines file, each under an id: its own, or its number.

    Args:
        path: UTF-8 text, one JSON object a line.
        human: The field that holds human scores; None for ``human``, where there is one.

    Raises:
        InputError: The file cannot be read, a line is malformed, a system answers under the same
            id twice, or no line has the field that was named.
    """
    if human in _OWN:
        raise InputError(f"--human is {human!r}, which holds no scores.", "Name another field.")
    # text and truth values are no scores
    score: Any = Field(validation_alias=human or HUMAN, strict=True, allow_inf_nan=False)
    line = create_model("Answer", __base__=Answer, human=(Annotated[float | None, score], None))
    found = [
        answer if answer.id else answer.model_copy(update={"id": f"a{number:04d}"})
        for number, answer in enumerate(read_jsonl(path, line), start=1)
    ]
    if human and all(answer.human is None for answer in found):
        raise InputError(f"{path}: no line has a score in {human!r}.", "Name another field.")
    counts = Counter((answer.system, answer.id) for answer in found)
    twice = [key for key, count in counts.items() if count > 1]
    if twice:
        system, name = twice[0]
        raise InputError(
            f"{path}: {len(twice)} ids occur twice for one system, first {name!r} of {system!r}.",
            "Give each answer of a system an id of its own.",
        )
    return found


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
        # one document serves the answers of every system, and other questions too
        self._evidence = lru_cache(_DOCUMENTS)(lambda held: evidence_of(list(held), sources.embed))

    def scores(
        self,
        answers: Sequence[Answer],
        documents: Sequence[Document],
        progress: Callable[[str, int, int], None],
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
        found: list[Scores] = []
        for start in range(0, len(answers), _AT_ONCE):
            block = answers[start : start + _AT_ONCE]
            given = documents[start : start + _AT_ONCE]
            wanted = (t for pair in zip(block, given, strict=True) for t in _texts(*pair))
            self._sources.prepare(wanted, partial(progress, "embedding answers"))
            triples = [(one.question, one.stated, one.reference) for one in block]
            correct = self._correctness.scores(triples)
            for answer, document, grade in zip(block, given, correct, strict=True):
                found.append({**self._scores(answer, document), "correctness": grade})
                progress("judging", len(found), len(answers))
        return found

    def _scores(self, answer: Answer, document: Document) -> Scores:
        said, reference, embed = answer.said, answer.reference, self._sources.embed
        compared: Scores = dict.fromkeys(("similarity", *texts.BY_WORDS), _NO_REFERENCE)
        if words(reference):
            similar: Score = Unresolved("the answer is empty")
            if words(said):
                similar = texts.cosine(*embed([said, reference]))
            compared = {"similarity": similar, **texts.by_words(said, reference)}
        held = document if isinstance(document, Unresolved) else (document,)
        return {
            "answer_relevance": self._relevance(answer),
            "groundedness": self._groundedness(answer, answer.contexts or _NO_CONTEXTS),
            "groundedness_document": self._groundedness(answer, held),
            **compared,
        }

    def _relevance(self, answer: Answer) -> Score:
        """The probability that a reader would call the answer one to the question, in [0, 1].

        Every term of the question counts the same: only a collection tells how rare each is.
        """
        if answer.answer.strip() == ABSTENTION:
            return _ABSTAINED
        nothing = Evidence([], np.zeros((0, 0), dtype=np.float32))
        asked = self._asked(answer.question)
        features = answer_features(asked, answer.answer, nothing, self._sources)
        return self._weights.probability(astuple(features)) if features else _CLAIMS_NOTHING

    def _groundedness(self, answer: Answer, held: tuple[str, ...] | Unresolved) -> Score:
        if isinstance(held, Unresolved):
            return held
        if answer.answer.strip() == ABSTENTION:
            return _ABSTAINED
        if not (claims := claims_of(answer.answer)):
            return _CLAIMS_NOTHING
        supports = self._support.of(claims, self._evidence(held))
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
    said = [without_markers(answer.answer) for answer in answers]
    panels: dict[str, Sequence[Score]] = {}
    for name, panel in _PANELS.items():
        for suffix, held in (("", None), ("_document", document)):
            scored: Sequence[float] | Unresolved
            if isinstance(held, Unresolved):
                scored = held
            else:
                scored = asker.settle(panel(asker, question, said, held, asker.rubrics))
            same = [scored] * len(said) if isinstance(scored, Unresolved) else scored
            panels[f"{name}{suffix}"] = same
    found: list[Scores] = []
    for place, answer in enumerate(answers):
        contexts = answer.contexts or ()
        given = Given(question, answer.answer, answer.reference, contexts, embed, asker.rubrics)
        alone = model_metrics(asker, given)
        found.append({**alone, **{name: scores[place] for name, scores in panels.items()}})
    return found


class _NoCollection:
    """The answers to what judging asks of a collection, where there is none.

    It embeds like its embedder, and remembers what was made ahead: judges embed a few texts a time,
    which costs several times as much a text as many at once.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    def prepare(self, texts: Iterable[str], progress: Callable[[int, int], None]) -> None:
        """Make the vectors of these texts, and forget all others."""
        wanted = list(dict.fromkeys(texts))
        known = {text: self._known[text] for text in wanted if text in self._known}
        if missing := [text for text in wanted if text not in known]:
            made = self._embedder.encode(missing, progress).astype(np.float32)
            known |= zip(missing, made, strict=True)
        self._known = known

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


Progress = Callable[[str, int, int], None]
Ask = Callable[[str, Sequence[Answer], Document], list[Scores]]
_MOST_TOGETHER = 8
"""The most answers to one question that a model compares in one call."""
_NO_INDEX = Unresolved("no corpus and no pairs are given to take a document from")
_NO_DOCUMENT = Unresolved("the index holds nothing of the documents that the line names")


class AnswerRecord(TypedDict):
    """One answer with its scores: a line of ``judged.jsonl``.

    ``document`` says what Eval-RAG's index gave for the question: its label, kind and origin, the
    known question that led to it and how similar that is; None where there is no document. A
    score is a number or ``{"unresolved": reason}``.
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
    """Return a record for each answer, judged in every way that there is, in their order.

    Args:
        answers: In the order of their file.
        index: Gives each question its document; None leaves what needs one unresolved.
        judge: Judges each answer.
        ask: Has a model judge the answers to a question beside its document; None where no model
            is configured.
        progress: Called with ``judging`` or ``asking the model``, what is done and how much
            there is.
        workers: Questions that are put to the model at once.

    Raises:
        ModelError: The model's host can answer nothing; what it answered before is kept.
    """
    groups = _grouped(answers)
    questions = [answers[places[0]].question for places in groups]
    found: list[Match | Unresolved] = [_NO_INDEX for _ in groups]
    if index is not None:
        nearest = index.nearest(questions, [_documents(answers, places) for places in groups])
        found = [match or _NO_DOCUMENT for match in nearest]
    of_answer = {i: match for places, match in zip(groups, found, strict=True) for i in places}
    documents = [_text(of_answer[i]) for i in range(len(answers))]
    scores = judge.scores(answers, documents, progress)
    if ask is not None:

        def work(group: int) -> list[Scores]:
            own = [answers[i] for i in groups[group]]
            return ask(questions[group], own, _text(found[group]))

        asking = partial(progress, "asking the model")
        given = side_by_side(work, range(len(groups)), asking, workers)
        for places, by_model in zip(groups, given, strict=True):
            for i, named in zip(places, by_model, strict=True):
                scores[i] |= named
    return [_record(answer, of_answer[i], scores[i]) for i, answer in enumerate(answers)]


def _grouped(answers: Sequence[Answer]) -> list[list[int]]:
    """The places of answers to one question, whatever its case and blanks, in lots for a prompt."""
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
    """The documents that the answers name; None where none does."""
    named = [answers[place].documents for place in places]
    return tuple(dict.fromkeys(name for names in named if names for name in names)) or None


def _text(found: Match | Unresolved) -> Document:
    return found if isinstance(found, Unresolved) else found[0].authority.text


def _record(answer: Answer, found: Match | Unresolved, scores: Scores) -> AnswerRecord:
    document: dict[str, Any] | None = None
    if not isinstance(found, Unresolved):
        entry, similarity = found
        one = entry.authority
        document = {"label": one.label, "kind": one.kind, "origin": one.origin}
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
