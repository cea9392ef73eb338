"""Text of others as plain text: nothing in it steers what shows it. And an answer as such text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lexloop.core.types import At

# C0 without tab and line feed, DEL, C1; line and paragraph separators; bidirectional embeddings,
# overrides and isolates; lone surrogates, which cannot be written at all, and what XML has no
# place for
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
NEAR = "Near it, but no answer"
"""The heading of what comes nearest to a question that the documents do not answer."""
_SOURCES = "\n\nSources:\n"
_NEAR = f"\n\n{NEAR}:\n"
_NOTE = "\n\nNote: "
_WORD = re.compile(r"\w+")
_ADDED = re.compile(f"(?:{'|'.join(map(re.escape, (_SOURCES, _NEAR, _NOTE)))}).*", re.DOTALL)
# what Markdown would make HTML, an image or a link of
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?])|(?<=!)\[|(?<=\])[(:]")


def clean(text: str) -> str:
    """Return ``text`` without characters that move a cursor, change colours or reverse reading."""
    return UNSAFE.sub("", text)


def one_line(text: str) -> str:
    """Return ``text`` with every run of blanks as one space."""
    return " ".join(filter(None, (clean(word) for word in text.split())))


def shortened(text: str, most: int) -> str:
    """Return ``text`` on one line of at most ``most`` characters, with an ellipsis if it is cut."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def first_of(said: Sequence[str], most: int, others: str = "{} more.") -> list[str]:
    """Return the first of several things to say, and how many others there are."""
    more = len(said) - most
    return [*said[:most], *([others.format(more)] if more > 0 else [])]


def inert(text: str) -> str:
    """Escape a text, so that Markdown does not create HTML, images or links."""
    return _ACTIVE.sub(r"\\\g<0>", clean(text))


def at_in_words(at: Mapping[str, Any]) -> list[str]:
    """Return a place in a file in words, such as "line 12"; see ``At``."""
    return [f"{name} {at[name]}" for name in At.__annotations__ if name in at]


def places(source: Mapping[str, Any]) -> list[str]:
    """Return the place of a source in its document, as a person finds it in the file.

    That is its provision, its page, line, row or paragraph, its version and its identifier. Text
    recognised in a picture is marked as such.

    Args:
        source: A mapping with a ``section`` and a ``page``, such as a citation.
    """
    page = f"page {source['page']}" if source["page"] else ""
    sure = source.get("read_from_picture")
    confidence = "" if sure is None else f"read from a picture, {sure:.0%} sure"
    facts = (source.get("version", ""), source.get("identifier", ""))
    parts = (source["section"], page, *at_in_words(source.get("at") or {}), confidence, *facts)
    return [one_line(part) for part in parts if part]


def said_at(source: Mapping[str, Any]) -> str:
    """Return a source on one line: its document, place and quote."""
    return f"{_where(source)}: “{one_line(source['quote'])}”"


def _where(source: Mapping[str, Any]) -> str:
    return ", ".join([one_line(source["document"]), *places(source)])


def is_said(quote: str, text: str, number: int = 0) -> bool:
    """Return whether a text repeats a quote word for word, so that it need not be shown again.

    A number before the quote may be missing, and a row may have the names of its columns between
    its cells.

    Args:
        quote: The quote of a source.
        text: An answer with its markers, or any text.
        number: The source's number, to look only at the lines of an answer that cite it. 0 for all.
    """
    from lexloop.documents.chunks.statements import unnumbered
    from lexloop.nodes.markers import MARKER, marker_numbers, without_markers

    lines = text.splitlines()
    if number:
        cited = (
            (line, [n for marker in MARKER.finditer(line) for n in marker_numbers(marker[1])])
            for line in lines
        )
        lines = [line for line, numbers in cited if number in numbers]
    words = _WORD.findall(without_markers("\n".join(lines)).casefold())
    quoted, bare = (_WORD.findall(version.casefold()) for version in (quote, unnumbered(quote)))
    if " | " in quote:
        remaining = iter(words)
        return all(word in remaining for word in quoted)
    spoken = f" {' '.join(words)} "
    return any(version and f" {' '.join(version)} " in spoken for version in (quoted, bare))


def as_text(record: Mapping[str, Any]) -> str:
    """Return an answer with its sources, as text in which a document's Markdown has no effect.

    Quotes that the answer contains are not repeated.
    """
    answer = record["answer"]
    shown = [
        (
            citation["n"],
            _where if is_said(citation["quote"], answer, citation["n"]) else said_at,
            citation,
        )
        for citation in record["citations"]
    ]
    cited = [f"[{n}] {inert(describe(citation))}" for n, describe, citation in shown]
    near = [inert(said_at(citation)) for citation in record["near"]]
    text = inert(answer)
    for heading, lines in ((_SOURCES, cited), (_NEAR, near)):
        text += heading + "\n".join(f"- {line}" for line in lines) if lines else ""
    return f"{text}{_NOTE}{inert(record['warning'])}" if record["warning"] else text


def answer_alone(text: str) -> str:
    """Return only the answer from a text that ``as_text`` made."""
    return _ADDED.sub("", text)
