"""What makes the tools of tests on the machines of a cluster, which import it by its name."""

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexes import Letters, letter_tools

from lexloop.core.errors import ModelError
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.knowledge.relations import extract_document
from lexloop.store.preparing import Tools

DEADLY, ONCE, FAILING = "kills whoever reads it", "kills the first to read it", "fails the model"


@dataclass(frozen=True)
class LetterTools:
    """Makes the tools; texts that say so kill the worker that relates them.

    Args:
        diary: A folder in which each document that is related leaves a file.
        embedder: Its name.
    """

    diary: str = ""
    embedder: str = "letters"

    def __call__(self) -> Tools:
        return replace(letter_tools(Letters(self.embedder)), extract=self._extract)

    def _extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Triplet]:
        if self.diary:
            with (Path(self.diary) / document.name.replace("/", "_")).open("a") as file:
                file.write("x")
        if FAILING in document.text:
            error = ModelError("The model is gone.", "Ask again.")
            error.embedder = "letters"
            raise error
        if DEADLY in document.text or (ONCE in document.text and self._times(document) == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        return extract_document(document, chunks)

    def _times(self, document: Document) -> int:
        return (Path(self.diary) / document.name.replace("/", "_")).stat().st_size


def related(diary: Path) -> dict[str, int]:
    """How often each document was related, by a diary."""
    return {path.name: path.stat().st_size for path in diary.iterdir()}
