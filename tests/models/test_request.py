"""Reading structured replies out of text."""

import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from lexloop.models.request import Unreadable, read_json


class Pair(BaseModel):
    left: str
    right: float = Field(ge=0, le=1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no complete JSON object"),
        ('{"left": "a", "right": 0.', "no complete JSON object"),
        ("{" * 100_000, "no complete JSON object"),
        ('{"left": "a"}', "right: Field required"),
        ('{"left": "a", "right": NaN}', "right: Input should be"),
    ],
)
def test_what_cannot_be_read_is_described(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_json(text, Pair)


@given(left=st.text(), right=st.floats(0, 1), before=st.text(), after=st.text())
@example("a", 0.5, '"thoughts": "b"', '{"left": "late", "right": 1}')
def test_any_object_survives_any_wrapping(left: str, right: float, before: str, after: str) -> None:
    before = before.replace("{", "").replace("}", "")
    text = f"{before}\n```json\n{json.dumps({'left': left, 'right': right})}\n```\n{after}"
    assert read_json(text, Pair) == Pair(left=left, right=right)


@given(st.text(alphabet='{}[]":,ab01 \n\\'))
def test_reading_raises_nothing_but_unreadable(text: str) -> None:
    with contextlib.suppress(Unreadable):
        read_json(text, Pair)
