"""Fits whether the documents answer a question, and whether an extractive answer does.

    python -m lexloop.finetune.answerable --set GOLD.jsonl DIR [--set GOLD.jsonl DIR ...]
        [--probes DIR ...] --negative data/negative.jsonl --out data/judges

``there`` is whether a question can be answered, ``found`` whether one of the first passages, which
are what an answer quotes, holds what answers it. Every in-scope question of a gold file is read
twice: over all documents, and with its evidence taken out, where the nearest passages are plausible
and wrong. So are those of out-of-scope questions and negative queries, and those that the search
ranks before the right one.
``--probes`` names folders with a law, its ``structure.json`` and ``probes.jsonl``.

Printed are the shares of each kind that would be refused and passed, and how reliable the
probability is: its AUROC, its expected calibration error and the curve, each set by weights that
were fitted on the other sets.
"""

import json
from collections.abc import Callable, Sequence
from collections.abc import Collection as Collected
from dataclasses import astuple, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexloop.core.errors import InputError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION, Advice, Draft, ParsedQuestion, Passage, Pointed, Triplet
from lexloop.evaluation.case import Case, read_cases, read_negative
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.evaluation.graph_runs import ask_graph, indexed
from lexloop.evaluation.report.tables import markdown_table
from lexloop.finetune import logistic
from lexloop.finetune.logistic import FeatureRow, Floats, Rows, labels_of, probabilities
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.extractive import (
    AGAINST,
    MIN_THERE,
    AnswerabilityFeatures,
    read_features,
    score_quotables,
)
from lexloop.nodes.relevance import Sources, query_of
from lexloop.nodes.weights import Weights
from lexloop.store.view import Collection
from lexloop.store.writer import without

Part = Literal["there", "found"]
PARTS: tuple[Part, ...] = ("there", "found")
Holds = Callable[[Passage], bool]
_COUNTS = {"answerable": 1.0, "evidence removed": 0.25, "out of scope": 2.0, "negative": 0.5}
"""The weight of a row of each kind."""
_PENALTY = 20.0
_SETTINGS = Settings(**{"loop.max_retries": 0})
_BY_NUMBER = {"article", "provision", "no_such", "typo"}


def main() -> None:
    """Fit, write the weights and print what they do."""
    parser = logistic.options(__doc__)
    parser.add_argument("--set", nargs=2, action="append", default=[], metavar=("GOLD", "DIR"))
    parser.add_argument("--probes", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--negative", type=Path, required=True)
    given = parser.parse_args()
    if not given.set and not given.probes:
        parser.error("there is nothing to fit on: give --set GOLD DIR or --probes DIR")
    rows: list[FeatureRow] = []
    for number, (gold, docs) in enumerate(given.set):
        rows += read_rows(number, Path(gold), Path(docs), given.negative)
    for number, folder in enumerate(given.probes, len(given.set)):
        rows += probe_rows(number, folder)
    weights = {part: fit(of_part(rows, part)) for part in PARTS}
    kept: dict[str, Any] = {
        part: logistic.stored(found, AnswerabilityFeatures) for part, found in weights.items()
    }
    logistic.ship(given.out / "answerable.json", kept)
    print(table(rows, *(probabilities(weights[part], rows) for part in PARTS)))
    if len({row.group for row in rows}) > 1:
        print("\nEach set by weights that were fitted on the others:\n")
        others = {part: across(of_part(rows, part)) for part in PARTS}
        print(table(rows, *others.values()))
        for part in PARTS:
            print(f"\n{part}: {reliability(of_part(rows, part), others[part])}")


def of_part(rows: Rows, part: Part) -> Rows:
    """Return the rows with the labels of a part; as they are read their label is ``found``."""
    if part == "found":
        return rows
    return [replace(row, label=row.kind == "answerable") for row in rows]


def fit(rows: Rows) -> Weights:
    """Fit a ridge-penalised logistic regression of the features, each divided by its deviation.

    A feature for an answer has no weight below 0 and one against it none above: what few laws show
    otherwise is chance.
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
    """Return the share of each kind that is refused, and that passes, by set."""
    refused = there < MIN_THERE
    passed = ~refused & (found >= Settings().loop.min_answers)
    lines: list[list[object]] = []
    for number in sorted({row.group for row in rows}, key=int):
        for kind in _COUNTS:
            of = np.array([(row.group, row.kind) == (number, kind) for row in rows])
            if of.any():
                shares = (labels_of(rows)[of].mean(), refused[of].mean(), passed[of].mean())
                lines.append([int(number) + 1, kind, of.sum(), *(f"{one:.2f}" for one in shares)])
    return "\n".join(markdown_table(("set", "kind", "rows", "found", "refused", "passed"), lines))


def reliability(rows: Rows, said: Floats) -> str:
    """Return AUROC, expected calibration error, and the curve of what was true by what was said.

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
    """Stands where the generator does and reads the features instead of answering."""

    instructions = ""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.features: AnswerabilityFeatures | None = None
        self.passages: list[Passage] = []

    async def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Note the features; the answer is the abstention."""
        asked = query_of(question, self._sources)
        scored = score_quotables(asked, passages, self._sources)
        self.passages = passages
        self.features = read_features(asked, scored, self._sources) if scored else None
        return drafted(ABSTENTION)


def read_rows(number: int, gold: Path, docs: Path, negative: Path) -> list[FeatureRow]:
    """Return the rows of one gold file over one folder of documents.

    Args:
        number: The set's number.
        gold: Questions in the format of data/gold.jsonl.
        docs: The folder.
        negative: Queries that no document answers, with the field ``query``.

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
            rows += _row((number, "out of scope"), case, collection)
            continue
        held = evidence.to_take_out(case)
        rows += _row((number, "answerable"), case, collection, partial(_is_one_of, held))
        rows += _row((number, "evidence removed"), case, without(view, held))
    for case in read_negative(negative):
        rows += _row((number, "negative"), case, collection)
    return rows


def probe_rows(number: int, folder: Path) -> list[FeatureRow]:
    """Return the rows of a law's probes: its text, ``structure.json`` and ``probes.jsonl``.

    A turn of a conversation is asked with the first question before it.
    """
    for name in ("structure.json", "probes.jsonl"):
        if not (folder / name).is_file():
            what = f"The folder of probes {folder} has no {name}."
            raise InputError(what, "Give a folder with a law, its structure.json and probes.jsonl.")
    structure = json.loads((folder / "structure.json").read_text(encoding="utf-8"))
    spans = {unit.get("label", unit.get("article")): unit for unit in structure}
    collection = indexed(folder, _SETTINGS, ".txt")
    rows: list[FeatureRow] = []
    for line in (folder / "probes.jsonl").read_text(encoding="utf-8").splitlines():
        probe = json.loads(line)
        if probe["kind"] not in _BY_NUMBER:
            there = probe["kind"] != "not_there"
            units = [_unit(spans, at) for at in _places(probe)] if there else []
            asked = Case(question=" ".join([*probe["history"][:1], probe["question"]]))
            kind = "answerable" if there else "out of scope"
            rows += _row((number, kind), asked, collection, partial(_lies_in, units))
    return rows


def _places(probe: dict[str, Any]) -> list[Any]:
    return probe.get("gold") or [(probe["article"], probe["paragraph"]), *probe.get("also", [])]


def _unit(spans: dict[Any, Any], at: Any) -> dict[str, Any]:
    """Return the provision that a probe names: a label, or an article and a paragraph of it."""
    found: dict[str, Any] = spans[at if isinstance(at, str) else at[0]]
    if isinstance(at, str) or not at[1]:
        return found
    return next((part for part in found["paragraphs"] if part["n"] == at[1]), found)


def _lies_in(units: Sequence[dict[str, Any]], passage: Passage) -> bool:
    """Return whether a passage shares more than half of itself, or of a unit, with the unit."""
    start, end = passage["start"], passage["end"]
    spans = [(int(unit["start"]), int(unit["end"])) for unit in units]
    return any(min(end, e) - max(start, s) > min(end - start, e - s) / 2 for s, e in spans)


def _is_one_of(ids: Collected[str], passage: Passage) -> bool:
    return passage["id"] in ids


def _row(
    of: tuple[int, str],
    case: Case,
    collection: Collection,
    holds: Holds = lambda _: False,
) -> list[FeatureRow]:
    """The features of a question, none where it is refused before they are read."""
    number, kind = of
    reader = _FeatureReader(collection.seen_by(Filters.of(_SETTINGS)))
    ask_graph(collection, _SETTINGS, case, generator=reader)
    if reader.features is None:
        return []
    found = any(map(holds, reader.passages[: _SETTINGS.answer.statements]))
    features = astuple(reader.features)
    return [FeatureRow(features, found, str(number), kind, _COUNTS[kind], case.question)]


if __name__ == "__main__":
    main()
