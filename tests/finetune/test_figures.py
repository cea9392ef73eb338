"""The plot beside a trained embedder's card."""

import xml.etree.ElementTree as ET

from lexloop.finetune.figures import TITLE, figures_drawn
from lexloop.finetune.hits import Hits

BEFORE = {"cosine, all": [0, 4, 20], "late, all": [1, 1, 1]}
AFTER = {"cosine, all": [0, 0, 2], "late, all": [0, 0, 0]}


def test_three_measures_of_two_signals_before_and_after() -> None:
    figures = {
        f"{when}: {name}": value
        for when, places in (("before", BEFORE), ("after", AFTER))
        for name, value in Hits(places).figures().items()
    }
    text = figures_drawn(figures)
    root = ET.fromstring(text)
    assert root.get("aria-label") == TITLE
    said = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"hit rate", "MRR", "nDCG"} <= {*said}
    assert [said.count(depth) for depth in ("3", "5", "10", "15")] == [3, 3, 3, 3]
    for signal in ("cosine", "late"):
        assert {f"{signal}, before", f"{signal}, after"} <= {*said}
    assert figures_drawn(figures) == text
