"""What several writers add up is what one would; what is kept of it is refused when damaged."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document
from lexloop.store.protocol import MARK, PreparedChunk, PreparedDocument
from lexloop_engines.cluster.staging import Written, pack_written, unpack_written
from lexloop_engines.engine.writing import Tally

TERMS = [Counter(fee=2, boat=1), Counter(fee=1)]


def document(name: str, *rows: list[float]) -> PreparedDocument:
    """A document with a chunk for each row, which is the vector of its one window."""
    chunks = [
        PreparedChunk(
            {"id": f"{name}#{n}", "document": name, "title": name, "start": n, "end": n + 1,
             "text": "x", "section": "", "page": None},
            [], [], np.array([row], dtype=np.float16), np.zeros((1, 2), dtype=MARK), [],
        )
        for n, row in enumerate(rows)
    ]  # fmt: skip
    return PreparedDocument(name, "", Document(name, name, "text"), chunks)


FIRST, SECOND = document("a", [1.0, 0.0], [0.0, 2.0]), document("b", [4.0, 4.0], [0.5, 0.0])


def test_several_writers_add_up_what_one_would() -> None:
    alone, parts = Tally(), (Tally(), Tally())
    for place, (part, made) in enumerate(zip(parts, (FIRST, SECOND), strict=True)):
        alone.add(place, made, TERMS)
        part.add(place, made, TERMS)
    merged = Tally()
    for part in reversed(parts):  # in whichever order they come back
        merged.merge(unpack_written(pack_written(Written(part, ()))).tally)
    assert merged.counts == {"documents": 2, "chunks": 4, "windows": 4, "triplets": 0}
    assert merged.counts == alone.counts
    assert merged.statistics() == alone.statistics()
    assert (merged.statistics().chunks, merged.statistics().length) == (4, 2.0)
    assert merged.frequencies == Counter(fee=4, boat=2)
    assert [*merged.triplets] == ["a", "b"]


def test_two_documents_of_one_name_are_refused_wherever_they_meet() -> None:
    tally, other = Tally(), Tally()
    tally.add(0, FIRST, TERMS)
    other.add(1, replace(SECOND, document=FIRST.document), TERMS)
    with pytest.raises(CorpusError, match=r"the same name \(a\)") as refused:
        tally.merge(other)
    assert "--prefix" in refused.value.hint
    with pytest.raises(CorpusError, match=r"the same name \(a\)"):
        tally.add(1, FIRST, TERMS)
    assert tally.counts["chunks"] == 2
