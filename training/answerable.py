"""Fits whether the documents answer a question, and whether an extractive answer does.

    python -m training.answerable --set GOLD.jsonl DIR [--set GOLD.jsonl DIR ...]
        [--public SETS] --negative data/negative.jsonl --out data/judges

``there`` is whether a question can be answered, ``found`` whether the best statement, which an
answer quotes first, answers it. Every answerable question is read twice: over all documents, and
with its evidence taken out, where the nearest statements are plausible and wrong. So are those of
unanswerable questions and of negative queries. SETS is the folder that ``training.public_gold``
writes. Each set counts the same, and in it the questions that its documents answer count three
times as much as the others, because people mostly ask what their documents answer.

It prints, by set, the shares of questions that would be refused and of answers that would pass,
by weights that were fitted on the other sets; and the reliability of the probabilities: AUROC,
expected calibration error and the curve.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Collection as Collected
from dataclasses import astuple, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import LEAST
from lexloop.core.types import (
    ABSTENTION,
    Advice,
    Draft,
    ParsedQuestion,
    Passage,
    Pointed,
    Triplet,
)
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.answerable import AGAINST, AnswerabilityFeatures, read_features
from lexloop.nodes.generate.score import Quotable, score_quotables
from lexloop.nodes.relevance import query_of
from lexloop.nodes.weights import Weights
from lexloop.store.view import Collection, View
from lexloop.store.writer import without
from lexloop_eval.case import Case, Span, read_cases, read_negative
from lexloop_eval.evidence import EvidenceIndex
from lexloop_eval.report.tables import markdown_table
from training import logistic
from training.graph_runs import ask_graph, indexed
from training.logistic import FeatureRow, Floats, Rows, labels_of, probabilities
from training.public_gold import GOLD

Part = Literal["there", "found"]
PARTS: tuple[Part, ...] = ("there", "found")
Holds = Callable[[Quotable], bool]
Truth = NDArray[np.bool_]
_ANSWERED = "answerable"
_USUAL = 0.75
"""The share of people's questions that documents answer."""
_TAKEN_OUT, _COUNTS = "evidence removed", 0.1
"""How much such a question counts beside one that a text never answered."""
_PENALTY = 20.0
_SETTINGS = Settings(**{"loop.max_retries": 0})


def main() -> None:
    """Fit, write the weights and print their effect."""
    parser = logistic.options(__doc__)
    parser.add_argument("--set", nargs=2, action="append", default=[], metavar=("GOLD", "DIR"))
    parser.add_argument("--public", type=Path, metavar="SETS")
    parser.add_argument("--negative", type=Path, required=True)
    arguments = parser.parse_args()
    sets = {Path(gold).stem: [(Path(gold), Path(docs))] for gold, docs in arguments.set}
    if arguments.public is not None:
        for folder in sorted(arguments.public.iterdir()):
            sets[folder.name] = [
                (gold_file, gold_file.parent) for gold_file in sorted(folder.glob(f"*/{GOLD}"))
            ]
    if not sets:
        parser.error("there is nothing to fit on: give --set GOLD DIR or --public SETS")
    negative = read_negative(arguments.negative)
    rows: list[FeatureRow] = []
    for name, collections in sets.items():
        for gold, docs in collections:
            rows += read_rows(name, gold, docs, negative if len(collections) == 1 else [])
    weights = {part: fit(of_part(rows, part)) for part in PARTS}
    stored: dict[str, Any] = {
        part: logistic.stored(fitted, AnswerabilityFeatures) for part, fitted in weights.items()
    }
    logistic.ship(arguments.out / "answerable.json", stored)
    print(table(rows, *(probabilities(weights[part], rows) for part in PARTS)))
    if len(sets) > 1:
        print("\nEach set by weights that were fitted on the others:\n")
        held_out = {part: across(of_part(rows, part)) for part in PARTS}
        print(table(rows, *held_out.values()))
        for part in PARTS:
            print(f"\n{part}: {reliability(of_part(rows, part), held_out[part])}")


def of_part(rows: Rows, part: Part) -> Rows:
    """Return the rows with the labels of a part. When they are read, their label is ``found``.

    Each set has the same weight, and in it answerable questions have their usual share.
    """
    per_set = len(rows) / len({row.group for row in rows})
    counts = [_COUNTS if row.kind == _TAKEN_OUT else 1.0 for row in rows]
    sides: dict[tuple[str, bool], float] = defaultdict(float)
    for row, count in zip(rows, counts, strict=True):
        sides[row.group, row.kind == _ANSWERED] += count
    weighed: list[FeatureRow] = []
    for row, count in zip(rows, counts, strict=True):
        is_answered = row.kind == _ANSWERED
        share = _USUAL if is_answered else 1 - _USUAL
        weight = share * per_set * count / sides[row.group, is_answered]
        label = is_answered if part == "there" else row.label
        weighed.append(replace(row, label=label, weight=weight))
    return weighed


def fit(rows: Rows) -> Weights:
    """Fit a ridge-penalised logistic regression of the features, each divided by its deviation.

    Weights of features for an answer are not below 0, and of those against one not above: anything
    else that a few laws show is chance.
    """
    deviation = logistic.feature_matrix(rows).std(axis=0)
    # a feature that is the same everywhere tells nothing, and must not be blown up
    spread = np.where(deviation > 1e-9, deviation, 1.0)
    names = [field.name for field in fields(AnswerabilityFeatures)]
    bounds = [(None, 0.0) if name in AGAINST else (0.0, None) for name in names]
    return logistic.fit(rows, _PENALTY, bounds=bounds, spread=spread)


def across(rows: Rows) -> Floats:
    """Return each row's probability by weights that saw no row of its set."""
    from sklearn.model_selection import LeaveOneGroupOut

    folds = LeaveOneGroupOut().split(rows, groups=[row.group for row in rows])
    return logistic.out_of_fold(rows, lambda train: partial(probabilities, fit(train)), folds)


def table(rows: Rows, there: Floats, found: Floats) -> str:
    """Return by set the refused questions and passed answers, with their AUROC."""
    least = LEAST[_SETTINGS.loop.care]
    refused = (there < least.there) | (found < least.given)
    passed = found >= least.passed
    is_answered = np.array([row.kind == _ANSWERED for row in rows])
    right = labels_of(rows) > 0
    lines: list[list[object]] = []
    for name in dict.fromkeys(row.group for row in rows):
        of_set = np.array([row.group == name for row in rows])
        kept = of_set & ~refused
        lines.append([name, *_told(of_set & is_answered, of_set & ~is_answered, refused, there)])
        lines[-1] += _told(kept & right, kept & ~right, passed, found)
    head = ("answered", "refused", "not", "refused", "AUROC")
    answer_head = ("right", "passed", "wrong", "passed", "AUROC")
    return "\n".join(markdown_table(("set", *head, *answer_head), lines))


def _told(true: Truth, false: Truth, marked: Truth, scores: Floats) -> list[object]:
    """Return how many rows are true and are not, the share marked of either, and AUROC."""
    from sklearn.metrics import roc_auc_score

    shares = [f"{marked[side].mean():.2f}" if side.any() else "" for side in (true, false)]
    both = true | false
    auroc = f"{roc_auc_score(true[both], scores[both]):.3f}" if true.any() and false.any() else ""
    return [true.sum(), shares[0], false.sum(), shares[1], auroc]


def reliability(rows: Rows, said: Floats) -> str:
    """Return AUROC, expected calibration error, and the curve of truth by probability.

    Rows count as in the fit.
    """
    from sklearn.metrics import roc_auc_score

    truth, counts = labels_of(rows), logistic.weights_of(rows)
    error, curve = logistic.calibration(said, truth, counts)
    auroc = roc_auc_score(truth, said, sample_weight=counts)
    lines = [[f"{mean:.2f}", count, f"{true:.2f}"] for mean, count, true in curve]
    head = f"AUROC {auroc:.3f}, expected calibration error {error:.3f}"
    return "\n".join([head, "", *markdown_table(("said", "rows", "true"), lines)])


class _FeatureReader:
    """Takes the place of the generator, and reads the features instead of answering."""

    instructions = ""

    def __init__(self, sources: View) -> None:
        self._sources = sources
        self.features: AnswerabilityFeatures | None = None
        self.best: Quotable | None = None

    async def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Note the features; the answer is the abstention."""
        query = query_of(question, self._sources)
        if scored := score_quotables(query, passages, self._sources):
            self.features = read_features(query, scored, self._sources)
            self.best = scored.quotables[int(scored.best.argmax())]
        return drafted(ABSTENTION)


def read_rows(name: str, gold: Path, docs: Path, negative: Sequence[Case]) -> list[FeatureRow]:
    """Return the rows of a collection of a set.

    Args:
        name: The set's.
        gold: Questions in the format of data/gold.jsonl.
        docs: The folder of its documents.
        negative: Queries that no document answers.

    Raises:
        InputError: A file is malformed, or no chunk holds the evidence of a question.
        CorpusError: The folder holds no documents.
    """
    collection = indexed(docs, _SETTINGS, ".txt")
    view = collection.seen_by(Filters.of(_SETTINGS))
    evidence = EvidenceIndex(view.every_chunk())
    rows: list[FeatureRow] = []
    for case in read_cases(gold):
        if case.out_of_scope:
            rows += _row((name, "out of scope"), case, collection)
            continue
        taken_out = evidence.to_take_out(case)
        holds = partial(_lies_in, case.evidence) if case.evidence else partial(_is_of, taken_out)
        rows += _row((name, _ANSWERED), case, collection, holds)
        rows += _row((name, _TAKEN_OUT), case, without(view, taken_out))
    for case in negative:
        rows += _row((name, "negative"), case, collection)
    return rows


def _lies_in(spans: Sequence[Span], item: Quotable) -> bool:
    """Return whether a statement shares more than half of itself, or of a span, with the span."""
    start, end = item.statement.start, item.statement.end
    return any(
        item.passage["document"] == span.document
        and min(end, span.end) - max(start, span.start)
        > min(end - start, span.end - span.start) / 2
        for span in spans
    )


def _is_of(ids: Collected[str], item: Quotable) -> bool:
    return item.passage["id"] in ids


def _row(
    labels: tuple[str, str],
    case: Case,
    collection: Collection,
    holds: Holds = lambda _: False,
) -> list[FeatureRow]:
    """Return the features of a question, or none if it is refused before they are read."""
    name, kind = labels
    reader = _FeatureReader(collection.seen_by(Filters.of(_SETTINGS)))
    ask_graph(collection, _SETTINGS, case, generator=reader)
    if reader.features is None or reader.best is None:
        return []
    is_right = holds(reader.best)
    return [FeatureRow(astuple(reader.features), is_right, name, kind, text=case.question)]


if __name__ == "__main__":
    main()
