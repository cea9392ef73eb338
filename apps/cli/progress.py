"""A spinner and progress bars on standard error, gone when the work is done."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from lexloop.apps.cli.terminal import plain, progress_console
from lexloop.apps.shapes.text import clean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.spinner import Spinner

Report = Callable[[str, int, int], None]
"""Told of a stage, how much of it is done, and of how much."""
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


@contextmanager
def bar() -> Iterator[Report]:
    """Show a bar for each stage on standard error; none where that is no terminal."""
    from rich import progress

    console = progress_console()
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    bars = progress.Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    )
    stages: dict[str, Any] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in stages:
            stages[stage] = bars.add_task(stage.capitalize(), total=total)
        bars.update(stages[stage], completed=done, total=total)

    with bars:
        yield report


class Progress:
    """A spinner with what is being done, and above it the answer as far as it is written.

    Shows nothing where standard error is no terminal. Usable from several threads.
    """

    def __init__(self) -> None:
        self._console: Console = progress_console()
        self._live: Live | None = None
        self._spinner: Spinner | None = None
        self._attempt = 1
        self.draft = ""
        """The answer as far as it was written."""

    def __enter__(self) -> Self:
        """Start to show."""
        if self._console.is_terminal:
            from rich.live import Live
            from rich.spinner import Spinner

            self.draft, self._attempt = "", 1
            self._spinner = Spinner("dots", plain("Starting", "dim"))
            self._live = Live(
                console=self._console,
                transient=True,
                redirect_stdout=False,
                get_renderable=self._shown,
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""
        if self._live is not None:
            self._live.stop()
            self._live = self._spinner = None

    def say(self, doing: str) -> None:
        """Show what is being done."""
        if self._spinner is not None:
            again = f" (attempt {self._attempt})" if self._attempt > 1 else ""
            self._spinner.update(text=plain(f"{doing}{again} …", "dim"))

    def corpus(self, stage: str, done: int, total: int) -> None:
        """Show how far the indexing of a corpus is, as ``Resources`` reports it."""
        self.say(f"{_CORPUS_STAGES.get(stage, stage)} {done}/{total}")

    def begin(self) -> None:
        """Show that a question is being planned."""
        self.say(_DOING["classify"])

    def node(self, name: str, update: Mapping[str, Any]) -> None:
        """Show what the next node does, now that this one has ended."""
        if not update or update.get("answer"):
            return  # there is an answer, and what comes after it has nothing to do
        if name == "engineer_prompt":
            self._attempt += 1
            self.draft = ""
        self.say(_DOING.get(_AFTER.get(name, ""), name))

    def token(self, event: Mapping[str, Any]) -> None:
        """Take a piece of the answer, as ``lexloop.graph.node`` sends it."""
        before = "" if event.get("restart") else self.draft
        self.draft = before + clean(str(event.get("token", "")))

    def _shown(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        spinner = self._spinner or ""
        if not self.draft:
            return spinner
        room = max(1, self._console.height - _LINES_KEPT_FREE)
        lines = Text(self.draft).wrap(self._console, self._console.width)
        return Group(Text("\n").join(lines[-room:]), spinner)
