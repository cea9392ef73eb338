"""Fits the three scores of the triad as probabilities, and finds their pass marks.

    python -m training.triad --wice FILE --out data/judges
    python -m training.triad --set GOLD.jsonl DIR [--set ...] --out data/judges

``--wice`` fits groundedness: claims that people labelled supported against the rest.
``--set`` fits the relevance of answers and of passages: right pairs with questions against wrong
ones, the hardest wrong ones from the same documents. It prints, cross-validated by claim or by
question, the scores of a fit, and for each score the mark that ``--failed`` of the right pairs
miss, with the one of best balanced accuracy.
"""

import itertools
from collections.abc import Collection as Collected
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.errors import InputError
from lexloop.core.jsonl import read_jsonl
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import EMBEDDED_MARKS
from lexloop.core.types import Citation, Passage
from lexloop.models.embedding import Embedder
from lexloop.nodes.evaluate.evidence import disagreements, evidence_of
from lexloop.nodes.evaluate.judges import (
    AnswerFeatures,
    ClaimFeatures,
    ClaimSupport,
    ContextFeatures,
    answer_features,
    capped,
    claims_of,
    context_features,
    evidence_in,
    read_claim_features,
)
from lexloop.nodes.question.parts import parse
from lexloop.nodes.relevance import query_of
from lexloop.store.view import Collection, View
from lexloop.store.writer import without
from lexloop_eval.case import Case, read_cases
from lexloop_eval.evidence import EvidenceIndex
from lexloop_eval.report.tables import markdown_table
from training.graph_runs import ask_graph, indexed
from training.logistic import (
    FeatureRow,
    Floats,
    Rows,
    balanced,
    cross_validated,
    evened,
    feature_matrix,
    fit,
    kinds_of,
    labels_of,
    options,
    ship,
    stored,
)

PENALTY = 1.0
Part = Literal["answer", "context", "groundedness"]
"""The score that a pair is for; of groundedness the score itself is the one feature."""
_FEATURES: dict[Part, type[Any]] = {"answer": AnswerFeatures, "context": ContextFeatures}
_SETTINGS = Settings(**{"loop.max_retries": 0, "loop.evaluator": "none"})
_SAME = 0.9  # questions this similar may have the same answer
_SEED = 7
_DISAGREES = [field.name for field in fields(ClaimFeatures)].index("disagrees")
_HEAD = ("score", "rows", "n", "mean")
Pairs = Iterable[tuple[Part, FeatureRow]]


def main() -> None:
    """Fit, write the weights and print their scores."""
    parser = options(__doc__)
    parser.add_argument("--wice", type=Path)
    parser.add_argument("--set", nargs=2, action="append", default=[], metavar=("GOLD", "DIR"))
    parser.add_argument("--failed", type=float, default=0.05)
    arguments = parser.parse_args()
    if arguments.wice:
        from lexloop.models.minilm import load_shipped

        claims = read_claims(read_wice(arguments.wice), load_shipped())
        support = stored(fit(claims, PENALTY), ClaimFeatures)
        ship(arguments.out / "groundedness.json", {"support": support})
        print(told_of_claims(claims, held_out(claims)))
    if arguments.set:
        rows = by_part(pair for gold, docs in arguments.set for pair in read_pairs(gold, docs))
        ship(arguments.out / "relevance.json", {part: fit_part(rows, part) for part in _FEATURES})
        print(told_of_pairs(rows, arguments.failed))


class LabelledClaim(BaseModel):
    """A claim with its evidence and whether people found it supported (WiCE)."""

    model_config = ConfigDict(frozen=True)

    id: str
    claim: str = Field(min_length=1)
    evidence_sentences: list[str] = Field(min_length=1)
    label: Literal["supported", "partially_supported", "not_supported"]


def read_wice(path: Path) -> list[LabelledClaim]:
    """Return the labelled claims of a file.

    Raises:
        InputError: A line is malformed, or not both kinds of claims are there.
    """
    claims = read_jsonl(path, LabelledClaim)
    if len({claim.label == "supported" for claim in claims}) < 2:
        raise InputError(
            f"{path} has {len(claims)} claims, all supported or none.", "Give claims of both kinds."
        )
    return claims


def read_claims(claims: Sequence[LabelledClaim], embedder: Embedder) -> list[FeatureRow]:
    """Return the features of every claim; supported ones and others count the same in sum."""
    vectors = embedder.embed([claim.claim for claim in claims])
    rows = []
    for claim, vector in zip(claims, vectors, strict=True):
        evidence = evidence_of(claim.evidence_sentences, embedder.embed)
        disagrees = bool(disagreements(claim.claim, evidence))
        features = astuple(read_claim_features(claim.claim, vector, evidence, disagrees))
        rows.append(FeatureRow(features, claim.label == "supported", claim.claim, claim.label))
    return evened(rows)


def held_out(claims: Rows) -> Floats:
    """Return each claim's probability by weights that never saw it, shape (seeds, rows)."""
    predicted = cross_validated(claims, PENALTY)
    at_odds = np.array([row.features[_DISAGREES] > 0 for row in claims])
    return np.where(at_odds, np.vectorize(capped)(predicted), predicted)


def told_of_claims(claims: Rows, found: Floats) -> str:
    """Return AUROC, mean probability by label, and the mark of best balanced accuracy."""
    from sklearn.metrics import roc_auc_score

    supported, mean = labels_of(claims) > 0, found.mean(axis=0)
    by_seed = [float(roc_auc_score(supported, seed_scores)) for seed_scores in found]
    mark, accuracy = balanced(mean, supported)
    return "\n".join(
        [
            f"AUROC, supported against the rest: {np.mean(by_seed):.3f} "
            f"({min(by_seed):.3f} to {max(by_seed):.3f} over {len(by_seed)} seeds)",
            "",
            *markdown_table(_HEAD, _means("groundedness", claims, mean)),
            "",
            f"best balanced accuracy {accuracy:.3f} at {mark:.2f}",
        ]
    )


def _means(name: str, rows: Rows, scores: Floats) -> Iterator[list[object]]:
    """For each kind of row how many there are and their mean score."""
    for kind, in_kind in kinds_of(rows):
        yield [name, kind, in_kind.sum(), f"{scores[in_kind].mean():.2f}"]


def by_part(pairs: Pairs) -> dict[Part, list[FeatureRow]]:
    """Return the rows of each part; right ones and wrong ones count the same in sum."""
    rows: dict[Part, list[FeatureRow]] = {"answer": [], "context": [], "groundedness": []}
    for part, row in pairs:
        rows[part].append(row)
    return {part: evened(part_rows) for part, part_rows in rows.items()}


def fit_part(rows: Mapping[Part, Rows], part: Part) -> dict[str, Any]:
    """Return the weights of one part as JSON.

    Raises:
        InputError: There are no right or no wrong pairs.
    """
    if len({row.label for row in rows[part]}) < 2:
        raise InputError(
            f"Of {len(rows[part])} pairs for {part} relevance all are right or all are wrong.",
            "Give a gold file with several questions and the documents that answer them.",
        )
    return stored(fit(rows[part], PENALTY), _FEATURES[part])


def scores(rows: Mapping[Part, Rows], part: Part) -> Floats:
    """Return the score of each row of a part, by weights that never saw its question."""
    if part == "groundedness":
        return feature_matrix(rows[part])[:, 0]
    mean: Floats = cross_validated(rows[part], PENALTY).mean(axis=0)
    return mean


def told_of_pairs(rows: Mapping[Part, Rows], failed: float) -> str:
    """Return by kind of pair how many there are and their mean score; by part AUROC and marks."""
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    in_use: dict[Part, float] = {
        "answer": EMBEDDED_MARKS.answer_relevance,
        "context": EMBEDDED_MARKS.context_relevance,
        "groundedness": EMBEDDED_MARKS.groundedness,
    }
    lines, marks = list[list[object]](), []
    for part, mark in in_use.items():
        predicted, truth = scores(rows, part), labels_of(rows[part]) > 0
        lines += _means(part, rows[part], predicted)
        best, accuracy = balanced(predicted, truth)
        now = balanced_accuracy_score(truth, predicted >= mark)
        marks.append(
            f"{part}: AUROC {roc_auc_score(truth, predicted):.3f}; {failed:.0%} of the right pairs "
            f"are below {np.quantile(predicted[truth], failed):.2f}; best balanced accuracy "
            f"{accuracy:.3f} at {best:.2f}, and {now:.3f} at the pass mark of {mark:g}"
        )
    return "\n".join([*markdown_table(_HEAD, lines), "", *marks])


@dataclass(frozen=True)
class _Run:
    """The run of a question whose evidence lies in the chunks ``held``."""

    gold: Case
    held: frozenset[str]
    standalone: str
    passages: list[Passage]
    answer: str
    cited: frozenset[str]

    @property
    def reference(self) -> str:
        return self.gold.reference_answer or ""

    def holds(self, evidence: frozenset[str]) -> bool:
        """The passages have some of the evidence."""
        return any(passage["id"] in evidence for passage in self.passages)


def read_pairs(gold: str | Path, docs: str | Path) -> Pairs:
    """Yield the pairs of one gold file over one folder of documents.

    Raises:
        InputError: The gold file is malformed, or no chunk holds the evidence of a question.
        CorpusError: The folder holds no documents.
    """
    collection = indexed(Path(docs), _SETTINGS, ".txt")
    view = collection.seen_by(Filters.of(_SETTINGS))
    evidence = EvidenceIndex(view.every_chunk())
    runs = [
        _ask(case, collection, () if case.out_of_scope else evidence.to_take_out(case))
        for case in read_cases(Path(gold))
    ]
    inside = [run for run in runs if not run.gold.out_of_scope and run.reference]
    reader = _Reader(view)
    for run, other_runs in zip(inside, _others(inside, collection), strict=True):
        yield from reader.of(run, other_runs)
    for run in runs:
        if run.gold.out_of_scope:
            yield from reader.context(run, run, "no scope", False)


class _Reader:
    """Makes the pairs of a question and reads their features."""

    def __init__(self, view: View) -> None:
        self._whole = view
        self._support = ClaimSupport(view.embed)

    def of(self, run: _Run, others: dict[str, _Run]) -> Pairs:
        """Yield all pairs of one question that its documents answer.

        Its reference answers it, and so does the graph's quote from its evidence. Answers to other
        questions do not, nor does the graph's answer without the evidence. Passages are relevant if
        its evidence is among them, and not if they were found without it or for another question.
        Its reference is grounded only in the former.
        """
        yield from self._answer(run, run.reference, "reference", True)
        if run.cited & run.held:
            yield from self._answer(run, run.answer, "quoted", True)
        if run.holds(run.held):
            yield from self.context(run, run, "evidence", True)
            yield from self._grounded(run, run, run.reference, "evidence", True)
        for kind, other in others.items():
            yield from self._answer(run, other.reference, kind, False)
            if not other.holds(run.held):
                yield from self.context(run, other, kind, False)
            if not run.holds(other.held):
                yield from self._grounded(run, run, other.reference, kind, False)
        bereft = _ask(run.gold, without(self._whole, run.held), run.held)
        yield from self.context(run, bereft, "no evidence", False)
        yield from self._grounded(run, bereft, run.reference, "no evidence", False)
        if bereft.cited:
            yield from self._answer(run, bereft.answer, "no evidence", False)

    def _answer(self, run: _Run, answer: str, kind: str, right: bool) -> Pairs:
        query = query_of(parse(run.standalone), self._whole)
        evidence = evidence_in(run.passages, self._whole)
        if features := answer_features(query, answer, evidence, self._whole):
            yield "answer", _row(run, kind, right, astuple(features))

    def context(self, run: _Run, found: _Run, kind: str, right: bool) -> Pairs:
        """The question with the passages found in another run."""
        query = query_of(parse(run.standalone), self._whole)
        if features := context_features(query, evidence_in(found.passages, self._whole)):
            yield "context", _row(run, kind, right, astuple(features))

    def _grounded(self, run: _Run, found: _Run, answer: str, kind: str, right: bool) -> Pairs:
        evidence = evidence_in(found.passages, self._whole)
        if support := self._support.of(claims_of(answer), evidence):
            mean = float(np.mean([claim.probability for claim in support]))
            yield "groundedness", _row(run, kind, right, (mean,))


def _row(run: _Run, kind: str, right: bool, features: tuple[float, ...]) -> FeatureRow:
    name = f"{'right' if right else 'wrong'}: {kind}"
    return FeatureRow(features, right, run.gold.question, name)


def _ask(question: Case, collection: Collection, taken_out: Collected[str]) -> _Run:
    state = ask_graph(collection, _SETTINGS, question)
    (attempt,) = state["attempts"]
    return _Run(
        gold=question,
        held=frozenset(taken_out),
        standalone=attempt["question"],
        passages=state["passages"],
        answer=attempt["answer"],
        cited=cited_in(state["passages"], state["citations"]),
    )


def cited_in(passages: Sequence[Passage], citations: Sequence[Citation]) -> frozenset[str]:
    """Return the ids of the passages that hold words of the citations."""
    return frozenset(
        passage["id"]
        for passage in passages
        for citation in citations
        if passage["document"] == citation["document"]
        and max(passage["start"], citation["start"]) < min(passage["end"], citation["end"])
    )


def _others(runs: Sequence[_Run], collection: Collection) -> Iterator[dict[str, _Run]]:
    """For each question the one most like it that other evidence answers, and any such."""
    vectors = collection.embedder.embed([run.standalone for run in runs])
    alike = vectors @ vectors.T
    for i, j in itertools.product(range(len(runs)), repeat=2):
        if runs[i].held & runs[j].held or alike[i, j] > _SAME:
            alike[i, j] = -1.0
    dice = np.random.default_rng(_SEED)
    for row in alike:
        apart = np.flatnonzero(row > -1.0)
        picked = (
            {"most alike": np.argmax(row), "any other": dice.choice(apart)} if len(apart) else {}
        )
        yield {kind: runs[int(place)] for kind, place in picked.items()}


if __name__ == "__main__":
    main()
