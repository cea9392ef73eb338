"""Who extracts the triplets when a corpus is indexed."""

import time

from lexloop.core.settings import Settings
from lexloop.core.types import Chunk, Triplet, Usage
from lexloop.corpus.opening import RULES, Extractor
from lexloop.corpus.triplets.rules import extract_document
from lexloop.graph.components import uses_model
from lexloop.models.chat import ChatModel


def extractor_for(settings: Settings, chat: ChatModel | None) -> tuple[str, Extractor]:
    """An identifier for the index, and the extractor it names.

    Raises:
        SettingsError: The model is asked for and none is configured.
    """
    if not uses_model("triplet_extractor", settings.triplet_extractor, chat) or chat is None:
        return RULES, extract_document
    return f"model-{chat.name}", lambda chunks: _by_model(chunks, chat, settings.deadline_s)


def _by_model(chunks: list[Chunk], chat: ChatModel, deadline_s: float) -> list[Triplet]:
    """Ask for each chunk's triplets in turn; each call has a deadline of its own."""
    from lexloop.corpus.triplets.model import extract_with_model

    meter: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
    triplets: list[Triplet] = []
    for chunk in chunks:
        dialogue = extract_with_model(chunk)
        try:
            request = next(dialogue)
            while True:
                deadline = time.time() + deadline_s
                request = dialogue.send(chat.complete(request, deadline=deadline, meter=meter))
        except StopIteration as done:
            triplets += done.value
    return triplets
