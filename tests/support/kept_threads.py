"""Threads in a SQLite file: what LangGraph's saver keeps of them."""

import sqlite3
from typing import NamedTuple


class Turn(NamedTuple):
    """The bytes of a turn: of each of its checkpoints, and of all that nodes wrote."""

    checkpoints: list[int]
    writes: int

    @property
    def mean(self) -> float:
        """The bytes of a checkpoint."""
        return sum(self.checkpoints) / len(self.checkpoints)


def turn_kept(file: sqlite3.Connection, after: str = "") -> Turn:
    """What was kept of the turn after a checkpoint, or of the first."""
    sizes = file.execute(
        "SELECT length(checkpoint) + length(metadata) FROM checkpoints WHERE checkpoint_id > ?",
        (after,),
    )
    written = file.execute(
        "SELECT sum(length(value)) FROM writes WHERE checkpoint_id > ?", (after,)
    )
    return Turn([size for (size,) in sizes], written.fetchone()[0])
