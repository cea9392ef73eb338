from datetime import date

import pytest

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata
from lexloop.corpus.load.document import Document
from lexloop.corpus.load.plain import read_plain, split_front_matter

FRONT = "---\ntitle: Act\ntags: [staff]\nin_force_from: 2023-01-01\nlayout: x\n---\nThe law.\n"


def plain(text: str) -> Document:
    (document,) = read_plain(text.encode(), "a.md")
    return document


def test_front_matter_is_taken_out_of_the_text() -> None:
    document = plain(FRONT)
    assert document.text == "The law.\n"
    assert document.metadata == Metadata(
        title="Act", tags=("staff",), in_force_from=date(2023, 1, 1)
    )


@pytest.mark.parametrize(
    "text", ["The law.\n", "---\nA rule\n---\nMore.\n", "---\n\nA rule above.\n", "a\n---\nb: c\n"]
)
def test_a_text_without_front_matter_stays_as_it_is(text: str) -> None:
    assert split_front_matter(text) == ({}, text)


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("tags: [a", "no YAML"),
        ("tags: secret\ntags:", "gives 'tags' twice"),
        ("tags: secret\nTags:", "tags is given twice"),
        ("a: &x [1]\ntags: *x", "refers to itself"),
        ("tags: {a: b}", "tags are"),
        ("tags: 5", "tags are 5"),
        ("tags: ';'", "names none"),
        ("access: secret", "access is no field"),
        ("in_force_to: soon", "in_force_to is 'soon'"),
        ("title: !!python/object/apply:os.getcwd []", "no YAML"),
        ("url: http://[x", "url is"),
    ],
)
def test_a_document_whose_front_matter_is_malformed_is_refused(block: str, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        plain(f"---\n{block}\n---\nThe law.")


def test_front_matter_without_an_end_or_a_text_is_refused() -> None:
    with pytest.raises(CorpusError, match="has no end"):
        plain("---\ntags: secret\nThe law.")
    with pytest.raises(CorpusError, match="no text"):
        plain("---\ntags: secret\n---\n\n")
