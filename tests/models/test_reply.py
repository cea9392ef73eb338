"""What is read of a reply: JSON in any wrapping, and none of the reasoning."""

import contextlib
import json
from random import Random

import pytest
from asked import STREAMED, STRUCTURED, Ask, Connect
from fake_openai import FakeOpenAI, Reply
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from pydantic import BaseModel, Field
from running import complete
from sets import rows

from lexloop.core.types import Usage
from lexloop.models.chat import Thinking, Token
from lexloop.models.request import Unreadable, read_json


def read(pieces: list[str], opened: bool = False) -> tuple[Thinking, str]:
    """The reply put together, and what a reader was shown of it at its end."""
    thinking, shown = Thinking(opened), ""
    for text, anew in [*map(thinking.add, pieces), thinking.finish()]:
        shown = text if anew and text else shown + text
    return thinking, shown


@pytest.mark.parametrize(("reply", "text", "reasoning"), rows("reasoning"))
def test_text_and_reasoning(reply: str, text: str, reasoning: str) -> None:
    for pieces in ([reply], list(reply)):
        thinking, shown = read(pieces)
        assert (thinking.text, thinking.reasoning) == (text, reasoning)
        assert shown.strip() == text or not text
    # where a reply begins inside its reasoning, nothing of that is shown early
    inside = Thinking(opened=True)
    assert "Hm" not in "".join(inside.add(letter)[0] for letter in reply)
    inside.finish()
    assert inside.text == text


PIECES = st.sampled_from(
    ["<think>", "</think>", "<thinking>", "</THINK>", "<", "think>", "</", "a", " b. ", "\n", "<t"]
)


@given(st.lists(PIECES, max_size=12).map("".join), st.randoms(use_true_random=False), st.booleans())
def test_however_a_reply_is_cut_it_reads_the_same(reply: str, random: Random, opened: bool) -> None:
    cuts = sorted(random.randint(0, len(reply)) for _ in range(random.randint(0, 6)))
    pieces = [reply[a:b] for a, b in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    (whole, _), (cut, shown) = read([reply], opened), read(pieces, opened)
    assert (whole.text, whole.reasoning) == (cut.text, cut.reasoning)
    assert shown.strip() == cut.text or not cut.text


def test_a_repair_is_asked_without_reasoning_and_keeps_both(server: FakeOpenAI, ask: Ask) -> None:
    mended = Reply('<think>So.</think>{"name": "red", "depth": 1}')
    server.script(Reply("<think>Red.</think>Red"), mended)
    reply = ask(STRUCTURED)
    assert server.requests[1].messages[2]["content"] == "Red"
    assert reply.reasoning == "Red.\n\nSo."


def test_reasoning_that_the_template_opened(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = Reply("Is it March? No.\n</think>\n\nIn May. [1]", pieces=40)
    model = chat_model()
    shown: list[Token] = []
    for _ in range(2):
        reply = complete(model, STREAMED, deadline=soon, meter=meter, on_token=shown.append)
        assert (reply.text, reply.reasoning) == ("In May. [1]", "Is it March? No.")
    first = next(i for i, token in enumerate(shown) if token.restart)  # what came before is void
    assert "".join(token.text for token in shown[first:]) == "In May. [1]" * 2
    assert not any(token.restart for token in shown[first + 1 :])


BLOCK = {"type": "text", "text": "Yes."}
SUMMARY = [{"type": "summary_text", "text": "Hm."}]


@pytest.mark.parametrize(
    ("message", "reasoning"),
    [
        (AIMessage("Yes."), ""),
        (AIMessage([{"type": "reasoning", "reasoning": "Hm."}, BLOCK]), "Hm."),
        (
            AIMessage(
                [{"type": "reasoning", "summary": SUMMARY}, BLOCK],
                response_metadata={"model_provider": "openai"},
            ),
            "Hm.",
        ),
    ],
)
def test_the_forms_in_which_it_is_sent_apart(message: AIMessage, reasoning: str) -> None:
    thinking = Thinking()
    thinking.apart(message)
    thinking.add(message.text)
    assert (thinking.text, thinking.reasoning) == ("Yes.", reasoning)


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
