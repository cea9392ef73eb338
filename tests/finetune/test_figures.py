"""The plot beside a trained embedder's card."""

import xml.etree.ElementTree as ET

from lexloop.finetune.figures import TITLE, figures_drawn, figures_listed
from lexloop.finetune.hits import Hits

BEFORE = {"cosine, all": [0, 4, 20], "late, all": [1, 1, 1]}
AFTER = {"cosine, all": [0, 0, 2], "late, all": [0, 0, 0]}


FIGURES = {
    f"{when}: {name}": value
    for when, places in (
        ("before", {**BEFORE, "cosine, document": [1], "late, document": [1]}),
        ("after", {**AFTER, "cosine, document": [0], "late, document": [2]}),
    )
    for name, value in Hits(places).figures().items()
}


def test_a_line_for_each_measure_of_each_signal() -> None:
    lines = [*figures_listed(FIGURES)]
    assert lines[0] == "| before -> after, K = | 1 | 3 | 5 | 10 | 15 |"
    assert len(lines) == 2 + 2 * 2 * 3
    cells = " | ".join(["0.000 -> 0.000", *["0.500 -> 0.333"] * 4])
    assert f"| late, document: MRR | {cells} |" in lines


def test_three_measures_of_two_signals_before_and_after() -> None:
    text = figures_drawn(FIGURES)
    root = ET.fromstring(text)
    assert root.get("aria-label") == TITLE
    said = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"hit rate", "MRR", "nDCG"} <= {*said}
    assert [said.count(depth) for depth in ("3", "5", "10", "15")] == [3, 3, 3, 3]
    for signal in ("cosine", "late"):
        assert {f"{signal}, before", f"{signal}, after"} <= {*said}
    assert figures_drawn(FIGURES) == text
