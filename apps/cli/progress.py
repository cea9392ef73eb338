"""What is going on, shown on standard error while it goes on, and gone afterwards."""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from lexloop.apps.cli.terminal import clean, plain, progress_console

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.spinner import Spinner

_DOING = {
    "classify": "Planning the retrieval",
    "rewrite": "Rewriting the question",
    "hybrid_retrieve": "Searching the documents",
    "kg_retrieve": "Walking the knowledge graph",
    "rerank": "Choosing the passages",
    "generate": "Writing the answer",
    "evaluate": "Judging the answer",
    "engineer_prompt": "Rewording the question",
}
_AFTER = dict(zip(_DOING, [*list(_DOING)[1:], "rewrite"], strict=True))
_CORPUS_STAGES = {
    "reading": "Reading the documents",
    "embedding": "Embedding the documents",
    "indexing": "Indexing the documents",
}
_LINES_KEPT_FREE = 4


class Progress:
    """A spinner with what is being done, and above it the answer as far as it is written.

    Shows nothing where standard error is no terminal. Usable from several threads.
    """

    def __init__(self) -> None:
        self._console: Console = progress_console()
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._spinner: Spinner | None = None
        self._draft = ""
        self._attempt = 1

    def __enter__(self) -> Self:
        """Start to show."""
        if self._console.is_terminal:
            from rich.live import Live
            from rich.spinner import Spinner

            self._draft, self._attempt = "", 1
            self._spinner = Spinner("dots", plain("Starting", "dim"))
            self._live = Live(
                self._spinner, console=self._console, transient=True, redirect_stdout=False
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    @property
    def draft(self) -> str:
        """The answer as far as it was written."""
        return self._draft

    def say(self, doing: str) -> None:
        """Show what is being done."""
        with self._lock:
            if self._live is not None and self._spinner is not None:
                again = f" (attempt {self._attempt})" if self._attempt > 1 else ""
                self._spinner.update(text=plain(f"{doing}{again} …", "dim"))
                self._live.update(self._shown(self._spinner))

    def corpus(self, stage: str, done: int, total: int) -> None:
        """How far the indexing of a corpus is, as ``Resources`` reports it."""
        self.say(f"{_CORPUS_STAGES.get(stage, stage)} {done}/{total}")

    def begin(self) -> None:
        """A question was asked."""
        self.say(_DOING["classify"])

    def node(self, name: str, update: Mapping[str, Any]) -> None:
        """A node has ended; show what the next one does."""
        if not update or update.get("answer"):
            return  # there is an answer, and what comes after it has nothing to do
        if name == "engineer_prompt":
            self._attempt += 1
            self._draft = ""
        self.say(_DOING.get(_AFTER.get(name, ""), name))

    def token(self, event: Mapping[str, Any]) -> None:
        """A piece of the answer, as ``lexloop.graph.stream`` sends it."""
        with self._lock:
            before = "" if event.get("restart") else self._draft
            self._draft = before + clean(str(event.get("token", "")))
            if self._live is not None and self._spinner is not None:
                self._live.update(self._shown(self._spinner))

    def _shown(self, spinner: "Spinner") -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        if not self._draft:
            return spinner
        room = max(1, self._console.height - _LINES_KEPT_FREE)
        lines = Text(self._draft).wrap(self._console, self._console.width)
        return Group(Text("\n").join(lines[-room:]), spinner)
