import time

import pytest

from lexloop.core.errors import SettingsError
from lexloop.documents.chunks.chunkers import chunk_by_pattern, compile_pattern
from lexloop.documents.document import Document


def chunks(text: str, pattern: str) -> list[str]:
    return [chunk["text"] for chunk in chunk_by_pattern(Document("d", "A law", text), pattern)]


def test_each_section_is_a_chunk_under_the_delimiter_of_the_paper() -> None:
    text = "Préambule 😀 see § 1\n§ 1 Fees\nDue.\n\n§ 2 Appeals\n"
    assert chunks(text, "^§") == [
        "Préambule 😀 see § 1\n",
        "§ 1 Fees\nDue.\n\n",
        "§ 2 Appeals\n",
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        r"(?=a)",
        r"(a)\1",
        "a*",
        "\ud800",
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(SettingsError) as refused:
        compile_pattern(pattern)
    assert repr(pattern) in refused.value.what


def test_a_pattern_that_matches_nothing_only_in_some_text_is_refused_there() -> None:
    with pytest.raises(SettingsError, match="matches no character"):
        chunks("a  b\t\tc", r"x|\B\t?\B")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}b"])
def test_a_catastrophic_pattern_runs_in_linear_time(pattern: str) -> None:
    text = "a" * 200_000 + "!"
    began = time.process_time()
    assert sum(map(len, chunks(text, pattern))) == len(text)
    assert time.process_time() - began < 5.0


def test_a_pattern_that_looks_ahead_again_and_again_is_refused() -> None:
    with pytest.raises(SettingsError, match="looking far ahead"):
        chunks("a" * 150_000, r"a(?s:.*b)?")
