"""A place in a document in lawyers' citation styles, from a citation's record alone.

OSCOLA and the Bluebook also have rules for data that records lack: reporters, series, publishers.
This module follows their rules for title, provision, page, jurisdiction and day.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Literal

from lexloop.apps.shapes.text import at_in_words, one_line, places

Style = Literal["plain", "oscola", "bluebook"]
"""As text, for people; as in English law; nearly as in the law of the United States."""
_WORDS = {
    "oscola": {
        **{"section": "s", "sections": "ss", "§": "s", "§§": "ss", "article": "art"},
        **{"articles": "arts", "clause": "cl", "clauses": "cls", "paragraph": "para"},
        **{"rule": "r", "rules": "rr", "regulation": "reg", "regulations": "regs", "part": "pt"},
        **{"chapter": "ch", "schedule": "sch", "appendix": "app", "recital": "recital"},
    },
    "bluebook": {
        **{"section": "§", "sections": "§§", "article": "art.", "articles": "arts."},
        **{"clause": "cl.", "clauses": "cls.", "paragraph": "¶", "rule": "r.", "rules": "rs."},
        **{"regulation": "reg.", "regulations": "regs.", "part": "pt.", "chapter": "ch."},
        **{"schedule": "sched.", "appendix": "app.", "recital": "recital", "exhibit": "ex."},
        **{"title": "tit.", "table": "tbl.", "amendment": "amend."},
    },
}
"""Abbreviations of words in labels. Others are written in lower case."""
_KINDS = (
    "section|sections|article|articles|clause|clauses|paragraph|rule|rules|regulation|regulations"
    "|part|chapter|schedule|appendix|recital|exhibit|title|table|amendment|annex|point"
)
_WORD = re.compile(rf"(?:(?<=^)|(?<=, ))(?:(?P<word>{_KINDS})(?= \S)|(?P<sign>§§?) ?(?=\S))", re.I)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LAWS = ("statute", "rule")
_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_SHORT = "Jan. Feb. Mar. Apr. May June July Aug. Sept. Oct. Nov. Dec.".split()


def pinpoint(source: Mapping[str, Any], style: Style = "plain") -> str:
    """Return the place of a source, in a style, on one line.

    Args:
        source: A citation or a passage: ``document``, ``section`` and ``page`` and, if known,
            ``title``, ``version`` in words, ``jurisdiction`` and ``kind``.
        style: See ``Style``.
    """
    if style == "plain":
        return ", ".join([one_line(source["document"]), *places(source)])
    return _STYLES[style](source)


def _oscola(source: Mapping[str, Any]) -> str:
    """Return "Dogs Act 2024 (NZ), s 4(1) (in force from 1 January 2024)".

    Documents other than laws, agreements and cases are in quotation marks, and a page is only a
    number.
    """
    kind, title, at = source.get("kind", ""), _title(source), _short(source, "oscola")
    if kind == "case":
        at = re.sub(r"^para (\d+)$", r"[\1]", at)
    elif kind == "guidance":
        title = f"‘{title}’"
    if jurisdiction := source.get("jurisdiction", "") if kind in _LAWS else "":
        title = f"{title} ({one_line(jurisdiction)})"
    comma = "," if at and kind != "case" else ""
    page = f" {source['page']}" if source["page"] is not None and not at else ""
    when = _dated(
        source.get("version", ""), lambda day: f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    )
    pin = f"{comma}{' ' if at else ''}{at}{page}{_beside(source)}"
    return f"{title}{pin}{f' ({when})' if when else ''}"


def _bluebook(source: Mapping[str, Any]) -> str:
    """Return "Dogs Act § 4(1) (N.Z.) (effective Jan. 1, 2024)"; a page follows "at"."""
    title, at = _title(source), _short(source, "bluebook")
    page = f", at {source['page']}" if source["page"] is not None and not at else ""
    law = source.get("kind", "") in _LAWS
    jurisdiction = one_line(source.get("jurisdiction", "")) if law else ""
    when = _dated(
        source.get("version", "").replace("in force", "effective"),
        lambda day: f"{_SHORT[day.month - 1]} {day.day}, {day.year}",
    ).replace("effective from", "effective")
    citation = f"{title}{' ' if at else ''}{at}{page}{_beside(source)}"
    return citation + "".join(f" ({part})" for part in (jurisdiction, when) if part)


_STYLES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "oscola": _oscola,
    "bluebook": _bluebook,
}


def _beside(source: Mapping[str, Any]) -> str:
    """Return ", paragraph 3", the place of a source without a page or number.

    Lawyers give no line for a provision that has a label.
    """
    at = {
        name: n
        for name, n in source.get("at", {}).items()
        if name != "line" or not source["section"]
    }
    return "".join(f", {words}" for words in at_in_words(at))


def _title(source: Mapping[str, Any]) -> str:
    return one_line(source.get("title") or source["document"])


def _short(source: Mapping[str, Any], style: str) -> str:
    """Return the label of a provision with its words shortened."""
    words = _WORDS[style]

    def said(match: re.Match[str]) -> str:
        word = (match["word"] or match["sign"]).lower()
        return words.get(word, word) + (" " if match["sign"] else "")

    # text in quotation marks is a heading or a term of the document
    label, mark, rest = one_line(source["section"]).partition('"')
    return _WORD.sub(said, label) + mark + rest


def _dated(version: str, written: Callable[[date], str]) -> str:
    def said(match: re.Match[str]) -> str:
        try:
            return written(date.fromisoformat(match[0]))
        except ValueError:
            return match[0]

    return _DAY.sub(said, one_line(version))
