"""From the passages of an attempt to what stands around them, on a real index."""

import pytest

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk, Passage
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.hybrid_retrieve import provisions_around
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

LAW = """\
Article 1
Ferries
1. A ferry shall carry a bell of brass that is hung at the bow, where it can be heard on the quay \
by those who wait there, and that is cleaned by the mate in the first week of each month.
2. The bell shall be rung before departure, for as long as it takes to count to ten, and once more \
when the last line has been cast off, save in the case referred to in Article 3(2).

Article 2
Crew
1. A ferry shall have a master, who is on board while there are passengers on board and who is \
relieved by a mate after a watch of six hours; paragraph 2 sets out whom.
2. The master shall be named in the register that the port keeps, with the day on which service \
began, and the port shall show the register to whoever asks to see it.

Article 3
Fog
1. In fog a ferry shall wait at the quay until the far bank can be seen from the bow, and those \
who have paid for the crossing shall be told how long the wait is likely to last.
2. A ferry under tow shall not ring, whatever the weather, since the tug that tows it rings for \
the two of them as long as the line is made fast. Article 9 is left empty.
"""


@pytest.fixture(scope="module")
def view() -> View:
    tools = tools_for(Settings(**{"chunking.tokens": 32, "chunking.overlap": 0}), load_minilm())
    made = build_collection([Document("ferry.txt", "Ferry Act", LAW)], tools)
    return made.seen_by(Filters())


def at(view: View, words: str) -> Passage:
    """The passage that holds words, its chunk."""
    (found,) = [chunk for chunk in view.every_chunk() if words in chunk["text"]]
    return {**found, "score": 1.0, "signals": {}, "n": 1}


def texts(view: View, ids: list[str]) -> str:
    found: list[Chunk] = view.chunks(ids)
    return " ".join(" ".join(chunk["text"].split()) for chunk in found)


def test_the_whole_provision_and_nothing_beside_it(view: View) -> None:
    said = texts(view, provisions_around([at(view, "be rung before")], view))
    assert "carry a bell" in said
    assert "be rung before" in said
    assert "master" not in said
    assert "fog" not in said


def test_the_best_passages_provision_comes_first(view: View) -> None:
    said = texts(view, provisions_around([at(view, "shall wait"), at(view, "carry a bell")], view))
    assert said.index("under tow") < said.index("be rung before")
    assert "master" not in said


def test_what_is_not_there_is_not_found(view: View) -> None:
    gone: Passage = {**at(view, "under tow"), "document": "gone.txt"}
    assert provisions_around([gone], view) == provisions_around([], view) == []
