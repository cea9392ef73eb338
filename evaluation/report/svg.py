"""Drawing with matplotlib, without pyplot, into SVG that stands inside a page."""

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import Any

_LONGEST = 44
Draw = Callable[[Any], None]


def drawn(draw: Draw, width: float, height: float, title: str) -> str:
    """An ``<svg>`` element.

    Args:
        draw: Fills the figure that it is given.
        width: In inches.
        height: In inches.
        title: Read out where the picture cannot be seen; also keeps apart the identifiers inside.

    Returns:
        The element, without a prologue, the same for the same drawing.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with (
        io.BytesIO() as file,
        matplotlib.rc_context(_style(title)),
        warnings.catch_warnings(),
    ):
        # the browser has the scripts that the measuring font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        text = file.getvalue().decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    # every plot numbers its parts alike, and one page holds many; nothing refers to them
    text = re.sub(r'<(g|path) id="[^"]*_\d+"', r"<\1", text)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


def _style(salt: str) -> Any:
    return {
        "svg.hashsalt": salt,
        "svg.fonttype": "none",
        # names by others may hold dollar signs; they are no formulas
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


def short(name: str) -> str:
    """A name that fits beside an axis, without what cannot be printed."""
    text = "".join(character for character in name if character.isprintable())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
