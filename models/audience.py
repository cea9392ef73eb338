"""Who hears of a model's call.

``stream_mode="messages"``, ``astream_events`` and ``astream_log`` pass on to whoever runs the graph
what a chat model is told and says, before anything could check it. They are left out here and hear
of the checked answer instead (``lexloop.graph.stream``). Tracers, counters of tokens and callbacks
of the process's own hear of the call itself.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler, Callbacks


def passes_on(handler: "BaseCallbackHandler") -> bool:
    """Whether a handler passes what it hears on to whoever runs the graph.

    LangChain and LangGraph give all of these the method with which they tap what a step puts out.
    """
    return hasattr(handler, "tap_output_iter")


def in_private(callbacks: "Callbacks") -> "Callbacks":
    """The callbacks of a run without those that pass on what they hear."""
    if callbacks is None or isinstance(callbacks, list):
        return [handler for handler in callbacks or [] if not passes_on(handler)]
    kept = callbacks.copy()
    for handler in filter(passes_on, [*kept.handlers, *kept.inheritable_handlers]):
        kept.remove_handler(handler)
    return kept
