from lexloop.corpus.chunk.sections import sections
from lexloop.corpus.load.document import Document

TEXT = "Intro.\nFees\nDue.\n§ 2 Appeals\nNone.\n"
FEES, APPEALS = TEXT.index("Fees"), TEXT.index("§ 2")


def found(*headings: tuple[int, int], text: str = TEXT) -> list[tuple[int, str, str]]:
    document = Document("d.docx", "A law", text, headings=headings)
    return [(section.start, section.label, section.heading) for section in sections(document)]


def test_headings_of_the_format_open_sections_beside_those_of_the_text() -> None:
    assert found((FEES, 1)) == [
        (0, "", ""),
        (FEES, "Fees", "Fees"),
        (APPEALS, "§ 2", "§ 2 Appeals"),
    ]


def test_a_number_in_a_heading_of_the_format_makes_its_label() -> None:
    text = "Intro.\nArticle 7.  Fees\nDue.\n"
    assert found((FEES, 2), text=text) == [(0, "", ""), (FEES, "Article 7", "Article 7. Fees")]


def test_headings_that_open_nothing_are_left_out() -> None:
    text = "One.\n\n\nTwo."
    assert found((5, 1), (7, 1), (-1, 1), (99, 2), text=text) == [(0, "", ""), (7, "Two.", "Two.")]


def test_blanks_before_the_first_heading_belong_to_it() -> None:
    assert found(text="\n \n# Fees\nDue.") == [(0, "Fees", "Fees")]
    assert found(text="") == [(0, "", "")]
    assert found(text=" \n") == [(0, "", "")]


def test_a_long_heading_of_the_format_is_shortened() -> None:
    ((_, label, heading),) = found((0, 1), text="long " * 100)
    assert (len(label), label) == (200, heading)
