"""The content of a file of answers, in order, before it is written in a format.

The text of blocks and notes is as documents and models wrote it, but in lines and without control
characters. Each format does its own escaping.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lexloop.apps.shapes.citing import Style, pinpoint
from lexloop.apps.shapes.record import asked_of
from lexloop.apps.shapes.text import NEAR, clean, is_said, one_line, places, shortened

Record = Mapping[str, Any]


def asked(record: Record) -> list[tuple[str, str]]:
    """Return the time of a question, the day of the law, and the collections."""
    at = datetime.fromisoformat(record["at"]).astimezone(UTC)
    day = record["as_of"]
    if day == "any":
        day = "any day: versions of all times were searched"
    elif day == "today":
        day = f"{at:%Y-%m-%d}, the day of the question"
    versions = {
        f"{_named(record, citation)} is {citation['version']}": None
        for citation in record["citations"]
        if citation.get("version")
    }
    return [
        ("Asked", f"{at:%Y-%m-%d %H:%M} UTC"),
        ("Law as of", day),
        *([("Version", one_line("; ".join(versions)))] if versions else []),
        ("Collections", ", ".join(map(one_line, record["collections"])) or "none"),
    ]


def place(record: Record, source: Record, style: Style = "plain") -> str:
    """Return the place of a source, in a style; see ``pinpoint``."""
    if style == "plain":
        return ", ".join([one_line(_named(record, source)), *places(source)])
    of_document = (passage for passage in record["passages"] if _key(passage) == _key(source))
    details: Record = next(of_document, {})
    beside = {name: details[name] for name in ("title", "kind", "jurisdiction") if name in details}
    return pinpoint({**beside, **source}, style)


def sources(record: Record, style: Style = "plain") -> list[str]:
    """Return a line for each document that an answer cites, with the cited provisions.

    In lawyers' styles, each provision has a line.
    """
    if style != "plain":
        return [*dict.fromkeys(place(record, citation, style) for citation in record["citations"])]
    titles = {_key(passage): passage["title"] for passage in record["passages"]}
    cited: dict[tuple[str, str], list[Record]] = {}
    for citation in record["citations"]:
        cited.setdefault(_key(citation), []).append(citation)
    lines = []
    for key, citations in cited.items():
        title, name = titles.get(key, ""), _named(record, citations[0])
        version = citations[0].get("version", "")
        sections = dict.fromkeys(one_line(c["section"]) for c in citations if c["section"])
        described = f"{title} ({name})" if title and title != name else name
        parts = [one_line(part) for part in (described, version) if part]
        lines.append(": ".join(filter(None, [", ".join(parts), "; ".join(sections)])))
    return lines


def _found_how(record: Record) -> list[tuple[str, str]]:
    """Return how an answer was found: the model, the settings and the searches."""
    settings = record["variant"]
    if record["plan"] and record["finding"] != "reply":  # a greeting is answered without one
        plan = ", ".join(f"{name} = {value}" for name, value in record["plan"].items())
        settings = f"{settings}, question of class {record['complexity']}, {plan}"
    rows = [
        ("Model", _model(record)),
        ("Settings", settings),
        ("Searched for", "; ".join(record["queries"]) or "nothing"),
        ("Keywords", ", ".join(record["keywords"])),
        ("Read", f"passages: {len(record['passages'])}, relations: {len(record['triplets'])}"),
        ("Time", f"{record['usage']['seconds']:.1f} s"),
        ("Answer", record["id"]),
    ]
    return [(name, one_line(value)) for name, value in rows if value]


def _model(record: Record) -> str:
    name, hosts, usage = record["model"], record["hosts"], record["usage"]
    sent = f"Text was sent to {' and '.join(hosts)}." if hosts else "Nothing left the machine."
    if name is None:
        return f"none. {sent}"
    if not usage["model_calls"]:
        return f"{name} was to be asked, but did not contribute to this answer. {sent}"
    tokens = f"{usage['tokens_in']} tokens in, {usage['tokens_out']} out"
    usd = f", ${usage['cost_usd']:.4f}" if "cost_usd" in usage else ""
    return f"{name}, {usage['model_calls']} calls, {tokens}{usd}. {sent}"


def _named(record: Record, source: Record) -> str:
    """Return a document's name, with its collection if several were asked."""
    document: str = source["document"]
    return f"{source['collection']}: {document}" if len(record["collections"]) > 1 else document


def _key(source: Record) -> tuple[str, str]:
    return source.get("collection", ""), source["document"]


Run = str | int
"""A part of a line: a text, or the number of a footnote."""
NOTICE = (
    "Lexloop informs about what the documents say. It gives no legal advice. "
    "Read the quoted sources before you rely on an answer."
)
_TITLE_CHARS = 120
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Heading:
    """A heading; ``level`` is 1 below the title."""

    level: int
    text: str


@dataclass(frozen=True)
class Line:
    """A paragraph of one line, or an item of a list."""

    runs: Sequence[Run]
    item: bool = False


@dataclass(frozen=True)
class Aside:
    """A paragraph that is set apart: the question, a warning, a quote."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Names with values."""

    rows: Sequence[tuple[str, str]]


Block = Heading | Line | Aside | Facts


@dataclass
class Outline:
    """A file of answers: its title, its blocks, and the lines of its footnotes, numbered from 1.

    ``subject`` names the file.
    """

    title: str
    made: datetime
    blocks: list[Block] = field(default_factory=list)
    notes: dict[int, list[str]] = field(default_factory=dict)
    subject: str = ""


@dataclass(frozen=True)
class Memo:
    """The recipient, author, date and subject of a memorandum. Empty ones are left blank."""

    to: str = ""
    sender: str = ""
    date: str = ""
    re: str = ""


@dataclass(frozen=True)
class Layout:
    """The layout of a file of answers: its style of citing, and its memorandum, if it is one."""

    style: Style = "plain"
    memo: Memo | None = None


PLAIN = Layout()


def outline_of(
    answers: Sequence[Record], title: str = "", cut: bool = False, layout: Layout = PLAIN
) -> Outline:
    """Return the content of a file of answers.

    Args:
        answers: Records of answers, in the order of the questions.
        title: The thread's title, or empty for the first question.
        cut: Whether the thread has earlier answers, which the outline mentions.
        layout: The layout of the file.
    """
    outline = opened(title or (answers[0]["question"] if answers else "No questions"), layout)
    if cut:
        remark = (
            f"The last {len(answers):,} answers of the conversation; those before are left out."
        )
        outline.blocks.append(Aside([remark]))
    for number, record in enumerate(answers, 1):
        level = 1
        if title or len(answers) > 1:
            outline.blocks.append(Heading(1, f"Question {number}"))
            level = 2
        if layout.memo:
            _add_opinion(outline, record, level, layout.style)
        else:
            _add_answer(outline, record, level, layout.style)
    return outline


def opened(named: str, layout: Layout) -> Outline:
    """Return the beginning of a file: its title, a memorandum's head, and the disclaimer."""
    memo, subject = layout.memo, shortened(named, _TITLE_CHARS)
    outline = Outline("Memorandum" if memo else subject, datetime.now(UTC), subject=subject)
    if memo:
        outline.subject = shortened(memo.re, _TITLE_CHARS) or subject
        rows = (("To", memo.to), ("From", memo.sender), ("Date", memo.date), ("Re", memo.re))
        outline.blocks.append(Facts([(name, one_line(value)) for name, value in rows]))
    outline.blocks.append(Aside([NOTICE]))
    return outline


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that hold something, without control characters."""
    # a form feed and its like end a line as well
    return [line for part in text.splitlines() if (line := one_line(part))]


def _add_opinion(outline: Outline, record: Record, level: int, style: Style) -> None:
    """Add a question to a memorandum, with a short answer, its grounds and the sources."""
    blocks = outline.blocks
    blocks.append(Heading(level, "Question"))
    blocks.append(Line([" ".join(lines_of(record["question"]))]))
    _add_reading(blocks, record)
    blocks.append(Heading(level, "Short answer"))
    _add_text(outline, record, style, quoted=False)
    _add_warning(blocks, record)
    blocks.append(Heading(level, "Grounds"))
    for citation in record["citations"]:
        lead = one_line(citation.get("lead", ""))
        blocks.append(Line([place(record, citation, style)], item=True))
        if is_said(citation["quote"], record["answer"], citation["n"]):
            continue
        blocks.append(Aside([*([f"{lead} …"] if lead else []), *_quoted(citation["quote"])]))
    _add_near(blocks, record, level, style)
    blocks.append(Line([_verdict_of(record)]))
    blocks.append(Facts(asked(record)))
    _add_sources(blocks, record, level, style)


def _add_answer(outline: Outline, record: Record, level: int, style: Style) -> None:
    blocks = outline.blocks
    question = lines_of(record["question"])
    if question != [outline.title]:
        blocks.append(Aside(question))
    _add_reading(blocks, record)
    blocks.append(Facts(asked(record)))
    blocks.append(Heading(level, "Answer"))
    _add_text(outline, record, style)
    _add_warning(blocks, record)
    _add_near(blocks, record, level, style)
    blocks.append(Heading(level, "Verdict"))
    blocks.append(Line([_verdict_of(record)]))
    blocks += (Line([one_line(check)], item=True) for check in record["verdict"]["checked"])
    _add_sources(blocks, record, level, style)
    blocks.append(Heading(level, "How it was found"))
    blocks.append(Facts(_found_how(record)))
    if record["passages"]:
        blocks.append(Line(["Passages that were read for it:"]))
        for passage in record["passages"]:
            blocks.append(Line([place(record, passage)], item=True))


def _add_reading(blocks: list[Block], record: Record) -> None:
    """Add how a question was read, and what was asked."""
    for item in record["read_as"]:
        blocks.append(
            Line([f"“{one_line(item['written'])}” was read as: {one_line(item['read'])}"])
        )
    blocks += [Line([f"Asked only of {one_line(subject)}"]) for subject in asked_of(record)]
    blocks += [Line([f"Asked in {one_line(name)}"]) for name in record.get("inside", [])]


def _add_warning(blocks: list[Block], record: Record) -> None:
    if record["warning"]:
        blocks.append(Aside([f"Warning: {one_line(record['warning'])}"]))


def _add_near(blocks: list[Block], record: Record, level: int, style: Style) -> None:
    if record["near"]:
        blocks.append(Heading(level, NEAR))
        for citation in record["near"]:
            blocks.append(Line([place(record, citation, style)], item=True))
            blocks.append(Aside(_quoted(citation["quote"])))


def _add_sources(blocks: list[Block], record: Record, level: int, style: Style) -> None:
    if cited := sources(record, style):
        blocks.append(Heading(level, "Sources"))
        blocks += (Line([line], item=True) for line in cited)


def _add_text(outline: Outline, record: Record, style: Style, quoted: bool = True) -> None:
    """Add the answer line by line, its markers as footnotes; they go on from those before.

    ``quoted`` says whether footnotes have quotes: in a memorandum its grounds do.
    """
    from lexloop.nodes.markers import MARKER, marker_numbers

    cited: dict[int, list[str]] = {}
    for citation in record["citations"]:
        note = _note(record, citation, style) if quoted else [f"{place(record, citation, style)}."]
        cited.setdefault(citation["n"], []).extend(note)
    numbers: dict[int, int] = {}
    for line in record["answer"].splitlines():
        runs: list[Run] = []
        position = 0
        for marker in MARKER.finditer(line):
            marked = list(dict.fromkeys(marker_numbers(marker[1])))
            if not all(n in cited for n in marked):
                continue  # no source has such a number: it is a part of the text
            runs.append(_words(line[position : marker.start()]).rstrip())
            position = marker.end()
            for n in marked:
                if n not in numbers:
                    numbers[n] = len(outline.notes) + 1
                    outline.notes[numbers[n]] = cited[n]
                runs.append(numbers[n])
        runs.append(_words(line[position:]))
        if any(isinstance(run, int) or run.strip() for run in runs):
            outline.blocks.append(Line(runs))


def _words(text: str) -> str:
    """Return a part of a line, each run of blanks as one space, also those at its ends."""
    return clean(_BLANKS.sub(" ", text))


def _note(record: Record, citation: Record, style: Style) -> list[str]:
    """Return a footnote: the place, and the quote with the words that it completes.

    Quotes that the answer contains are not repeated.
    """
    location = place(record, citation, style)
    if is_said(citation["quote"], record["answer"], citation["n"]):
        return [f"{location}."]
    lines = quoted_at(location, citation["quote"])
    lead = one_line(citation.get("lead", ""))
    return [*lines, f"It completes: “{lead}”"] if lead else lines


def quoted_at(where: str, quote: str) -> list[str]:
    """Return the lines of a footnote: the place of a quote, and the quote."""
    first, *rest = _quoted(quote)
    return [f"{where}: {first}", *rest]


def _quoted(quote: str) -> list[str]:
    lines = lines_of(quote) or [""]
    lines[0] = f"“{lines[0]}"
    lines[-1] = f"{lines[-1]}”"
    return lines


def _verdict_of(record: Record) -> str:
    verdict = record["verdict"]
    return one_line(" ".join([verdict["head"].rstrip(".") + ".", *verdict["words"]]))
