"""What a model is handed with its passages: their limits, and their neighbours beside them."""

from indexes import view_of

from lexloop.core.types import Candidate
from lexloop.documents.document import Document
from lexloop.nodes.together import together, with_limits
from lexloop.store.view import View

CONTRACT = """\
1. Fees
1.1 The tenant pays 900 euros each month.
1.2 The tenant pays for water.
2. Notice
2.1 Either party may end this contract by three months' notice.
2.2 Section 1.2 does not apply if the tenant has a meter of its own.
"""
LINES = {"chunking": "pattern", "chunking.pattern": r"^\d\.\d "}


def lines(view: View) -> dict[str, Candidate]:
    """The contract's lines by their numbers, as candidates."""
    chunks = view.candidates(
        [{"id": chunk["id"], "score": 1.0, "signals": {}} for chunk in view.every_chunk()]
    )
    return {chunk["text"].split()[0]: chunk for chunk in chunks if chunk["text"][1] == "."}


def test_the_limits_of_the_best_passages_are_added_once() -> None:
    view = view_of(Document("let.txt", "Let", CONTRACT), **LINES)
    known = lines(view)
    taken = [known["1.2"], known["2.1"]]
    with_them = with_limits(taken, view)
    assert [one["text"].split()[0] for one in with_them] == ["1.2", "2.1", "2.2"]
    assert with_them[-1]["signals"] == {"limiting": 1.0}
    assert with_limits(with_them, view) == with_them
    assert with_limits([known["2.1"]], view) == [known["2.1"]]
    assert with_limits([], view) == []


def test_what_goes_on_from_a_passage_stands_behind_it() -> None:
    known = lines(view_of(Document("let.txt", "Let", CONTRACT), **LINES))
    taken = [known["2.2"], known["1.1"], known["2.1"], known["1.2"]]
    numbers = [one["text"].split()[0] for one in together(taken)]
    assert numbers == ["2.2", "1.1", "1.2", "2.1"]
    assert [one["id"] for one in together([*reversed(taken)])] == [
        known[n]["id"] for n in ("1.2", "2.1", "2.2", "1.1")
    ]
    assert together([]) == []
