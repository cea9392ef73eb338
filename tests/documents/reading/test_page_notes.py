"""Footnotes of web pages hang on what they belong to."""

import pytest
from reading import read_document

from lexloop.documents.document import Document


def _read(body: str) -> Document:
    return read_document("rules.html", f"<html><body>{body}</body></html>")


def _hung(document: Document) -> list[tuple[str, str]]:
    """What stands before the mark of each footnote on its line, and the footnote."""
    text = document.text
    return [(text[:at].rpartition("\n")[2], text[a:b]) for at, a, b in document.notes]


_ROLE = """<p>No glass.<a href="#n1" id="r1" role="doc-noteref"><sup>1</sup></a> Shower first.</p>
<section role="doc-endnotes"><ol><li id="n1"><p>Bottles are allowed.
<a href="#r1">\u21a9</a></p></li></ol></section>"""
_BRACKETS = """<p>No glass.<a href="#n1" name="r1">[1]</a> Shower first.</p>
<div><p><a href="#r1" name="n1">[1]</a> Bottles are allowed.</p></div>"""
_RAISED = """<p>No glass.<sup>1</sup> Shower first.</p><p>Open daily.</p>
<p><sup>1</sup> Bottles are allowed.</p>"""


@pytest.mark.parametrize("body", [_ROLE, _BRACKETS, _RAISED])
def test_a_footnote_hangs_on_the_sentence_of_its_mark(body: str) -> None:
    document = _read(body)
    assert _hung(document) == [("No glass.", "Bottles are allowed.")]
    assert document.text.startswith("No glass. Shower first.\n[1] Bottles are allowed.\n")


def test_a_second_mark_of_a_note_is_left_out() -> None:
    second = '<p>No dogs.<sup id="r2"><a href="#n1">[1]</a></sup></p>'
    body = f'<p>No glass.<sup id="r1"><a href="#n1">[1]</a></sup></p>{second}'
    body += '<ol><li id="n1"><a href="#r1">^</a> Except in bags.</li></ol>'
    assert _read(body).text == "No glass.\n[1] Except in bags.\nNo dogs.\n"


@pytest.mark.parametrize(
    "body",
    [
        '<p>Fees <a id="t1" href="#a1">1</a></p><p id="a1"><a href="#t1">1</a> Fees are due.</p>',
        "<p>The pool has 250 m<sup>2</sup>.</p><p>Open daily.</p>",
        '<p>See section <a href="#s1">[1]</a>.</p><h2 id="s1">1. Fees</h2><p>They are due.</p>',
    ],
)
def test_other_links_and_raised_signs_stay(body: str) -> None:
    document = _read(body)
    assert document.notes == ()
    assert ("1" in document.text) or ("m2" in document.text)
