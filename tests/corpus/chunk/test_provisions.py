import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.corpus.chunk.provisions import MAX_CHARS, MIN_CHARS, chunk_document
from lexloop.corpus.chunk.sections import sections
from lexloop.corpus.load.document import Document
from lexloop.corpus.text.sentences import sentence_spans

LINES = ["§ 1-2 Scope", "# Head", "Section 3. Fees", "(a) an item; ", "1. one", "- dash", "a | b"]
WORDS = [
    "The",
    " duty applies",
    ". ",
    ".",
    ":",
    "; ",
    "x" * 80,
    " word" * 150,
    "§",
    "#",
    "法",
    "😀",
]
BREAKS = ["\n", "\n\n", " ", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\r", "\u00a0"]
PIECES = st.sampled_from([*LINES, *WORDS, *BREAKS, "ſ", "İ"])
LEGAL = st.lists(PIECES, max_size=40).map("".join)
ANY = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=400)


def document(text: str) -> Document:
    return Document("d.txt", "A law", text)


def labels(text: str) -> list[str]:
    return [section.label for section in sections(document(text))]


@given(st.one_of(LEGAL, ANY))
def test_chunks_cover_every_character_in_order(text: str) -> None:
    chunks = chunk_document(document(text))
    assert "".join(chunk["text"] for chunk in chunks) == (text if text.strip() else "")
    ends = [0, *(chunk["end"] for chunk in chunks)]
    assert [chunk["start"] for chunk in chunks] == ends[:-1]
    assert all(chunk["text"] == text[chunk["start"] : chunk["end"]] for chunk in chunks)
    assert len({chunk["id"] for chunk in chunks}) == len(chunks)


@given(st.one_of(LEGAL, ANY))
def test_sections_cover_every_character_and_no_chunk_crosses_them(text: str) -> None:
    found = sections(document(text))
    assert "".join(text[section.start : section.end] for section in found) == text
    borders = {section.start for section in found}
    for chunk in chunk_document(document(text)):
        assert not borders & set(range(chunk["start"] + 1, chunk["end"]))


@given(LEGAL)
def test_only_a_long_sentence_makes_a_chunk_longer_than_the_maximum(text: str) -> None:
    # a short rest of a section may join its last chunk
    allowed = MAX_CHARS + MIN_CHARS // 2
    for chunk in chunk_document(document(text)):
        body = chunk["text"].strip()
        longest = max((end - start for start, end in sentence_spans(body)), default=0)
        assert len(body) <= max(allowed, longest + MIN_CHARS // 2)


def test_two_sentences_that_do_not_fit_together_are_cut_apart() -> None:
    text = f"{'A' + 'b' * 480}. {'C' + 'd' * 900}. {'E' + 'f' * 30}."
    chunks = chunk_document(document(text))
    assert [chunk["text"].strip()[0] for chunk in chunks] == ["A", "C"]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("§ 20-870 Definitions.", "§ 20-870"),
        ("§ 5-301(a) Bias audit.", "§ 5-301(a)"),
        ("§§ 12–14 Fees", "§§ 12–14"),
        ("Article 6(1) Lawful processing", "Article 6(1)"),
        ("Article 12", "Article 12"),
        ("ARTICLE IV", "ARTICLE IV"),
        ("Section 12. Penalties", "Section 12"),
        ("RULE 3.2 Notices", "RULE 3.2"),
        ("Rule 3.2", "Rule 3.2"),
        ("Chapter 5: Payment", "Chapter 5"),
        ("PART II Scope", "PART II"),
        ("Annex III", "Annex III"),
        ("## Scope ##", "Scope"),
        ("# § 9 Appeals", "§ 9"),
        ("### Section 4. Fees", "Section 4"),
    ],
)
def test_the_label_of_a_section_is_how_lawyers_cite_it(line: str, label: str) -> None:
    assert labels(f"Preamble.\n{line}\nThe text of it.\n") == ["", label]
    assert labels(f"   {line}\n") == [label]


@pytest.mark.parametrize(
    "line",
    [
        "Section 5 applies to owners.",
        "Article 6(1) and Article 7 apply.",
        "Part of the fee is due.",
        "Rules 3 and 4 apply.",
        "#hashtag",
        "#",
        "# ##",
        "§",
        "§ and more",
        "Section " + "4" * 300,
        "§ " + "4" * 300,
        "# " + "x" * 300,
    ],
)
def test_a_line_that_merely_looks_like_a_heading_opens_no_section(line: str) -> None:
    assert labels(f"Preamble.\n{line}\nMore.\n") == [""]


def test_a_list_stays_with_the_clause_that_introduces_it() -> None:
    before = "The owner pays a fee for each berth that the owner holds. " * 3
    items = [f"({letter}) the {letter * 30} of the vessel;\n" for letter in "abcdef"]
    text = f"§ 1 Fees\n{before}\nThe notice must state:\n{''.join(items)}{before}\n{before}\n"
    holding = [c["text"] for c in chunk_document(document(text)) if "must state:" in c["text"]]
    assert len(holding) == 1
    assert all(item in holding[0] for item in items)


def test_paragraphs_of_a_section_become_chunks_of_their_own() -> None:
    paragraph = "An owner who moors at night pays twice the fee of the day before. " * 4
    text = f"§ 1 Fees\n{paragraph}\n{paragraph}\n§ 2 Appeals\n{paragraph}\n"
    chunks = chunk_document(document(text))
    assert [chunk["section"] for chunk in chunks] == ["§ 1", "§ 1", "§ 2"]
    assert chunks[0]["text"].startswith("§ 1 Fees\n")
    assert (chunks[0]["document"], chunks[0]["title"], chunks[0]["page"]) == (
        "d.txt",
        "A law",
        None,
    )


@pytest.mark.parametrize("text", ["", "\n \n", "\n" * 50_000])
def test_a_blank_document_has_no_chunk(text: str) -> None:
    assert chunk_document(document(text)) == []


def test_blank_lines_belong_to_a_chunk_beside_them() -> None:
    text = f"\n\n# Fees\n{'The fee is due. ' * 20}\n{chr(10) * 400}# Appeals\nNone."
    chunks = chunk_document(document(text))
    assert [(c["start"], c["section"]) for c in chunks] == [
        (0, "Fees"),
        (text.index("# Appeals"), "Appeals"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "a\n" + " \n" * 50_000,
        "# " + "#" * 100_000 + "x",
        "# a" + " " * 100_000 + "b",
        "§" * 100_000,
        "§ 1\n" * 25_000,
        ". " * 50_000,
        "x:\n" + "(a) y\n" * 20_000,
        "a | b\n" * 20_000,
        "Article" + " " * 100_000 + "x",
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_hostile_text_is_cut_in_linear_time(text: str) -> None:
    began = time.process_time()
    assert sum(len(chunk["text"]) for chunk in chunk_document(document(text))) == len(text)
    assert time.process_time() - began < 5.0
