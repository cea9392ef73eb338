"""The map from a document's text to the places on its pages."""

import io
import random
import re
from functools import partial

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_document
from typeset import Placed, Sheet, Style, place, typeset

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Box, CharacterRun, Document, boxes_of, encode_runs

INSET = 0.4
LAW = "\n".join(
    [
        *[
            f"{n}. The keeper of each undertaking shall register it before day {n}."
            for n in range(40)
        ],
        "Kind of boat | Fee",
        "Small boats | 10",
    ]
)


read = partial(read_document, "law.pdf")


def words_in(pdf: pypdfium2.PdfDocument, box: Box) -> str:
    """What PDFium finds in a box."""
    page = pdf[box.page - 1].get_textpage()
    edges = (box.x0 + INSET, box.y0 + INSET, box.x1 - INSET, box.y1 - INSET)
    found: str = page.get_text_bounded(*edges, errors="strict")
    return found


def test_the_boxes_of_a_quote_hold_the_quote() -> None:
    sheet = Sheet(columns=2, head="Law {page}", hyphens=True, size=(150, 110))
    data = typeset(LAW, lambda _: Style(), sheet)
    document = read(data)
    starts = [match.start() for match in re.finditer(r"\b\w", document.text)]
    ends = [match.end() for match in re.finditer(r"\w\b", document.text)]
    chosen = random.Random(7)
    with pypdfium2.PdfDocument(data) as pdf:
        for _ in range(60):
            start = chosen.choice(starts)
            end = chosen.choice([end for end in ends if start < end < start + 200])
            found = "".join(words_in(pdf, box) for box in boxes_of(document, start, end))
            shown = re.sub(r"[\s|\ufffe\x02]", "", found)
            assert shown.replace("-", "") == re.sub(r"[\s|]", "", document.text[start:end])


def turned(data: bytes) -> bytes:
    """A PDF whose first page shows turned to the right."""
    out = io.BytesIO()
    with pypdfium2.PdfDocument(data) as pdf:
        pdf[0].set_rotation(90)
        pdf.save(out)
    return out.getvalue()


def test_a_page_that_is_turned_reads_as_it_shows() -> None:
    drawn = place([[Placed(300, 400, "Words of a law")]], turn=90)
    document = read(turned(drawn))
    assert document.text == "Words of a law\n"
    (box,) = boxes_of(document, 0, 5)
    assert box.x0 == pytest.approx(400, abs=0.5)
    assert box.y0 <= 300 <= box.y0 + 4
    assert 20 < box.x1 - box.x0 < 40
    assert 5 < box.y1 - box.y0 < 14


runs = st.lists(
    st.tuples(
        st.integers(1, 9),
        st.floats(-50, 2000),
        st.lists(st.floats(0, 3000), min_size=2, max_size=20),
    ),
    max_size=9,
)


@given(runs)
def test_each_character_has_the_box_that_it_was_given(
    given: list[tuple[int, float, list[float]]],
) -> None:
    kept, start = [], 0
    for page, bottom, edges in given:
        kept.append(CharacterRun(start, page, bottom, bottom + 10, sorted(edges)))
        start += len(edges)
    document = Document("", "", "", pages=(0,), places=encode_runs(kept))
    for run in kept:
        for number, (left, right) in enumerate(zip(run.edges, run.edges[1:], strict=False)):
            (box,) = boxes_of(document, run.start + number, run.start + number + 1)
            expected = (run.bottom, run.bottom + 10, left, right)
            assert box.page == run.page
            assert (box.y0, box.y1, box.x0, box.x1) == pytest.approx(expected, abs=0.11)


@pytest.mark.parametrize("length", [0.3, 0.7, 0.99])
def test_a_damaged_map_is_told(length: float) -> None:
    packed = encode_runs([CharacterRun(0, 1, 10, 20, [float(n) for n in range(300)])])
    for damaged in (packed[: int(len(packed) * length)], b"\x00" + packed):
        with pytest.raises(CorpusError, match="map of boxes is damaged"):
            boxes_of(Document("", "", "", pages=(0,), places=damaged), 0, 1)
    assert boxes_of(Document("", "", ""), 0, 100) == []
