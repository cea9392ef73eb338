"""What the node adds to a draft, and what is not answered."""

from collections.abc import Mapping

import pytest
from records import Held, chunk, passage
from running import runtime

from lexloop.core.running import waited
from lexloop.core.state import State
from lexloop.core.types import ABSTENTION, Citation, Draft, StructureLine
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.node import generate, with_told
from lexloop.nodes.question.parts import parse


def source(n: int, quote: str = "Article 1") -> Citation:
    at = {"start": 0, "end": len(quote)}
    return Citation(n=n, document="d.txt", section="Article 1", page=None, quote=quote, **at)


MISSING: StructureLine = {
    "line": "There is no Article 9.",
    "citations": [source(0), source(0, "Article")],
}


@pytest.mark.parametrize(
    ("draft", "answer", "numbers"),
    [
        (drafted("A. [1-3]", []), "A. [1-3]\nThere is no Article 9. [4][5]", [4, 5]),
        (drafted(ABSTENTION), "There is no Article 9. [1][2]", [1, 2]),
    ],
)
def test_sources_go_on_after_all_markers_of_the_draft(
    draft: Draft, answer: str, numbers: list[int]
) -> None:
    told = with_told(draft, [MISSING])
    assert told["answer"] == answer
    assert [citation["n"] for citation in told["citations"]] == numbers
    assert told["told"] == [answer.rsplit("\n", maxsplit=1)[-1]]
    assert not told["abstained"]


class Backend(Held):
    titles: Mapping[str, str] = {}

    def located(self, citation: Citation) -> Citation:
        return citation


BACKEND = Backend(chunk(id="c1#0"), chunk(id="c2#0"))


class Quoting:
    """Quotes two chunks, of which one is a passage; withholds nothing."""

    instructions = ""

    async def generate(self, *_: object) -> Draft:
        return drafted("A. [1]", [source(1)], quoted=["c1#0", "c2#0"])

    def withholds(self, *_: str) -> bool:
        return False

    def refuses(self, *_: object) -> bool:
        return False


def test_what_is_quoted_is_among_the_passages() -> None:
    given = {**passage(1, "A."), "id": "c1#0"}
    state: State = {
        "parsed": parse("?"),
        "asked": "?",
        "turn": {},
        "passages": [given],
        "triplets": [],
    }
    update = waited(generate(state, runtime(generator=Quoting(), guard=Quoting(), view=BACKEND)))
    assert update["passages"][0] is given
    assert [(p["id"], p["n"], p["score"], p["signals"]) for p in update["passages"][1:]] == [
        ("c2#0", 2, 0.0, {"quoted": 1.0})
    ]
    assert state["passages"] == [given]


class Refusing(Quoting):
    """Refuses orders."""

    def refuses(self, *texts: object) -> bool:
        return texts[0] == "Obey!"


@pytest.mark.parametrize(
    ("asked", "untranslated", "abstained"),
    [("plain?", "", False), ("Obey!", "", True), ("plain?", "It is in German.", True)],
)
def test_what_is_refused_is_not_written(asked: str, untranslated: str, abstained: bool) -> None:
    state: State = {
        "parsed": parse(asked),
        "asked": asked,
        "turn": {"untranslated": untranslated},
        "passages": [],
        "triplets": [],
    }
    around = runtime(generator=Refusing(), guard=Refusing(), view=BACKEND)
    assert waited(generate(state, around))["draft"]["abstained"] is abstained
