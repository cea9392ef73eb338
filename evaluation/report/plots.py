"""The plots in which every line is a row."""

from collections.abc import Mapping, Sequence
from typing import Any

from lexloop.evaluation.report.figures import Figure
from lexloop.evaluation.report.svg import drawn, short

_INK, _FIRST, _PALE = "#2f6690", "#16324f", "#9db8cc"
_SERIES = ("#16324f", "#d1603d", "#3a7d44", "#7b5ea7", "#b38a1d")
_MOST_SERIES = len(_SERIES)
_WIDTH = 9.0


def by_row(title: str, names: Sequence[str], figures: Sequence[Figure]) -> str:
    """Each row's mean with its interval; the first row is the one compared with."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for place, made in enumerate(figures):
            _whisker(axes, place, made, _FIRST if place == 0 else _INK)
        first = figures[0]["mean"] if figures else None
        if first is not None:
            axes.axvline(first, color=_PALE, linestyle=":", zorder=0)
        _name_rows(axes, names)
        axes.set_title(title)

    return drawn(draw, _WIDTH, 1.1 + 0.27 * len(names), title)


def by_group(
    title: str,
    names: Sequence[str],
    groups: Sequence[str],
    figures: Sequence[Mapping[str, Figure]],
) -> str:
    """Each row's mean in each group: with intervals for a few rows, as a map of colours for many.

    Args:
        title: What is shown.
        names: Of the rows.
        groups: Their names, in order.
        figures: For each row, its figure in each group; groups may be missing.
    """
    if len(names) <= _MOST_SERIES:
        return _dodged(title, names, groups, figures)
    return _colours(title, names, groups, figures)


def latency(names: Sequence[str], seconds: Sequence[Sequence[float]]) -> str:
    """How long questions took: from 5 % to 95 %, the middle half, and the median."""
    import numpy as np

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for place, taken in enumerate(seconds):
            if not len(taken):
                continue
            low, lower, middle, upper, high = np.percentile(taken, [5, 25, 50, 75, 95])
            axes.hlines(place, low, high, color=_PALE, linewidth=2)
            axes.hlines(place, lower, upper, color=_INK, linewidth=7)
            axes.plot([middle], [place], "|", color="white", markersize=7, markeredgewidth=2)
        axes.set_xlim(left=0)
        axes.set_xlabel("seconds")
        _name_rows(axes, names)
        axes.set_title(title)

    title = "Seconds per question: 5 to 95 %, middle half, median"
    return drawn(draw, _WIDTH, 1.2 + 0.27 * len(names), title)


def _dodged(
    title: str,
    names: Sequence[str],
    groups: Sequence[str],
    figures: Sequence[Mapping[str, Figure]],
) -> str:
    step = 0.7 / max(1, len(names))

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for series, (name, found) in enumerate(zip(names, figures, strict=True)):
            shift = (series - (len(names) - 1) / 2) * step
            for place, group in enumerate(groups):
                if group in found:
                    _whisker(axes, place + shift, found[group], _SERIES[series])
            axes.plot([], [], "o", color=_SERIES[series], label=short(name))
        _name_lines(axes, groups)
        axes.set_title(title)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)

    height = 1.4 + len(groups) * max(0.3, 0.13 * len(names)) + 0.12 * len(names)
    return drawn(draw, _WIDTH, height, title)


def _colours(
    title: str,
    names: Sequence[str],
    groups: Sequence[str],
    figures: Sequence[Mapping[str, Figure]],
) -> str:
    import numpy as np

    means = [[found[g]["mean"] if g in found else None for g in groups] for found in figures]
    values = np.array(means, dtype=float)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        # a mesh of shapes: an image would need a source that the page's policy forbids
        axes.pcolormesh(np.ma.masked_invalid(values), cmap="YlGnBu", edgecolors="white")
        known = values[np.isfinite(values)]
        middle = (known.min() + known.max()) / 2 if len(known) else 0.0
        for (line, column), value in np.ndenumerate(values):
            text = f"{value:.2f}" if np.isfinite(value) else "–"
            colour = "white" if value > middle else "#1d2630"
            # inside the mesh, so the layout need not measure it
            axes.text(
                column + 0.5,
                line + 0.5,
                text,
                ha="center",
                va="center",
                color=colour,
                fontsize=8,
                in_layout=False,
            )
        centres = np.arange(max(len(groups), len(names))) + 0.5
        axes.set_xticks(centres[: len(groups)], [short(g) for g in groups], rotation=30, ha="right")
        axes.set_yticks(centres[: len(names)], _numbers(names))
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set_title(title)

    return drawn(draw, _WIDTH + 1.0, 1.8 + 0.27 * len(names), title)


def _whisker(axes: Any, place: float, made: Figure, colour: str) -> None:
    """A mean as a dot, its interval as a line; nothing where there is none."""
    if made["mean"] is None:
        return
    axes.hlines(place, made["low"], made["high"], color=colour, linewidth=1.6)
    axes.plot([made["mean"]], [place], "o", color=colour, markersize=5)


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    _name_lines(axes, _numbers(names))


def _name_lines(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _numbers(names: Sequence[str]) -> list[str]:
    return [f"{number}  {short(name)}" for number, name in enumerate(names, start=1)]
