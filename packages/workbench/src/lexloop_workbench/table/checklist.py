"""Sets of questions as files, each with a playbook: what is standard, acceptable and what is not.

A rule of the playbook can be decided by the cell alone: whether the document says it at all, the
periods, sums and shares that it names, and words of it.
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
_SUM = re.compile(
    r"(?:US)?[$€£]\s?(?P<n>\d[\d,]*(?:\.\d+)?)(?:\s*(?P<scale>thousand|million|billion)\b)?"
    r"|\b(?:USD|EUR|GBP)\s?(?P<m>\d[\d,]*(?:\.\d+)?)(?:\s*(?P<times>thousand|million|billion)\b)?",
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
        return [value for one in _PERIOD.finditer(text) if (value := _days(one)) is not None]
    if unit == "share":
        return [float(one["n"]) for one in _SHARE.finditer(text)]
    return [
        float((one["n"] or one["m"]).replace(",", ""))
        * _SCALES[(one["scale"] or one["times"] or "").lower()]
        for one in _SUM.finditer(text)
    ]


def _days(found: "re.Match[str]") -> float | None:
    each = _DAYS.get(found["unit"].lower().rstrip("s"))
    if each is None:
        return None
    said = found["digits"] or found["n"]
    if said[0].isdigit():
        return float(said.replace(",", "")) * each
    return sum(NUMBERS[word] for word in re.split(r"[\s-]", said.lower())) * each


class Rule(BaseModel):
    """What a cell must be like for a level of the playbook; all that is given must hold.

    Args:
        says: It in words, for who reads the table.
        stated: Whether the document says anything of it.
        least: A period, a sum or a share as text, "30 days", "$5,000", "2 %": all those that the
            cell names are at least that.
        most: The most that they are.
        words: One of these is in the cell, in any of its forms.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    stated: bool | None = None
    least: Words | None = None
    most: Words | None = None
    words: Annotated[tuple[Words, ...], Field(max_length=50)] = ()

    @validator(mode="after")
    def _is_readable(self) -> "Rule":
        bounds = [one for one in (self.least, self.most) if one is not None]
        if len({unit_of(one) for one in bounds}) > 1:
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
            [limit], found = measured(bound, unit), measured(text, unit) if stated else []
            if not found or any(sign * value < sign * limit for value in found):
                return False
        return True


def unit_of(bound: str) -> Unit:
    """Return what a bound is measured in.

    Raises:
        ValueError: It is neither a period, nor a sum, nor a share.
    """
    units: tuple[Unit, ...] = ("period", "sum", "share")
    for unit in units:
        if len(measured(bound, unit)) == 1:
            return unit
    raise ValueError(f"{bound!r} is no period, sum or share, such as '30 days', '$5,000' or '2 %'")


def _has(text: str, word: str) -> bool:
    """Return whether a text has words in a row, each in any form."""
    wanted, held = tokenize(word), tokenize(text)
    count = len(wanted)
    return count > 0 and any(held[at : at + count] == wanted for at in range(len(held) - count + 1))


class Question(BaseModel):
    """A question that is asked of each document, and the playbook for its answer.

    Args:
        id: Its name in files, unique in its list.
        title: The heading of its column.
        question: The question in words.
        like: Common clauses that would answer it. Statements near one of them are shown first. The
            clauses themselves are never quoted.
        standard: When a cell is as it should be.
        acceptable: When a cell is acceptable.
        unacceptable: When a cell deviates.
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
        """Return what the playbook says of a cell: what is not acceptable counts first."""
        for rule, said in (
            (self.unacceptable, "deviates"),
            (self.standard, "standard"),
            (self.acceptable, "acceptable"),
        ):
            if rule is not None and rule.holds(stated, text):
                return said  # type: ignore[return-value]
        return ""


class Checklist(BaseModel):
    """A set of questions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=MOST_QUESTIONS)]

    @validator(mode="after")
    def _is_told_apart(self) -> "Checklist":
        ids = [one.id for one in self.questions]
        if twice := sorted({one for one in ids if ids.count(one) > 1}):
            raise ValueError(f"the id {twice[0]!r} is there twice")
        return self


def shipped() -> list[str]:
    """Return the names of the checklists that come with Lexloop."""
    folder = resources.files("lexloop.data") / FOLDER
    return sorted(one.name[:-5] for one in folder.iterdir() if one.name.endswith(".toml"))


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
    found = [one for held in lists for one in held.questions]
    for said in dict.fromkeys(filter(None, (" ".join(one.split()) for one in questions))):
        # the same question has the same id in every list, and is not asked again
        name = f"q-{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:10]}"
        title = said if len(said) <= _TITLE else f"{said[: _TITLE - 1]}…"
        asked = {"id": name, "title": title, "question": said}
        found.append(_checked(Question, asked, "A question"))
    if not found:
        raise InputError("There is no question.", "Name a question, a checklist or a file of them.")
    if len(found) > MOST_QUESTIONS:
        raise InputError(
            f"There are {len(found)} questions, and a table asks {MOST_QUESTIONS} at most.",
            "Make several tables.",
        )
    titles = " · ".join(filter(None, (one.title for one in lists)))
    made = _checked(Checklist, {"title": titles[:200], "questions": found}, "The questions")
    like = iter(clauses_for([one.question for one in made.questions if not one.like]))
    worded = (
        one if one.like else one.model_copy(update={"like": next(like)}) for one in made.questions
    )
    return made.model_copy(update={"questions": tuple(worded)})


def clauses_for(questions: Sequence[str]) -> list[tuple[str, ...]]:
    """Return for each question the model clauses of the shipped one that asks the same, or none.

    A shipped question asks the same if its title, its wording, or the question whether there is a
    clause on it is near, and clearly nearer than any with another title.
    """
    if not questions:
        return []
    from lexloop.models.minilm import load_shipped  # a server that asks nothing needs no model

    embed = load_shipped().embed
    asked, vectors = _shipped_questions(embed)
    cosines = (vectors @ embed([*questions]).T).max(axis=1).T
    return [_nearest(asked, near) for near in cosines.tolist()]


def _nearest(asked: Sequence[Question], near: Sequence[float]) -> tuple[str, ...]:
    first = max(near)
    title = asked[near.index(first)].title
    other = max(n for n, one in zip(near, asked, strict=True) if one.title != title)
    if first < _SAME or first - other < _CLEARLY:
        return ()
    # of several lists the first speaks of any contract, and the others of controllers or landlords
    return next(one.like for one in asked if one.title == title)


@cache
def _shipped_questions(embed: "Embed") -> "tuple[list[Question], Vectors]":
    """Return all shipped questions, and the vectors of three ways to put each of them."""
    asked = [one for name in shipped() for one in shipped_checklist(name).questions]
    put = [
        (q.title, q.question, f"Does the contract have a clause on {q.title.lower()}?")
        for q in asked
    ]
    vectors = embed([*chain.from_iterable(put)])
    return asked, vectors.reshape(len(asked), 3, -1)


def _of(text: str, name: str) -> Checklist:
    try:
        return _checked(Checklist, tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is no TOML: {error}.", "Correct it there.") from error


def _checked(kind: type[Made], said: dict[str, Any], name: str) -> Made:
    try:
        return kind(**said)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{name} is no list of questions: {where or 'it'}: {first['msg']}.",
            "Each question has an id, a title and a question; see the shipped checklists.",
        ) from error
