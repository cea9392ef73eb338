"""What someone meets who has just come: a tool that is asked badly, a chat that is left."""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from _promise import Line
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import lexloop

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from pseudo_terminal import Terminal

_QUESTION = "What is a bias audit?"
_RECORD = {"answer", "citations", "finding", "warning", "degraded", "verdict"}


class _Scripted(GenericFakeChatModel):
    """Says what it was given, whatever tools there are."""

    def bind_tools(self, *_: Any, **__: Any) -> "_Scripted":
        """Leave the tools aside."""
        return self


def held() -> Iterator[Line]:
    """Try each as a newcomer would."""
    yield _agent()
    yield _ctrl_c()


def _agent() -> Line:
    """An agent whose model asks nothing, and then something."""
    wanted = ["", "x" * 5000, _QUESTION]
    said = [
        AIMessage("", tool_calls=[{"name": "law", "args": {"question": text}, "id": str(number)}])
        for number, text in enumerate(wanted)
    ]
    model = _Scripted(messages=iter([*said, AIMessage("Done.")]))
    state: Any = {"messages": [HumanMessage("Ask.")]}
    try:
        done = create_agent(model, [lexloop.as_tool("law", "The law.")]).invoke(state)["messages"]
    except Exception as error:  # noqa: BLE001 - whatever ends the agent is what is measured
        return Line(
            "an agent goes on after bad questions", f"{type(error).__name__} ended it", False
        )
    told = [message for message in done if isinstance(message, ToolMessage)]
    statuses = [message.status for message in told]
    record = told[-1].artifact if isinstance(told[-1].artifact, dict) else {}
    kept = _RECORD & set(json.loads(json.dumps(record)))
    return Line(
        "an agent goes on after bad questions, and the artifact is the record",
        f"{statuses}, {len(kept)} of {len(_RECORD)} parts of the record",
        statuses == ["error", "error", "success"] and kept == _RECORD,
    )


def _ctrl_c() -> Line:
    """A chat on a terminal: a question, a line half typed, Ctrl-C twice, and the thread resumed."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {"LEXLOOP_DATA_DIR": folder}
        with closing(Terminal(["chat"], environ)) as shown:
            shown.ask(_QUESTION)
            shown.expect("Passed")
            shown.expect("> ")
            shown.type("half a quest")
            shown.expect("half a quest")
            pressed = []
            for _ in range(2):
                shown.interrupt_prompt()
                try:
                    shown.expect("> ")
                    pressed.append("stayed")
                except AssertionError:
                    pressed.append("left")
                    break
            left = re.search(r"lexloop chat --thread (\S+)", shown.screen)
        resumed = False
        if left:
            with closing(Terminal(["chat", "--thread", left[1]], environ)) as again:
                again.expect("> ")
                resumed = "goes on after 1 question" in again.screen
    return Line(
        "Ctrl-C clears a half-typed line, then leaves, and the chat can be gone on with",
        f"{', '.join(pressed)}; {'resumed' if resumed else 'lost'}",
        pressed == ["stayed", "left"] and resumed,
    )
