"""A run as figures: the same for the same records, on any machine and day.

Only timings are separate, since no two runs take equally long. Two runs, or two variants of one,
are compared question by question.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from lexloop.core.errors import InputError
from lexloop.nodes.evaluate.node import AttemptRank, best_rank
from lexloop_eval.record import (
    AttemptSeen,
    Record,
    RefusalRecord,
    RunInfo,
    VariantInfo,
)
from lexloop_eval.report.tables import (
    SECONDS,
    Figure,
    Figures,
    Table,
    Value,
    costs,
    figure,
    figures,
    label,
    metric_names,
    of_score,
    probability,
    rounded,
    score_of,
)
from lexloop_eval.score import Score, Unresolved, is_resolved, resolved
from lexloop_eval.statistics import (
    Estimate,
    estimate,
    mean,
    paired,
    paired_randomisation,
)

Key = Callable[[Record], str]


def summarise(
    records: Sequence[Record], info: RunInfo, refusals: Sequence[RefusalRecord] = ()
) -> Figures:
    """Return every figure of a run except its seconds, as JSON.

    It contains the identity of the run. Under ``variants`` each has its identity, its ``metrics``
    as figures, the same ``by_type`` and ``by_class``, its ``loop``, the negative queries that it
    ``refused``, and what went wrong: ``errors`` counts failed questions by reason, ``degradations``
    the steps that ran with less than requested, ``degraded`` the questions with such steps. Each
    variant is compared, question by question, with the first that has records.

    Args:
        records: The records, in any order.
        info: The identity of the run. The result has its variants in order, even without records.
        refusals: The results of the negative queries.
    """
    own = {variant["name"]: _own(records, variant["name"]) for variant in info["variants"]}
    first = next(filter(None, own.values()), [])
    variants = [
        _variant(
            variant,
            own[variant["name"]],
            first,
            [refusal for refusal in refusals if refusal["variant"] == variant["name"]],
        )
        for variant in info["variants"]
    ]
    return {**info, "variants": variants}


def timings(records: Sequence[Record], info: RunInfo) -> Figures:
    """Return the wall time of each variant in seconds, as JSON, without failed questions.

    ``retries`` is the part of the total for attempts after the first. Every attempt of a question
    counts equally, since single attempts are not timed. Mean, median, 90 % and the worst are None
    if nothing was answered.
    """
    variants: list[Figures] = []
    for variant in info["variants"]:
        own = [record for record in _own(records, variant["name"]) if not record.get("error")]
        groups = _groups(own, _class_name)
        by_class = {name: _times(group) for name, group in groups.items()}
        variants.append({"name": variant["name"], "seconds": _times(own), "by_class": by_class})
    return {"variants": variants}


def _own(records: Sequence[Record], name: str) -> list[Record]:
    """Those of one variant; sorted, since resamples draw by place."""
    return sorted((r for r in records if r["variant"] == name), key=lambda record: record["id"])


def _variant(
    variant: VariantInfo,
    records: Sequence[Record],
    first: Sequence[Record],
    refusals: Sequence[RefusalRecord],
) -> Figures:
    names = metric_names(records)
    metrics = _metrics(records, names)
    if first and first is not records:
        _compare(first, records, metrics)
    by_type, by_class = (
        {name: _group(group, names) for name, group in _groups(records, key).items()}
        for key in _KEYS
    )
    return {
        "name": variant["name"],
        "source": variant["source"],
        "settings": variant["settings"],
        **({"differs": variant["differs"]} if "differs" in variant else {}),
        "questions": len(records),
        "failed": sum(bool(record.get("error")) for record in records),
        "errors": _counted(record.get("error", "") for record in records),
        "degraded": sum(bool(record["degraded"]) for record in records),
        "degradations": _counted(
            f"{step['node']}: {step['wanted']} -> {step['used']}"
            for record in records
            for step in record["degraded"]
        ),
        "warned": sum(bool(record["warning"]) for record in records),
        "metrics": metrics,
        "by_type": by_type,
        "by_class": by_class,
        "loop": {name: of_score(value) for name, value in loop_account(records).items()},
        "refused": _refused(refusals),
    }


def _metrics(records: Sequence[Record], names: Iterable[str]) -> dict[str, Figure]:
    return figures({name: [score_of(record, name) for record in records] for name in names})


def _compare(first: Sequence[Record], own: Sequence[Record], metrics: dict[str, Figure]) -> None:
    """Add to each figure how the variant differs from the first one, question by question."""
    by_id = {record["id"]: record for record in first}
    pairs = [(by_id[record["id"]], record) for record in own if record["id"] in by_id]
    for name in set(metric_names(first)) & metrics.keys():
        theirs, ours = ([score_of(pair[side], name) for pair in pairs] for side in (0, 1))
        p = paired_randomisation(ours, theirs)
        gaps, _ = paired(theirs, ours, pairs)
        metrics[name]["difference"] = rounded(mean(gaps)) if gaps else None
        metrics[name]["p"] = rounded(p) if is_resolved(p) else None


def _class_name(record: Record) -> str:
    label = record["complexity"]
    return "none" if label is None else str(label)


_KEYS: tuple[Key, Key] = (lambda record: record["question_type"], _class_name)
UNNAMED = "(none)"


def _groups(records: Iterable[Record], key: Key) -> dict[str, list[Record]]:
    """The records of each group, the groups in the order of their names."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record) or UNNAMED, []).append(record)
    return dict(sorted(groups.items()))


def _group(records: Sequence[Record], names: Iterable[str]) -> Figures:
    metrics = _metrics(records, names)
    for metric in metrics.values():
        metric.pop("reasons", None)
    return {"questions": len(records), "metrics": metrics}


def _refused(refusals: Sequence[RefusalRecord]) -> Figures | None:
    if not refusals:
        return None
    kinds: dict[str, dict[str, int]] = {}
    for refusal in sorted(refusals, key=lambda refusal: refusal["kind"]):
        kind = kinds.setdefault(refusal["kind"] or UNNAMED, {"queries": 0, "refused": 0})
        kind["queries"] += 1
        kind["refused"] += refusal["abstained"]
    ordered = sorted(refusals, key=lambda refusal: refusal["id"])
    return {
        "queries": len(refusals),
        "refused": sum(refusal["abstained"] for refusal in refusals),
        "share": figure([float(refusal["abstained"]) for refusal in ordered]),
        "by_kind": kinds,
    }


def _counted(reasons: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(filter(None, reasons)).items()))


def _times(records: Sequence[Record]) -> Figures:
    import numpy as np

    seconds = [record["seconds"] for record in records]
    median, p90, worst = (
        map(rounded, np.percentile(seconds, [50, 90, 100])) if seconds else (None, None, None)
    )
    return {
        "mean": figure(seconds),
        "median": median,
        "p90": p90,
        "worst": worst,
        "total": rounded(sum(seconds)),
        "retries": rounded(sum(r["seconds"] * _retry_share(r) for r in records)),
    }


def _retry_share(record: Record) -> float:
    """The share of a question's time in its retries, were each attempt equally long."""
    return costs(record)["retries"] / max(1, len(record["attempts"]))


_NO_RETRY = Unresolved("no question was tried again")
_MISSING = Unresolved("an attempt has no score")


def loop_account(records: Sequence[Record]) -> dict[str, Estimate | Score | int]:
    """Return the account of the retries of one variant.

    The gains compare, over the retried questions, the attempt that became the answer with the first
    one. The costs are a model's work between the first answer and the last one: judging, rewording,
    retrieving and writing again. Source: LQ-RAG, section IV-C, algorithm 3 (the feedback loop). The
    papers give no account of it, and the definitions are ours.

    Args:
        records: The variant's questions. Those without an attempt (they failed) are ignored.

    Returns:
        The numbers of questions, of those ``retried``, of ``retries``, of those ``passed_first``
        and ``passed_finally``, ``improved`` and ``worsened`` in their correctness (1 to 5); the
        means of ``correctness`` and of the ``lowest`` of the three scores at first, in the end,
        and of their gain, with ``correctness_p`` by the paired randomisation test; and the
        ``model_calls`` and ``tokens`` of the retries.
    """
    attempts = [record["attempts"] for record in records if record["attempts"]]
    again = [tries for tries in attempts if len(tries) > 1]
    correct = _series([(tries[0]["correctness"], chosen(tries)["correctness"]) for tries in again])
    low = _series([(lowest(tries[0]), lowest(chosen(tries))) for tries in again])
    gains = resolved(correct["gain"])
    return {
        "questions": len(attempts),
        "retried": len(again),
        "retries": sum(len(tries) - 1 for tries in attempts),
        "passed_first": sum(tries[0]["passed"] for tries in attempts),
        "passed_finally": sum(any(a["passed"] for a in tries) for tries in attempts),
        "improved": sum(gain > 0 for gain in gains),
        "worsened": sum(gain < 0 for gain in gains),
        **{f"correctness_{name}": _estimate(scores) for name, scores in correct.items()},
        "correctness_p": paired_randomisation(correct["final"], correct["first"]),
        **{f"lowest_{name}": _estimate(scores) for name, scores in low.items()},
        "model_calls": sum(tries[-1]["model_calls"] - tries[0]["model_calls"] for tries in again),
        "tokens": sum(tries[-1]["tokens"] - tries[0]["tokens"] for tries in again),
    }


def chosen(attempts: Sequence[AttemptSeen]) -> AttemptSeen:
    """Return the attempt that is the answer, by the rule of the evaluate node.

    Args:
        attempts: At least one, in their order.
    """
    scores = (
        a["answers"] if "answers" in a else -1.0 if (low := lowest(a)) is None else low
        for a in attempts
    )
    standings = [
        AttemptRank(a["passed"], a["verified"], a["abstained"], score)
        for a, score in zip(attempts, scores, strict=True)
    ]
    return attempts[best_rank(standings)]


def lowest(attempt: AttemptSeen) -> float | None:
    """Return the lowest of the three scores; None when one of them is not resolved."""
    scores = (attempt["answer_relevance"], attempt["context_relevance"], attempt["groundedness"])
    return None if None in scores else min(score for score in scores if score is not None)


def _series(pairs: Sequence[tuple[float | None, float | None]]) -> dict[str, list[Score]]:
    """Return first, final and gain of every pair, all missing if one end is."""
    series: dict[str, list[Score]] = {"first": [], "final": [], "gain": []}
    for first, final in pairs:
        row: Sequence[Score] = [_MISSING] * 3
        if first is not None and final is not None:
            row = first, final, final - first
        for name, score in zip(series, row, strict=True):
            series[name].append(score)
    return series


def _estimate(scores: Sequence[Score]) -> Estimate | Unresolved:
    return estimate(scores) if scores else _NO_RETRY


_MAIN = (
    *("correctness", "correct", "model_correctness_examples", "similarity", "abstention_accuracy"),
    *("faithfulness", "groundedness", "context_recall", "recall@k", "ndcg@10", "passed"),
    *("context_tokens", "tokens_in", "retries", SECONDS),
)


def compare(
    records_a: Sequence[Record],
    records_b: Sequence[Record],
    variant_a: str | None = None,
    variant_b: str | None = None,
) -> Figures:
    """Return the differences B - A, each with its interval and paired randomisation test, as JSON.

    ``pairs`` are over the questions that both variants answered or failed. ``only_a`` and
    ``only_b`` count questions of one variant only, ``reworded`` questions whose texts differ, which
    are also excluded. Each of the ``metrics`` has ``a``, ``b``, their ``difference`` over the
    questions that both resolved, and ``p``. ``unshared`` names the metrics of one variant only.
    Variants without a partner are ``variants_only_a`` and ``variants_only_b``.

    Args:
        records_a: The records of the first run.
        records_b: The records of the second run, which may be the same.
        variant_a: The variant of the first. None compares variants of the same name, or the only
            ones.
        variant_b: The variant of the second. None uses ``variant_a``, if given.

    Raises:
        InputError: A variant does not exist, none can be paired, or a pair shares no question.
    """
    a, b = _by_variant(records_a), _by_variant(records_b)
    names = _paired(list(a), list(b), variant_a, variant_b)
    used_a, used_b = {x for x, _ in names}, {y for _, y in names}
    chosen = variant_a is not None or variant_b is not None
    return {
        "pairs": [_compared(x, y, a[x], b[y]) for x, y in names],
        "variants_only_a": [] if chosen else [name for name in a if name not in used_a],
        "variants_only_b": [] if chosen else [name for name in b if name not in used_b],
    }


def difference_table(pair: Figures, everything: bool) -> Table:
    """Return the differences of two variants, one metric per line.

    Args:
        pair: The variants.
        everything: Whether to show every metric. False shows the main ones, if there are any, with
            a score other than nothing on both sides.
    """
    metrics = pair["metrics"]
    order = [name for name in _MAIN if name in metrics]
    shown = [*order, *(name for name in metrics if name not in order and (everything or not order))]
    lines: list[list[Value]] = []
    for name in shown:
        metric = metrics[name]
        a, b, gap = metric["a"], metric["b"], metric["difference"]
        if everything or (gap["n"] and (a["high"] or b["high"])):
            p = None if metric["p"] is None else probability(metric["p"]).removeprefix("= ")
            lines.append([label(name), a, b, gap, p, gap["n"]])
    names = pair["variant_a"], pair["variant_b"]
    title = names[0] if names[0] == names[1] else f"{names[0]} (A) against {names[1]} (B)"
    aside = (
        (pair["only_a"], "only in A"),
        (pair["only_b"], "only in B"),
        (pair["reworded"], "worded differently"),
    )
    excluded = ", ".join(f"{count} {reason}" for count, reason in aside if count)
    note = f"{pair['questions']} questions in both{excluded and f'; left out: {excluded}'}."
    return Table(title, note, ["Metric", "A", "B", "B - A", "p", "Pairs"], lines)


def _by_variant(records: Sequence[Record]) -> dict[str, dict[str, Record]]:
    variants: dict[str, dict[str, Record]] = {}
    for record in records:
        variants.setdefault(record["variant"], {})[record["id"]] = record
    return variants


def _paired(
    a: list[str], b: list[str], variant_a: str | None, variant_b: str | None
) -> list[tuple[str, str]]:
    if variant_a is not None or variant_b is not None:
        first, second = variant_a or variant_b or "", variant_b or variant_a or ""
        for name, there, ordinal in ((first, a, "first"), (second, b, "second")):
            if name not in there:
                raise InputError(
                    f"The {ordinal} run has no variant {name!r}.",
                    f"Its variants: {', '.join(there)}.",
                )
        return [(first, second)]
    shared = [(name, name) for name in a if name in b]
    if not shared and len(a) == len(b) == 1:
        return [(a[0], b[0])]
    if not shared:
        raise InputError(
            "The runs have no variant of the same name.",
            f"Choose with --variant-a ({', '.join(a)}) and --variant-b ({', '.join(b)}).",
        )
    return shared


def _compared(
    variant_a: str, variant_b: str, a: dict[str, Record], b: dict[str, Record]
) -> Figures:
    both = sorted(name for name in a if name in b)
    same = [name for name in both if a[name]["question"] == b[name]["question"]]
    if not same:
        raise InputError(
            f"The variants {variant_a!r} and {variant_b!r} share no question.",
            "Compare runs over the same gold file.",
        )
    ours, theirs = [a[name] for name in same], [b[name] for name in same]
    names_a, names_b = metric_names(ours), metric_names(theirs)
    shared = [name for name in names_a if name in names_b]
    return {
        "variant_a": variant_a,
        "variant_b": variant_b,
        "questions": len(same),
        "only_a": len(a) - len(both),
        "only_b": len(b) - len(both),
        "reworded": len(both) - len(same),
        "metrics": {name: _difference(ours, theirs, name) for name in [*shared, SECONDS]},
        "unshared": sorted({*names_a, *names_b} - set(shared)),
    }


def _difference(ours: Sequence[Record], theirs: Sequence[Record], name: str) -> Figures:
    a, b = [score_of(r, name) for r in ours], [score_of(r, name) for r in theirs]
    gaps: list[Score] = [
        y if isinstance(y, Unresolved) else x if isinstance(x, Unresolved) else y - x
        for x, y in zip(a, b, strict=True)
    ]
    p = paired_randomisation(b, a)
    return {
        "a": figure(a),
        "b": figure(b),
        "difference": figure(gaps),
        "p": rounded(p) if is_resolved(p) else None,
    }
