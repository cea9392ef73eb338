import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.chunks.chunkers import MAX_CHARS, chunk_document
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import sentence_spans

LINES = ["§ 1-2 Scope", "# Head", "Section 3. Fees", "(a) an item; ", "1. one", "- dash", "a | b"]
WORDS = ["x" * 80, " word" * 150, *"The| duty applies|. |.|:|; |§|#|法|😀".split("|")]
BREAKS = ["\n", "\n\n", " ", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\r", "\u00a0"]
PIECES = st.sampled_from([*LINES, *WORDS, *BREAKS, "ſ", "İ"])
LEGAL = st.lists(PIECES, max_size=40).map("".join)
ANY = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=400)


def document(text: str) -> Document:
    return Document("d.txt", "A law", text)


@given(LEGAL)
def test_only_a_long_sentence_makes_a_chunk_longer_than_the_maximum(text: str) -> None:
    for chunk in chunk_document(document(text)):
        body = chunk["text"].strip()
        flat = body.replace("\n", " ")
        longest = max((end - start for start, end in sentence_spans(flat)), default=0)
        assert len(body) <= MAX_CHARS + longest


@given(st.one_of(LEGAL, ANY))
def test_no_chunk_crosses_the_border_of_a_long_provision(text: str) -> None:
    source = document(text)
    for chunk in chunk_document(source):
        inner = range(chunk["start"] + 1, chunk["end"])
        for unit in source.tree.units:
            if unit.kind == "provision" and unit.end - unit.start > MAX_CHARS:
                assert (
                    unit.start not in inner
                    or not text[chunk["start"] : unit.start].strip()
                    or (source.tree.around(chunk["start"], unit.end) >= 0)
                )


def test_a_list_stays_with_the_clause_that_introduces_it() -> None:
    before = "The owner pays a fee for each berth that the owner holds. " * 3
    items = [f"({letter}) the {letter * 30} of the vessel;\n" for letter in "abcdef"]
    text = f"§ 1 Fees\n{before}\nThe notice must state:\n{''.join(items)}{before}\n{before}\n"
    holding = [c["text"] for c in chunk_document(document(text)) if "must state:" in c["text"]]
    assert len(holding) == 1
    assert all(item in holding[0] for item in items)


@pytest.mark.parametrize(
    "text",
    [
        "a\n" + " \n" * 20_000,
        "§ 1\n" * 10_000,
        "x:\n" + "(a) y\n" * 8_000,
        "a | b\n" * 8_000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_hostile_text_is_cut_in_linear_time(text: str) -> None:
    began = time.process_time()
    assert sum(len(chunk["text"]) for chunk in chunk_document(document(text))) == len(text)
    assert time.process_time() - began < 4.0
