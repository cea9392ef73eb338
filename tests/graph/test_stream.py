"""What a caller sees while an answer is written: sentences that were checked, and no reasoning."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from asked import Modelled, Scores
from fake_openai import FakeOpenAI, Reply
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from statute import QUESTION

from lexloop.core.types import ABSTENTION
from lexloop.documents.text.tokens import words
from lexloop.graph.build import Lexloop
from lexloop.graph.streaming import StreamedMessage, TokenStream
from lexloop.models.chat import Token
from lexloop.models.request import ChatRequest

RULES = "Use the passages alone and do not add anything that you know from elsewhere."
Event = dict[str, Any]


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def stream(events: list[Event]) -> TokenStream:
    request = ChatRequest("generate", RULES, "user")
    return TokenStream("generate", request, events.append, StreamedMessage("generate", {}))


def tell(stream: TokenStream, *texts: str) -> None:
    for text in texts:
        stream(Token(text))


def test_a_restart_forgets_what_was_held(stream: TokenStream, events: list[Event]) -> None:
    tell(stream, "The fee is due. It was")
    stream(Token("A fee is ", restart=True))
    tell(stream, "due. Soon.")
    assert [(event["token"], event["restart"]) for event in events] == [
        ("The fee is due.", False),
        ("A fee is due. Soon.", True),
    ]


def test_a_cancelled_run_ends_the_call(
    scripted: FakeOpenAI, modelled: Callable[..., Lexloop]
) -> None:
    """After its first sentence the model goes on without an end, until nobody listens."""
    scripted.play("generate", Reply("The fee is due. ", pieces=1, drip=True))
    graph = modelled()

    async def leave_after_a_sentence() -> list[str]:
        shown: list[str] = []
        began = asyncio.Event()

        async def read() -> None:
            async for event in graph.astream({"question": QUESTION}, stream_mode="custom"):
                shown.append(event["token"])
                began.set()

        reading = asyncio.create_task(read())
        await asyncio.wait_for(began.wait(), 20)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        return shown

    assert asyncio.run(leave_after_a_sentence()) == ["The fee is due."]


GOOD = "It is due within 10 business days [1]. Pay it to the harbour master [1]."


async def collected(stream: AsyncIterator[Any]) -> list[Any]:
    return [part async for part in stream]


def parent_of(graph: Lexloop) -> Any:
    parent: Any = StateGraph(MessagesState)
    parent.add_node("law", graph)
    parent.add_edge(START, "law")
    parent.add_edge("law", END)
    return parent.compile()


ASKED: Any = {"messages": [HumanMessage(QUESTION, id="q")]}
MODES: list[Any] = ["messages", "updates", "values", "custom", "debug", "tasks", "checkpoints"]
OUT: dict[str, Callable[[Lexloop], Any]] = {
    "all at once": lambda g: list(g.stream(ASKED, stream_mode=MODES)),
    "a parent's events": lambda g: asyncio.run(
        collected(parent_of(g).astream_events(ASKED, version="v2", stream_mode=MODES))
    ),
    "v3": lambda g: list(g.stream_events(ASKED, version="v3")),
}


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::langchain_core._api.LangChainBetaWarning"
)
@pytest.mark.parametrize("way", OUT)
def test_a_recited_prompt_gets_out_no_way(
    scripted: FakeOpenAI, modelled: Callable[..., Lexloop], way: str
) -> None:
    pieces = 1 if way == "v3" else 40
    scripted.play(
        "generate", lambda request: Reply(f"Gladly. {request.instructions}", pieces=pieces)
    )
    said = repr(OUT[way](modelled(**{"loop.max_retries": 0})))
    # the one sentence of the instructions that is an answer as well
    said = said.replace(ABSTENTION, "|")
    for request in scripted.requests:
        assert runs(said).isdisjoint(runs(request.instructions.replace(ABSTENTION, "|")))
    assert len(scripted.requests) == 2


def runs(text: str) -> set[tuple[str, ...]]:
    spoken = words(text)
    return {tuple(spoken[i : i + 6]) for i in range(len(spoken) - 5)}


def messages_of(parts: list[Any]) -> list[tuple[str, str, str]]:
    """Node, kind and text of every streamed message but the question."""
    return [
        (told["langgraph_node"], message.type, message.text)
        for message, told in parts
        if message.type != "human"
    ]


SENTENCES = [
    ("generate", "AIMessageChunk", "It is due within 10 business days [1]."),
    ("generate", "AIMessageChunk", " Pay it to the harbour master [1]."),
    ("evaluate", "ai", GOOD),
]


def test_who_streams_messages_gets_checked_sentences_and_then_the_answer(
    scripted: FakeOpenAI, modelled: Callable[..., Lexloop]
) -> None:
    scripted.play("generate", Reply(GOOD, pieces=30))
    graph = modelled()
    parts = list(graph.stream(ASKED, stream_mode="messages"))
    assert messages_of(parts) == SENTENCES
    assert parts[-1][0].id.endswith("-answer")
    assert len({message.id for message, _ in parts[-3:-1]}) == 1
    assert (
        messages_of(asyncio.run(collected(graph.astream(ASKED, stream_mode="messages"))))
        == SENTENCES
    )
    inner = parent_of(graph).stream(ASKED, stream_mode="messages", subgraphs=True)
    assert messages_of([part for path, part in inner if path]) == SENTENCES


def test_the_last_message_carries_the_warning(
    scripted: FakeOpenAI, modelled: Callable[..., Lexloop], scores: Callable[..., Reply]
) -> None:
    scripted.play("evaluate", scores(0.1, 0.1, 0.1))
    graph = modelled(**{"loop.max_retries": 1})
    parts = list(graph.stream(ASKED, stream_mode="messages"))
    message, _ = parts[-1]
    assert message.id.endswith("-answer")
    assert message.response_metadata["warning"].startswith("None of 2 attempts passed")
    result = parent_of(graph).invoke(ASKED)
    assert [message.type for message in result["messages"]] == ["human", "ai"]
    assert result["messages"][-1].response_metadata == message.response_metadata
    scripted.play("evaluate", scores(0.9, 0.9, 0.9))
    passed = graph.invoke(ASKED)["messages"][-1]
    assert "warning" not in passed.response_metadata


THREAD = {"configurable": {"thread_id": "1"}}


@pytest.fixture
def thinking(scripted: FakeOpenAI, scores: Scores) -> FakeOpenAI:
    """The model that answers at its second attempt, thinking aloud before each reply."""
    roles = {
        "rewrite": f'{{"standalone": "{QUESTION}", "queries": [], "keywords": []}}',
        "generate": "It is due within 10 business days [1].",
        "engineer_prompt": '{"question": "When is it due?", "guidance": "Give the period."}',
    }
    for role, text in roles.items():
        scripted.play(
            role, Reply(f'<think>\nOn {role}: {{"standalone": "?"}} [9]\n</think>\n\n{text}')
        )
    verdicts = [scores(0.1, 0.9, 0.9).text, scores(0.9, 0.9, 0.9).text]
    scripted.play("evaluate", *(Reply(f"<think>On evaluate.</think>{text}") for text in verdicts))
    return scripted


def test_reasoning_is_in_the_trace_and_nowhere_else(
    thinking: FakeOpenAI, modelled: Modelled
) -> None:
    graph = modelled()
    graph.checkpointer = InMemorySaver()
    result = graph.invoke({"question": QUESTION}, THREAD)
    assert result["answer"] == "It is due within 10 business days [1]."
    assert result["evaluation"]["passed"]
    assert [attempt["question"] for attempt in result["attempts"]] == [QUESTION] * 2
    assert len(thinking.requests) == 5
    assert not any("think>" in request.user for request in thinking.requests)
    assert "reasoning" not in result
    graph.invoke({"question": QUESTION}, THREAD)  # it passes at once, and has its own
    told = graph.get_state(THREAD).values["reasoning"]
    assert [item["node"] for item in told] == ["rewrite", "generate", "evaluate"]
    assert told[1]["text"] == 'On generate: {"standalone": "?"} [9]'


def test_reasoning_is_not_streamed(thinking: FakeOpenAI, modelled: Modelled) -> None:
    thinking.play("generate", Reply("<think>Say. It. Late.</think>The fee is due [1].", pieces=30))
    graph = modelled(**{"loop.max_retries": 0})
    modes = ["custom", "messages"]
    parts: Any = list(graph.stream({"question": QUESTION}, stream_mode=modes))
    shown = [event["token"] for mode, event in parts if mode == "custom"]
    assert "".join(shown) == "The fee is due [1]."
    said = [event[0].text for mode, event in parts if mode == "messages"]
    assert "The fee is due [1]." in "".join(said)
    assert not any("Late" in text or "think" in text for text in said)
