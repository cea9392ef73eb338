"""Asks a model to judge. Replies are cached, and failures are bounded and never become scores."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.errors import (
    DeadlineExceeded,
    ModelAuthError,
    ModelError,
    ModelUnavailable,
    ModelUnknown,
)
from lexloop.core.metadata import Filters
from lexloop.core.running import waited
from lexloop.core.settings import Connection, Settings
from lexloop.core.settings_groups import Rubrics
from lexloop.core.text_cache import TextCache, replies_path
from lexloop.core.types import Usage
from lexloop.models.chat import connect
from lexloop.models.request import Chat, ChatReply, ChatRequest, Unreadable, parsed, read_json
from lexloop_eval.score import Unresolved
from lexloop_eval.verbatim import verbatim

if TYPE_CHECKING:
    from lexloop.apps.cli.terminal import Report
    from lexloop.store.view import Collection, View

Form = TypeVar("Form", bound=BaseModel)
T = TypeVar("T")
Thing = TypeVar("Thing")
Progress = Callable[[int, int], None]
_MOST_NAMED = 5
_HOPELESS = (ModelAuthError, ModelUnknown)
_HUNG_ENOUGH = 3
_AT_ONCE, _LOST_ENOUGH = 4, 4
_FENCE = re.compile(r"\bdata-[0-9a-f]{8}\b")


class Asker:
    """Answers requests, from a file of cached replies if possible.

    Threads may share one, and processes the file. Attempts of a call are bounded only in the chat
    model (``model_attempts``), and their time by ``deadline_s``: nothing here retries. A host that
    exceeded the deadline three times in a row is not asked again, or a run would spend that time on
    every score. Close it when done, or use it as a context manager.

    Args:
        settings: The settings of the ``model``. They are part of the key of cached replies.
        connection: The address and key of the model.
        cache: The file of cached replies, created if needed. None for the one beside the cached
            indexes.

    ``rubrics`` are those to judge by. ``spent`` counts what was really asked: calls, tokens, and
    seconds summed over the calls.

    Raises:
        SettingsError: The settings name no usable model.
        ModelAuthError: The key of the model is missing.
        DataError: The file of cached replies cannot be used.
    """

    def __init__(
        self, settings: Settings, connection: Connection, cache: Path | None = None
    ) -> None:
        self._chat, self._settings = connect(settings, connection), settings
        self.name, self.rubrics = self._chat.name, settings.loop.rubrics
        self.spent: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
        self._cache = TextCache(cache or replies_path(), "replies")
        self._guard = Lock()
        self._hung = 0
        self._hopeless: ModelError | None = None
        self._underway: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cache.close()

    def settle(self, work: Coroutine[Any, Any, T]) -> T | Unresolved:
        """Run requests to the end.

        Returns:
            The result, or why there is none: the model gave no usable reply within its attempts and
            its deadline.

        Raises:
            ModelAuthError: The host refused the key. Every further call would fail as well, so
                stop.
            ModelUnknown: The host does not know the model or the address. Stop as well.
            DataError: The file of cached replies is damaged or full.
        """
        try:
            result: T | Unresolved = waited(work)
        except ModelError as error:
            result = Unresolved(error.what)
        if self._hopeless is not None:  # whatever the result is
            raise self._hopeless
        return result

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Return a cached reply, or a new one; of several that ask the same, one asks the model."""
        key = reply_key(
            f"{self._chat.name} at {self._chat.host}", self._settings.model.asked_with, request
        )
        with self._guard:
            turn = self._underway.setdefault(key, Lock())
        with turn:  # each that asks has a thread to itself
            if (cached := self._found(key, request)) is not None:
                return cached
            try:
                reply = await self._asked(request)
            except _HOPELESS as error:
                self._hopeless = error
                raise
            self._cache.put(key, reply.text)
        return reply

    def _found(self, key: str, request: ChatRequest) -> ChatReply | None:
        """Return the cached reply, or None if it is missing or cannot be parsed."""
        text = self._cache.find(key)
        if text is None or request.schema is None:
            return None if text is None else ChatReply(text)
        with suppress(Unreadable):
            return ChatReply(text, read_json(text, request.schema))
        return None

    async def _asked(self, request: ChatRequest) -> ChatReply:
        if self._hung >= _HUNG_ENOUGH:
            raise DeadlineExceeded(
                f"{request.purpose} did not ask {self.name}, whose last {self._hung} calls all ran "
                f"out their deadline of {self._settings.deadline_s:g} s (deadline_s).",
                "Run again when it answers: finished judgements are kept.",
            )
        began, hung = time.monotonic(), False
        meter: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
        try:
            deadline = began + self._settings.deadline_s
            return await self._chat.acomplete(request, deadline=deadline, meter=meter)
        except DeadlineExceeded:
            hung = True
            raise
        finally:
            with self._guard:
                self._hung = self._hung + 1 if hung else 0
                self.spent["model_calls"] += meter["model_calls"]
                self.spent["tokens_in"] += meter["tokens_in"]
                self.spent["tokens_out"] += meter["tokens_out"]
                self.spent["seconds"] += time.monotonic() - began


def open_asker(settings: Settings, connection: Connection) -> AbstractContextManager[Asker | None]:
    """Return a context manager of what asks the model of the settings; of None without a model.

    Raises:
        LexloopError: The model cannot be used.
    """
    return nullcontext() if settings.model.name is None else Asker(settings, connection)


def reply_key(model: str, asked_with: Mapping[str, Any], request: ChatRequest) -> str:
    """Return the key of a cached reply: the model, its parameters, the prompts and the form.

    Args:
        model: The model and its host.
        asked_with: Parameters by name. The temperature is 0 if it is not among them.
        request: The request.

    The tag that fences data in a prompt is random for each rendering, so it is replaced by a fixed
    one.
    """
    fence = _FENCE.search(request.system) or _FENCE.search(request.user)
    texts = [request.system, request.user]
    if fence is not None:
        texts = [text.replace(fence[0], "data") for text in texts]
    parameters = {name: value for name, value in asked_with.items() if name != "temperature"}
    temperature = float(asked_with.get("temperature", 0.0))
    form = request.schema.model_json_schema() if request.schema else None
    identity = json.dumps(
        [model, temperature, *texts, form, *sorted(parameters.items())], sort_keys=True
    )
    return hashlib.sha256(identity.encode()).hexdigest()


async def prompted(
    chat: Chat,
    name: str,
    form: type[Form],
    by: Rubrics = "hardened",
    /,
    **values: prompts.Value,
) -> Form:
    """Return a model's reply, in a form, to a prompt filled with ``values``.

    ``by`` says whose wording of the prompt it is.

    Raises:
        InputError: The paper's own text of the prompt is wanted and not there.
    """
    own = verbatim(name) if by == "verbatim" else ""
    file = prompts.under(by, name)
    system, user = prompts.load(file, values, own).render(**values)
    return parsed(await chat.ask(ChatRequest(file, system, user, form)), form)


class ProvisionQuestions(BaseModel):
    """The questions that a provision answers."""

    questions: list[str]


async def questions_on(chat: Chat, heading: str, provision: str, count: int) -> list[str]:
    """Have a model write so many questions that a provision answers, and return each once.

    Args:
        chat: The model.
        heading: What stands above the provision, or its name; may be empty.
        provision: Its text.
        count: The number of questions.
    """
    reply = await prompted(
        chat,
        "ask_provision",
        ProvisionQuestions,
        number=count,
        headings=[prompts.Data("headings", heading)] if heading else [],
        provision=[prompts.Data("provision", provision)],
    )
    lines = (" ".join(question.split()) for question in reply.questions)
    return list(dict.fromkeys(filter(None, lines)))


def side_by_side(
    work: Callable[[Thing], T], things: Sequence[Thing], progress: Progress, workers: int
) -> Generator[T]:
    """Yield the result of ``work`` for each thing in order, in threads that wait for a model.

    Progress gets the number done and the total. Once ``work`` raised, nothing further is started
    and its error is raised here: a refused key refuses every other request as well.
    """
    progress(0, len(things))
    with ThreadPoolExecutor(workers, thread_name_prefix="lexloop-asking") as threads:
        for done, result in enumerate(threads.map(work, things), start=1):
            yield result
            progress(done, len(things))


def questions_of(
    asker: Asker,
    ask: Callable[[Thing], Coroutine[Any, Any, T]],
    things: Sequence[Thing],
    progress: Progress = lambda *_: None,
) -> Iterator[T | Unresolved]:
    """Yield what a model writes for each thing, or why it did not, in order, several at a time.

    Raises:
        ModelError: No further question could be asked, or none of the first replies was usable.
    """

    def settled(thing: Thing) -> T | Unresolved:
        return asker.settle(ask(thing))

    written = 0
    with closing(side_by_side(settled, things, progress, _AT_ONCE)) as replies:
        for number, reply in enumerate(replies, start=1):
            written += not isinstance(reply, Unresolved)
            enough = number == min(_LOST_ENOUGH, len(things))
            if isinstance(reply, Unresolved) and enough and not written:
                raise ModelUnavailable(
                    f"The model wrote no question: {reply.reason}",
                    "Try again, or leave out --model.",
                )
            yield reply


@contextmanager
def open_documents(
    settings: Settings, connection: Connection, report: "Report"
) -> "Iterator[tuple[Collection, View]]":
    """Open the collection that the settings name, and the asker's view of it.

    It first prints where text will go, and then what is missing.

    Raises:
        LexloopError: The documents or the embedder cannot be used.
    """
    from lexloop.apps.cli.session import say_where_text_goes
    from lexloop.apps.cli.terminal import note
    from lexloop.apps.shapes.record import text_hosts
    from lexloop.apps.shapes.text import first_of
    from lexloop.graph.resources import Resources
    from lexloop.store.opening import left_out

    say_where_text_goes(text_hosts(settings, connection))
    settings = settings.changed(model=None, **{"index.triplets": "embedded"})
    with closing(Resources(connection, progress=report)) as resources:
        collection, troubles = resources.collection(settings)
        view = collection.seen_by(Filters.of(settings))
        missing = [f"{item['wanted']}: {item['reason']}" for item in (*left_out(view), *troubles)]
        for name in first_of(missing, _MOST_NAMED):
            note(f"Left out: {name}")
        yield collection, view
