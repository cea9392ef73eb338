"""Sets of questions as files, each with a playbook: what is standard, acceptable or unacceptable.

Rules of the playbook can be decided from the cell alone: whether the document says anything, the
periods, sums and percentages that it names, and its words.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic import model_validator as validator

from lexloop.core.errors import InputError
from lexloop.core.folding import folded
from lexloop.documents.text.quantities import NUMBERS, TIMES
from lexloop.documents.text.tokens import tokenize
from lexloop_workbench.register import SUM

if TYPE_CHECKING:
    from lexloop.models.embedding import Embed, Vectors

FOLDER = "checklists"
MOST_QUESTIONS = 200
_MOST_BYTES, _TITLE = 1 << 20, 80
_SAME, _CLEARLY = 0.65, 0.09
"""The least cosine of a question with a shipped one that asks the same, and by how much it is the
nearest: chosen on how 98 questions are put, 47 of them of public sets, without their answers."""
Deviation = Literal["", "standard", "acceptable", "deviates"]
"""The playbook's verdict on a cell, or "" if it has none or a person has to decide."""
Unit = Literal["period", "sum", "share"]
Made = TypeVar("Made", bound=BaseModel)
_DAYS = {"day": 1.0, "week": 7.0, "month": 365 / 12, "year": 365.0}
_WORD = "|".join(NUMBERS)
_PERIOD = re.compile(
    rf"\b(?<!\d[.,])(?P<n>\d+(?:,\d{{3}})*(?:\.\d+)?|(?:{_WORD})(?:[\s-](?:{_WORD}))?)(?:\s*\(\s*(?P<digits>\d+)\s*\))?[\s-]+"
    rf"(?:(?:business|calendar|working|consecutive|full)\s+)?(?P<unit>{TIMES})\b",
    re.IGNORECASE,
)
_SHARE = re.compile(r"(?<!\d)(?P<n>\d+(?:\.\d+)?)\s?(?:%|per ?cent\b)", re.IGNORECASE)
_SCALES = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
Clause = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


def measured(text: str, unit: Unit) -> list[float]:
    """Return the periods (in days), sums, or shares (in per cent) in a text, in order.

    A month counts as a twelfth of 365 days. Hours and minutes are not read, and currencies are not
    distinguished.
    """
    text = folded(text)
    if unit == "period":
        return [value for match in _PERIOD.finditer(text) if (value := _days(match)) is not None]
    if unit == "share":
        return [float(match["n"]) for match in _SHARE.finditer(text)]
    return [
        float((match["n"] or match["m"]).replace(",", "").replace(" ", ""))
        * _SCALES[(match["scale"] or match["times"] or "").lower()]
        for match in SUM.finditer(text)
    ]


def _days(match: "re.Match[str]") -> float | None:
    days_per_unit = _DAYS.get(match["unit"].lower().rstrip("s"))
    if days_per_unit is None:
        return None
    number = match["digits"] or match["n"]
    if number[0].isdigit():
        return float(number.replace(",", "")) * days_per_unit
    return sum(NUMBERS[word] for word in re.split(r"[\s-]", number.lower())) * days_per_unit


class Rule(BaseModel):
    """A condition on a cell for a level of the playbook. All given parts must hold.

    Args:
        says: The rule in words, for readers of the table.
        stated: Whether the document says anything about it.
        least: A period, a sum or a percentage as text, such as "30 days", "$5,000" or "2 %". All
            those in the cell must be at least this.
        most: The maximum, in the same form.
        words: Words of which one must be in the cell, in any of its forms.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    stated: bool | None = None
    least: Words | None = None
    most: Words | None = None
    words: Annotated[tuple[Words, ...], Field(max_length=50)] = ()

    @validator(mode="after")
    def _is_readable(self) -> "Rule":
        bounds = [bound for bound in (self.least, self.most) if bound is not None]
        if len({unit_of(bound) for bound in bounds}) > 1:
            raise ValueError("least and most are of two kinds")
        if self.stated is None and not bounds and not self.words:
            raise ValueError("give stated, least, most or words: something to decide by")
        return self

    def holds(self, stated: bool, text: str) -> bool:
        """Return whether it holds of a cell; a bound never does of one that names no quantity."""
        if self.stated is not None and self.stated != stated:
            return False
        if self.words and not (stated and any(_has(text, word) for word in self.words)):
            return False
        for bound, sign in ((self.least, 1), (self.most, -1)):
            if bound is None:
                continue
            unit = unit_of(bound)
            [limit], quantities = measured(bound, unit), measured(text, unit) if stated else []
            if not quantities or any(sign * value < sign * limit for value in quantities):
                return False
        return True


def unit_of(bound: str) -> Unit:
    """Return the unit of a bound.

    Raises:
        ValueError: It is not a period, a sum or a percentage.
    """
    units: tuple[Unit, ...] = ("period", "sum", "share")
    for unit in units:
        if len(measured(bound, unit)) == 1:
            return unit
    raise ValueError(
        f"{bound!r} is not a period, sum or share, such as '30 days', '$5,000' or '2 %'"
    )


def _has(text: str, word: str) -> bool:
    """Return whether a text has words in a row, each in any form."""
    word_tokens, tokens = tokenize(word), tokenize(text)
    count = len(word_tokens)
    return count > 0 and any(
        tokens[at : at + count] == word_tokens for at in range(len(tokens) - count + 1)
    )


class Question(BaseModel):
    """A question that is asked of each document, and the playbook for its answer.

    Args:
        id: Its name in files, unique in its list.
        title: The heading of its column.
        question: The question in words.
        like: Common clauses that would answer it. Statements near one of them are shown first. The
            clauses themselves are never quoted.
        standard: The rule for a standard cell.
        acceptable: The rule for an acceptable cell.
        unacceptable: The rule for a cell that deviates.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_TITLE)]
    question: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)
    ]
    like: Annotated[tuple[Clause, ...], Field(max_length=20)] = ()
    standard: Rule | None = None
    acceptable: Rule | None = None
    unacceptable: Rule | None = None

    def deviation(self, stated: bool, text: str) -> Deviation:
        """Return the playbook's verdict on a cell. Unacceptable is checked first."""
        for rule, level in (
            (self.unacceptable, "deviates"),
            (self.standard, "standard"),
            (self.acceptable, "acceptable"),
        ):
            if rule is not None and rule.holds(stated, text):
                return level  # type: ignore[return-value]
        return ""


class Checklist(BaseModel):
    """A set of questions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=MOST_QUESTIONS)]

    @validator(mode="after")
    def _is_told_apart(self) -> "Checklist":
        ids = [question.id for question in self.questions]
        if twice := sorted({id for id in ids if ids.count(id) > 1}):
            raise ValueError(f"the id {twice[0]!r} is there twice")
        return self


def shipped() -> list[str]:
    """Return the names of the checklists that come with Lexloop."""
    folder = resources.files("lexloop.data") / FOLDER
    return sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml"))


def shipped_checklist(name: str) -> Checklist:
    """Return a checklist that comes with Lexloop.

    Raises:
        InputError: There is no checklist with that name.
    """
    if name not in shipped():
        known = ", ".join(shipped())
        raise InputError(f"There is no checklist {name[:60]!r}.", f"Use {known}, or a file.")
    file = resources.files("lexloop.data") / FOLDER / f"{name}.toml"
    return _of(file.read_text("utf-8"), name)


def read_checklist(file: Path) -> Checklist:
    """Return the checklist of a TOML file, or of a text file with a question a line.

    Raises:
        InputError: It cannot be read, or says something else.
    """
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.", "Name a UTF-8 text file.") from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{file} is larger than 1 MB.", "Split it.")
    if file.suffix.lower() == ".toml":
        return _of(text, str(file))
    return checklist_of(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def checklist_of(questions: Iterable[str], *lists: Checklist) -> Checklist:
    """Return the questions of checklists, followed by questions without a playbook.

    A question without model clauses gets those of the shipped question that asks the same, if any.

    Raises:
        InputError: There are no questions, or too many.
    """
    columns = [question for checklist in lists for question in checklist.questions]
    for text in dict.fromkeys(filter(None, (" ".join(question.split()) for question in questions))):
        # the same question has the same id in every list, and is not asked again
        name = f"q-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:10]}"
        title = text if len(text) <= _TITLE else f"{text[: _TITLE - 1]}…"
        fields = {"id": name, "title": title, "question": text}
        columns.append(_checked(Question, fields, "A question"))
    if not columns:
        raise InputError(
            "There is no question.", "Give a question, a checklist or a file of questions."
        )
    if len(columns) > MOST_QUESTIONS:
        raise InputError(
            f"There are {len(columns)} questions, and a table asks {MOST_QUESTIONS} at most.",
            "Make several tables.",
        )
    titles = " · ".join(filter(None, (checklist.title for checklist in lists)))
    combined = _checked(Checklist, {"title": titles[:200], "questions": columns}, "The questions")
    like = iter(
        clauses_for([question.question for question in combined.questions if not question.like])
    )
    worded = (
        question if question.like else question.model_copy(update={"like": next(like)})
        for question in combined.questions
    )
    return combined.model_copy(update={"questions": tuple(worded)})


def clauses_for(questions: Sequence[str]) -> list[tuple[str, ...]]:
    """Return for each question the model clauses of the shipped one that asks the same.

    A shipped question asks the same if its title, its wording, or the question whether there is a
    clause on it is near, and clearly nearer than any with another title.
    """
    if not questions:
        return []
    from lexloop.models.minilm import load_shipped  # a server that asks nothing needs no model

    embed = load_shipped().embed
    candidates, vectors = _shipped_questions(embed)
    cosines = (vectors @ embed([*questions]).T).max(axis=1).T
    return [_nearest(candidates, near) for near in cosines.tolist()]


def _nearest(questions: Sequence[Question], near: Sequence[float]) -> tuple[str, ...]:
    first = max(near)
    title = questions[near.index(first)].title
    second = max(n for n, question in zip(near, questions, strict=True) if question.title != title)
    if first < _SAME or first - second < _CLEARLY:
        return ()
    # of several lists the first speaks of any contract, and the others of controllers or landlords
    return next(question.like for question in questions if question.title == title)


@cache
def _shipped_questions(embed: "Embed") -> "tuple[list[Question], Vectors]":
    """Return all shipped questions, and the vectors of three ways to put each of them."""
    questions = [question for name in shipped() for question in shipped_checklist(name).questions]
    wordings = [
        (
            question.title,
            question.question,
            f"Does the contract have a clause on {question.title.lower()}?",
        )
        for question in questions
    ]
    vectors = embed([*chain.from_iterable(wordings)])
    return questions, vectors.reshape(len(questions), 3, -1)


def _of(text: str, name: str) -> Checklist:
    try:
        return _checked(Checklist, tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML: {error}.", "Correct it there.") from error


def _checked(kind: type[Made], values: dict[str, Any], name: str) -> Made:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{name} is not a list of questions: {place or 'it'}: {first['msg']}.",
            "Each question has an id, a title and a question; see the shipped checklists.",
        ) from error
