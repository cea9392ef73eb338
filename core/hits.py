"""What a search brings up before any text is read."""

from typing import NamedTuple


class Hit(NamedTuple):
    """A chunk that one signal found; ``score`` is that signal's own, unfused."""

    chunk_id: str
    document: str
    score: float
