"""Answers as Markdown and as Word documents, opened again."""

import io
import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any
from urllib.parse import unquote

import docx
import pytest
from answers import citation, record
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt
from markdown_it.token import Token

from lexloop.apps.shapes.files import as_markdown, disposition, escaped, exported, file_name
from lexloop.apps.shapes.outline import NOTICE, Layout, Memo, outline_of
from lexloop.apps.shapes.word import as_word

HOSTILE = (
    "# Heading\n- item\n[link](http://evil.example/x) ![image](http://evil.example/y.png) "
    "<script>alert(1)</script> <img src=x onerror=alert(1)> `code` **bold** ~~gone~~ $x$ [^1]: no "
    "https://evil.example www.evil.example mail@evil.example <http://evil.example> {#id .class} | a"
    "\n===\n---\n1. one\n+ plus\n[a]: http://evil.example\n> quoted\n    code\n```\nfence"
    "\n&lt;b&gt;"
)
CONTROLS = "a\x00b\x1b[31mc\x08\x0cd\u202egnp.\u202c\u2067x\u2069\ud800\ufffe\uffffe\r\nf"


def markdown(*answers: Any, title: str = "") -> str:
    return as_markdown(outline_of(answers, title))


def word(*answers: Any, title: str = "") -> Any:
    return docx.Document(io.BytesIO(as_word(outline_of(answers, title))))


def notes(document: Any) -> dict[int, str]:
    """Return the footnotes of a Word document by their ids."""
    part = next(p for p in document.part.package.iter_parts() if p.partname.endswith("notes.xml"))
    root = etree.fromstring(part.blob)
    return {
        int(note.get(qn("w:id"))): "\n".join(
            "".join(text.text for text in paragraph.iter(qn("w:t")))
            for paragraph in note.iter(qn("w:p"))
        )
        for note in root
    }


def texts(document: Any) -> list[str]:
    return [paragraph.text for paragraph in document.paragraphs]


def test_both_say_all_that_shows_how_it_was_found() -> None:
    said, document = markdown(record()), word(record())
    headings = ["Answer", "Verdict", "Sources", "How it was found"]
    assert re.findall(r"(?m)^## (.*)$", said) == headings
    assert [p.text for p in document.paragraphs if p.style.name == "Heading 1"] == headings
    rows = [[cell.text for cell in row.cells] for table in document.tables for row in table.rows]
    for name, value in {
        "Asked": "2026-11-23 04:55 UTC",
        "Law as of": "2025-06-30",
        "Collections": "laws",
        "Model": "none. Nothing left the machine.",
        "Settings": "hypa, question of class 0, k = 3, Q = 3, K = 3, S = 1",
        "Searched for": "What does a dog licence cost?",
        "Read": "passages: 1, relations: 0",
    }.items():
        assert f"\n- **{name}:** {value}\n" in said
        assert [name, value] in rows
    assert said.startswith(f"# What does a dog licence cost?\n\n> {NOTICE}\n")
    assert texts(document)[:2] == ["What does a dog licence cost?", NOTICE]
    assert NOTICE in document.sections[0].footer.paragraphs[0].text
    assert "\nA dog licence costs 40 euros a year.[^1]\n" in said
    assert "A dog licence costs 40 euros a year." in texts(document)
    assert "\n[^1]: dogs.txt, § 1, page 3.\n" in said  # the answer is the quote


def test_a_model_and_its_hosts_and_any_day_are_said() -> None:
    usage = {"model_calls": 4, "tokens_in": 900, "tokens_out": 80, "seconds": 3.0}
    said = markdown(record(as_of="any", usage=usage, model="openai:gpt", hosts=["models.example"]))
    assert "- **Law as of:** any day: versions of all times were searched\n" in said
    assert "**Model:** openai:gpt, 4 calls, 900 tokens in, 80 out. Text was sent to models." in said


def test_footnotes_are_numbered_on_through_a_thread_and_shared_by_markers() -> None:
    two = record(
        answer="One [1][2]. Two [1-2], three [ 2 ]. Four [3] and [2021].",
        citations=[citation(1), citation(2, section="§ 2"), citation(2, section="§ 3")],
    )
    said = markdown(two, two, title="Dogs")
    assert "One[^1][^2]. Two[^1][^2], three[^2]. Four \\[3\\] and \\[2021\\].\n" in said
    assert "One[^3][^4]. Two[^3][^4], three[^4]." in said
    assert re.findall(r"(?m)^\[\^(\d)\]: ", said) == ["1", "2", "3", "4"]
    assert "[^2]: dogs.txt, § 2, page 3" in said
    assert "\n    dogs.txt, § 3, page 3" in said
    cut = as_markdown(outline_of([two, two], "Dogs", cut=True))
    assert "> The last 2 answers of the conversation; those before are left out.\n" in cut
    assert "those before" not in said


def test_word_has_real_footnotes_and_refers_again_to_the_same() -> None:
    two = record(answer="One [1][2].\nTwo [1].", citations=[citation(1), citation(2, page=None)])
    document = word(two)
    assert notes(document) == {
        -1: "",
        0: "",
        1: " dogs.txt, § 1, page 3: “A dog licence costs 40 euros a year.”",
        2: " dogs.txt, § 1: “A dog licence costs 40 euros a year.”",
    }
    body = document.element.body
    referred = [int(one.get(qn("w:id"))) for one in body.iter(qn("w:footnoteReference"))]
    assert referred == [1, 2]
    fields = [one.text for one in body.iter(qn("w:instrText"))]
    assert fields == [r" NOTEREF _Ref_note_1 \f \h "]
    assert [t for t in texts(document) if t.startswith(("One", "Two"))] == ["One, .", "Two1."]
    names = [etree.QName(child).localname for child in document.settings.element]
    order = ["characterSpacingControl", "footnotePr", "compat", "rsids"]
    assert [name for name in names if name in order] == order  # others refuse another one


def hostile(text: str) -> dict[str, Any]:
    """Return a record all of whose text is ``text``."""
    quoted = citation(quote=text, document=text, title=text, section=text, lead=text, version=text)
    verdict = {"head": text, "words": [text], "probability": None, "checked": [text]}
    return record(
        question=text, answer=f"{text} [1]", near=[quoted], citations=[quoted], warning=text,
        passages=[quoted], queries=[text], keywords=[text], verdict=verdict, collections=[text],
        read_as=[{"written": text, "read": text}], inside=[text], model=text, hosts=[text],
    )  # fmt: skip


def parsed(said: str) -> tuple[list[Token], set[str]]:
    """What a reader of Markdown makes of a text, and the kinds of all of it."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(said)
    return tokens, {one.type for token in tokens for one in (token, *(token.children or []))}


def test_hostile_text_stays_text_in_markdown() -> None:
    _, kinds = parsed(memo(hostile(HOSTILE), said=Memo(*[HOSTILE] * 4)))
    assert kinds.isdisjoint({"html_block", "html_inline", "image", "link_open", "code_inline"})
    said = markdown(hostile(HOSTILE), title=HOSTILE)
    tokens, kinds = parsed(said)
    opened = {kind.removesuffix("_open") for kind in kinds if kind.endswith("_open")}
    assert opened == {"heading", "paragraph", "blockquote", "bullet_list", "list_item", "strong"}
    assert kinds.isdisjoint({"html_block", "html_inline", "image", "fence", "code_block"})
    assert kinds.isdisjoint({"code_inline", "hr", "link_open"})
    headings = [tokens[at + 1].content for at, t in enumerate(tokens) if t.type == "heading_open"]
    assert headings[1:] == ["Question 1", "Answer", "Near it, but no answer", "Verdict", "Sources",
                            "How it was found"]  # fmt: skip
    strong = re.findall(r"\*\*([^*]+)\*\*", said.replace("\\*", ""))
    assert {"Asked:", "Model:"} <= set(strong)
    assert "bold" not in strong
    # what readers make links of by themselves
    assert not re.search(r"(?i)://|www\.|\w@\w", said)
    assert said.count("\n[^1]: ") == 1


@given(st.text(max_size=60))
def test_what_is_escaped_is_read_back_as_it_was(text: str) -> None:
    line = " ".join(text.split())
    parsed = MarkdownIt("commonmark").parseInline(f"x{escaped(line)}x")[0].children or []
    assert {token.type for token in parsed} <= {"text", "text_special"}
    assert "".join(token.content for token in parsed) == f"x{line}x".replace("\x00", "\ufffd")


@settings(max_examples=25)
@given(st.text(max_size=60), st.sampled_from(["{}", "{} [1]", "- {}", "{}\n===", "\n\n{}"]))
def test_any_text_gives_a_word_document_that_opens(text: str, form: str) -> None:
    document = word(hostile(form.format(text)))
    assert len(notes(document)) in (2, 3)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("../../etc/passwd", "etc passwd.docx"),
        ('a"b\r\nSet-Cookie: x=1;\\', "a b Set-Cookie x 1.docx"),
        ("…", "answer.docx"),
        ("\u202egnp.exe", "gnp.exe.docx"),
        ("法" * 300, f"{'法' * 40}.docx"),
    ],
)
def test_file_names_are_safe_for_any_title(title: str, name: str) -> None:
    assert file_name(title, "docx") == name
    said = disposition(title, "docx")
    assert said.isascii()
    assert said.isprintable()
    assert unquote(said.partition("filename*=UTF-8''")[2]) == name
    assert said.count('"') == 2


LAW = {"kind": "statute", "jurisdiction": "NZ"}
DAYS = "in force from 2024-01-01"
MEMO = Memo("The Board", "A. Clerk", "1 May 2026", "Dog licences")


def memo(*answers: Any, style: Any = "oscola", said: Memo = MEMO) -> str:
    return as_markdown(outline_of(answers, layout=Layout(style, said)))


def test_a_memorandum_has_its_parts_in_order() -> None:
    made = record(citations=[citation(version=DAYS)], passages=[citation(**LAW)])
    text = memo(made)
    assert text.startswith("# Memorandum\n\n- **To:** The Board\n- **From:** A. Clerk\n")
    assert "- **Date:** 1 May 2026\n- **Re:** Dog licences\n" in text
    headings = ["Question", "Short answer", "Grounds", "Sources"]
    assert re.findall(r"(?m)^## (.*)$", text) == headings
    place = "Dog ordinance (NZ), s 1 (in force from 1 January 2024)"
    assert f"\n[^1]: {place}.\n" in text
    assert text.count(f"- {place}\n") == 2  # a ground, and a source
    assert "How it was found" not in text
    blank = memo(made, said=Memo())
    assert "- **To:** \n- **From:** \n- **Date:** \n- **Re:** \n" in blank
    both = memo(made, made)
    assert "## Question 1\n\n### Question\n" in both
    assert "[^2]: " in both


def test_a_style_is_of_every_place_that_is_cited() -> None:
    near, cited = citation(section="§ 2", version=DAYS), citation(version=DAYS)
    made = record(near=[near], citations=[cited], passages=[citation(**LAW)])
    said = as_markdown(outline_of([made], layout=Layout("bluebook")))
    assert "[^1]: Dog ordinance § 1 (NZ) (effective Jan. 1, 2024).\n" in said
    assert "- Dog ordinance § 2 (NZ) (effective Jan. 1, 2024)\n" in said


def mail(data: bytes) -> EmailMessage:
    found = message_from_bytes(data, policy=SMTP)
    assert isinstance(found, EmailMessage)
    return found


def test_a_message_is_a_draft_with_the_text_and_a_word_document() -> None:
    said = Memo("board@example.org", "A. Clerk <clerk@example.org>", "", "Dog licences")
    message = mail(exported([record()], "eml", layout=Layout("oscola", said)))
    assert (message["To"], message["From"]) == (said.to, '"A. Clerk" <clerk@example.org>')
    assert (message["Subject"], message["X-Unsent"]) == ("Dog licences", "1")
    body = message.get_body(("plain",))
    assert body is not None
    text = body.get_content()
    assert "SHORT ANSWER" in text
    assert "A dog licence costs 40 euros a year. [1]" in text
    assert "[1] Dog ordinance, s 1." in text
    (attached,) = message.iter_attachments()
    assert attached.get_filename() == "Dog licences.docx"
    opened = docx.Document(io.BytesIO(attached.get_content()))
    assert opened.paragraphs[0].text == "Memorandum"


@pytest.mark.parametrize(
    "said",
    ["ann@x.org\r\nBcc: eve@y.org", "ann@x.org bob@x.org", "a@x.org, b@x.org", "Ann", "ann@x.org,"],
)
def test_an_address_with_more_beside_it_is_none(said: str) -> None:
    layout = Layout("oscola", Memo(said, said, "", ""))
    message = mail(exported([record()], "eml", layout=layout))
    assert (message["To"], message["From"]) == (None, None)


@pytest.mark.parametrize("text", [HOSTILE, CONTROLS, "a\r\nBcc: x@example.org", "a@b, c@d", "<@>"])
def test_no_text_becomes_a_header_of_a_message(text: str) -> None:
    said = Memo(text, text, text, text)
    data = exported([hostile(text)], "eml", layout=Layout("bluebook", said))
    message = mail(data)
    assert {*message.keys()} <= {
        *("Subject", "Date", "X-Unsent", "To", "From", "MIME-Version", "Content-Type")
    }
    assert message["Bcc"] is None
    body = message.get_body(("plain",))
    assert body is not None
    assert not {"\x1b", "\u202e", "\x00"} & {*body.get_content()}
