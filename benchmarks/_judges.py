"""What judges.py prints: how well the embedded judges agree with labels, beside plain baselines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from sklearn.metrics import roc_auc_score

from lexloop.evaluation.metrics.hypa import is_correct
from lexloop.evaluation.score import Score, Unresolved, is_resolved, resolved
from lexloop.evaluation.statistics import Estimate, interval_of, mean, spearman

Figures = dict[str, float | int | str]
T = TypeVar("T")
_ALONE = "llm_only"
_RESAMPLES = 1000


@dataclass(frozen=True)
class ClaimRow:
    """A claim: what the judge and token cover give it, and whether people call it supported."""

    claim: str
    supported: bool
    judge: float
    cover: float


@dataclass(frozen=True)
class AnswerRow:
    """An answer of ``run``: our score and theirs, both 1 to 5, and its ROUGE-1 recall."""

    question: str
    run: str
    theirs: float
    judge: Score
    rouge1: Score

    @property
    def retrieved(self) -> bool:
        """Whether the run had documents."""
        return not self.run.startswith(_ALONE)


def groundedness(rows: Sequence[ClaimRow], resamples: int = _RESAMPLES) -> Figures:
    """AUROC of supported claims against the rest; intervals resample claims."""
    clusters = [row.claim for row in rows]
    figures: Figures = {"claims": len(rows), "claims_supported": sum(r.supported for r in rows)}
    judge, cover = partial(_auroc, "judge"), partial(_auroc, "cover")
    for name, statistic in (
        ("groundedness_auroc", judge),
        ("groundedness_auroc_token_cover", cover),
        ("groundedness_auroc_gain", _gain(judge, cover)),
    ):
        figures |= _figure(name, interval_of(statistic, rows, clusters, resamples=resamples))
    return figures


def correctness(rows: Sequence[AnswerRow], resamples: int = _RESAMPLES) -> Figures:
    """Spearman with their judge, over all runs and over those that retrieved."""
    figures: Figures = {
        "questions": len({row.question for row in rows}),
        "answers": len(rows),
        "answers_retrieval": sum(row.retrieved for row in rows),
    }
    judge, rouge1 = partial(_spearman, "judge"), partial(_spearman, "rouge1")
    for suffix, picked in (
        ("", list(rows)),
        ("_retrieval", [row for row in rows if row.retrieved]),
    ):
        clusters = [row.question for row in picked]
        for name, statistic in (
            (f"correctness_spearman{suffix}", judge),
            (f"correctness_spearman{suffix}_rouge1", rouge1),
            (f"correctness_spearman{suffix}_gain", _gain(judge, rouge1)),
            (f"correctness_share{suffix}", partial(_share, "judge")),
            (f"correctness_share{suffix}_theirs", partial(_share, "theirs")),
        ):
            figures |= _figure(name, interval_of(statistic, picked, clusters, resamples=resamples))
    return figures


def table(figures: Figures) -> str:
    """One line a figure, its interval behind it."""
    lines = []
    for name, value in figures.items():
        if name.endswith(("_low", "_high")):
            continue
        shown = f"{value:9.3f}" if isinstance(value, float) else f"{value:>9}"
        if f"{name}_low" in figures:
            shown += f"   [{figures[f'{name}_low']:.3f}, {figures[f'{name}_high']:.3f}]"
        lines.append(f"{name:50}{shown}")
    return "\n".join(lines)


def _auroc(by: str, rows: Sequence[ClaimRow]) -> Score:
    labels = [row.supported for row in rows]
    if len(set(labels)) < 2:
        return Unresolved("only one kind of case was scored")
    return float(roc_auc_score(labels, [getattr(row, by) for row in rows]))


def _spearman(by: str, rows: Sequence[AnswerRow]) -> Score:
    return spearman([getattr(row, by) for row in rows], [row.theirs for row in rows])


def _share(by: str, rows: Sequence[AnswerRow]) -> Score:
    right = resolved(is_correct(getattr(row, by)) for row in rows)
    return mean(right) if right else Unresolved("no answer has a correctness")


def _gain(
    better: Callable[[Sequence[T]], Score], plain: Callable[[Sequence[T]], Score]
) -> Callable[[Sequence[T]], Score]:
    def difference(rows: Sequence[T]) -> Score:
        one, other = better(rows), plain(rows)
        if is_resolved(one) and is_resolved(other):
            return one - other
        return one if isinstance(one, Unresolved) else other

    return difference


def _figure(name: str, found: Estimate | Unresolved) -> Figures:
    """The figure with its interval; why there is none, where there is none."""
    if isinstance(found, Unresolved):
        return {f"{name}_unresolved": found.reason}
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}
