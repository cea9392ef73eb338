"""What a search brings up before any text is read."""

from typing import NamedTuple


class Hit(NamedTuple):
    """A chunk that one signal found.

    Args:
        chunk_id: The chunk.
        document: The document that it is cut from.
        score: The signal's own, unfused.
        supporting: Whether the chunk is no operative text.
    """

    chunk_id: str
    document: str
    score: float
    supporting: bool = False
