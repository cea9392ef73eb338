"""How a document calls itself."""

import pytest
from sets import rows

from lexloop.documents.structure.own_name import own_name


@pytest.mark.parametrize(("title", "text", "name"), rows("own_names"))
def test_a_document_calls_itself_by_a_word_behind_this(title: str, text: str, name: str) -> None:
    assert own_name(text, title) == name
