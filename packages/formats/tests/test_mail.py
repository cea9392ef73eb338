from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aspose.email_foss.msg.mapi_message import MapiMessage
from aspose.email_foss.msg.writer import MsgWriter
from made_files import zipped

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.formats import read_bytes, read_member
from lexloop.documents.reading.source import Limits

Load = Callable[..., tuple[list[Document], dict[str, str]]]
LIMITS = Limits()


def message(text: str = "The fee is due.", subject: str = "Fees", **how: Any) -> EmailMessage:
    made = EmailMessage()
    made["From"] = "Anna Müller <anna@example.org>"
    made["To"] = '"Otter, Ben" <ben@example.org>, cat@example.org'
    made["Date"] = "Tue, 05 Mar 2024 14:02:11 +0100"
    made["Subject"] = subject
    made.set_content(text, **how)
    return made


def as_outlook(made: EmailMessage) -> bytes:
    return bytes(MapiMessage.from_email_message(made).to_bytes())


def found(data: bytes, name: str = "a.eml") -> tuple[dict[str, str], dict[str, str]]:
    every = list(read_bytes(data, name, LIMITS))
    texts = {one.name: one.text for one in every if isinstance(one, Document)}
    return texts, {one.name: one.reason for one in every if isinstance(one, SkippedSource)}


def body(data: bytes, name: str = "a.eml") -> str:
    return found(data, name)[0][name].partition("\n\n")[2]


CHAIN = """Dear Ben,

please give us two weeks more to answer your letter, that is until
19 March 2024.

Anna

On 4 March 2024 Ben Otter wrote:
> When will you answer? We have been waiting for your letter since the
> end of January.
>> Soon.
"""


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        ("Mon, 1 Jan 0500 00:00:00 +0000", "0500-01-01 00:00 +00:00"),
        ("Fri, 31 Dec 9999 23:59:59 -0000", "9999-12-31 23:59"),
        ("Thu, 29 Feb 2024 12:00:00 +2359", "2024-02-29 12:00 +23:59"),
        ("Thu, 29 Feb 2023 12:00:00 +0000", "Thu, 29 Feb 2023 12:00:00 +0000"),
        *((said, said) for said in ("1 Jan 2024 00:00:00 +99999999999999999", "1 Jan 10000 1:00")),
    ],
)
def test_any_date_is_shown_as_iso_has_it_or_as_it_is(date: str, shown: str) -> None:
    data = b"From: a@example.org\nDate: " + date.encode() + b"\n\nThe fee is due.\n"
    texts, skipped = found(data)
    assert skipped == {}
    assert f"Date: {shown}\n" in texts["a.eml"]


@pytest.mark.parametrize(
    ("made", "date"), [(EmailMessage.as_bytes, "14:02 +01:00"), (as_outlook, "13:02 +00:00")]
)
def test_a_message_is_its_headers_and_its_text_with_what_it_quotes(
    made: Callable[[EmailMessage], bytes], date: str
) -> None:
    name = "a.eml" if made is EmailMessage.as_bytes else "a.msg"
    (document,) = (
        one
        for one in read_bytes(made(message(CHAIN, "An extension")), name, LIMITS)
        if isinstance(one, Document)
    )
    assert document.text.splitlines() == [
        "Message from Anna Müller, 2024-03-05",
        "From: Anna Müller <anna@example.org>",
        'To: "Otter, Ben" <ben@example.org>, cat@example.org',
        f"Date: 2024-03-05 {date}",
        "Subject: An extension",
        "",
        "Dear Ben,",
        "",
        "please give us two weeks more to answer your letter, that is until 19 March 2024.",
        "",
        "Anna",
        "",
        "On 4 March 2024 Ben Otter wrote:",
        "> When will you answer? We have been waiting for your letter since the end of January.",
        ">> Soon.",
    ]
    assert document.title == "An extension"
    tree = document.tree
    labels = [tree.units[tree.at(document.text.index(said))].label for said in ("please", "> When")]
    assert labels == ["Message from Anna Müller, 2024-03-05", "On 4 March 2024 Ben Otter wrote:"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("- a first item\n- a second item\n", ["- a first item", "- a second item"]),
        (f"{'x' * 70}\nand more\nmine\n", [f"{'x' * 70} and more", "mine"]),
        (f"> {'x' * 70}\n> and more\nmine\n", [f"> {'x' * 70} and more", "mine"]),
        (f"> {'x' * 70}\nmine\n", [f"> {'x' * 70}", "mine"]),
        (f"{'x' * 200}\nof one line\n", ["x" * 200, "of one line"]),
    ],
)
def test_lines_that_a_program_wrapped_are_one_again(text: str, lines: list[str]) -> None:
    assert body(message(text).as_bytes()).splitlines() == lines


def test_flowed_lines_go_on_where_they_end_with_a_blank() -> None:
    made = message("The fee \nis due.\n-- \nAnna\n")
    made.set_param("format", "flowed")
    assert body(made.as_bytes()).splitlines() == ["The fee is due.", "--", "Anna"]


@pytest.mark.parametrize(
    ("text", "charset"), [("Grüße, 5 %", "iso-8859-1"), ("契約は終了した。", "iso-2022-jp")]
)
def test_a_text_is_decoded_as_it_says(text: str, charset: str) -> None:
    made = message(text, "件名 § 5", charset=charset).as_bytes()
    assert body(made).strip() == text
    assert "Subject: 件名 § 5\n" in found(made)[0]["a.eml"]


def test_a_page_is_read_where_there_is_no_plain_text() -> None:
    made = message("<h1>Order</h1><p>Pay <b>40</b> €.<script>alert(1)</script>", subtype="html")
    (document,) = [
        one for one in read_bytes(made.as_bytes(), "a.eml", LIMITS) if hasattr(one, "text")
    ]
    assert document.text.endswith("\n\nOrder\nPay 40 €.\n")
    assert document.headings == ((0, 1), (document.text.index("Order"), 2))
    made = message("Plain.")
    made.add_alternative("<p>Page.", subtype="html")
    assert body(made.as_bytes()) == "Plain.\n"


def test_text_around_an_attachment_is_the_messages_and_pictures_within_it_are_passed_over() -> None:
    made = message("First.")
    made.add_attachment("Last.", disposition="inline")
    made.add_attachment("Apart.", filename="notes.txt")
    made.add_attachment(b"\x89PNG", "image", "png", cid="<1>", disposition="inline")
    texts, told = found(made.as_bytes())
    assert texts["a.eml"].endswith("\n\nFirst.\n\nLast.\n")
    assert (texts["a.eml/notes.txt"].strip(), told) == ("Apart.", {})


def with_attachments(pdf: bytes) -> EmailMessage:
    made = message()
    made.add_attachment(pdf, "application", "pdf", filename="§ 5.pdf")
    made.add_attachment(pdf, "application", "pdf", filename="../../§ 5.pdf")
    made.add_attachment(b"BEGIN:VCALENDAR", "application", "ics", filename="in.ics")
    made.add_attachment(pdf[:90], "application", "pdf", filename="cut.pdf")
    inner = message("The inner text.", "Inner / one")
    inner.add_attachment(pdf, "application", "pdf", filename="deep.pdf")
    made.add_attachment(inner)
    packed = zipped(
        {"a.txt": "In the archive.", "metadata.csv": "file,tags\na.txt,x\n", "in.zip": "x"}
    )
    made.add_attachment(packed, "application", "zip", filename="all.zip")
    table = b"file,tags\nb.eml,x\n"
    made.add_attachment(table, "application", "octet-stream", filename="metadata.csv")
    return made


@pytest.mark.parametrize("name", ["a.eml", "a.msg"])
def test_what_is_attached_is_read_by_its_own_format(name: str, make_pdf: Any) -> None:
    pdf = make_pdf([["The price is 40."]])
    made = with_attachments(pdf)
    data = made.as_bytes() if name == "a.eml" else as_outlook(made)
    texts, told = found(data, name)
    within = {key.removeprefix(f"{name}/"): text.strip() for key, text in texts.items()}
    inner = "Inner one.eml"
    assert within.pop(name).endswith("The fee is due.")
    assert within.pop(inner).endswith("The inner text.")
    assert within == {
        "§ 5.pdf": "The price is 40.",
        "§ 5 (2).pdf": "The price is 40.",
        f"{inner}/deep.pdf": "The price is 40.",
        "all.zip/a.txt": "In the archive.",
        "metadata.csv": "Sheet “metadata”\nRow | A | B\n1 | file | tags\n2 | b.eml | x",
    }
    assert {key.removeprefix(f"{name}/"): why for key, why in told.items()} == {
        "in.ics": "Its suffix '.ics' is unknown.",
        "cut.pdf": told[f"{name}/cut.pdf"],
        "all.zip/in.zip": "It is an archive within an archive.",
    }
    assert read_member(data, name, f"{inner}/deep.pdf", LIMITS) == pdf
    assert read_member(data, name, "all.zip/a.txt", LIMITS) == b"In the archive."
    with pytest.raises(CorpusError, match="It holds no gone"):
        read_member(data, name, "gone.pdf", LIMITS)


def test_an_attached_message_is_read_as_outlook_writes_it() -> None:
    made = message()
    made.add_attachment(message("The inner text.", "Inner"))
    document = MapiMessage.from_email_message(made).to_msg_document()
    (attachment,) = (one for one in document.root.storages if one.name.startswith("__attach"))
    (inner,) = attachment.storages
    properties = inner.find_stream("__properties_version1.0")
    # Outlook gives it 24 bytes in front, the writer 32 as it gives a file
    properties.data = properties.data[:24] + properties.data[32:]
    texts, told = found(MsgWriter.to_bytes(document), "a.msg")
    assert texts["a.msg/Inner.eml"].endswith("\n\nThe inner text.\n")
    assert told == {}


def test_rich_text_alone_is_told() -> None:
    made = MapiMessage.create("Fees", "")
    made.set_property(0x1009, 0x0102, b"compressed")
    texts, told = found(bytes(made.to_bytes()), "a.msg")
    assert texts == {"a.msg": "Subject: Fees\n"}
    assert "rich text alone" in told["a.msg"]


def test_messages_are_read_to_a_depth_and_attachments_to_a_number() -> None:
    made = message(subject="0")
    for number in range(1, 8):
        outer = message(subject=str(number))
        outer.add_attachment(made)
        made = outer
    texts, told = found(made.as_bytes())
    assert [name.count("/") for name in texts] == [0, 1, 2, 3]
    assert told == {"a.eml/6.eml/5.eml/4.eml/3.eml": "It is nested 4 files deep."}
    for _ in range(103):
        made.add_attachment("Text.", filename="a.txt")
    texts, told = found(made.as_bytes())
    assert len([name for name in texts if name.startswith("a.eml/a")]) == 99
    assert told["a.eml"] == "It has 4 more attachments than the 100 that are read."


def test_an_attachment_that_ends_the_worker_costs_no_other(
    tmp_path: Path, load: Load, bomb_pdf: bytes
) -> None:
    inner = message("The inner text.", "Inner")
    made = message()
    for one in (inner, made):
        one.add_attachment("A.", filename="a.txt")
        one.add_attachment(bomb_pdf, "application", "pdf", filename="bomb.pdf")
        one.add_attachment("C.", filename="c.txt")
    made.add_attachment(inner)
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    documents, reasons = load(tmp_path, Limits(seconds=3))
    within = "a.eml/Inner.eml"
    assert [document.name for document in documents] == [
        *("a.eml", "a.eml/a.txt", "a.eml/c.txt"),
        *(within, f"{within}/a.txt", f"{within}/c.txt"),
    ]
    assert reasons.keys() == {"a.eml/bomb.pdf", f"{within}/bomb.pdf"}
    # how fast the machine is decides which limit it comes to first
    limits = "It took longer than 3 s.", "The parser gave up (signal 6): it may need more"
    assert all(reason.startswith(limits) for reason in reasons.values()), reasons


def test_the_tags_of_a_message_are_those_of_what_is_attached(tmp_path: Path, load: Load) -> None:
    made = message()
    made.add_attachment("A.", filename="a.txt")
    made.add_attachment(b"file,tags\na.txt,\n", "text", "csv", filename="metadata.csv")
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    (tmp_path / "metadata.csv").write_text("file,tags\na.eml,board\n")
    documents, _ = load(tmp_path)
    assert {one.name: one.metadata.tags for one in documents} == {
        "a.eml": ("board",),
        "a.eml/a.txt": ("board",),
        "a.eml/metadata.csv": ("board",),
    }


NESTED = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3000))
MANY = ", ".join(f"=?utf-8?q?n{n}?= <a{n}@example.org>" for n in range(5000))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"Just a text.\nFrom: me", "begins with no From, Date or Subject"),
        (f"From: a@b\n{NESTED}".encode(), "malformed message"),
    ],
)
def test_what_is_no_sound_message_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        found(data)


def test_a_message_that_is_cut_off_says_so() -> None:
    made = message()
    made.add_attachment("The fee rises. " * 200, filename="fees.txt")
    texts, told = found(made.as_bytes()[:-1000])
    assert sorted(texts) == ["a.eml", "a.eml/fees.txt"]
    assert told == {"a.eml": "It is cut off: what stood at its end is missing."}
    header = b"From: a@example.org\nContent-Type: multipart/mixed; bound"
    assert found(header) == ({"a.eml": "Message from a@example.org\nFrom: a@example.org\n"}, told)


def test_a_text_that_cannot_be_decoded_costs_no_attachment() -> None:
    made = message("Text.")
    made.add_attachment("A.", filename="a.txt")
    data = made.as_bytes().replace(b"Text.", b"Gr\xc3\xb6\xc3\x9fe und Ma\xdf")
    texts, told = found(data)
    assert list(texts) == ["a.eml/a.txt"]
    assert told == {"a.eml": "It mixes UTF-8 with another encoding."}


def test_hostile_headers_take_no_time() -> None:
    texts, _ = found(f"From: {'(' * 99_999}\nTo: {MANY}\nSubject: \x00 a\n\nText.".encode())
    assert "To: n0 <a0@example.org>, n1 <a1@example.org>" in texts["a.eml"]
    assert len(texts["a.eml"]) < 60_000


@pytest.mark.parametrize(
    ("written", "shown"), [("=?x-unknown?q?F=e9es?=", "Fées"), ("=?idna?q?a..b?=", "a..b")]
)
def test_a_header_in_an_unknown_coding_costs_no_message(written: str, shown: str) -> None:
    head = f"From: a@b\nSubject: {written}\nContent-Type: text/plain; charset=x-unknown\n\n"
    texts, told = found(f"{head}The fee is 3.\n".encode())
    assert (f"Subject: {shown}\n" in texts["a.eml"], told) == (True, {})
    assert texts["a.eml"].endswith("The fee is 3.\n")


@pytest.mark.parametrize("name", ["../../etc/x.txt", "/etc/x.txt", "C:\\x.txt", "x"])
def test_a_name_leads_nowhere(name: str) -> None:
    made = message()
    made.add_attachment(b"A.", "text", "plain", filename=name)
    assert set(found(made.as_bytes())[0]) == {"a.eml", "a.eml/x.txt"}


def test_a_damaged_message_of_outlook_is_refused() -> None:
    with pytest.raises(CorpusError, match=r"older Office file|damaged message"):
        found(as_outlook(message())[:4000], "a.msg")
    with pytest.raises(CorpusError, match="it is text"):
        found(message().as_bytes(), "a.msg")
