"""One chat: reads a line, answers it or obeys it, until the user leaves."""

import asyncio
import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lexloop.apps.cli.answer_view import print_answer, print_sources
from lexloop.apps.cli.edge import ctrl_c_is_ignored, show_error
from lexloop.apps.cli.progress import Progress
from lexloop.apps.cli.session import Session, open_session
from lexloop.apps.cli.terminal import joined, plain, read_line, result_console
from lexloop.apps.cli.threads import last_turn, open_threads
from lexloop.apps.cli.trace_view import print_trace
from lexloop.core.conversation import tags_of_thread
from lexloop.core.errors import LexloopError

if TYPE_CHECKING:
    from lexloop.core.settings import Connection, Settings
    from lexloop.evaluation.feedback.opinion import Vote

PROMPT = "> "
_HELP = (
    ("/sources", "the cited spans of the last answer"),
    ("/trace", "how the last answer came about"),
    ("/up", "the last answer is good; what follows is kept as a comment"),
    ("/down", "the last answer is bad; what follows is kept as a comment"),
    ("/reset", "forget this conversation and start anew"),
    ("/help", "this list"),
    ("/quit", "leave (Ctrl-D as well)"),
)


class Conversation:
    """A chat over one thread.

    Args:
        runner: Runs the graph; Ctrl-C ends what it runs and nothing else.
        session: What is asked.
        thread: The thread's name.
        feedback: The file in which opinions on answers are kept.
    """

    def __init__(
        self,
        runner: asyncio.Runner,
        session: Session,
        thread: str,
        feedback: Path,
    ) -> None:
        self._runner, self._session, self._thread = runner, session, thread
        self._feedback = feedback
        self._console = result_console()
        self._last: dict[str, Any] = {}

    @classmethod
    @contextlib.contextmanager
    def opened(
        cls,
        settings: "Settings",
        connection: "Connection",
        file: Path | None,
        thread: str,
        feedback: Path,
    ) -> Iterator[Self]:
        """A chat with everything loaded; its thread's file is closed at the end.

        Args:
            settings: How questions are answered.
            connection: Where the model is reached.
            file: Where the thread is kept; None for nowhere.
            thread: Its name.
            feedback: Where opinions are kept.

        Raises:
            LexloopError: Settings, corpus, data, model or threads cannot be used.
        """
        with asyncio.Runner() as runner, contextlib.ExitStack() as stack:
            with Progress() as progress:
                progress.say("Loading")
                threads = open_threads(file)
                saver = runner.run(threads.__aenter__())
                stack.callback(lambda: runner.run(threads.__aexit__(None, None, None)))
                session = open_session(settings, connection, progress, saver)
            yield cls(runner, session, thread, feedback)

    def greet(self) -> None:
        """Say what this is and, of a resumed thread, where it stands.

        Raises:
            SettingsError: The thread was answered for somebody who may see more.
        """
        stop = (
            "Ctrl-C is ignored, Ctrl-D leaves" if ctrl_c_is_ignored() else "Ctrl-C stops an answer"
        )
        self._note(f"Ask a question. /help lists the commands, {stop}.")
        count, state = self._runner.run(last_turn(self._session.graph, self._thread))
        tags_of_thread(state.get("allowed_tags", []), self._session.settings.access.tags)
        if count:
            self._note(f"Thread {self._thread} goes on after {count} question(s).")
        if state.get("answer"):
            self._last = state
            self._note(f"Last: {state['asked']}")

    def turn(self) -> bool:
        """Read one line and deal with it; False when the user leaves."""
        try:
            line = _read_line()
        except EOFError:
            return False
        except KeyboardInterrupt:
            self._console.print()
            # a half-written question is dropped; on an empty line Ctrl-C leaves
            return bool(_unfinished_line())
        if line.startswith("/"):
            return self._obey(*line.split(maxsplit=1))
        if line:
            self._answer(line)
        return True

    def _answer(self, question: str) -> None:
        progress = Progress()
        try:
            with progress:
                state = self._runner.run(self._session.ask(question, progress, self._thread))
        except KeyboardInterrupt:
            if progress.draft:
                self._console.print(plain(progress.draft, "dim"))
            self._note("Stopped.")
        except LexloopError as error:
            show_error(error)
        else:
            self._last = state
            print_answer(self._console, state, self._session)
        self._console.print()

    def _obey(self, command: str, comment: str = "") -> bool:
        if command == "/quit":
            return False
        if command == "/reset":
            self._forget()
        elif command in ("/sources", "/trace"):
            self._show(command)
        elif command in ("/up", "/down"):
            self._rate(command, comment)
        else:
            if command != "/help":
                self._note(f"There is no command {command}.")
            for name, meaning in _HELP:
                self._console.print(joined(plain(f"{name:10}", "bold"), plain(meaning)))
        return True

    def _forget(self) -> None:
        graph, settings = self._session.graph, self._session.settings
        try:
            self._runner.run(graph.aforget(self._thread, settings))
        except KeyboardInterrupt:
            self._note("Stopped.")
        except LexloopError as error:
            show_error(error)
        else:
            self._last = {}
            self._note("The conversation is forgotten.")

    def _show(self, command: str) -> None:
        if not self._last:
            self._note("There is no answer yet.")
        elif command == "/trace":
            print_trace(self._console, self._last)
            print_answer(self._console, self._last, self._session)
        elif self._last["citations"]:
            print_sources(self._console, self._last["citations"])
        else:
            self._note("The last answer cites nothing.")

    def _rate(self, command: str, comment: str) -> None:
        """Keep what the user thinks of the last answer."""
        if not self._last:
            self._note("There is no answer yet.")
            return
        from lexloop.evaluation.feedback.opinion import opinion_on
        from lexloop.evaluation.feedback.store import FeedbackStore

        vote: Vote = "up" if command == "/up" else "down"
        opinion = opinion_on(self._last, self._session.settings, vote, comment)
        try:
            replaced = FeedbackStore(self._feedback).keep(opinion)
        except LexloopError as error:
            show_error(error)
            return
        instead = " in place of the one before" if replaced else ""
        self._note(f"Kept{instead} in {self._feedback}: thumb {vote}.")

    def _note(self, text: str) -> None:
        self._console.print(plain(text, "dim"))


def _read_line() -> str:
    """One line of the user's, with line editing where there is a terminal."""
    with contextlib.suppress(ImportError):
        # importing it is what gives input() its line editing
        importlib.import_module("readline")
    return read_line(PROMPT)


def _unfinished_line() -> str:
    try:
        import readline
    except ImportError:
        return ""
    return readline.get_line_buffer()
