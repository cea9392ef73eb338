"""What is told is an answer: a question is none, nor is an absence that was not seen."""

import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from _promise import Line
from typer.testing import CliRunner

from lexloop.apps.cli.main import app
from lexloop.apps.library import as_tool, ask
from lexloop.documents.chunks.statements import statements
from lexloop.documents.structure.parse import parse
from lexloop.graph.app import graph


class _Subject(NamedTuple):
    """A question, the same retold and as a topic, its answer, and what is sure to be in that."""

    question: str
    retold: str
    topic: str
    answer: str
    short: str
    sure: str


_SUBJECTS = (
    _Subject(
        "What is the penalty for a first violation?",
        "You asked what the penalty for a first violation is.",
        "The penalty for a first violation.",
        "The penalty for a first violation is 500 euros.",
        "500 euros, and twice as much later.",
        "500 euros",
    ),
    _Subject(
        "How long must the records of a berth be kept?",
        "The question is how long the records of a berth must be kept.",
        "Records of a berth to be kept.",
        "The records of a berth must be kept for six years.",
        "For six years after the last entry.",
        "six years",
    ),
    _Subject(
        "Who must clean the slipway after a launch?",
        "The members want to know who must clean the slipway after a launch.",
        "Clean slipway after a launch.",
        "The owner of the boat must clean the slipway after a launch.",
        "The owner of the boat, within an hour.",
        "owner of the boat",
    ),
)
_WAYS = (
    *("{0.question}", "{0.bare}", "{0.small}", "Q: {0.question}", "“{0.question}”"),
    *("## {0.question}", "3. {0.question}", "{0.retold}", "{0.topic}"),
)
_OTHER = "The harbour office opens at eight. The gate to the quay is closed at night."
_NOTE = "{said}\n\n{said}\n\n{said}\n"
_FORM = "# Application\n\nName: ____________\n\n{said}\n\nAnswer: ____________\n"
_LETTER = "Dear Sir or Madam,\n\n{said}\n\nWith kind regards\n"
_LIST = "# Open points\n\n- Are dogs allowed on the quay?\n- {said}\n- When is the next meeting?\n"
_FAQ = "# Answers\n\n{said}\n\n{answer}\n\nWhen is the next meeting?\n\nOn the first of May.\n"
_TEXTS = (
    *((_NOTE, False), (_NOTE, True), (_FORM, False), (_FORM, True), (_LETTER, False)),
    *((_LIST, True), (_FAQ, False)),
)
"""Texts that repeat a question, and whether its answer stands in another document."""


class _Asked(NamedTuple):
    """A subject in the forms that ``_WAYS`` names."""

    question: str
    bare: str
    small: str
    retold: str
    topic: str


def held() -> Iterator[Line]:
    """Ask questions that documents repeat."""
    yield _questions_quoted()
    yield _absences()
    yield _greetings()
    yield _sentences()


def _questions_quoted() -> Line:
    """Ask each question of documents that repeat it: no answer may be the question."""
    wrong: list[str] = []
    cases = [*product(_TEXTS, _WAYS)]
    for number, ((text, elsewhere), way) in enumerate(cases):
        subject = _SUBJECTS[number % len(_SUBJECTS)]
        asked = _Asked(
            subject.question,
            subject.question.rstrip("?"),
            subject.question.rstrip("?").lower(),
            subject.retold,
            subject.topic,
        )
        files = {
            "repeated.md": text.format(said=way.format(asked), answer=subject.short),
            "house.md": f"# House rules\n\n{_OTHER}\n",
        }
        if elsewhere:
            files["rules.md"] = f"# Rules\n\n1. {_OTHER}\n2. {subject.answer}\n"
        found = _asked_of(files, subject.question)
        answered = found["finding"] == "answers"
        right = subject.sure in found["answer"]
        if right != answered if elsewhere or text is _FAQ else answered:
            wrong.append(f"{way.format(asked)!r} in {text.split()[0]!r}: {found['answer']!r}")
    return Line(
        f"none of {len(cases)} repeated questions is quoted as its answer",
        f"{len(wrong)} of {len(cases)} wrong{'; '.join(['', *wrong[:3]])}",
        not wrong,
    )


def _asked_of(files: dict[str, str], question: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return dict(ask(question, corpus=folder))


_NUMBERINGS = (
    ("Annex {}", "Subject {0}\n\nThe owner must keep part {0}.", ("I", "II", "III", "IV"), "VII"),
    ("Article {}", "Subject {0}\n\nThe owner must keep part {0}.", ("1", "2", "3", "4"), "9"),
    ("Section {}.", "The owner of a boat must keep part {0} of it.", ("1", "2", "3", "4"), "9"),
    ("Chapter {}", "Subject {0}\n\nThe owner must keep part {0}.", ("I", "II", "III", "IV"), "IX"),
)


def _absences() -> Line:
    """Ask for what is in none of the texts read: only a whole numbering may deny it."""
    wrong: list[str] = []
    cases = 0
    for head, body, numbers, lacking in _NUMBERINGS:
        one, two, three, four = numbers
        runs = {
            "whole": (numbers, lacking),
            "with a gap": ((one, two, four), three),
            "with a gap before": ((one, two, four), lacking),
            "from the second on": ((two, three, four), one),
            "from the second on, beyond": ((two, three, four), lacking),
            "one twice": ((one, two, two, three), lacking),
        }
        for name, (kept, asked) in runs.items():
            cases += 1
            text = "\n\n".join(f"{head.format(n)} {body.format(n)}" for n in kept)
            word = head.split()[0]
            found = _asked_of({"law.txt": f"{text}\n"}, f"What does {word} {asked} say?")
            denied = f"There is no {word} {asked}" in found["answer"]
            cited = bool(found["citations"])
            if denied != (name == "whole") or cited != denied:
                wrong.append(f"{word} {name}: {found['answer']!r}")
    return Line(
        f"a provision is denied where its numbering is whole alone, in {cases} texts",
        f"{len(wrong)} of {cases} wrong{'; '.join(['', *wrong[:3]])}",
        not wrong,
    )


_GREETINGS = ("hello", "thanks", "who are you?", "Good morning!")
_BEHIND = "hello, what is a bias audit?"


def _greetings() -> Line:
    """Greet on every way in, and ask behind a greeting."""
    tool = as_tool("law", "Local Law 144")
    ways: dict[str, Callable[[str], str]] = {
        "ask": lambda said: str(ask(said)["finding"]),
        "graph": lambda said: str(graph.invoke({"question": said})["finding"]),
        "messages": lambda said: str(graph.invoke({"messages": [("user", said)]})["finding"]),
        "as_tool": lambda said: _finding_in(str(tool.invoke({"question": said}))),
        "command": lambda said: _finding_in(_command("ask", said)),
        "chat": lambda said: _finding_in(_command("chat", stdin=f"{said}\n")),
    }
    wrong = [
        f"{name}: {said}"
        for name, way in ways.items()
        for said in (*_GREETINGS, _BEHIND)
        if (way(said) == "reply") != (said in _GREETINGS)
    ]
    count = len(ways) * (len(_GREETINGS) + 1)
    return Line(
        f"greetings are replied to by {', '.join(ways)}, and what is asked behind one is answered",
        f"{len(wrong)} of {count} wrong {wrong[:3] or ''}".strip(),
        not wrong,
    )


def _command(*arguments: str, stdin: str = "") -> str:
    result = CliRunner().invoke(app, arguments, input=stdin)
    return f"{result.output}"


def _finding_in(told: str) -> str:
    """Return whether a text is a reply, by what every reply says of the documents."""
    return "reply" if "history.txt" in told and "[1]" not in told else "none"


_REFERENCES = (
    *("Article 31", "Section 4.2(a)", "paragraph 2", "Annex IV", "Annex I", "§ 7", "Art. 5"),
    *("No. 12", "Nr. 3", "15 U.S.C. 45", "Chapter II", "Schedule A"),
)


def _sentences() -> Line:
    """Break texts at every word: each sentence that ends in a reference is quoted whole."""
    wrong: list[str] = []
    cases = 0
    for reference, lead in product(_REFERENCES, ("", "1. ", "Article 1\nFees\n\n")):
        said = f"The fee is due as laid down in {reference}.", "The owner must pay it in time."
        words = " ".join(said).split(" ")
        for cut in range(1, len(words)):
            cases += 1
            text = f"{lead}{' '.join(words[:cut])}\n{' '.join(words[cut:])}\n"
            own = [one.own for one in statements(parse(text), text)]
            if not {*said} <= {*own}:
                wrong.append(repr(text))
    return Line(
        f"a sentence that ends in a reference is whole wherever its line breaks, in {cases} texts",
        f"{len(wrong)} of {cases} wrong {'; '.join(wrong[:3])}".strip(),
        not wrong,
    )
