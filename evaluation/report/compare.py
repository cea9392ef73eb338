"""Two runs, or two variants of one, compared question by question."""

from collections.abc import Sequence

from lexloop.core.errors import InputError
from lexloop.evaluation.record import Record
from lexloop.evaluation.report.tables import (
    SECONDS,
    Figures,
    Table,
    Value,
    figure,
    label,
    metric_names,
    probability,
    rounded,
    score_of,
)
from lexloop.evaluation.score import Score, Unresolved, is_resolved
from lexloop.evaluation.statistics import paired_randomisation

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

    ``pairs`` are over the questions that both variants answered or failed: ``only_a`` and
    ``only_b`` count those of one alone, ``reworded`` those of both whose text differs, which are
    left out too. Of each of the ``metrics`` there are ``a``, ``b``, their ``difference`` over the
    questions that both resolved, and ``p``; ``unshared`` names the metrics of one alone. Variants
    without a partner are ``variants_only_a`` and ``variants_only_b``.

    Args:
        records_a: Of the first run.
        records_b: Of the second run; it may be the same.
        variant_a: The variant of the first; None compares variants of one name, or the only ones.
        variant_b: The variant of the second; None takes ``variant_a``, if that is given.

    Raises:
        InputError: A variant is not there, none can be paired, or a pair shares no question.
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
    """Return the differences of two variants, a metric a line.

    Args:
        pair: The variants.
        everything: Show every metric; False shows the main ones, where there are any, that say
            something: a score, and not nothing on both sides.
    """
    made = pair["metrics"]
    order = [name for name in _MAIN if name in made]
    shown = [*order, *(name for name in made if name not in order and (everything or not order))]
    lines: list[list[Value]] = []
    for name in shown:
        one = made[name]
        a, b, gap = one["a"], one["b"], one["difference"]
        if everything or (gap["n"] and (a["high"] or b["high"])):
            p = None if one["p"] is None else probability(one["p"]).removeprefix("= ")
            lines.append([label(name), a, b, gap, p, gap["n"]])
    names = pair["variant_a"], pair["variant_b"]
    title = names[0] if names[0] == names[1] else f"{names[0]} (A) against {names[1]} (B)"
    aside = (
        (pair["only_a"], "only in A"),
        (pair["only_b"], "only in B"),
        (pair["reworded"], "worded differently"),
    )
    left = ", ".join(f"{count} {reason}" for count, reason in aside if count)
    note = f"{pair['questions']} questions in both{left and f'; left out: {left}'}."
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
        for name, there, which in ((first, a, "first"), (second, b, "second")):
            if name not in there:
                raise InputError(
                    f"The {which} run has no variant {name!r}.",
                    f"Its variants: {', '.join(there)}.",
                )
        return [(first, second)]
    shared = [(name, name) for name in a if name in b]
    if not shared and len(a) == len(b) == 1:
        return [(a[0], b[0])]
    if not shared:
        raise InputError(
            "The runs have no variant of one name.",
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
