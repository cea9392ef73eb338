"""Triplets for tests of the knowledge graph, by hand and drawn."""

from hypothesis import strategies as st

from lexloop.core.types import Triplet


def relation(
    subject: str,
    predicate: str,
    obj: str,
    *,
    chunk: str = "c1",
    section: str = "",
    document: str = "d.txt",
    start: int = 0,
) -> Triplet:
    """A triplet with a source of one character."""
    return {
        "subject": subject,
        "predicate": predicate,
        "object": obj,
        "chunk_id": chunk,
        "document": document,
        "section": section,
        "page": None,
        "start": start,
        "end": start + 1,
        "quote": "x",
    }


def spoken(triplets: tuple[Triplet, ...]) -> list[str]:
    """The triplets of a path as words."""
    return [f"{t['subject']} {t['predicate']} {t['object']}" for t in triplets]


NAMES = st.sampled_from(
    ["owner", "fee", "berth", "pilot", "lamp", "office", "boat or raft", "FLS", "PSP", "§ 1",
     "section 2 of the Act", "Rule 3.2.1", "floating landing stage", "pay the fee",
     "light the FLS", "mooring fee"]
)  # fmt: skip
DOCUMENTS = ("a.txt", "b.txt", "c.txt")
RELATIONS = st.lists(
    st.builds(
        relation,
        NAMES,
        st.sampled_from(["requires", "defines", "refers_to", "alias_of", "amount"]),
        NAMES,
        chunk=st.sampled_from(["c1", "c2", "c3"]),
        section=st.sampled_from(["", "§ 1", "§ 2", "Section 1", "Rule 3.2", "Fees"]),
        document=st.sampled_from(DOCUMENTS),
        start=st.integers(0, 3),
    ),
    max_size=25,
)
"""Triplets of several documents whose names, acronyms and sections get in each other's way."""
