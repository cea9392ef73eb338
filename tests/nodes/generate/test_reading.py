"""However a model writes its citations, they are read as what they are."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.generate.citations import read
from lexloop.nodes.markers import cited_sentences

SHOWN = {1, 2, 3}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("The fee is $50 [1].", "The fee is $50 [1]."),
        ("The fee is $50 [1, 2] [1-3].", "The fee is $50 [1, 2] [1-3]."),
        ("The fee is $50 【1】.", "The fee is $50 [1]."),
        ("The fee is $50【1†source】【2†L3-L5】.", "The fee is $50[1][2]."),
        ("The fee is $50 ［1］ [[2]] \\[3\\].", "The fee is $50 [1] [2] [3]."),
        ("The fee is $50 [Passage 1].", "The fee is $50 [1]."),
        ("The fee is $50 [passages 1, 2 and 3].", "The fee is $50 [1][2][3]."),
        ("The fee is $50 [Passage 1; Passage 2].", "The fee is $50 [1][2]."),
        ("The fee is $50 [Passages 1 to 3].", "The fee is $50 [1][2][3]."),
        ("The fee is $50 [Source 1: § 5-301].", "The fee is $50 [1]."),
        ('The fee is $50 [n="1"] [#2] [Doc. 3] [Ref 1].', "The fee is $50 [1] [2] [3] [1]."),
        ("The fee is $50 (Passage 1, § 5-301).", "The fee is $50 [1]."),
        ("The fee is $50.<sup>1</sup> <sup>[2]</sup>", "The fee is $50.[1] [2]"),
        ("The fee is $50 [1](https://example.org/a).", "The fee is $50 [1]."),
        ("According to Passage 1, it is due.", "According to the passage [1], it is due."),
        ("Passages 1 and 2 say so.", "The passages [1][2] say so."),
        ("So says the passage 1.", "So says the passage [1]."),
        ("It is due.[^1]\n\n[^1]: Rule, § 5-301", "It is due.[1]"),
        ("It is due.[^1][^2]\n[^1]: Passage 3\n[^2]: see [1] and [2]", "It is due.[3][1][2]"),
        ("It is due [1].\n[1]: Rule, § 5-301", "It is due [1]."),
        ("It is due [1].\n\n## Sources\n\n1. [1] Rule\n", "It is due [1]."),
        ("It is due [1].\n\nReferences: [1], [2]", "It is due [1]."),
        ("It is due [1].\n**Sources:**\n- [Passage 1] Rule", "It is due [1]."),
    ],
)
def test_forms(written: str, expected: str) -> None:
    assert read(written, SHOWN) == expected


@pytest.mark.parametrize(
    "written",
    [
        "See [2021] EWCA Civ 5 [sic] [a] [1a] and [Section 1].",
        "Under passage 1(a), passage 1.2 or (1).",
        "Passage 9 of the book, and (Document 9).",  # neither was shown
        "[1]: The fee is $50.",  # nothing refers to it
        "The sources: [1] the law, and it is due.",
        "Sources:",
        "It is due [1].\nSources:\nthe law [1]",
        "",
    ],
)
def test_what_is_no_citation_stays(written: str) -> None:
    assert read(written, SHOWN) == written


FORMS = st.sampled_from(
    [
        *("[{n}]", "【{n}】", "[^{n}]", "[Passage {n}]", "(passage {n})", "[[{n}]]", "[#{n}]"),
        *("【{n}†source】", "[Source {n}, § 5-301]", "<sup>{n}</sup>", "[{n}](#p{n})", "［{n}］"),
    ]
)
SENTENCES = st.lists(
    st.tuples(
        st.sampled_from(["The fee is $50", "Post a notice", "It is due on 1 May"]),
        st.lists(st.tuples(st.integers(1, 3), FORMS), min_size=1, max_size=3),
        st.sampled_from(["{text} {cited}.", "{text}. {cited}", "{text}.{cited}"]),
    ),
    min_size=1,
    max_size=4,
)
STYLES = st.sampled_from(["{text}", "- {text}", "{i}. {text}", "{i}) {text}", "**{i}.** {text}"])


@given(SENTENCES, STYLES, st.sampled_from(["", "Here it is:\n", "# Fees\n"]))
def test_every_marker_is_read_in_every_form_and_style(
    sentences: list[tuple[str, list[tuple[int, str]], str]], style: str, lead: str
) -> None:
    lines = []
    for i, (text, marks, shape) in enumerate(sentences, start=1):
        cited = "".join(form.format(n=n) for n, form in marks)
        lines.append(style.format(i=i, text=shape.format(text=text, cited=cited)))
    found = cited_sentences(read(lead + "\n".join(lines), SHOWN))
    assert [set(s.numbers) for s in found if not s.led] == [
        {n for n, _ in marks} for _, marks, _ in sentences
    ]
    for sentence, (text, _, _) in zip(found[-len(sentences) :], sentences, strict=True):
        assert sentence.text.lstrip("- ").rstrip(". ") == text


@given(st.text(st.sampled_from("[]【】()^#1239 ,;-–.passage†<>/sup&to"), max_size=60))
def test_what_was_read_reads_the_same_again(written: str) -> None:
    once = read(written, SHOWN)
    assert read(once, SHOWN) == once


@pytest.mark.parametrize(
    "hostile",
    [
        "[",
        "[passage ",
        "passage passage: ",
        "[1, ",
        "\n",
        "Sources:\n",
        "[1]: x\n",
        "the ",
        "<sup>",
    ],
)
def test_hostile_text_takes_no_time(hostile: str) -> None:
    began = time.monotonic()
    read(hostile * 20_000, SHOWN)
    read(f"[passage{' ' * 50_000}x", SHOWN)
    assert time.monotonic() - began < 20
