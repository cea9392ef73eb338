"""What answers.py prints: shares and means with intervals, over all questions and by type."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

OUT_OF_SCOPE = "out of scope"
_RESAMPLES = 2000
_SEED = 7


@dataclass(frozen=True)
class Result:
    """One answered question; ``said`` and ``wanted`` are the words of answer and reference."""

    question: str
    kind: str
    answer: str
    reference: str
    abstained: bool
    similarity: float
    said: list[str]
    wanted: list[str]
    unverified: int
    retries: int
    seconds: float


def report(
    results: list[Result], without: list[tuple[str, bool]], negative: list[tuple[str, bool]]
) -> dict[str, Any]:
    """Flat keys over all questions, and the same by question type under ``by_type``."""
    summary = _figures(results, [abstained for _, abstained in without])
    kinds = sorted({result.kind for result in results})
    summary["by_type"] = {
        kind: _figures(
            [result for result in results if result.kind == kind],
            [abstained for other, abstained in without if other == kind],
        )
        for kind in kinds
    }
    if negative:
        summary["abstained_negative"] = sum(abstained for _, abstained in negative)
        summary["negative_queries"] = len(negative)
        for kind in sorted({kind for kind, _ in negative}):
            of_kind = [abstained for other, abstained in negative if other == kind]
            summary[f"abstained_{kind}"] = sum(of_kind)
            summary[f"{kind}_queries"] = len(of_kind)
    return summary


def _figures(results: list[Result], without: list[bool]) -> dict[str, Any]:
    inside = [result for result in results if result.kind != OUT_OF_SCOPE]
    outside = [result for result in results if result.kind == OUT_OF_SCOPE]
    figures: dict[str, Any] = {"questions": len(results)}
    series = {
        "answer_similarity": [result.similarity for result in inside],
        "rouge1_recall": [_overlap(r.said, r.wanted) for r in inside],
        "rouge1_precision": [_overlap(r.wanted, r.said) for r in inside],
        "words_per_answer": [float(len(result.answer.split())) for result in inside],
        "wrong_abstentions": [float(result.abstained) for result in inside],
        "abstained_out_of_scope": [float(result.abstained) for result in outside],
        "abstained_without_evidence": [float(abstained) for abstained in without],
        "seconds_per_question": [result.seconds for result in results],
    }
    for name, values in series.items():
        if values:
            figures[name] = float(np.mean(values))
            figures[f"{name}_low"], figures[f"{name}_high"] = interval(values)
    figures["unverified_citations"] = sum(result.unverified for result in results)
    figures["retries"] = sum(result.retries for result in results)
    return figures


def _overlap(said: list[str], wanted: list[str]) -> float:
    """ROUGE-1: the share of ``wanted`` whose words ``said`` has, each as often as it has it."""
    shared = Counter(said) & Counter(wanted)
    return sum(shared.values()) / len(wanted) if wanted else 0.0


def interval(values: list[float]) -> tuple[float, float]:
    """The bootstrap 95 % interval of the mean."""
    sample = np.array(values)
    picks = np.random.default_rng(_SEED).integers(0, len(sample), (_RESAMPLES, len(sample)))
    low, high = np.percentile(sample[picks].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def print_report(summary: dict[str, Any]) -> None:
    """Print the figures over all questions, then one line per question type."""
    for name, value in summary.items():
        if name == "by_type" or name.endswith(("_low", "_high")):
            continue
        if f"{name}_low" in summary:
            low, high = summary[f"{name}_low"], summary[f"{name}_high"]
            print(f"{name:28} {value:8.3f}   [{low:.3f}, {high:.3f}]")
        else:
            print(f"{name:28} {value:8}")
    columns = ("answer_similarity", "rouge1_recall", "wrong_abstentions",
               "abstained_out_of_scope", "abstained_without_evidence", "retries")  # fmt: skip
    print(f"\n{'by type':22}" + "".join(f"{name:>28}" for name in columns))
    for kind, figures in summary["by_type"].items():
        cells = [f"{figures[name]:.3f}" if name in figures else "-" for name in columns]
        print(f"{kind:22}" + "".join(f"{cell:>28}" for cell in cells))
