"""What a model is told of the documents before it rewrites."""

from indexes import view_of

from lexloop.documents.document import Document
from lexloop.nodes.question.contents import contents_near

ACT = """\
FERRY ACT

Section 1. Definitions.
"Pilot fee" means the sum that a master pays for a pilot.

Section 2. Duty to carry a bell.
A ferry shall carry a bell.

Section 3. Storage limitation.
A pilot fee is booked within three days. Books are destroyed after six years.
"""
LINES = {"chunking": "pattern", "chunking.pattern": "^Section"}


def test_titles_headings_and_terms_near_a_question_are_told_once() -> None:
    view = view_of(Document("ferry.txt", "Ferry Act", ACT), **LINES)
    told = {
        one.kind: one.text.splitlines() for one in contents_near("How long are books kept?", view)
    }
    assert told["titles"] == ["Ferry Act"]
    assert "Section 3 — Storage limitation" in told["headings"]
    assert len(told["headings"]) == len(set(told["headings"]))
    assert told["terms"] == ["Pilot fee"]


def test_what_is_told_is_bounded_and_nothing_is_told_of_no_documents() -> None:
    many = "".join(
        f"Section {n}. {'Long heading ' * 12}{n}.\nA ferry has bell {n}.\n" for n in range(99)
    )
    view = view_of(Document("long.txt", "T" * 900, many), **LINES)
    told = contents_near("Which bell?", view)
    assert sum(len(one.text) for one in told) <= 2_400
    assert contents_near("", view_of(Document("empty.txt", "Empty", "x"))) is not None
