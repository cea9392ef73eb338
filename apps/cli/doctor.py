"""``lexloop doctor``: check the installation, the documents and the model."""

import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import typer
from pydantic import BaseModel

from lexloop.apps.cli import options
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import debugging, say, write_json
from lexloop.apps.shapes.record import lost_in_words, text_hosts
from lexloop.core.errors import LexloopError
from lexloop.core.metadata import Filters
from lexloop.core.packages import package_missing
from lexloop.core.settings import SAMPLE_CORPUS, Connection, Settings

if TYPE_CHECKING:
    from lexloop.core.types import Usage
    from lexloop.models.chat import ChatModel

T = TypeVar("T")
State = Literal["good", "missing", "failed"]
_STYLES: dict[State, str] = {"good": "green", "missing": "yellow", "failed": "bold red"}
_EXTRAS = {
    "lexloop": ("engines", "eval", "formats", "server", "studio", "torch", "train", "workbench"),
    "lexloop-engines": ("aws", "ray"),
    "lexloop-formats": ("ocr",),
}
"""By the package whose extras they are."""
_REQUIRED = re.compile(r"""([\w.-]++).*\bextra\s*==\s*["']([\w-]+)["']""")
_MACHINE_S = 30.0
_QUESTION = "Who counts as an independent auditor?"
_SYSTEM = "You are being tried. Do as you are told, in few words."
_REPEATED = "Write the numbers from one to twenty as words, with commas between them."
_FORM = 'Reply with one JSON object and nothing else: {"colour": "...", "letters": 0}, where '
_FORM += "colour is the colour of grass and letters is how many letters that word has."


@dataclass(frozen=True)
class Check:
    """The result of one check.

    ``missing`` means absent but not needed by the configuration, ``failed`` configured but not
    working. ``hint`` says what to do.
    """

    name: str
    state: State
    said: str
    hint: str = ""


class Colour(BaseModel):
    """A form that a model is to keep to."""

    colour: str
    letters: int


@options.taking("corpus", *options.MODEL, *options.ACCESS, "deadline_s")
def doctor(*, context: typer.Context, as_json: options.AsJson = False) -> None:
    """Check the installation, the documents and the model.

    The model is asked for a line, for JSON, and one question on the sample. Exits with 0 if nothing
    that is configured fails. Every check ends after --deadline.
    """
    settings = options.chosen_settings(context.params)
    connection = options.chosen_connection(context.params)
    with suppress(LexloopError):  # a model that cannot be set up is a check that failed
        say_where_text_goes(text_hosts(settings, connection))
    checks: list[Check] = []
    code = 0
    for check, failure in _checks(settings, connection):
        checks.append(check)
        code = code or (failure if check.state == "failed" else 0)
        if not as_json:
            _print(check)
    if as_json:
        write_json({"checks": [asdict(check) for check in checks], "exit_code": code})
    if code:
        sys.stdout.flush()
        raise typer.Exit(code)


def _print(check: Check) -> None:
    hint = f" {check.hint}" if check.hint else ""
    say((f"{check.state:8}", _STYLES[check.state]), f"{check.name}: {check.said}{hint}")


Found = tuple[Check, int]
"""A check, and the exit code should it have failed."""


def _checks(settings: Settings, connection: Connection) -> Iterator[Found]:
    yield _good("lexloop", f"{metadata.version('lexloop')}, Python {sys.version.split()[0]}")
    yield from ((_extra(name, package), 1) for package in _EXTRAS for name in _EXTRAS[package])
    yield from ((check, 1) for check in _tools())
    yield _tried("GPU", _gpu, _MACHINE_S)
    yield _tried("documents", partial(_documents, settings, connection), settings.deadline_s)
    if settings.model.name is None:
        yield Check("model", "missing", "none is set: answers are quoted.", "Name one: --model."), 1
        return
    yield from _model_checks(settings, connection)


def _good(name: str, said: str, hint: str = "") -> Found:
    return Check(name, "good", said, hint), 1


def _tried(name: str, work: Callable[[], Check], limit_s: float) -> Found:
    """Return the result of a check, or that it failed or took too long."""
    try:
        return _in_thread(work, limit_s), 1
    except LexloopError as error:
        if debugging():
            raise
        return Check(name, "failed", error.what, error.hint), error.exit_code
    except TimeoutError:
        message = f"no result within {limit_s:g} s."
        return Check(name, "failed", message, "Raise --deadline, or see what holds it up."), 7
    except OSError as error:  # libraries that are imported want a folder for temporary files
        if debugging():
            raise
        return Check(name, "failed", f"{error}.", "Check the disk, or set TMPDIR."), 1


def _in_thread(work: Callable[[], T], limit_s: float) -> T:
    """Run a function in a thread and return its result, or give up on it after a limit.

    Raises:
        TimeoutError: It took too long.
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised by who waits
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True, name="lexloop-doctor")
    thread.start()
    thread.join(limit_s)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError
    return done[0]


def _extra(extra: str, package: str) -> Check:
    """Say what of an extra of a package is here, or how to get it."""
    hint = f'pip install "{package}[{extra}]"'
    try:
        required = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return Check(f"extra {extra}", "missing", f"without {package}.", hint)
    needed = [one[1] for text in required if (one := _REQUIRED.match(text)) and one[2] == extra]
    versions: dict[str, str] = {}
    for name in needed:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    lacking = [name for name in needed if name not in versions]
    if lacking:
        return Check(f"extra {extra}", "missing", f"without {', '.join(lacking)}.", hint)
    tools = ", ".join(f"{name} {version}" for name, version in versions.items())
    return Check(f"extra {extra}", "good", tools)


def _tools() -> Iterator[Check]:
    """Say which programs are here that some formats are read through."""
    from lexloop.documents.reading.formats import FORMATS, IMAGES, recogniser

    scan = recogniser()
    if scan is None:
        own = " ".join(suffix for suffix, known in FORMATS.items() if known.module)
        missing = package_missing("Reading other formats", "formats")
        yield Check("formats", "missing", f"{own} are read. {missing.what}", missing.hint)
        return
    others = " ".join(suffix for suffix in FORMATS if suffix not in (".doc", *IMAGES))
    yield Check("formats", "good", f"{others} are read without further programs.")
    office = shutil.which("soffice")
    if office:
        yield Check(".doc", "good", f"read through LibreOffice, {office}.")
    else:
        yield Check(".doc", "missing", "LibreOffice is not here.", "Install it, or save as .docx.")
    if not scan.advice(0):
        read = " and ".join(n for n in ("tesseract", "rapidocr") if _has(n))
        yield Check("scans and images", "good", f"read by {read}.")
    else:
        hint = 'Install Tesseract, or pip install "lexloop-formats[ocr]".'
        yield Check("scans and images", "missing", "nothing here recognises text.", hint)


def _has(name: str) -> bool:
    from importlib.util import find_spec

    return shutil.which(name) is not None or find_spec(name) is not None


def _gpu() -> Check:
    if _has("torch"):
        import torch

        if torch.cuda.is_available():
            return Check("GPU", "good", str(torch.cuda.get_device_name()))
    return Check("GPU", "missing", "none that torch can use; nothing needs one but local models.")


def _documents(settings: Settings, connection: Connection) -> Check:
    """Check the corpus. A folder of documents is scanned but not indexed."""
    from lexloop.core.files import is_index
    from lexloop.documents.reading.folder import source_files
    from lexloop.graph.resources import Resources
    from lexloop.store.address import is_address

    corpus = settings.corpus
    place = Path(corpus).expanduser()
    if corpus != SAMPLE_CORPUS and not is_address(corpus) and not is_index(place):
        count = len(source_files(place))
        message = f"{count} files in {corpus}, not indexed by a command of yours."
        return Check("documents", "good", message, "The first question indexes them into a cache.")
    quiet = settings.changed(**{"model.name": None, "index.triplets": "embedded"})
    resources = Resources(connection)
    try:
        collection, troubles = resources.collection(quiet)
        names = collection.seen_by(Filters.of(settings)).documents
        message = f"{len(names)} documents in {corpus}, embedded by {collection.embedder.name}."
        lost = "; ".join(f"{trouble['wanted']}: {trouble['reason']}" for trouble in troubles)
    finally:
        resources.close()
    return Check("documents", "failed" if lost else "good", f"{message} {lost}".strip())


def _model_checks(settings: Settings, connection: Connection) -> Iterator[Found]:
    """Try the model as the loop uses it, and stop at failures that make the rest useless."""
    from lexloop.models.chat import connect

    opened: list[ChatModel] = []

    def connected() -> Check:
        opened.append(connect(settings, connection))
        return Check("model", "good", f"{opened[0].name} at {opened[0].host}.")

    limit_s = settings.deadline_s + _MACHINE_S  # the model's own deadline says more
    for name, work in (
        ("model", connected),
        ("answers", lambda: _answers(opened[0], settings)),
        ("streams", lambda: _streams(opened[0], settings)),
        ("form", lambda: _keeps_form(opened[0], settings)),
        ("context window", lambda: _window(opened[0], settings)),
        ("a question", lambda: _question(settings, connection)),
    ):
        result = _tried(name, work, limit_s)
        yield result
        if result[0].state == "failed" and name in ("model", "answers"):
            return


def _asked(
    chat: "ChatModel",
    settings: Settings,
    user: str,
    schema: type[BaseModel] | None = None,
    shown: list[str] | None = None,
) -> tuple[str, float, "Usage"]:
    """Return the reply's text, its seconds, and its cost; pieces go into ``shown``."""
    from lexloop.core.running import waited
    from lexloop.core.state import summed
    from lexloop.models.chat import Token
    from lexloop.models.request import ChatRequest

    began, meter = time.monotonic(), summed()

    def show(token: Token) -> None:
        if shown is not None:
            shown.append(token.text)

    request = ChatRequest("doctor", _SYSTEM, user, schema, stream=shown is not None)
    deadline = began + settings.deadline_s
    reply = waited(chat.acomplete(request, deadline=deadline, meter=meter, on_token=show))
    return reply.text, time.monotonic() - began, meter


def _answers(chat: "ChatModel", settings: Settings) -> Check:
    text, seconds, meter = _asked(chat, settings, "Say hello.")
    if not meter["tokens_in"]:
        message = f"{len(text)} characters in {seconds:.1f} s, and it counts no tokens."
        return Check("answers", "good", message, "Costs are unknown with it.")
    counted = f"{meter['tokens_in']} tokens in, {meter['tokens_out']} out"
    again = f", after {meter['model_calls']} attempts" if meter["model_calls"] > 1 else ""
    return Check("answers", "good", f"in {seconds:.1f} s, {counted}{again}.")


def _streams(chat: "ChatModel", settings: Settings) -> Check:
    shown: list[str] = []
    _asked(chat, settings, _REPEATED, shown=shown)
    if len(shown) > 1:
        return Check("streams", "good", f"a line came in {len(shown)} pieces.")
    return Check("streams", "missing", "replies come in one piece.", "Answers appear when whole.")


def _keeps_form(chat: "ChatModel", settings: Settings) -> Check:
    """Ask for JSON in words, as every step does: no server has to know a schema."""
    _, _, meter = _asked(chat, settings, _FORM, Colour)
    if meter["model_calls"] > 1:
        hint = "Each such reply costs a further call; a larger model keeps to the form."
        return Check("form", "good", "JSON of the form asked for, after it was asked again.", hint)
    return Check("form", "good", "JSON of the form asked for, at once.")


def _window(chat: "ChatModel", settings: Settings) -> Check:
    from lexloop.core.running import waited

    tokens = waited(chat.window(time.monotonic() + settings.deadline_s))
    if tokens is None:
        hint = "See that passages fit: a question sends some 3,000 tokens at once."
        return Check("context window", "missing", "the host does not say.", hint)
    return Check("context window", "good", f"{tokens:,} tokens.")


def _question(settings: Settings, connection: Connection) -> Check:
    """Ask one question on the sample as `ask` does, without replacing the model."""
    from lexloop.graph.build import build_graph
    from lexloop.graph.resources import Resources

    chosen = settings.changed(**{"corpus": SAMPLE_CORPUS, "index.embedder": "embedded"})
    resources = Resources(connection)
    try:
        state: dict[str, Any] = build_graph(resources).invoke(
            {"question": _QUESTION}, context=chosen
        )
    finally:
        resources.close()
    usage = state["usage"]
    message = (
        f"{usage['model_calls']} calls, {usage['tokens_in']:,} tokens in, "
        f"{usage['tokens_out']:,} out, {usage['seconds']:.1f} s"
    )
    message += f", ${usage['cost_usd']:.4f}" if "cost_usd" in usage else ", its price is not set"
    message += f"; finding: {state['finding']}."
    lost = [*map(lost_in_words, state["degraded"])]
    if lost:
        hint = "Use a model that follows instructions more closely."
        return Check("a question", "failed", f"{message} {' '.join(lost)}", hint)
    return Check("a question", "good", message)
