"""The judges: calibrated features of an answer, passages and claims; and a model they advise."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from copy import copy
from dataclasses import astuple, dataclass
from difflib import SequenceMatcher
from functools import partial
from typing import Annotated

import numpy as np
from pydantic import BaseModel, Field

from lexloop import prompts
from lexloop.core.errors import ModelReplyError, tell_loss
from lexloop.core.folding import folded
from lexloop.core.running import computed, computing, heed_deadline
from lexloop.core.settings_groups import Rubrics
from lexloop.core.types import ParsedQuestion, Passage
from lexloop.documents.text.tokens import LIST_ITEM, sentence_spans, term_set, tokenize, words
from lexloop.models.embedding import Embed, Vectors
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.alignment import NEGATORS
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.calculations import labelled
from lexloop.nodes.evaluate.evidence import (
    Evidence,
    clipped,
    disagreements,
    left_out,
    share,
)
from lexloop.nodes.markers import CitedSentence, cited_sentences, numbers_in, without_markers
from lexloop.nodes.relevance import Query, Sources, coverage, query_of
from lexloop.nodes.shortening import shortened
from lexloop.nodes.weights import load_weights

_LABEL = re.compile(r"^[\w-]+(?: [\w-]+){0,3} : ")  # "**Term**: it is due", emphasis blanked
_LEAST_QUOTED = 3
_JOINT = re.compile(r"(?<=:)\s+(?=\S)")  # between a lead-in and its list item
_NAME = re.compile(r"\b[A-Z][\w\-]+")
_TOGETHER, _WINDOW = 3, 5
_COMMONEST = 0.3  # what a term that every sentence holds still weighs


def claims_of(text: str) -> list[str]:
    """Return each claim of ``text`` in order, folded, without [n] markers and list marks.

    A sentence is one claim. What holds no search term claims nothing.
    """
    return [claim for _, claim in _claims(text)]


def _claims(text: str) -> list[tuple[CitedSentence, str]]:
    found = ((one, _unlisted(one.text.strip())) for one in cited_sentences(folded(text)))
    return [(sentence, claim) for sentence, claim in found if tokenize(claim)]


def _unlisted(line: str) -> str:
    mark = LIST_ITEM.match(line)
    return line[mark.end() :].lstrip() if mark else line


@dataclass(frozen=True)
class ClaimFeatures:
    """The features of a claim beside evidence, for and against its support; each in [0, 1]."""

    one: float  # the share of the claim's terms in the one sentence that holds most of them
    together: float  # the share in three sentences, each chosen for what it adds
    rare: float  # the same, a term weighing more the fewer sentences of the evidence hold it
    window: float  # the largest share in five sentences that follow each other
    order: float  # the share of the claim's pairs of successive terms that a sentence has as well
    closest: float  # the highest cosine of a sentence with the claim
    disagrees: float  # whether a number, date, reference or negation of the claim is contradicted
    missing_names: float  # the share of the terms of capitalised words that are nowhere


def read_claim_features(
    claim: str, vector: Vectors, evidence: Evidence, disagrees: bool
) -> ClaimFeatures:
    """Return the features of a claim beside evidence of at least one sentence."""
    ordered = tokenize(claim)
    wanted = frozenset(ordered)
    pairs = set(itertools.pairwise(ordered))
    names = frozenset(term for name in _NAME.findall(claim) for term in tokenize(name))
    return ClaimFeatures(
        one=max(share(wanted, terms) for terms in evidence.terms),
        together=_together(dict.fromkeys(wanted, 1.0), evidence.terms),
        rare=_together(_idf(wanted, evidence.terms), evidence.terms),
        window=_window(wanted, evidence.terms),
        order=share(pairs, evidence.pairs),
        closest=clipped(float((evidence.vectors @ vector).max())),
        disagrees=float(disagrees),
        missing_names=1.0 - share(names, evidence.all_terms),
    )


def _together(weights: Mapping[str, float], held: list[frozenset[str]]) -> float:
    """Return the share of the weighted terms in a few sentences, each chosen for what it adds."""
    left: frozenset[str] = frozenset(weights)
    for _ in range(_TOGETHER):
        left -= max((terms & left for terms in held), key=partial(_sum, weights))
    total = _sum(weights, frozenset(weights))
    return 1.0 - _sum(weights, left) / total if total else 1.0


def _sum(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    return math.fsum(weights[term] for term in terms)


def _idf(wanted: Set[str], held: list[frozenset[str]]) -> dict[str, float]:
    found = Counter(term for terms in held for term in terms & wanted)
    return {t: math.log((len(held) + 1) / (found[t] + 0.5)) + _COMMONEST for t in wanted}


def _window(wanted: frozenset[str], held: list[frozenset[str]]) -> float:
    """Return the largest share of the wanted terms in a run of sentences."""
    runs = range(max(1, len(held) - _WINDOW + 1))
    return max(share(wanted, frozenset().union(*held[i : i + _WINDOW])) for i in runs)


@dataclass(frozen=True)
class Support:
    """The support of a claim: its probability, and where the evidence disagrees."""

    probability: float  # that a reader would call the claim supported, in [0, 1]
    # where claim and evidence disagree: numbers, dates, references, negations
    reasons: tuple[str, ...] = ()


class ClaimSupport:
    """A judge of claims by a logistic regression over ``ClaimFeatures``.

    Raises:
        DataError: The shipped weights cannot be read.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._weights = load_weights("judges/groundedness.json", "support", ClaimFeatures)

    def of(self, claims: list[str], evidence: Evidence) -> list[Support]:
        """Return the support of each claim.

        A claim quoted word for word is certain; one that disagrees with the evidence over a fact
        or a negation is improbable however alike the two are.
        """
        if not claims or not evidence.sentences:
            return [Support(0.0) for _ in claims]
        quoted = [_quoted(claim, evidence) for claim in claims]
        others = [claim for claim, certain in zip(claims, quoted, strict=True) if not certain]
        vectors: Iterator[Vectors] = iter(self._embed(others)) if others else iter(())
        return [
            Support(1.0) if certain else self._support(claim, next(vectors), evidence)
            for claim, certain in zip(claims, quoted, strict=True)
        ]

    def _support(self, claim: str, vector: Vectors, evidence: Evidence) -> Support:
        reasons = tuple(disagreements(claim, evidence))
        features = read_claim_features(claim, vector, evidence, disagrees=bool(reasons))
        probability = self._weights.probability(astuple(features))
        return Support(capped(probability) if reasons else probability, reasons)


def capped(probability: float) -> float:
    """Return the probability of a claim that disagrees with its evidence: below 0.2, in order."""
    return min(probability, 0.1 + 0.1 * probability)


def _quoted(claim: str, evidence: Evidence) -> bool:
    """Return whether all pieces of a claim are in the evidence word for word."""
    pieces = [" ".join(piece.split()) for piece in _JOINT.split(claim.lower())]
    return all(
        len(piece.split()) >= _LEAST_QUOTED and piece.rstrip(".;:") in evidence.flat
        for piece in pieces
    )


_FEW = 3
SUPPORTED = 0.5
"""The probability from which a claim counts as supported."""


@dataclass(frozen=True)
class AnswerFeatures:
    """The features of an answer to a question; each in [0, 1]."""

    whole: float  # the cosine of the whole answer with the question or its core
    sentence: float  # the highest cosine of one of its sentences with the question or its core
    parts: float  # the mean over the question's parts of the closest sentence's cosine
    covered: float  # the share of the question's terms that the answer has, weighted by idf
    least: float  # the same of the part of the question of which the answer has the least


@dataclass(frozen=True)
class ContextFeatures:
    """The features of passages beside a question; each in [0, 1]."""

    closest: float  # the highest cosine of a statement with the question or its core
    few: float  # the mean cosine of the three closest statements
    parts: float  # the mean over the question's parts of the closest statement's cosine
    least: float  # the cosine of the part whose closest statement is the farthest
    covered: float  # the share of the question's terms in the passages, weighted by idf
    statement: float  # for the worst-covered part, the best share of its terms in one statement


class EmbeddedJudge:
    """A judge without a model.

    Raises:
        DataError: The shipped weights cannot be read.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._support = ClaimSupport(sources.embed)
        self._of_answer = load_weights("judges/relevance.json", "answer", AnswerFeatures)
        self._of_context = load_weights("judges/relevance.json", "context", ContextFeatures)

    def over(self, sources: Sources) -> "EmbeddedJudge":
        """Return the judge of answers from other documents."""
        return EmbeddedJudge(sources)

    @computing
    def judge(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Judgement:
        """Return the triad of LQ-RAG, section III: each score in [0, 1].

        If ``answers`` is known it is the answer's relevance too: nothing is embedded for it.
        Groundedness is the mean over the claims of the probability that the passages support
        each: the share of supported claims that is to be expected.
        """
        asked = query_of(question, self._sources)
        evidence = evidence_in(passages, self._sources)
        # what leads in a list, and a bare yes or no, rests on what follows
        claims = [claim for sentence, claim in _claims(answer) if not sentence.led]
        if answers is None:
            about = answer_features(asked, answer, evidence, self._sources)
            answers = self._of_answer.probability(astuple(about)) if about else 0.0
        found = context_features(asked, evidence)
        support = self._support.of(claims, evidence)
        return Judgement(
            answer_relevance=answers,
            context_relevance=self._of_context.probability(astuple(found)) if found else 0.0,
            groundedness=float(np.mean([s.probability for s in support])) if support else 0.0,
            reasons=[
                _reason(claim, found)
                for claim, found in zip(claims, support, strict=True)
                if found.probability < SUPPORTED
            ],
            unsupported=self._unsupported(question["text"], passages, answer),
        )

    def _unsupported(self, question: str, passages: list[Passage], answer: str) -> list[str]:
        """Return a reason for each claim that the passages it cites do not bear out."""
        found: list[str] = []
        said = frozenset(tokenize(f"{question} {without_markers(answer)}"))
        by_number = {passage["n"]: passage for passage in passages}
        for sentence, claim in _claims(answer):
            numbers = dict.fromkeys([*sentence.numbers, *sentence.support])
            cited = [by_number[n] for n in numbers if n in by_number] or passages
            evidence = evidence_in(cited, self._sources)
            support, unlabelled = self._support.of([claim, _LABEL.sub("", claim)], evidence)
            if sentence.led:
                counted = f"{sentence.led} is not there"  # "three duties:" before three of them
                support = Support(1.0, tuple(r for r in support.reasons if r != counted))
            likely = max(support.probability, unlabelled.probability)
            if support.reasons or likely < SUPPORTED:
                found.append(_reason(claim, support))
            elif evidence.sentences and not sentence.led:
                found += [f"Leaves out “{c}”: {claim}" for c in left_out(claim, said, evidence)]
        return found


def answer_features(
    asked: Query, answer: str, evidence: Evidence, sources: Sources
) -> AnswerFeatures | None:
    """Return the features that answer relevance is judged by, or None if nothing is claimed."""
    claims, plain = claims_of(answer), without_markers(answer)
    if not claims:
        return None
    # all in one batch; quoted statements have their vectors already
    quotable = (" ".join(sentence.split()) for sentence in evidence.sentences)
    known = dict(zip(quotable, evidence.vectors, strict=True))
    new = [claim for claim in claims if claim not in known]
    whole, *made = sources.embed([plain, *new])
    known.update(zip(new, made, strict=True))
    sentences = np.stack([known[claim] for claim in claims])
    return read_answer_features(asked, plain, whole, sentences)


def read_answer_features(
    asked: Query, answer: str, whole: Vectors, sentences: Vectors
) -> AnswerFeatures:
    """Return the features of an answer without markers.

    Args:
        asked: The question.
        answer: The answer.
        whole: Its unit vector, shape (dimension,).
        sentences: Those of its sentences, shape (sentences, dimension); at least one.
    """
    cosines = asked.vectors @ sentences.T
    held = frozenset(tokenize(answer))
    return AnswerFeatures(
        whole=clipped(float((asked.vectors[:2] @ whole).max())),
        sentence=clipped(float(cosines[:2].max())),
        parts=clipped(float(cosines[2:].max(axis=1).mean())),
        covered=coverage(asked.all_terms, held),
        least=min(coverage(part, held) for part in asked.terms),
    )


def context_features(asked: Query, evidence: Evidence) -> ContextFeatures | None:
    """Return the features that context relevance is judged by, or None if nothing is said."""
    if not evidence.sentences:
        return None
    cosines = asked.vectors @ evidence.vectors.T
    nearest = np.sort(cosines[:2].max(axis=0))[::-1]
    best = cosines[2:].max(axis=1)
    return ContextFeatures(
        closest=clipped(float(nearest[0])),
        few=clipped(float(nearest[:_FEW].mean())),
        parts=clipped(float(best.mean())),
        least=clipped(float(best.min())),
        covered=coverage(asked.all_terms, evidence.all_terms),
        statement=min(max(coverage(part, held) for held in evidence.terms) for part in asked.terms),
    )


def evidence_in(passages: list[Passage], sources: Sources) -> Evidence:
    """Return the statements of passages with the vectors that the index holds of them."""
    sentences: list[str] = []
    vectors: list[Vectors] = []
    places: list[str] = []
    for passage in passages:
        statements, rows = sources.statements(passage["id"])
        sentences += [statement.text for statement in statements]
        vectors.append(rows)
        places += [statement.label or passage["section"] for statement in statements]
    whole = "\n".join(f"{passage['section']}\n{passage['text']}" for passage in passages)
    stacked = np.concatenate(vectors) if vectors else np.zeros((0, 0), dtype=np.float32)
    return Evidence(sentences, stacked, whole, places)


_BEFORE = 2
"""The words alike before a word that was exchanged."""
_LONGEST_COMPARED, _MOST_CITED = 80, 20_000
"""Words of a sentence, and characters of what it cites: comparing takes the product of both."""
_NEGATORS = NEGATORS | {*"nicht nie ohne kein keine keinen keinem keiner".split()}


def exchanged_words(question: str, passages: list[Passage], answer: str) -> list[str]:
    """Return a doubt for each word of a sentence that stands in place of one of what it cites.

    It is nowhere in the cited passages nor in the question, or more words are alike around it; or a
    negation came or went. This goes by words alone, so it holds in any language; whether they say
    the same, a reader knows.
    """
    by_number = {p["n"]: f"{p['section']}\n{p['text']}" for p in passages}
    doubts: list[str] = []
    for sentence, claim in _claims(answer):
        heed_deadline("while citations were verified")
        ours = words(claim.lower())
        if len(ours) > _LONGEST_COMPARED:
            continue
        cited = "\n".join(by_number.get(n, "") for n in (*sentence.numbers, *sentence.support))
        known = term_set(f"{question}\n{cited}")
        doubts += [
            f"It says “{new}” in place of “{old}”: {claim}"
            for new, old in _exchanged(ours, words(cited[:_MOST_CITED].lower()), known)
        ]
    return doubts


def _exchanged(ours: list[str], theirs: list[str], known: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield each word of ours and the one of theirs that it stands in place of, "" if none."""
    opcodes = SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes()
    ends = [("equal", 0, 0, 0, 0), *opcodes, ("equal", 0, 0, 0, 0)]
    for before, (kind, i, j, m, n), after in zip(ends, ends[1:], ends[2:], strict=False):
        if kind == "equal" or before[0] != "equal" or max(j - i, n - m) > 1:
            continue
        alike, follow = before[2] - before[1], after[2] - after[1]
        old, new = " ".join(theirs[i:j]), " ".join(ours[m:n])
        if not (term_set(old) and term_set(new)):
            other = alike > 0 and not _NEGATORS.isdisjoint((old, new))
        elif term_set(new).isdisjoint(known):
            other = alike >= _BEFORE
        else:
            other = alike > _BEFORE and follow > 0 and term_set(old) != term_set(new)
        if other:
            yield new, old


_FILLED = 0.65
"""The least share of a gap's terms in one sentence that may fill it."""


def gaps_filled(passages: list[Passage], answer: str) -> list[str]:
    """Return a doubt for each gap that a sentence of the passages may fill, by its words."""
    texts = [passage["text"] for passage in passages]
    said = [text[start:end] for text in texts for start, end in sentence_spans(text)]
    doubts: list[str] = []
    for gap in labelled(answer)[2]:
        wanted = term_set(gap)
        nearest = max(said, key=lambda one: len(wanted & term_set(one)), default="")
        if wanted and share(wanted, term_set(nearest)) >= _FILLED:
            doubts.append(
                f"“{' '.join(nearest.split())}” may be what is not in the passages: {gap}"
            )
    return doubts


def _reason(claim: str, support: Support) -> str:
    if support.reasons:
        return f"Disagrees with the passages ({'; '.join(support.reasons)}): {claim}"
    return f"Not found in the passages: {claim}"


# Strict: a score given as text or as a truth value is no score.
UnitScore = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]


class ReasonedScore(BaseModel):
    """A score and the chain of thought that led to it."""

    reasoning: str = ""
    score: UnitScore


class JudgeReply(BaseModel):
    """The reply that the model is asked for: the triad of LQ-RAG, and what keeps it from 1."""

    context_relevance: ReasonedScore
    groundedness: ReasonedScore
    answer_relevance: ReasonedScore
    unsupported: list[str] | None = None
    missing: list[str] | None = None


_SHOWN = 3
"""Passages that a model judges an answer by, or as many as it cites."""
_MOST_NAMED = 5
"""Sentences and parts that a model may name."""


class ModelJudge:
    """A judge by a chat model, advised by the embedded judge of claims.

    What the adviser doubts is put to the model, which decides. The adviser's scores count if the
    model gives none.

    Args:
        chat: The model.
        adviser: The embedded judge, or None if the model judges alone as LQ-RAG's agent does.
        rubrics: Which of our prompts it judges by.
        own: A user's prompt, if not ours.
    """

    def __init__(
        self,
        chat: Chat,
        adviser: EmbeddedJudge | None = None,
        rubrics: Rubrics = "hardened",
        own: str = "",
    ) -> None:
        self._chat, self._adviser = chat, adviser
        name = prompts.under(rubrics, "evaluate")
        self._prompt = prompts.load(name, prompts.STEPS["evaluate"], own)

    def over(self, sources: Sources) -> "ModelJudge":
        """Return the judge of answers from other documents."""
        other = copy(self)
        other._adviser = self._adviser and self._adviser.over(sources)
        return other

    async def judge(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Judgement:
        """Return the three scores; all None, so that nothing can pass, if the reply has none.

        The model judges for itself: what ``answers`` says is not shown to it. It sees the passages
        that the answer cites, and of the others the best if these are few.
        """
        checked = None
        if self._adviser:
            checked = await self._adviser.judge(question, passages, labelled(answer)[0], answers)
        doubts = [*checked.unsupported, *checked.reasons] if checked else []
        if checked:
            doubts += await computed(exchanged_words, question["text"], passages, answer)
            doubts += await computed(gaps_filled, passages, answer)
        doubts = [*dict.fromkeys(doubts)]
        shown = _shown(passages, answer)
        request = self._request(question["text"], shown, answer, doubts[:_MOST_NAMED])
        try:
            reply = parsed(await self._chat.ask(request), JudgeReply)
        except ModelReplyError as error:
            why = f"The scores could not be read: {error.what}"
            if checked is None:
                return Judgement(None, None, None, [why])
            tell_loss("the model's scores", "embedded", why)
            return checked
        return Judgement(
            answer_relevance=reply.answer_relevance.score,
            context_relevance=reply.context_relevance.score,
            groundedness=reply.groundedness.score,
            reasons=[
                f"{name.replace('_', ' ')} {scored.score:.2f}: {scored.reasoning.strip()}"
                for name, scored in (
                    ("answer_relevance", reply.answer_relevance),
                    ("context_relevance", reply.context_relevance),
                    ("groundedness", reply.groundedness),
                )
            ],
            unsupported=[f"Not supported: {said}" for said in _named(reply.unsupported)],
            missing=_named(reply.missing),
            by_model=True,
        )

    def _request(
        self, question: str, shown: list[Passage], answer: str, doubts: list[str]
    ) -> ChatRequest:
        judged = [prompts.Data("answer", answer), *(prompts.Data("doubt", one) for one in doubts)]

        def written(share: float) -> tuple[str, str]:
            fitted = prompts.numbered(shortened(shown, share))
            return self._prompt.render(question=question, passages=fitted, answer=judged)

        return ChatRequest("evaluate", *written(1.0), JudgeReply, shorter=written)


def _shown(passages: list[Passage], answer: str) -> list[Passage]:
    """Return the passages that an answer cites, and of the others the best if these are few."""
    numbers = {*numbers_in(answer)}
    others = [passage["n"] for passage in passages if passage["n"] not in numbers]
    numbers |= {*others[: max(0, _SHOWN - len(numbers))]}
    return [passage for passage in passages if passage["n"] in numbers]


def _named(texts: list[str] | None) -> list[str]:
    return [*filter(None, (" ".join(text.split()) for text in texts or []))][:_MOST_NAMED]
