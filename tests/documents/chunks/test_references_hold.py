"""No sentence of a tree's units ends between a provision's word and its number."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from lexloop.documents.chunks.statements import statements
from lexloop.documents.structure.parse import parse
from lexloop.documents.text.tokens import sentence_spans

REFERENCES = (
    *("Article 31", "Section 4.2(a)", "paragraph 2", "Annex IV", "§ 7", "Art. 5", "No. 12"),
    *("Nr. 3", "15 U.S.C. 45", "Chapter II", "point (b)"),
)
HANGING = re.compile(
    r"(?:Article|Section|paragraph|Annex|§|Art\.|Chapter|N[or]\.|point|U\.S\.C\.)$"
)
ENDINGS = ("The owner must pay the fee set in {}.", "A berth is let as written in {}.")
sentences = st.lists(
    st.tuples(st.sampled_from(ENDINGS), st.sampled_from(REFERENCES)), min_size=1, max_size=4
)


@given(sentences, st.integers(0, 60), st.sampled_from(("", "1. ", "Article 1\nFees\n\n")))
@example([(ENDINGS[0], "Article 31")] * 2, 9, "")
@example([(ENDINGS[0], "No. 12")] * 2, 9, "1. ")
def test_a_reference_is_whole_on_however_many_lines(
    chosen: list[tuple[str, str]], cut: int, lead: str
) -> None:
    said = [form.format(reference) for form, reference in chosen]
    words = " ".join(said).split(" ")
    cut = min(cut, len(words))
    text = f"{lead}{' '.join(words[:cut])}\n{' '.join(words[cut:])}\n" if cut else lead + said[0]
    quoted = [text[one.start : one.end] for one in statements(parse(text), text)]
    assert [piece for piece in quoted if HANGING.search(piece)] == []


def test_a_title_above_a_list_is_no_reference() -> None:
    for title in ("House rules", "Table of Articles", "Scope of this Part"):
        assert sentence_spans(f"{title}\n1. No dogs may enter.")[0] == (0, len(title))
