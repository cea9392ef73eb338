import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Document
from lexloop.corpus.load.html import read_html

PAGE = """<!DOCTYPE html><html><head><title> Local  Law </title><style>p {}</style>
<script>alert("x")</script></head><body><nav><a href="/">Home</a></nav>
<h1>The <em>law</em></h1>
<p>An employer&nbsp;shall give
   notice&#46;<br>It is free.</p><!-- a comment -->
<ul><li>One</li><li>Two</li></ul>
<div hidden>unseen</div><noscript>unseen</noscript>
<h2>Fees</h2>
<table><tr><th>Item</th><th>Fee</th></tr><tr><td></td><td><p>40</p> <p>euros</p></td></tr></table>
<pre>  kept
    as it is</pre>
</body></html>"""


def read(page: str | bytes) -> Document:
    data = page.encode() if isinstance(page, str) else page
    (document,) = read_html(data, "the_law.html")
    return document


def test_a_page_is_read_as_it_is_shown() -> None:
    document = read(PAGE)
    assert document.text.split("\n") == [
        "The law",
        "An employer shall give notice.",
        "It is free.",
        "One",
        "Two",
        "Fees",
        "Item | Fee",
        "| 40 euros",
        "  kept",
        "as it is",
        "",
    ]
    assert document.title == "Local Law"
    assert document.headings == ((0, "The law"), (document.text.index("Fees"), "Fees"))


@pytest.mark.parametrize(
    "page", ["", "<p> </p>", "<script>x</script>", "<html><body><img src='x'></body></html>"]
)
def test_a_page_that_shows_no_text_is_refused(page: str) -> None:
    with pytest.raises(CorpusError, match="shows no text"):
        read(page)


def test_the_encoding_a_page_names_is_used() -> None:
    page = '<meta charset="koi8-r"><p>Работодатель обязан</p>'
    assert read(page.encode("koi8-r")).text == "Работодатель обязан\n"


def test_the_title_is_the_first_heading_where_the_page_has_none() -> None:
    assert read("<h1>Rule 5</h1><p>Text.</p>").title == "Rule 5"
    assert read("<p>It applies.</p>").title == "the law"


def test_deep_and_broken_pages_are_read() -> None:
    assert read("<div>" * 3000 + "deep" + "</b></table>" * 10).text == "deep\n"
    assert read("a < b <p>c<table><td>d").text.split() == ["a", "<", "b", "c", "d"]


def test_a_table_within_a_cell_stays_in_its_row() -> None:
    inner = "<table><tr><td>1</td><td>2</td></tr></table>"
    assert read(f"<table><tr><td>a</td><td>{inner}</td></tr></table>").text == "a | 1 2\n"


@given(st.lists(st.tuples(st.booleans(), st.text("ab§ \n\x07\xad", max_size=8)), max_size=8))
def test_headings_stand_where_their_offsets_say(blocks: list[tuple[bool, str]]) -> None:
    page = "".join(f"<h3>{text}</h3>" if is_h else f"<p>{text}</p>" for is_h, text in blocks)
    document = read(page + "<p>end</p>")
    assert len(document.headings) == sum(
        1 for is_h, text in blocks if is_h and any(c in "ab§" for c in text)
    )
    for offset, heading in document.headings:
        assert document.text[offset:].startswith(heading + "\n")
    assert not set(document.text) & {"\x07", "\xad", "\r"}
