"""``lexloop chat``: reads a line, answers it or obeys it, until the user leaves."""

import asyncio
import contextlib
import importlib
import secrets
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.answer import print_answer, print_sources, print_trace
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import ASKED_BACK, Opening, Session, open_session
from lexloop.apps.cli.terminal import (
    Progress,
    ctrl_c_is_ignored,
    note,
    plain,
    read_line,
    result_console,
    say,
    show_error,
    typed_so_far,
)
from lexloop.apps.retention import expire
from lexloop.apps.shapes.record import answer_record, compared, dated
from lexloop.apps.shapes.text import one_line
from lexloop.apps.threads import IN_MEMORY, LOCAL, ThreadStore
from lexloop.core.configuration import data_folder
from lexloop.core.errors import DataError, InputError, LexloopError, NotFoundError
from lexloop.core.settings import Connection

if TYPE_CHECKING:
    from lexloop.apps.feedback import Vote
    from lexloop.core.types import Degradation

_PROMPT = "> "
_MOST_LISTED = 50
_OF_AN_ANSWER = {"/sources", "/trace", "/export", "/up", "/down"}
_HELP = (
    ("/sources", "the cited spans of the last answer"),
    ("/trace", "how the last answer came about"),
    ("/documents", "the documents that are asked"),
    ("/model", "the model that answers; with `provider:name` or `none` another one from now on"),
    ("/export", "write the conversation to a file: .md, .docx or .eml"),
    ("/up", "rate the last answer as good; the rest of the line is a comment"),
    ("/down", "rate the last answer as bad; the rest of the line is a comment"),
    ("/forget", "forget this conversation, also on disk, and start a new one"),
    ("/help", "this list"),
    ("/quit", "leave (Ctrl-D as well)"),
)


@options.taking(*options.ANSWER, *options.SELECTION)
def chat(
    *,
    context: typer.Context,
    thread: Annotated[
        str | None,
        option(
            "Keep the conversation under this name, or resume it. Default: a new name.",
            "ID",
            flag="--thread",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        option(
            "The SQLite file of threads. Default: in LEXLOOP_DATA_DIR or the user's data.",
            "FILE",
            flag="--threads-file",
        ),
    ] = None,
) -> None:
    """Ask question after question; Ctrl-C stops an answer or drops a line, twice it leaves."""
    settings = options.chosen_settings(context.params)
    if settings.answer.ask_back is None:  # a pipe has nobody to reply
        settings = settings.changed(**{"answer.ask_back": sys.stdin.isatty()})
    connection = options.chosen_connection(context.params)
    # says when, and no other conversation has it
    name = thread or f"{datetime.now():%Y-%m-%d-%H%M%S}-{secrets.token_hex(2)}"
    with asyncio.Runner() as runner, contextlib.closing(_store(thread, file)) as store:
        kept_in = None if store.file == IN_MEMORY else store.file
        if kept_in is not None:
            expire(store, settings.retention)
        opening = Opening(settings, connection)
        line = ""
        if sys.stdin.isatty() and not opening.opens_soon():
            _note("The documents are being indexed. You can ask your first question already.")
            try:
                line = read_line(_PROMPT)
            except (EOFError, KeyboardInterrupt):
                return
        session = opening.session()
        from lexloop.apps.feedback import feedback_file

        with contextlib.suppress(ImportError):
            # importing it is what gives input() its line editing
            importlib.import_module("readline")
        conversation = _Conversation(runner, session, store, name, feedback_file(kept_in))
        conversation.greet()
        conversation.connection = connection
        while conversation.turn(line):
            line = ""
        if kept_in is not None and conversation.begun:
            again = [*options.typed(context.params), "--thread", name]
            again += [] if file is None else ["--threads-file", str(file)]
            command = plain(shlex.join(["lexloop", "chat", *again]))
            _note(f"Thread {name} is stored. To continue it:")
            result_console().print(command, soft_wrap=True)  # to be copied as one line


def _store(thread: str | None, file: Path | None) -> ThreadStore:
    """Open the store of the conversation. If none was named and none can be written, use memory.

    Raises:
        InputError: The thread's name cannot be used.
        DataError: The named file cannot be used.
    """
    if thread is not None and not thread.strip():
        raise InputError("The thread's name is empty.", "Give --thread a name.")
    try:
        (thread or "").encode()
    except UnicodeEncodeError as error:
        message = f"The thread's name {thread!r} is not valid text."
        raise InputError(message, "Write it in UTF-8.") from error
    store = ThreadStore(file or data_folder() / "threads.sqlite")
    try:
        store.open()
    except DataError as error:
        if thread is not None or file is not None:
            raise
        note(f"This conversation is not kept. {error}")
        return ThreadStore(IN_MEMORY)
    return store


@dataclass
class _Conversation:
    """A chat over one thread. Ctrl-C only ends what the runner is running."""

    _runner: asyncio.Runner
    _session: Session
    _store: ThreadStore
    _thread: str
    _feedback: Path
    connection: "Connection | None" = None
    _interrupted: bool = False
    _last: dict[str, Any] = field(default_factory=dict)
    _told: "list[Degradation]" = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether there is something to go on with."""
        return bool(self._last)

    def greet(self) -> None:
        """Say what this is and, for a resumed thread, what came last."""
        ignored = ctrl_c_is_ignored()
        stop = "Ctrl-C is ignored, Ctrl-D leaves" if ignored else "Ctrl-C stops an answer"
        _note(f"Ask a question. /help lists the commands, {stop}.")
        self._check_tags()
        if count := self._store.count(self._thread):
            _note(f"Thread {self._thread} goes on after {count} question(s).")
            (self._last,) = self._store.turns(LOCAL, self._thread, limit=1)
            _note(f"Last: {self._last['question']}")

    def _check_tags(self) -> None:
        """Check that the stored conversation may be read with these settings."""
        from lexloop.core.conversation import tags_of_thread

        with contextlib.suppress(NotFoundError):  # it begins with the next answer
            thread = self._store.thread(LOCAL, self._thread)
            tags_of_thread(thread.tags, self._session.settings.access.tags)

    def turn(self, line: str = "") -> bool:
        """Read one line, unless there is one, and deal with it; False when the user leaves."""
        try:
            line = line or read_line(_PROMPT)
        except EOFError:
            return False
        except KeyboardInterrupt:
            say()
            return self._cleared()
        self._interrupted = False
        try:
            if line.startswith("/"):
                return self._obey(*line.split(maxsplit=1))
            if line:
                self._answer(line)
        except KeyboardInterrupt:
            self._interrupted = True
            _note("Stopped.")
        except LexloopError as error:
            show_error(error.what, error.hint)
        if line and not line.startswith("/"):
            say()
        return True

    def _cleared(self) -> bool:
        """Return whether Ctrl-C cleared a line at the prompt; the second in a row leaves."""
        again = self._interrupted and not typed_so_far()
        self._interrupted = True
        if not again:
            _note("Ctrl-C again leaves.")
        return not again

    def _answer(self, question: str) -> None:
        self._check_tags()
        progress = Progress()
        settings = self._session.settings
        try:
            with progress:
                history = self._store.history(self._thread)
                state = self._runner.run(self._session.ask(question, progress, history))
            if asked_back := state.pop(ASKED_BACK, None):
                reply = _read_reply(asked_back)
                with progress:
                    state |= self._runner.run(self._session.reply(reply, progress))
        except KeyboardInterrupt:
            if progress.draft:
                result_console().print(plain(progress.draft, "dim"))
            raise
        record = answer_record(state, settings, self._session.hosts)
        record |= compared(state, settings, self._session.resources, {})
        self._last = dated(record, [settings.corpus], settings.access.as_of, self._thread)
        # stored before it is shown, so that it is not lost if the terminal closes now
        try:
            self._store.keep(LOCAL, self._last, settings.access.tags, begins=True)
        finally:
            print_answer({**self._last, "degraded": self._not_told_yet()}, self._session)

    def _not_told_yet(self) -> list["Degradation"]:
        """Return the degradations of the last answer. Those of the index are returned only once."""
        lost: list[Degradation] = self._last["degraded"]
        new = [item for item in lost if item["node"] != "index" or item not in self._told]
        self._told += [item for item in new if item["node"] == "index"]
        return new

    def _obey(self, command: str, comment: str = "") -> bool:
        if command == "/quit":
            return False
        said = comment.strip()
        actions: dict[str, Callable[[], None]] = {
            "/sources": partial(self._show, command),
            "/trace": partial(self._show, command),
            "/documents": self._list_documents,
            "/model": partial(self._take_model, said),
            "/export": partial(self._export, said),
            "/up": partial(self._rate, command, comment),
            "/down": partial(self._rate, command, comment),
            "/forget": self._forget,
            "/help": _list_commands,
        }
        if command in _OF_AN_ANSWER and not self._last:
            _note("There is no answer yet.")
        elif command in actions:
            actions[command]()
        else:
            _note(f"There is no command {command}.")
            _list_commands()
        return True

    def _forget(self) -> None:
        with contextlib.suppress(NotFoundError):
            self._store.delete(LOCAL, self._thread)
        self._last = {}
        _note("The conversation is forgotten.")

    def _list_documents(self) -> None:
        from lexloop.core.metadata import Filters

        settings = self._session.settings
        collection, _ = self._session.resources.collection(settings)
        titles = collection.seen_by(Filters.of(settings)).titles
        for name in sorted(titles)[:_MOST_LISTED]:
            say((one_line(name), "bold"), f"  {one_line(titles[name])}")
        if (more := len(titles) - _MOST_LISTED) > 0:
            _note(f"and {more} more")

    def _take_model(self, named: str) -> None:
        if named:
            model = None if named == "none" else named
            settings = self._session.settings.changed(**{"model.name": model})
            with Progress() as progress:
                self._session = open_session(
                    settings, self.connection or Connection(), progress, asking_back=True
                )
        _note(f"Answers come from {self._session.settings.model.name or 'this machine alone'}.")

    def _export(self, file: str) -> None:
        from lexloop.apps.shapes.files import write_answers

        if not file:
            _note("Name a file, such as `/export answers.docx`.")
        else:
            turns = self._store.turns(LOCAL, self._thread, limit=self._store.count(self._thread))
            write_answers(Path(file).expanduser(), turns, overwrite=False)
            _note(f"Written to {file}.")

    def _show(self, command: str) -> None:
        if command == "/trace":
            print_trace(self._last)
            print_answer(self._last, self._session)
        elif self._last["citations"]:
            print_sources(self._last["citations"])
        else:
            _note("The last answer cites nothing.")

    def _rate(self, command: str, comment: str) -> None:
        from lexloop.apps.feedback import FeedbackStore, opinion_on

        vote: Vote = "up" if command == "/up" else "down"
        history = self._store.history(self._thread, before=self._last["id"])
        opinion = opinion_on(self._last, history, vote, comment)
        replaced = FeedbackStore(self._feedback).keep(opinion)
        instead = " in place of the one before" if replaced else ""
        _note(f"Kept{instead} in {self._feedback}: thumb {vote}.")


def _read_reply(asked: dict[str, Any]) -> str:
    """Read the reply to what is asked back, a number or words; leaving it leaves the question."""
    say(one_line(asked["question"]))
    for choice in asked["choices"]:
        say((f"{choice['id']:>2} ", "bold"), one_line(choice["label"]))
    try:
        return read_line(_PROMPT)
    except EOFError as error:
        raise KeyboardInterrupt from error


def _list_commands() -> None:
    for name, meaning in _HELP:
        say((f"{name:11}", "bold"), meaning)


def _note(text: str) -> None:
    say(text, style="dim")
