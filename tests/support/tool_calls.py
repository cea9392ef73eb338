"""What a played model sends that wants tools called."""

import json
from typing import Any

from fake_openai import Reply, Request, Script


def calls(*wanted: tuple[str, str | dict[str, Any]]) -> Script:
    """A reply that calls tools by name, with a question or all arguments; streamed where asked."""
    listed = [
        {
            "index": number,
            "id": f"call_{name}_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": json.dumps({"question": given} if isinstance(given, str) else given),
            },
        }
        for number, (name, given) in enumerate(wanted)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": listed}
    common = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}

    def reply(request: Request) -> Reply:
        part = "delta" if request.body.get("stream") else "message"
        choice = {"index": 0, part: message, "finish_reason": "tool_calls"}
        body = json.dumps({**common, "choices": [choice], "usage": usage})
        if part == "delta":
            body = f"data: {body}\n\ndata: [DONE]\n\n"
            return Reply(body=body.encode(), headers={"Content-Type": "text/event-stream"})
        return Reply(body=body.encode())

    return reply
