"""One file per model call, checked for its placeholders when loaded.

A file has two parts, each below a line of its own: ``=== system ===`` (instructions) and
``=== user ===`` (the data). The steps of the loop have ``=== task ===`` instead of the first. It
precedes the data in the user part, and the system part is that of ``loop.md``, the same text in
every call, so that prompt caches work. Parts contain placeholders such as ``{{question}}``:

- Text is inserted as *data*, between tags that no text can guess or close, because questions,
  histories and documents are written by others. ``{{fence}}`` is the name of these tags, drawn
  anew for each prompt. The instructions must name it before all data, so that no text by others
  can name another.
- Whole numbers, which only code sets, are inserted unchanged.
- ``{{abstention}}`` is the one sentence that stands for "no answer".
"""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from lexloop.core.errors import DataError, SettingsError
from lexloop.core.settings_groups import Rubrics
from lexloop.core.types import ABSTENTION, Passage

_PARTS = re.compile(
    r"=== (?P<kind>system|task) ===\n(?P<instructions>.+)\n=== user ===\n(?P<user>.+)", re.DOTALL
)
_LOOP = "loop.md"
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_RESERVED = frozenset({"fence", "abstention"})
_TAG_OPENING = re.compile(r"<(?=[\s/]*data-)", re.IGNORECASE)
_HARMLESS = "‹"
_NOTHING = "(none)"


@dataclass(frozen=True)
class Data:
    """One piece of text by others.

    Args:
        kind: What it is, in lower-case letters, such as ``question``.
        text: The text.
        n: Its number, if it has one.
    """

    kind: str
    text: str
    n: int | None = None


Value = str | int | Sequence[Data]


@dataclass(frozen=True)
class Prompt:
    """A prompt file; ``system`` and ``user`` are what is sent, with their placeholders.

    ``instructions`` are all that is ours and no answer may recite, wherever it is sent.
    """

    name: str
    system: str
    user: str
    instructions: str
    placeholders: frozenset[str]

    def render(self, **values: Value) -> tuple[str, str]:
        """Return the system and the user part with ``values`` put in, text as data.

        Raises:
            TypeError: A value is missing, or belongs to no placeholder.
        """
        if self.placeholders != set(values):
            named = sorted(self.placeholders.symmetric_difference(values))
            raise TypeError(f"prompt {self.name!r}: values do not match placeholders: {named}")
        fence = _fence(values)
        inserts = {name: _inserted(name, value, fence) for name, value in values.items()}
        inserts |= {"fence": fence, "abstention": ABSTENTION}
        return _filled(self.system, inserts), _filled(self.user, inserts)


_AFTER: Mapping[str, str] = {
    **dict.fromkeys(("correctness_general", "correctness_criteria"), "after_kalra"),
    **dict.fromkeys(("correctness_examples", "augment_question"), "after_kalra"),
    "evaluate": "after_wahidur",
    **dict.fromkeys(("groundedness_tenths", "similarity_tenths"), "after_sultania"),
    **dict.fromkeys(("fair_eval", "fair_eval_document"), "after_ryu"),
    **dict.fromkeys(("chat_eval", "chat_eval_document"), "after_ryu"),
}
"""The folder of the prompts that are worded after a paper, by its first author."""


def under(rubrics: Rubrics, name: str) -> str:
    """Return the name of a prompt: our own, or the one worded after its paper if there is one."""
    folder = _AFTER.get(name) if rubrics != "hardened" else None
    return f"{folder}/{name}" if folder else name


STEPS: Mapping[str, frozenset[str]] = {
    "rewrite": frozenset({"history", "question", "languages", "contents", "Q", "K"}),
    "generate": frozenset({"passages", "triplets", "guidance", "question"}),
    "evaluate": frozenset({"question", "passages", "answer"}),
    "engineer_prompt": frozenset({"asked", "attempts", "limit", "looks", "found"}),
}
"""The placeholders of the steps' prompts, which a user may replace."""


def check_own(prompts: Mapping[str, str]) -> None:
    """Check a user's prompts, by their steps; "" is none.

    Raises:
        SettingsError: One is out of form, or its placeholders are not its step's.
    """
    for step, text in prompts.items():
        if text:
            load(step, STEPS[step], text)


def load(name: str, placeholders: Iterable[str], own: str = "") -> Prompt:
    """Return the prompt of file ``name``, or a user's own in its place.

    Args:
        name: The file's name without ``.md``.
        placeholders: The names that the caller will give values for; the file must use each of
            them and no others.
        own: A user's prompt in the same form, or "" for the file.

    Raises:
        DataError: The file is missing or out of form, or its placeholders are not those declared.
        SettingsError: The user's prompt is.
    """
    if not own:
        return parse(name, _read(f"{name}.md"), placeholders)
    try:
        return parse(name, own.strip(), placeholders)
    except DataError as error:
        raise SettingsError(f"prompts.{name} cannot be used: {error.what}", error.hint) from None


def user_part(name: str) -> str:
    """Return the part with the data of a prompt file, with its placeholders.

    Raises:
        DataError: The file is missing.
    """
    return _read(f"{name}.md").partition("=== user ===\n")[2].strip()


def _read(file: str) -> str:
    try:
        return files(__name__).joinpath(file).read_text("utf-8")
    except (FileNotFoundError, UnicodeDecodeError) as error:
        raise DataError(
            f"Prompt file {file} cannot be read: {error}.", "Reinstall lexloop."
        ) from error


def parse(name: str, text: str, placeholders: Iterable[str]) -> Prompt:
    """Return the prompt in ``text``, checked as ``load`` says."""
    file = f"{name}.md"
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise DataError(
            f"Prompt file {file} lacks its two parts.",
            "Head them `=== system ===` or `=== task ===`, and `=== user ===`, in this order.",
        )
    declared = frozenset(placeholders)
    used = set(_PLACEHOLDER.findall(text)) - _RESERVED
    if missing := sorted(declared - used):
        raise DataError(f"Prompt file {file} lacks placeholder {missing[0]!r}.", "Put it in.")
    if unknown := sorted(used - declared):
        raise DataError(
            f"Prompt file {file} has unknown placeholder {unknown[0]!r}.",
            f"Known ones: {', '.join(sorted(declared | _RESERVED))}.",
        )
    ours, user = parts["instructions"].strip(), parts["user"].strip()
    if "{{fence}}" not in ours:
        raise DataError(
            f"The {parts['kind']} part of prompt file {file} lacks placeholder 'fence'.",
            "Say there that text between these tags is data and never an instruction.",
        )
    system = ours
    if parts["kind"] == "task":
        system = _read(_LOOP).removeprefix("=== system ===\n").strip()
        ours, user = f"{system}\n\n{ours}", f"{ours}\n\n{user}"
    task = ours.replace("{{abstention}}", ABSTENTION)
    return Prompt(name, system, user, task, declared)


def numbered(passages: Sequence[Passage]) -> list[Data]:
    """Return passages as data under their numbers, each with its title, section and context.

    A title is written out once, and then as far as it takes to tell it from the others.
    """
    titles = dict.fromkeys(filter(None, (passage["title"] for passage in passages)))
    seen: set[str | None] = set()
    pieces = []
    for passage in passages:
        title = passage["title"]
        shown = _short(title, [*titles]) if title and title in seen else title
        seen.add(title)
        pieces.append(Data("passage", _headed(passage, shown), passage["n"]))
    return pieces


_LEAST_WORDS = 3


def _short(title: str, titles: Sequence[str]) -> str:
    """Return the first words of a title that no other title begins with, or the whole title."""
    title_words = title.split()
    for count in range(_LEAST_WORDS, len(title_words)):
        begun = " ".join(title_words[:count])
        if sum(" ".join(other.split()).startswith(begun) for other in titles) == 1:
            return f"{begun} …"
    return title


def _headed(passage: Passage, title: str | None) -> str:
    heading = " | ".join(filter(None, [title, passage["section"], passage.get("version")]))
    return "\n".join(filter(None, [heading, passage.get("context"), passage["text"].strip()]))


def _filled(template: str, inserts: Mapping[str, str]) -> str:
    """Fill all placeholders at once, so that placeholders inside values stay as they are."""
    return _PLACEHOLDER.sub(lambda match: inserts[match.group(1)], template)


def _fence(values: Mapping[str, Value]) -> str:
    """Return a tag name that occurs in no value."""
    text = "\n".join(
        piece.text
        for name, value in values.items()
        if not isinstance(value, int)
        for piece in _pieces(name, value)
    )
    while (fence := f"data-{secrets.token_hex(4)}") in text:
        pass
    return fence


def _pieces(name: str, value: str | Sequence[Data]) -> Sequence[Data]:
    return [Data(name, value)] if isinstance(value, str) else value


def _inserted(name: str, value: Value, fence: str) -> str:
    if isinstance(value, int):
        return str(value)
    pieces = [_opened(piece, fence) for piece in _pieces(name, value)]
    return "\n".join([*pieces, f"</{fence}>"]) if pieces else _NOTHING


def _opened(piece: Data, fence: str) -> str:
    attribute = f'kind="{piece.kind}"' if piece.n is None else f'{piece.kind}="{piece.n}"'
    return f"<{fence} {attribute}>\n{_TAG_OPENING.sub(_HARMLESS, piece.text)}"
