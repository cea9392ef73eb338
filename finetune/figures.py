"""How well an embedder finds, before and after training: a table, and LQ-RAG's figure 4."""

from collections.abc import Iterator, Mapping
from typing import Any

from lexloop.evaluation.report.svg import drawn
from lexloop.finetune.hits import DEPTHS

TITLE = "Kept pairs among all their texts, before and after training"
_MEASURES = {"hit": "hit rate", "MRR": "MRR", "nDCG": "nDCG"}
_SIGNALS = {"cosine": "#d1603d", "late": "#2f6690"}
_STYLES = {"before": ":", "after": "-"}


def figures_listed(figures: Mapping[str, float]) -> Iterator[str]:
    """A Markdown table: a line for each measure of each signal, a column for each depth K.

    Args:
        figures: As for ``figures_drawn``.
    """
    yield f"| before -> after, K = | {' | '.join(map(str, DEPTHS))} |"
    yield "|---|" + "---|" * len(DEPTHS)
    for scope in ("document", "all"):
        for signal in _SIGNALS:
            for measure, name in _MEASURES.items():
                of = f"{signal}, {scope} {measure}"
                cells = (
                    f"{figures[f'before: {of}@{k}']:.3f} -> {figures[f'after: {of}@{k}']:.3f}"
                    for k in DEPTHS
                )
                yield f"| {signal}, {scope}: {name} | {' | '.join(cells)} |"


def figures_drawn(figures: Mapping[str, float]) -> str:
    """Hit rate, MRR and nDCG by the depth K, as a picture that stands alone.

    Args:
        figures: In [0, 1], named as ``train_embedder`` names them.

    Returns:
        SVG.
    """

    def draw(figure: Any) -> None:
        places = range(len(DEPTHS))
        grid = figure.subplots(1, len(_MEASURES), sharey=True)
        for axes, (measure, name) in zip(grid, _MEASURES.items(), strict=True):
            for signal, colour in _SIGNALS.items():
                for when, style in _STYLES.items():
                    values = [figures[f"{when}: {signal}, all {measure}@{k}"] for k in DEPTHS]
                    label = f"{signal}, {when}" if axes is grid[0] else None
                    axes.plot(places, values, style, marker=".", color=colour, label=label)
            axes.set_xticks(places, [f"{depth}" for depth in DEPTHS])
            axes.set_xlabel("K")
            axes.set_title(name)
        figure.suptitle(TITLE, fontsize=10, fontweight="bold", x=0.01, ha="left")
        figure.legend(loc="outside lower center", ncols=4, frameon=False)

    return drawn(draw, 9.0, 3.4, TITLE) + "\n"
