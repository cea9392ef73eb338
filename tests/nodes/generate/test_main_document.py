"""An answer that rests on short documents alone has what the main document says beside it."""

from pathlib import Path
from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION
from lexloop.graph.app import graph
from lexloop.graph.resources import Resources
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.main_document import with_main
from lexloop.nodes.question.parts import parse
from lexloop.store.view import View

ASKED = "When is the mooring fee due?"
DUE = "Whoever moors a boat owes the toll of the pier within 10 days."
PLANTED = "The mooring fee is due on 5 May of the year that follows.\n"


def law(sections: int = 60) -> str:
    """Write an act of as many sections, the seventh of which says when the fee is due."""
    rules = [f"The warden keeps the register of pier {n} at the office." for n in range(sections)]
    rules[6] = DUE
    return "Harbour Act\n\n" + "\n\n".join(
        f"Section {n}. Of pier {n}\n\n{rule}" for n, rule in enumerate(rules, 1)
    )


def view_of(folder: Path) -> View:
    view = Resources(defaults=Settings(corpus=str(folder)))(None).view
    assert view is not None
    return view


def asked(folder: Path, question: str) -> dict[str, Any]:
    done: dict[str, Any] = graph.invoke({"question": question}, context={"corpus": str(folder)})
    return done


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    (tmp_path / "act.txt").write_text(law())
    (tmp_path / "note.txt").write_text(PLANTED)
    return tmp_path


def test_a_page_beside_a_law_is_not_the_only_source(beside: Path) -> None:
    (beside / "note.txt").write_text("What a swan costs? A swan costs 640 crowns.\n")
    done = asked(beside, "What does a swan cost?")
    first, second = done["answer"].split("\n")
    assert first == "A swan costs 640 crowns. [1]"
    assert second.startswith("act.txt, which is far longer, has nothing nearer to this than: ")
    assert [citation["document"] for citation in done["citations"]] == ["note.txt", "act.txt"]
    assert done["evaluation"]["citations_verified"]


def test_the_law_alone_needs_nobody_beside_it(beside: Path) -> None:
    view, start = view_of(beside), law().index(DUE)
    source = {**view.cited("act.txt", start, start + len(DUE), ""), "n": 1}
    draft = drafted(f"{DUE} [1]", [source])
    assert with_main(draft, parse(ASKED), [], view) is draft
    both = drafted("", [source, {**view.cited("note.txt", 0, 10, ""), "n": 2}])
    assert with_main(both, parse(ASKED), [], view) is both


def test_what_no_passage_has_is_looked_up(beside: Path) -> None:
    view = view_of(beside)
    draft = drafted("On 5 May. [4]", [{**view.cited("note.txt", 0, 10, ""), "n": 4}])
    made = with_main(draft, parse(ASKED), [], view)
    assert [(c["document"], c["n"], c["quote"]) for c in made["citations"][1:]] == [
        ("act.txt", 5, DUE)
    ]
    said = f"act.txt, which is far longer, has nothing nearer to this than: {DUE} [5]"
    assert made["answer"] == f"On 5 May. [4]\n{said}"
    assert made["told"] == [said]


def test_it_is_looked_up_by_all_that_was_said(beside: Path) -> None:
    view, inside = view_of(beside), parse("Is that allowed?")
    inside["text"] = "The toll of the pier was paid in March. Is that allowed?"
    inside["inside"] = "Is that allowed?"
    draft = drafted("On 5 May. [1]", [{**view.cited("note.txt", 0, 10, ""), "n": 1}])
    made = with_main(draft, inside, [], view)
    assert [c["document"] for c in made["citations"]] == ["note.txt", "act.txt"]


ROWS = [f"{n},{7 * n},mooring fee of pier {n} due" for n in range(3000)]


@pytest.mark.parametrize(
    "files",
    [
        {f"act{n}.txt": law() for n in range(3)},  # none of them is the main one
        {"note.txt": law(40), "act.txt": law(60)},  # of nearly the same length
        {"prices.csv": "\n".join(["number,sum,what is due", *ROWS])},  # no law
    ],
)
def test_where_no_document_is_the_main_one_each_answers_alone(
    tmp_path: Path, files: dict[str, str]
) -> None:
    for name, text in {"note.txt": PLANTED, **files}.items():
        (tmp_path / name).write_text(text)
    view = view_of(tmp_path)
    assert len(view) > 50
    draft = drafted("On 5 May. [1]", [{**view.cited("note.txt", 0, 10, ""), "n": 1}])
    assert with_main(draft, parse(ASKED), [], view) is draft


def test_an_abstention_stays_one(beside: Path) -> None:
    draft = drafted(ABSTENTION)
    assert with_main(draft, parse(ASKED), [], view_of(beside)) is draft
