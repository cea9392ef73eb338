"""Drawings by matplotlib, without pyplot, as SVG for embedding in a page."""

import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop_eval.report.tables import Figure, cell, of_estimate
from lexloop_eval.statistics import correlation, interval_of

_INK, _PALE = "#2f6690", "#9db8cc"
_WIDTH, _LONGEST = 9.0, 44
_STYLE = {
    "svg.fonttype": "none",
    # names by others may contain dollar signs, which are not formulas
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8a94a0",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e8ec",
    "xtick.color": "#46505a",
    "ytick.color": "#46505a",
    "text.color": "#1d2630",
    "axes.labelcolor": "#46505a",
}


def drawn(draw: Callable[[Any], None], width: float, height: float, title: str) -> str:
    """Return an ``<svg>`` element, without a prologue, the same for the same drawing.

    Args:
        draw: Draws on the figure that it is given.
        width: In inches.
        height: In inches.
        title: Read by screen readers. Also makes the identifiers inside unique.
    """
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = {**_STYLE, "svg.hashsalt": title}
    with io.BytesIO() as file, matplotlib.rc_context(style), warnings.catch_warnings():
        # the browser has the scripts that the measuring font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing)
        text = file.getvalue().decode()
    # plots all number their parts in the same way, and nothing refers to the numbers
    text = re.sub(r'<(g|path) id="[^"]*_\d+"', r"<\1", text[text.index("<svg") :])
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


def by_variant(title: str, names: Sequence[str], figures: Sequence[Figure]) -> str:
    """Draw each variant's mean with its interval; the first is the one compared with."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        means, ends = _whiskers(figures)
        axes.errorbar(means, range(len(names)), xerr=ends, fmt="o", color=_INK, markersize=5)
        axes.axvline(means[0], color=_PALE, linestyle=":", zorder=0)
        _name_lines(axes, names)
        axes.set_title(title)

    return drawn(draw, _WIDTH, 1.1 + 0.27 * len(names), title)


def judges_against_human(judges: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Draw each judge's scores against a person's, with their correlation.

    Args:
        judges: By the name of a judge its scores, each with the person's; at least one.
    """
    columns = min(3, len(judges))
    lines = -(-len(judges) // columns)

    def draw(figure: Any) -> None:
        grid = list(figure.subplots(lines, columns, squeeze=False).flat)
        for axes, (judge, pairs) in zip(grid, judges.items(), strict=False):
            scores, human = np.array(pairs).T
            axes.scatter(human, scores, s=30, color=_INK, alpha=0.25, linewidths=0)
            axes.margins(0.12)
            axes.set_xlabel("person's score")
            axes.set_ylabel(_short(judge))
            estimate = interval_of(partial(correlation, "spearman"), pairs, resamples=200)
            axes.set_title(f"Spearman {cell(of_estimate(estimate))}")
        for axes in grid[len(judges) :]:
            axes.set_axis_off()

    return drawn(draw, _WIDTH + 1.0, 3.2 * lines, "Judges against a person")


def _whiskers(figures: Sequence[Figure]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The means, and how far the ends of their intervals lie off; NaN draws nothing."""
    rows = [
        [interval_figure["mean"], interval_figure["low"], interval_figure["high"]]
        for interval_figure in figures
    ]
    mean, low, high = np.array(rows, np.float64).T
    return mean, np.array([mean - low, high - mean])


def _name_lines(axes: Any, names: Sequence[str]) -> None:
    """Name the lines of a plot from above, under the numbers of the tables."""
    numbered = [f"{number}  {_short(name)}" for number, name in enumerate(names, start=1)]
    axes.set_yticks(np.arange(len(names)), numbered)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def _short(name: str) -> str:
    """A name that fits beside an axis, without what cannot be printed."""
    text = "".join(character for character in name if character.isprintable())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
