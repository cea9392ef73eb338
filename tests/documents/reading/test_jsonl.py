import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_parts

from lexloop.core.folding import legible
from lexloop.documents.document import Document


def read(*rows: Any) -> tuple[list[Document], list[str]]:
    """Rows as JSON, or as they are where they are bytes."""
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    return read_parts("rows.jsonl", b"\n".join(lines))


def test_each_line_is_a_document_named_by_its_name_its_id_or_its_line() -> None:
    documents, skipped = read(
        {"id": "a", "text": "Law a."},
        {"id": 7, "text": "Law b."},
        {"text": "Law c."},
        {"id": "x", "name": "act", "text": "Law d.\r\nEnd."},
    )
    assert [(one.name, one.text) for one in documents] == [
        ("rows.jsonl/a", "Law a."),
        ("rows.jsonl/7", "Law b."),
        ("rows.jsonl/line 3", "Law c."),
        ("rows.jsonl/act", "Law d.\nEnd."),
    ]
    assert skipped == []


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"{bad", "Line 2: It is not JSON"),
        (b'{"text": "Ma\xdf"}', "Line 2: It is not UTF-8 (byte 12)."),
        (b'{"text": "x", "tags": "secret", "tags": ""}', "Line 2: A field occurs in it twice."),
        ({"text": "a\ud800b"}, "Line 2: text: It contains lone surrogates"),
        ({"text": "x", "access_tags": ["a"]}, "Line 2: access_tags is not a field."),
    ],
)
def test_a_bad_line_is_told_and_the_rest_is_read(row: Any, reason: str) -> None:
    documents, skipped = read({"id": "a", "text": "A."}, row, {"id": "c", "text": "C."})
    assert [one.text for one in documents] == ["A.", "C."]
    assert len(skipped) == 1
    assert skipped[0].startswith(reason)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"))))
def test_every_text_is_read_or_counted(texts: list[str]) -> None:
    documents, _ = read({"text": "first"}, *({"text": text} for text in texts))
    seen = map(legible, texts)
    assert [one.text for one in documents[1:]] == [text for text in seen if text.strip()]
