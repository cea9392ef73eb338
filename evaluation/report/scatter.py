"""The plots in which every dot is a row, or an answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexloop.evaluation.report.figures import Figure
from lexloop.evaluation.report.svg import drawn, short

_INK, _PALE = "#2f6690", "#9db8cc"
_WIDTH = 10.0
_BINS = 20
_NEAR = 0.03
_MOST_NUMBERS = 4


@dataclass(frozen=True)
class Point:
    """A row's place in a plot of two figures."""

    name: str
    across: Figure
    up: Figure


@dataclass(frozen=True)
class Judged:
    """One judge's scores beside a person's.

    Args:
        judge: What the judge is called.
        scores: The judge's.
        human: The person's, of the same answers.
        agreement: What stands above: a correlation with its interval.
    """

    judge: str
    scores: Sequence[float]
    human: Sequence[float]
    agreement: str


def cost_against_quality(quality: str, panels: Mapping[str, Sequence[Point]]) -> str:
    """Rows by what they cost and how good their answers are, under their numbers.

    Args:
        quality: What the upright axis shows.
        panels: By the cost that the level axis shows, the rows.
    """
    title = f"{quality} against cost"

    def draw(figure: Any) -> None:
        figure.suptitle(title, fontsize=10, fontweight="bold", x=0.01, ha="left")
        for axes, (cost, points) in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
        ):
            for numbers, point in _together(points):
                _numbered(axes, numbers, point)
            axes.margins(0.1)
            axes.set_xlabel(cost)
            axes.set_ylabel(quality)

    return drawn(draw, _WIDTH, 4.4, title)


def judges_against_human(judged: Sequence[Judged]) -> str:
    """Each judge's scores against a person's; larger dots are several answers."""
    columns = min(3, len(judged))
    lines = -(-len(judged) // columns)

    def draw(figure: Any) -> None:
        grid = figure.subplots(lines, columns, squeeze=False).flat
        for axes, one in zip(grid, judged, strict=False):
            counts = Counter(zip(_binned(one.human), _binned(one.scores), strict=True))
            x, y = zip(*counts, strict=True)
            most = max(counts.values())
            sizes = [6 + 120 * count / most for count in counts.values()]
            axes.scatter(x, y, s=sizes, color=_INK, alpha=0.55, linewidths=0)
            axes.margins(0.12)
            axes.set_xlabel("person's score")
            axes.set_ylabel(short(one.judge))
            axes.set_title(one.agreement)
        for axes in list(grid)[len(judged) :]:
            axes.set_axis_off()

    return drawn(draw, _WIDTH, 3.2 * lines, "Judges against a person")


def _binned(scores: Sequence[float]) -> list[float]:
    """Scores at the nearest of a few places: thousands of dots would only hide one another."""
    low, high = min(scores), max(scores)
    step = (high - low) / _BINS or 1.0
    return [low + round((score - low) / step) * step for score in scores]


def _together(points: Sequence[Point]) -> list[tuple[list[int], Point]]:
    """The points that have both figures, those that would hide each other as one."""
    known = [
        (number, point, (point.across["mean"], point.up["mean"]))
        for number, point in enumerate(points, start=1)
        if point.across["mean"] is not None and point.up["mean"] is not None
    ]
    if not known:
        return []
    spans = [max(place[i] for *_, place in known) - min(p[i] for *_, p in known) for i in (0, 1)]
    groups: list[tuple[list[int], Point, tuple[float, float]]] = []
    for number, point, place in known:
        for numbers, _, other in groups:
            if all(abs(place[i] - other[i]) <= _NEAR * spans[i] for i in (0, 1)):
                numbers.append(number)
                break
        else:
            groups.append(([number], point, place))
    return [(numbers, point) for numbers, point, _ in groups]


def _numbered(axes: Any, numbers: Sequence[int], point: Point) -> None:
    across, up = point.across["mean"], point.up["mean"]
    axes.vlines(across, point.up["low"], point.up["high"], color=_PALE, linewidth=1)
    axes.plot([across], [up], "o", color=_INK, markersize=6)
    named = ", ".join(map(str, numbers[:_MOST_NUMBERS]))
    more = len(numbers) - _MOST_NUMBERS
    axes.annotate(
        f"{named} +{more}" if more > 0 else named,
        (across, up),
        xytext=(5, 3),
        textcoords="offset points",
        fontsize=8,
        fontweight="bold",
    )
