"""The functions of the evaluation that ``import lexloop`` offers."""

from pathlib import Path
from typing import Any

from lexloop.apps.library import chosen_settings
from lexloop.graph.app import resources


def evaluate(
    gold: str | Path,
    corpus: str | Path | None = None,
    out: str | Path | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Ask gold questions, and measure the answers.

    Args:
        gold: A file of questions as ``lexloop eval`` reads them, one JSON object a line.
        corpus: See ``ask``.
        out: The run's folder, with its records, tables and page; one that was interrupted is gone
            on with. None for one named after the gold file and the settings.
        settings: See ``ask``.

    Returns:
        The summary: every metric with its mean and interval, and under ``failures`` how many
        questions were not answered.

    Raises:
        LexloopError: The questions, a setting, the documents, a model or the folder cannot be used.
    """
    from lexloop_eval.run.prepare import RunRequest, prepare
    from lexloop_eval.run.runner import run, workers_for
    from lexloop_eval.run.variants import of_setting

    base = chosen_settings(corpus, settings)
    variants = of_setting([base.variant])
    request = RunRequest(Path(gold), base, variants, out=Path(out) if out else None)
    return run(prepare(request, resources.connection), workers_for(base))


__all__ = ["evaluate"]
